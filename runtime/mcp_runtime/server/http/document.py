"""Public documents at fixed paths: anyone may read them, pages of every origin and caches too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Protocol

from mcp_runtime.server.http.asgi.request import Header, HttpRequest

_PUBLIC: Final[tuple[Header, ...]] = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET"),
    (b"access-control-allow-headers", b"Content-Type, If-None-Match"),
    (b"access-control-expose-headers", b"ETag"),
)


class Published(Protocol):
    """Something at a path that everyone may ask for."""

    @property
    def handlers(self) -> Mapping[str, Callable[[HttpRequest], Awaitable[None]]]:
        """The handlers by method."""
        ...


@dataclass(frozen=True, slots=True)
class Document:
    """One document. A cache keeps it for `max_age` seconds, then asks whether it has changed."""

    media_type: str
    content: bytes
    max_age: int = 3600

    @property
    def handlers(self) -> Mapping[str, Callable[[HttpRequest], Awaitable[None]]]:
        return {"GET": self.get, "OPTIONS": self.preflight}

    async def get(self, request: HttpRequest) -> None:
        """Send the document, or status 304 to a client that has it. Raises ClientGone."""
        tag = f'"{sha256(self.content).hexdigest()[:32]}"'
        headers = (
            (b"cache-control", f"public, max-age={self.max_age}".encode()),
            (b"etag", tag.encode()),
            *_PUBLIC,
        )
        if _names(request.headers.get("if-none-match", ""), tag):
            await request.start(304, headers)
            await request.end()
        else:
            media_type = (b"content-type", self.media_type.encode())
            await request.reply(200, self.content, (media_type, *headers))

    async def preflight(self, request: HttpRequest) -> None:
        """Answer the preflight of a web page, which may read the document. Raises ClientGone."""
        await request.start(204, _PUBLIC)
        await request.end()


def _names(tags: str, tag: str) -> bool:
    """Return True if `If-None-Match` names a tag. Source: RFC 9110, 13.1.2."""
    return any(each.strip().removeprefix("W/") in ("*", tag) for each in tags.split(","))
