"""One HTTP request as ASGI brings it, and its response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from mcp_runtime.core import error_codes, jsonrpc
from mcp_runtime.server.http.deadline import Deadline

__all__ = ["ClientGone", "Denied", "HttpRequest", "Receive", "Scope", "Send", "plain"]

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_DIGITS: Final = 15
"""Of a length that need not be read to be too much."""


class Denied(Exception):
    """An answer of HTTP's own: a status, and an error without id that says the remedy."""

    def __init__(
        self,
        status: int,
        message: str,
        body: bytes = b"",
        headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = body or jsonrpc.refusal(None, error_codes.INVALID_REQUEST, message)
        self.headers = tuple(headers)


class ClientGone(Exception):
    """The client is gone before it was answered."""


class HttpRequest:
    """One HTTP request, and its response."""

    __slots__ = ("_receive", "_send", "_unread", "headers", "method", "path", "scope")

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path = _below(scope.get("root_path", ""), scope["path"])
        self.headers = _joined(scope["headers"])
        self._receive = receive
        self._send = send
        self._unread = self._has_body()

    def _has_body(self) -> bool:
        return "transfer-encoding" in self.headers or (
            self.headers.get("content-length", "0").strip("0") != ""
        )

    async def body(self, most: int, cutoff: Deadline) -> bytes:
        """Raises Denied for one that is too large or too slow, Gone."""
        length = self.headers.get("content-length", "0")
        if len(length) > _DIGITS or (length.isdecimal() and int(length) > most):
            raise self._too_large(most)
        try:
            return await cutoff.wait(self._whole(most))
        except TimeoutError:
            raise self._too_slow(cutoff.seconds) from None

    async def _whole(self, most: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            part = await self.receive()
            parts.append(part.get("body", b""))
            size += len(parts[-1])
            if size > most:
                raise self._too_large(most)
            if not part.get("more_body"):
                self._unread = False
                return b"".join(parts)

    async def receive(self) -> Mapping[str, Any]:
        """Raises Gone."""
        part = await self._receive()
        if part["type"] == "http.disconnect":
            raise ClientGone
        return part

    def _too_large(self, most: int) -> Denied:
        return Denied(413, f"a body of more than {most} bytes (Limits.line_bytes)")

    def _too_slow(self, seconds: float) -> Denied:
        return Denied(408, f"no whole body within {seconds:g} s (Limits.body_seconds)")

    async def gone(self) -> None:
        """Returns when the client is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def forget(self) -> None:
        """What was asked is needed no more, however long the response may be open."""
        self.headers.clear()

    async def reply(
        self, status: int, body: bytes, headers: tuple[tuple[bytes, bytes], ...]
    ) -> None:
        """A body that nobody will read ends the connection."""
        length = (b"content-length", str(len(body)).encode())
        close = ((b"connection", b"close"),) if self._unread else ()
        await self.begin(status, (*headers, length, *close))
        await self._tell({"type": "http.response.body", "body": body})

    async def begin(self, status: int, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        await self._tell({"type": "http.response.start", "status": status, "headers": headers})

    async def more(self, data: bytes) -> None:
        await self._tell({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        await self._tell({"type": "http.response.body", "body": b""})

    async def _tell(self, message: dict[str, Any]) -> None:
        """Raises Gone."""
        try:
            await self._send(message)
        except OSError:
            raise ClientGone from None


def _below(root: str, path: str) -> str:
    """The path below the place where the application is mounted."""
    root = root.rstrip("/")
    below = path.removeprefix(root)
    return plain(below if below[:1] in ("", "/") else path)


def plain(path: str) -> str:
    """Without a slash at its end, which makes no difference here."""
    return path.rstrip("/") or "/"


def _joined(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """What stands several times is one list, so that none of it is passed over."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
