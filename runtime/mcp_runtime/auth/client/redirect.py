"""How a person signs in: their browser visits a page, and is redirected back to us.

Source: RFC 8252 sections 7.3 and 8.3.
"""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, Protocol
from urllib.parse import parse_qs, urlsplit

from mcp_runtime.auth.addresses import is_loopback, require_secure
from mcp_runtime.auth.errors import LoginAbandoned

_MAX_REQUEST: Final = 16 * 1024
_READ_SECONDS: Final = 10.0
_PAGE: Final = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    "<style>body{{font:1.1rem system-ui;margin:20vh auto;max-width:34rem;padding:0 1rem}}</style>"
    "<h1>{title}</h1><p>{text}</p></html>"
)


class Visit(Protocol):
    """Sends a person to a page and waits for their redirect; `uri` is the redirect URI while it
    waits.
    """

    @property
    def uri(self) -> str: ...

    async def __call__(self, url: str, host: str, /) -> str:
        """Send a person to `url`; return the URL of their redirect. Raises LoginAbandoned."""
        ...


class Redirect(Protocol):
    """Begins to listen for a redirect; `preferred` is the registered redirect URI, or None."""

    def __call__(self, preferred: str | None, /) -> AbstractAsyncContextManager[Visit]: ...


@dataclass(frozen=True, slots=True)
class LoopbackRedirect:
    """Waits for the redirect on this machine's loopback, for one answer.

    `show` gets the URL and its host, and brings it to the person: it prints, or opens a browser
    (`open_browser`). `port` 0 is a free one; `seconds` is how long it waits.
    """

    show: Callable[[str, str], None]
    _: KW_ONLY
    port: int = 0
    path: str = "/callback"
    seconds: float = 300.0

    @asynccontextmanager
    async def __call__(self, preferred: str | None, /) -> AsyncGenerator[Visit]:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        listener = _Listener(self.path, answer)
        server = await self._listen(listener, preferred)
        port = server.sockets[0].getsockname()[1]
        uri = f"http://127.0.0.1:{port}{self.path}"
        try:
            yield _LoopbackVisit(uri, listener, self.show, self.seconds)
        finally:
            server.close()
            for writer in listener.writers:
                writer.close()
            await server.wait_closed()

    async def _listen(self, listener: _Listener, preferred: str | None) -> asyncio.Server:
        """Listen on the port of the registered redirect URI if it is free, else on `port`."""
        parts = urlsplit(preferred or "")
        ports = [self.port]
        if not self.port and is_loopback(parts.hostname or "") and parts.port:
            ports.insert(0, parts.port)
        for port in ports[:-1]:
            try:
                return await asyncio.start_server(listener, "127.0.0.1", port, limit=_MAX_REQUEST)
            except OSError:
                continue
        return await asyncio.start_server(listener, "127.0.0.1", ports[-1], limit=_MAX_REQUEST)


@dataclass(frozen=True, slots=True, repr=False)
class _LoopbackVisit:
    uri: str
    listener: _Listener
    show: Callable[[str, str], None]
    seconds: float

    async def __call__(self, url: str, host: str, /) -> str:
        self.listener.states = _states(url)
        self.show(url, host)
        try:
            async with asyncio.timeout(self.seconds):
                return f"{self.uri}?{await self.listener.answer}"
        except TimeoutError:
            raise LoginAbandoned(
                f"nobody came back from {host} within {self.seconds:g} s; sign in again"
            ) from None


@dataclass(slots=True, repr=False)
class _Listener:
    """Takes the query of the first request to the path with our state, and shows a page.

    Other web pages may ask here too, and a browser opens again the page of an earlier sign-in.
    """

    path: str
    answer: asyncio.Future[str]
    states: list[str] = field(default_factory=list[str])
    writers: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        try:
            async with asyncio.timeout(_READ_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head))
                await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.decode("latin-1").partition(" ")
        parts = urlsplit(rest.partition(" ")[0])
        if method != "GET" or parts.path != self.path or "state=" not in parts.query:
            return _page(404, "Not here", "This address only waits for a sign-in.")
        if self.answer.done():
            return _page(410, "Already signed in", "You can close this page.")
        if not set(self.states) & set(_states(parts.geturl())):
            return _page(404, "Another sign-in", "Go on at the page that your program has opened.")
        self.answer.set_result(parts.query)
        return _page(200, "Back to your program", "You can close this page.")


def _states(url: str) -> list[str]:
    return parse_qs(urlsplit(url).query).get("state", [])


def _page(status: int, title: str, text: str) -> bytes:
    body = _PAGE.format(title=html.escape(title), text=html.escape(text)).encode()
    head = (
        f"HTTP/1.1 {status} -\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nContent-Security-Policy: default-src 'none';"
        " style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


class PastedRedirect:
    """Shows the URL, and lets the person paste the redirect back, for a machine without a browser.

    `read` waits for the person's text in a thread of its own. `uri` is the redirect URI, whose
    page need not exist.
    """

    def __init__(
        self,
        show: Callable[[str, str], None],
        read: Callable[[], str],
        *,
        uri: str = "http://127.0.0.1:1/callback",
    ) -> None:
        self._show = show
        self._read = read
        self.uri = require_secure(uri, "the redirect URI")

    @asynccontextmanager
    async def __call__(self, preferred: str | None, /) -> AsyncGenerator[Visit]:
        yield _PastedVisit(preferred or self.uri, self._show, self._read)


@dataclass(frozen=True, slots=True)
class _PastedVisit:
    uri: str
    show: Callable[[str, str], None]
    read: Callable[[], str]

    async def __call__(self, url: str, host: str, /) -> str:
        self.show(url, host)
        pasted = (await asyncio.to_thread(self.read)).strip()
        if not pasted:
            raise LoginAbandoned(f"no redirect was pasted; sign in at {host} again")
        return pasted
