"""One HTTP request as ASGI brings it, and its response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from mcp_runtime.core import codes, envelope

__all__ = ["Call", "Denied", "Gone", "Receive", "Scope", "Send"]

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[None]]


class Denied(Exception):
    """An answer of HTTP's own: a status, and an error without id that says the remedy."""

    def __init__(
        self, status: int, message: str, headers: Iterable[tuple[bytes, bytes]] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = envelope.refusal(None, codes.INVALID_REQUEST, message)
        self.headers = tuple(headers)


class Gone(Exception):
    """The client is gone before it was answered."""


class Call:
    """One HTTP request, and its response."""

    __slots__ = ("_begun", "_receive", "_send", "headers", "method", "path", "scope")

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        path: str = scope["path"]
        self.path = path.removeprefix(scope.get("root_path", "")) or "/"
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self._receive = receive
        self._send = send
        self._begun = False

    async def body(self, most: int, seconds: float) -> bytes:
        """Raises Denied for one that is too large or too slow, Gone."""
        length = self.headers.get("content-length", "0")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        first = await self._part(seconds)
        if not first.get("more_body"):
            return self._fit([first.get("body", b"")], most)
        try:
            async with asyncio.timeout(seconds):
                return await self._rest(first, most)
        except TimeoutError:
            raise _too_slow(seconds) from None

    async def _part(self, seconds: float) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(seconds):
                part = await self._receive()
        except TimeoutError:
            raise _too_slow(seconds) from None
        if part["type"] == "http.disconnect":
            raise Gone
        return part

    async def _rest(self, part: Mapping[str, Any], most: int) -> bytes:
        parts = [part.get("body", b"")]
        size = len(parts[0])
        while part.get("more_body"):
            part = await self._receive()
            if part["type"] == "http.disconnect":
                raise Gone
            parts.append(part.get("body", b""))
            size += len(parts[-1])
            if size > most:
                raise _too_large(most)
        return self._fit(parts, most)

    def _fit(self, parts: list[bytes], most: int) -> bytes:
        body = b"".join(parts)
        if len(body) > most:
            raise _too_large(most)
        return body

    async def gone(self) -> None:
        """Returns when the client is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def reply(
        self, status: int, body: bytes, headers: tuple[tuple[bytes, bytes], ...]
    ) -> None:
        length = (b"content-length", str(len(body)).encode())
        await self.begin(status, (*headers, length))
        await self._send({"type": "http.response.body", "body": body})

    async def begin(self, status: int, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def more(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        with suppress(OSError):
            await self._send({"type": "http.response.body", "body": b""})


def _too_large(most: int) -> Denied:
    close = [(b"connection", b"close")]
    return Denied(413, f"a body of more than {most} bytes (Limits.line_bytes)", close)


def _too_slow(seconds: float) -> Denied:
    why = f"no whole body within {seconds:g} s (Limits.body_seconds)"
    return Denied(408, why, [(b"connection", b"close")])
