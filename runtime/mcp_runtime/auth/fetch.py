"""Sends the requests of authorization; into private networks only where the server is in them too.

Each name is resolved here, every address of it is judged, and the connection goes to a judged
address, so a name cannot change its address between the two.
Source: 2026-07-28 docs/tutorials/security/security_best_practices, "Server-Side Request Forgery".
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from mcp_runtime.auth.addresses import (
    is_loopback,
    is_public,
    place_of,
    private_page,
)
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.core.http.http_rules import join_headers
from mcp_runtime.errors import Disconnected, NotInstalled, NotReached, TooMuch
from mcp_runtime.transports.tls import default_tls

try:
    import httpcore2
    import httpx2
except ModuleNotFoundError:
    raise NotInstalled("authorization over HTTP", "httpx2", "auth") from None

if TYPE_CHECKING:
    from httpcore2 import AsyncNetworkStream

_CONNECTIONS: Final = 8
_OWN: Final = ("loopback", "private")
"""Kinds of networks a server may name only if it is in such a network itself."""


class GuardedFetch:
    """A `Fetch` that follows no redirect, keeps no cookie, and reads nothing of the environment.

    `server_url` is the MCP server: where it is itself on the loopback or in a private network,
    addresses of that kind are allowed too. `tls` checks certificates, by default against those of
    the system. `proxy_of` says by which proxy a URL is asked: the proxy resolves its name then, and
    it is judged as far as it can be resolved here. `body_bytes` bounds a response, `seconds` the
    whole exchange.
    `reuse` keeps connections open for further requests, until `close`; `connections` are open at
    one time.
    """

    def __init__(
        self,
        server_url: str | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        proxy_of: Callable[[str], str | None] = lambda url: None,
        body_bytes: int = 256 * 1024,
        seconds: float = 30.0,
        reuse: bool = True,
        connections: int = _CONNECTIONS,
    ) -> None:
        self._guard = _Guard(urlsplit(server_url or "").hostname)
        self._tls = tls
        self._proxy_of = proxy_of
        self._body_bytes = body_bytes
        self._seconds = seconds
        self._most = connections
        self._reused = None if reuse else 0
        self._pools: dict[str | None, httpcore2.AsyncConnectionPool] = {}

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        """Send a request.

        Raises NotReached, Disconnected, TooMuch, DiscoveryFailed for a forbidden address.
        """
        host = urlsplit(request.url).netloc.rpartition("@")[2]
        try:
            async with asyncio.timeout(self._seconds):
                return await self._exchange(request)
        except TimeoutError:
            raise Disconnected(f"{host} has not answered within {self._seconds:g} s") from None
        except _NOT_REACHED as error:
            raise NotReached(f"{host} cannot be reached: {error}") from None
        except _BROKEN as error:
            raise Disconnected(f"{host}: {type(error).__name__}") from None

    async def _exchange(self, request: AuthRequest) -> AuthResponse:
        headers = [("Accept-Encoding", "identity"), *request.headers.items()]
        if (proxy := self._proxy_of(request.url)) is not None:
            await self._require_near(request.url, _not_public)
        async with self._connections(proxy).stream(
            request.method, request.url, headers=headers, content=request.body or None
        ) as response:
            body = bytearray()
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) > self._body_bytes:
                    raise TooMuch(f"a response of over {self._body_bytes} bytes: {request.purpose}")
        return AuthResponse(
            response.status,
            join_headers((name.lower(), value) for name, value in response.headers),
            bytes(body),
        )

    def _connections(self, proxy: str | None) -> httpcore2.AsyncConnectionPool:
        if proxy not in self._pools:
            through = None if proxy is None else httpx2.Proxy(proxy)
            self._pools[proxy] = httpcore2.AsyncConnectionPool(
                ssl_context=self._tls or default_tls(),
                proxy=None
                if through is None
                else httpcore2.Proxy(
                    url=str(through.url), auth=through.raw_auth, headers=through.headers.raw
                ),
                max_connections=self._most,
                max_keepalive_connections=self._reused,
                network_backend=self._guard if proxy is None else None,
            )
        return self._pools[proxy]

    async def require_page(self, url: str, /) -> None:
        """Refuse a sign-in page in a network to which requests are not sent either.

        A host whose address is unknown passes. Raises DiscoveryFailed.
        """
        await self._require_near(url, private_page)

    async def _require_near(self, url: str, refusal: Callable[[str, str], DiscoveryFailed]) -> None:
        """Check the addresses of a host others connect to, if its name is known here. Raises
        `refusal`.
        """
        host = urlsplit(url).hostname or ""
        try:
            addresses = await _resolved(host, 0)
        except (OSError, UnicodeError):
            addresses = ["127.0.0.1"] if is_loopback(host) else []
        for address in addresses:
            if not await self._guard.may_name(host, address):
                raise refusal(host, address)

    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


_NOT_REACHED: Final = (
    httpcore2.ConnectError,
    httpcore2.ConnectTimeout,
    socket.gaierror,
    UnicodeError,  # no name of a host: a label is empty or too long
)
_BROKEN: Final = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    OSError,
)


class _Guard(httpcore2.AsyncNetworkBackend):
    """Connects to public addresses, or to addresses of the same kind as the MCP server's own."""

    def __init__(self, server: str | None) -> None:
        self._server = server
        self._network: httpcore2.AsyncNetworkBackend = cast(
            "httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend()
        )

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        addresses = await _resolved(host, port)
        for address in addresses:
            if not await self.may_name(host, address):
                raise _not_public(host, address)
        last: Exception | None = None
        for address in addresses:
            try:
                return await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except httpcore2.ConnectError as error:
                last = error
        raise last or httpcore2.ConnectError(f"{host!r} has no address")

    async def may_name(self, host: str, address: str) -> bool:
        """Return True if the server may send us to an address of a host."""
        return is_public(address) or await self._is_near(host, address)

    async def _is_near(self, host: str, address: str) -> bool:
        """Return True if the MCP server is itself at this address, or in such a place.

        A loopback name is near only if the server's name is one, too: the owner of any other name
        may point it to any address.
        """
        if self._server is None or (is_loopback(host) and not is_loopback(self._server)):
            return False
        place = place_of(address)
        ours = await _resolved(self._server, 0)
        return address in ours or (place in _OWN and place in map(place_of, ours))

    async def connect_unix_socket(self, *args: Any, **options: Any) -> AsyncNetworkStream:
        raise DiscoveryFailed("no authorization server is at a Unix socket")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _not_public(host: str, address: str) -> DiscoveryFailed:
    return DiscoveryFailed(
        f"{host!r} is the address {address}, which is not on the public internet;"
        " a server may not send us there"
    )


async def _resolved(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in answers))
