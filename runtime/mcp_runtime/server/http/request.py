"""One HTTP request as ASGI delivers it, and its response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from mcp_runtime.core import error_codes, jsonrpc
from mcp_runtime.core.running import SMALL, HeldBytes, Hold
from mcp_runtime.limits import Limits
from mcp_runtime.shared.first_step import Waiting, begin

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

JSON: Final[Header] = (b"content-type", b"application/json")
_NOT_KEPT: Final[Header] = (b"cache-control", b"no-store")
"""A cache that does not look at tokens would refuse everyone what one client was refused."""
_LENGTH_DIGITS: Final = 15
"""A Content-Length with more digits is too large, whatever they are."""
_BUFFERED: Final = 64 * 1024
"""Bytes that ASGI servers accept without waiting for the client to read them."""


class HttpError(Exception):
    """Becomes an HTTP status, with a JSON-RPC error without id that says what to do."""

    def __init__(
        self, status: int, message: str, body: bytes = b"", headers: Iterable[Header] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        code = error_codes.INTERNAL_ERROR if ours else error_codes.INVALID_REQUEST
        self.body = body or jsonrpc.error_response(None, code, message)
        self.headers = tuple(headers)


class ClientGone(Exception):
    """The client has closed the connection before it was answered."""


class HttpRequest:
    """One HTTP request, and its response."""

    __slots__ = (
        "_is_begun",
        "_is_read",
        "_receive",
        "_send",
        "content",
        "headers",
        "method",
        "names",
        "path",
        "scope",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        path, root = scope["path"], scope.get("root_path", "")
        path = _below(root, path) if root else path
        self.path = plain_path(path) if path[-1:] == "/" else path
        self.headers = _joined(scope["headers"])
        header = self.headers.get
        self.names = (
            self.method,
            self.path,
            header("host"),
            header("x-forwarded-host"),
            header("origin"),
            header("content-type"),
            header("accept"),
        )
        """What decides whether a POST is read at all."""
        self._receive = receive
        self._send = send
        self._is_begun = self._is_read = False
        self.content = b""
        """The body, from `read_body` to `pop_content`."""

    def _has_unread_body(self) -> bool:
        if self._is_begun:
            return not self._is_read
        length = self.headers.get("content-length", "0")
        return "transfer-encoding" in self.headers or length.strip("0") != ""

    def pop_content(self) -> bytes:
        """The body, which is not kept here any longer."""
        content, self.content = self.content, b""
        return content

    async def read_body(self, limits: Limits, held_by: Callable[[HttpRequest], HeldBytes]) -> None:
        """Raises HttpError for a body that is too large or too slow, and ClientGone.

        While it is read, the body counts as held bytes of its sender and of the process.
        """
        if self._is_read:
            return
        limit, length = limits.line_bytes, self.headers.get("content-length", "0")
        size = int(length[:_LENGTH_DIGITS]) if length.isdecimal() else limit
        if size > limit or len(length) > _LENGTH_DIGITS:
            raise _too_large(limit)
        size = limit if "transfer-encoding" in self.headers else size
        hold = _held(held_by(self), size, limits) if size > SMALL else None
        try:
            content = begin(self._read(limit))
            if isinstance(content, Waiting):
                async with asyncio.timeout(limits.body_seconds):
                    content = await content
            self.content = content
        except TimeoutError:
            why = f"the body took more than {limits.body_seconds:g} s (Limits.body_seconds)"
            raise HttpError(408, why) from None
        finally:
            del hold
        if not content and "upgrade" in self.headers:
            raise HttpError(400, "there is no body: send no Upgrade header (uvicorn on httptools)")

    async def _read(self, limit: int) -> bytes:
        parts: list[bytes] = []
        size, self._is_begun = 0, True
        while True:
            part = await self._receive()
            if part["type"] == "http.disconnect":
                raise ClientGone
            parts.append(part.get("body", b""))
            size += len(parts[-1])
            self._is_read = not part.get("more_body")
            if size > limit:
                raise _too_large(limit)
            if self._is_read:
                return b"".join(parts)

    async def discard_body(self, limits: Limits) -> None:
        """Reads and drops what is left of a body, `Limits.discarded_bytes` at most.

        A client that is still sending would lose the answer: the connection is reset under it.
        Raises ClientGone.
        """
        length, limit = self.headers.get("content-length", "0"), limits.discarded_bytes
        is_small = len(length) <= _LENGTH_DIGITS and length.isdecimal() and int(length) <= limit
        waits = "expect" in self.headers  # such a client sends its body when it is asked to
        if waits or not is_small or not self._has_unread_body():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(limits.body_seconds):
                await self._discard(limit)

    async def _discard(self, limit: int) -> None:
        while limit > 0:
            part = await self._receive()
            if part["type"] == "http.disconnect":
                raise ClientGone
            limit -= len(part.get("body", b""))
            if not part.get("more_body"):
                self._is_read = True
                return

    async def gone(self) -> None:
        """Returns when the client is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def reply(
        self, status: int, body: bytes, headers: tuple[Header, ...], held: HeldBytes | None = None
    ) -> None:
        """Sends a whole response. A request body that was not read closes the connection.

        A large one counts as held, by the peer of `held`, until the client reads it.
        Raises ClientGone.
        """
        headers = (*headers, (b"content-length", b"%d" % len(body)))
        if not self._is_read and self._has_unread_body():
            headers = (*headers, (b"connection", b"close"))
        try:
            await self._send(_start(status, headers))
            if len(body) > _BUFFERED:
                hold = Hold(held or HeldBytes(), len(body))
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
                body = b""
                await self._send({"type": "http.response.body"})  # waits for the client
                del hold
            else:
                await self._send({"type": "http.response.body", "body": body})
        except OSError:
            raise ClientGone from None

    async def refuse(self, error: HttpError) -> None:
        """Sends an error as the whole response. Raises ClientGone."""
        await self.reply(error.status, error.body, (JSON, _NOT_KEPT, *error.headers))

    async def start(self, status: int, headers: tuple[Header, ...]) -> None:
        """Starts a response that is sent in parts. Raises ClientGone."""
        await self._try_to_send(_start(status, headers))

    async def send_part(self, data: bytes) -> None:
        """Sends a part of a response that was started. Raises ClientGone."""
        await self._try_to_send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """Ends a response that was sent in parts. Raises ClientGone."""
        await self._try_to_send({"type": "http.response.body", "body": b""})

    async def _try_to_send(self, message: dict[str, Any]) -> None:
        try:
            await self._send(message)
        except OSError:
            raise ClientGone from None


def _start(status: int, headers: tuple[Header, ...]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": [*headers]}


def _held(held: HeldBytes, size: int, limits: Limits) -> Hold:
    """Raises HttpError while the sender or the process holds too much."""
    if crossed := held.crossed(limits):
        why = f"busy: too much is not answered yet ({crossed})"
        raise HttpError(503, why, headers=retry_after(1))
    return Hold(held, size)


def _too_large(limit: int) -> HttpError:
    return HttpError(413, f"the body has more than {limit} bytes (Limits.line_bytes)")


def _below(root: str, path: str) -> str:
    """The path below the place where the application is mounted."""
    below = path.removeprefix(root.rstrip("/"))
    return below if below[:1] in ("", "/") else path


def plain_path(path: str) -> str:
    """The path without a slash at its end, which makes no difference here."""
    return path.rstrip("/") or "/"


def _joined(raw: Iterable[Header]) -> dict[str, str]:
    """Headers by name; those that are repeated are joined to one list."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def retry_after(seconds: int) -> tuple[Header, ...]:
    """The header that says when a client may try again."""
    return ((b"retry-after", str(seconds).encode()),)
