"""One HTTP request as ASGI delivers it, and its response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from mcp_runtime.core.http.http_rules import join_headers
from mcp_runtime.core.session.held import SMALL, UNREAD, HeldBytes, Hold
from mcp_runtime.core.wire import error_codes, jsonrpc
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.shared.eager import Waiting, begin
from mcp_runtime.shared.threads import running_loop

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

JSON: Final[Header] = (b"content-type", b"application/json")
_NOT_KEPT: Final[Header] = (b"cache-control", b"no-store")
"""Forbid caching: a cache ignoring tokens would give every client the refusal of one."""
_LENGTH_DIGITS: Final = 15
"""A Content-Length with more digits is too large, whatever they are."""
_BUFFERED: Final = 64 * 1024
"""Bytes ASGI servers accept without waiting for the client to read them."""


class HttpError(Exception):
    """Becomes an HTTP status, with a JSON-RPC error without id; its text gives the remedy."""

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


class Arriving:
    """Counts the bytes of a body being received, or of a response being read by the client.

    The bytes count for the client. They are given up where room is needed, which ends the wait for
    them.
    """

    __slots__ = ("__weakref__", "_hold", "_loop", "_wait", "is_given_up")

    def __init__(self, held: HeldBytes, size: int = 0) -> None:
        self._hold = Hold(held, size)
        self._hold.offer(UNREAD, self.give_up)
        self._loop = asyncio.get_running_loop()
        self._wait: asyncio.Timeout | None = None
        self.is_given_up = False

    def change(self, by: int) -> None:
        self._hold.change(by)

    def keep(self) -> Hold:
        """Keep the bytes, now that all have arrived: they are no longer given up. Return their
        hold.
        """
        self._hold.keep()
        return self._hold

    def within(self, seconds: float) -> asyncio.Timeout:
        """Limit the time of a wait, which is over at once when the bytes are given up."""
        self._wait = asyncio.timeout(0 if self.is_given_up else seconds)
        return self._wait

    def give_up(self) -> None:
        self.is_given_up = True
        self._hold.change(-self._hold.size)
        if running_loop() is self._loop:
            self._stop()
        elif not self._loop.is_closed():  # another loop needs the room
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        with suppress(RuntimeError):  # the wait has not begun, or is over
            if self._wait is not None:
                self._wait.reschedule(0)


class HttpRequest:
    """One HTTP request, and its response."""

    __slots__ = (
        "__weakref__",
        "_account_of",
        "_arrived",
        "_is_begun",
        "_is_read",
        "_receive",
        "_send",
        "content",
        "headers",
        "held",
        "limits",
        "method",
        "names",
        "path",
        "scope",
    )

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        limits: Limits = DEFAULT,
        account_of: Callable[[HttpRequest], HeldBytes] = lambda request: HeldBytes(),
    ) -> None:
        self.scope = scope
        self.limits = limits
        self.held: HeldBytes | None = None
        """The account of the bytes of its body and of its response, once there are some to
        count.
        """
        self._account_of = account_of
        self._arrived: Hold | None = None
        self.method: str = scope["method"]
        path, root = scope["path"], scope.get("root_path", "")
        path = _below(root, path) if root else path
        self.path = plain_path(path) if path[-1:] == "/" else path
        self.headers = join_headers(scope["headers"])
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
        """The headers by which the server decides if it reads a POST at all."""
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
        """Return the body, and drop it from this request."""
        content, self.content, self._arrived = self.content, b"", None
        return content

    def _counter(self) -> HeldBytes:
        """Return the account of this request's bytes. It is made at first use: a small body needs
        none.
        """
        if self.held is None:
            self.held = self._account_of(self)
        return self.held

    async def read_body(self) -> None:
        """Read the body. Raise HttpError if it is too large or too slow, and ClientGone.

        Bytes received so far count as held bytes of the sender until `pop_content`.
        """
        if self._is_read:
            return
        limit, length = self.limits.line_bytes, self.headers.get("content-length", "0")
        size = int(length[:_LENGTH_DIGITS]) if length.isdecimal() else limit
        if size > limit or len(length) > _LENGTH_DIGITS:
            raise _too_large(limit)
        counts = size > SMALL or "transfer-encoding" in self.headers
        body = Arriving(self._counter()) if counts else None
        try:
            content = begin(self._read(limit, body))
            if isinstance(content, Waiting):
                body = Arriving(self._counter()) if body is None else body
                async with body.within(self.limits.body_seconds):
                    content = await content
            self.content = content
        except TimeoutError:
            if body is not None and body.is_given_up:
                raise _busy("Limits.process_bytes") from None
            why = f"the body took more than {self.limits.body_seconds:g} s (Limits.body_seconds)"
            raise HttpError(408, why) from None
        if body is not None:
            self._arrived = body.keep()
        if not content and "upgrade" in self.headers:
            raise HttpError(400, "there is no body: send no Upgrade header (uvicorn on httptools)")

    async def _read(self, limit: int, body: Arriving | None) -> bytes:
        parts: list[bytes] = []
        size, self._is_begun = 0, True
        try:
            while not self._is_read:
                part = await self._receive()
                if part["type"] == "http.disconnect":
                    raise ClientGone
                data: bytes = part.get("body", b"")
                size += len(data)
                self._is_read = not part.get("more_body")
                if size > limit:
                    raise _too_large(limit)
                if body is not None:
                    self._count(body, len(data))
                if self._is_read and not parts:
                    return data
                parts.append(data)
            return b"".join(parts)
        except BaseException:
            parts.clear()  # the error would keep them with its traceback
            raise

    def _count(self, body: Arriving, more: int) -> None:
        """Count `more` received bytes of the body. Raises HttpError if there is no room for
        them.
        """
        if crossed := self._counter().make_room(self.limits, more):
            raise _busy(crossed)
        if body.is_given_up:
            raise _busy("Limits.process_bytes")
        body.change(more)

    async def discard_body(self, limits: Limits) -> None:
        """Read and drop the rest of a body, `Limits.discarded_bytes` at most.

        Otherwise a client still sending would lose the answer, because its connection is reset.
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
        """Wait until the client is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def reply(self, status: int, body: bytes, headers: tuple[Header, ...]) -> None:
        """Send a whole response. The connection is closed if the request's body was not read.

        The response counts as held until the client reads it. Raises ClientGone.
        """
        sent = [*headers, (b"content-length", b"%d" % len(body))]
        if not self._is_read and self._has_unread_body():
            sent.append((b"connection", b"close"))
        if len(body) > _BUFFERED:
            await self.start(status, sent)
            await self._send_large(body)
            await self.end()
        else:
            first = {"type": "http.response.start", "status": status, "headers": sent}
            waiting = begin(self._hand_over(first, {"type": "http.response.body", "body": body}))
            if waiting is not None:
                await self._until_read(waiting, Arriving(self._counter(), len(body)))

    async def _send_large(self, data: bytes) -> None:
        """Send a part of a body as the client reads it: nothing of it waits unseen elsewhere."""
        unread = Arriving(self._counter(), len(data))
        rest = memoryview(data)
        del data
        while rest:
            part, rest = bytes(rest[:_BUFFERED]), rest[_BUFFERED:]
            message = {"type": "http.response.body", "body": part, "more_body": True}
            waiting = begin(self._hand_over(message))
            if waiting is not None:
                await self._until_read(waiting, unread)
            if not unread.is_given_up:
                unread.change(-len(part))

    async def _deliver(self, message: dict[str, Any]) -> None:
        """Hand a message to the ASGI server, which waits while the client does not read.

        Raises ClientGone, as `_until_read` does.
        """
        waiting = begin(self._hand_over(message))
        if waiting is not None:
            size = len(message.get("body", b""))
            await self._until_read(waiting, Arriving(self._counter(), size))

    async def _until_read(self, waiting: Waiting[None], unread: Arriving) -> None:
        """Wait for a client that does not read. Meanwhile `unread` counts as held by the client.

        Raises ClientGone, also where the client reads nothing for `Limits.unread_wait`.
        """
        try:
            async with unread.within(self.limits.unread_wait):
                await waiting
        except TimeoutError:
            await self._abort()
            raise ClientGone from None

    async def _hand_over(self, *messages: dict[str, Any]) -> None:
        try:
            for message in messages:
                await self._send(message)
        except OSError:
            raise ClientGone from None

    async def _abort(self) -> None:
        """Close the connection, and drop the bytes the ASGI server still has to send, if it can."""
        transport = getattr(getattr(self._send, "__self__", None), "transport", None)  # of uvicorn
        if (abort := getattr(transport, "abort", None)) is not None:
            abort()
            await asyncio.sleep(0)  # by then the ASGI server knows

    async def refuse(self, error: HttpError) -> None:
        """Send an error as the whole response. Raises ClientGone."""
        await self.reply(error.status, error.body, (JSON, _NOT_KEPT, *error.headers))

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        """Start a response sent in parts. Raises ClientGone."""
        first = {"type": "http.response.start", "status": status, "headers": [*headers]}
        await self._deliver(first)

    async def send_part(self, data: bytes) -> None:
        """Send a part of a started response. Raises ClientGone."""
        if len(data) > _BUFFERED:
            await self._send_large(data)
        else:
            await self._deliver({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """End a response sent in parts. Raises ClientGone."""
        await self._deliver({"type": "http.response.body", "body": b""})


def _busy(crossed: str) -> HttpError:
    """Return the answer to a body for which there is no room."""
    why = f"busy: too much is not answered yet ({crossed})"
    return HttpError(503, why, headers=retry_after(1))


def _too_large(limit: int) -> HttpError:
    return HttpError(413, f"the body has more than {limit} bytes (Limits.line_bytes)")


def _below(root: str, path: str) -> str:
    """Return the path below the place where the application is mounted."""
    below = path.removeprefix(root.rstrip("/"))
    return below if below[:1] in ("", "/") else path


def plain_path(path: str) -> str:
    """Return the path without a slash at its end, which makes no difference here."""
    return path.rstrip("/") or "/"


def retry_after(seconds: int) -> tuple[Header, ...]:
    """Return the header with the time after which a client may try again."""
    return ((b"retry-after", str(seconds).encode()),)
