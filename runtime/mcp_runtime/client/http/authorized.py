"""Sends requests with authorization, and again once a server's challenge was met."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from typing import TYPE_CHECKING, Final, Protocol

from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.fetch import GuardedFetch
from mcp_runtime.auth.messages import AuthResponse
from mcp_runtime.client.http.http import HttpResponse, HttpSender
from mcp_runtime.errors import LocalError, SessionError
from mcp_runtime.limits import Limits

if TYPE_CHECKING:
    import ssl

    import httpx2

    from mcp_runtime.auth.client.oauth import OAuth

_CHALLENGES: Final = 6
"""How often one request may be answered by a challenge; the last answer stands."""


class AuthorizedHttpClient:
    """Sends by `http`, for a server that may be protected.

    `meeting` is entered while the client answers a challenge of the server.
    """

    def __init__(
        self,
        http: HttpSender,
        authorizer: Authorizer,
        meeting: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.url = http.url
        self._http = http
        self._authorizer = authorizer
        self._meeting = meeting

    @asynccontextmanager
    async def send(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes = b""
    ) -> AsyncGenerator[HttpResponse]:
        """Send a request, authorized, and yield the response.

        Raises as HttpClient does, and SessionError where authorization fails.
        """
        for challenges in range(_CHALLENGES + 1):
            with self._authorizing():
                ours = await self._authorizer.headers(method, str(url))
            async with AsyncExitStack() as stack:
                sending = self._http.send(method, url, {**headers, **ours}, content)
                response = await stack.enter_async_context(sending)
                if challenges == _CHALLENGES or not await self._is_met(response, url, ours):
                    yield response
                    return

    @contextmanager
    def _authorizing(self) -> Generator[None]:
        """Convert any exception of the author's storage, redirect or grant to LocalError."""
        try:
            with self._meeting():
                yield
        except SessionError:
            raise
        except Exception as error:
            raise LocalError(
                f"authorization failed on our side, {type(error).__name__}: {error};"
                " check what OAuth was given: redirect, storage, grant"
            ) from error

    async def _is_met(
        self, response: HttpResponse, url: httpx2.URL, ours: Mapping[str, str]
    ) -> bool:
        """Answer a challenge of the server; return True if the request can be sent once more."""
        if response.status not in (401, 403):
            self._authorizer.accepted(ours)
            return False
        headers = {name.lower(): value for name, value in response.headers.items()}
        with self._authorizing():
            refusal = AuthResponse(response.status, headers, b"")
            return await self._authorizer.recover(refusal, str(url), ours)

    async def close(self) -> None:
        await self._authorizer.close()
        await self._http.close()


class Waits(Protocol):
    """The methods of a connection which stop its clocks during authorization."""

    def deadlines_paused(self) -> AbstractContextManager[None]: ...

    def authorizing(self) -> AbstractContextManager[None]: ...


def authorized(
    http: HttpSender,
    auth: OAuth,
    tls: ssl.SSLContext | None,
    proxy_of: Callable[[str], str | None],
    limits: Limits,
    connection: Callable[[], Waits],
) -> AuthorizedHttpClient:
    """Return an HTTP client that sends by `http` and adds the token obtained as `auth` says.

    The deadlines of the connection's requests are paused while a person signs in; time spent on
    requests to the authorization server counts. `proxy_of` returns the proxy for a URL.
    """
    url = str(http.url)
    fetch = GuardedFetch(
        url,
        tls=tls,
        proxy_of=proxy_of,
        body_bytes=limits.authorization_bytes,
        seconds=limits.deadline,
    )
    authorizer = Authorizer(auth, url, fetch, lambda: connection().deadlines_paused())
    return AuthorizedHttpClient(http, authorizer, lambda: connection().authorizing())
