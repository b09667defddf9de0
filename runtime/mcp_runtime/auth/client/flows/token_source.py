"""Gets tokens for one server: discovers their issuer, registers, and runs the right flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from mcp_runtime.auth.addresses import (
    origin,
    plain_issuer,
    require_near_page,
    same_issuer,
)
from mcp_runtime.auth.challenge import Challenge
from mcp_runtime.auth.client.auth_trace import masked_url, request_line, response_line
from mcp_runtime.auth.client.authorization_server.client_authentication import sign_assertion
from mcp_runtime.auth.client.authorization_server.discovery import Discovered, discover
from mcp_runtime.auth.client.authorization_server.registered import AuthMethod, ClientRegistration
from mcp_runtime.auth.client.authorization_server.registration import register
from mcp_runtime.auth.client.authorization_server.tokens import TokenRequest, TokenSet, refresh
from mcp_runtime.auth.client.flows.authorization_code import code_flow
from mcp_runtime.auth.client.flows.clock_difference import clock_difference
from mcp_runtime.auth.client.flows.dpop import DpopKey
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.redirect import Visit
from mcp_runtime.auth.errors import (
    AuthorizationError,
    IssuerNeeded,
    IssuerUnavailable,
    LoginAbandoned,
    LoginNeeded,
    OAuthError,
    RegistrationRefused,
)
from mcp_runtime.auth.messages import AuthRequest, AuthResponse, Fetch, Flow, PageGuard
from mcp_runtime.errors import printable

_T = TypeVar("_T")


class TokenSource:
    """Gets tokens for the server at `url`. Its requests go through `fetch`, one flow at a time.

    `paused` stops the clocks of requests while a person is at a sign-in page. `key` is the key of
    DPoP, None as long as nobody wants proofs.
    """

    def __init__(
        self,
        settings: OAuth,
        url: str,
        fetch: Fetch,
        paused: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._settings = settings
        self._url = url
        self._fetch = fetch
        self._paused = paused
        self.key: DpopKey | None = None

    @property
    def can_ask(self) -> bool:
        """True if new tokens can be had: by a grant, or from a person."""
        return self._settings.redirect is not None or self._settings.grant is not None

    async def discover(self, challenge: Challenge, before: TokenSet | None) -> Discovered:
        """Discover the present issuer of tokens for the server; `before` are the old tokens.

        Raises DiscoveryFailed, RegistrationRefused, IssuerNeeded.
        """
        settings = self._settings
        discovery = await self._run(
            discover(
                self._url,
                challenge.resource_metadata,
                allow_issuer_mismatch=settings.allow_issuer_mismatch,
            )
        )
        self._require_issuer(discovery, before)
        wanted = settings.dpop
        if wanted is None:
            wanted = challenge.scheme == "dpop" or discovery.dpop_required
        if wanted and self.key is None:
            self.key = DpopKey(now=settings.now, draw=settings.draw)
        return discovery

    async def obtain(self, discovery: Discovered, scopes: tuple[str, ...]) -> TokenSet:
        """Return new tokens, by the grant or from a person.

        Raises LoginNeeded, LoginAbandoned, AuthorizationError.
        """
        grant = self._settings.grant
        if grant is not None:
            return await self._run(grant.tokens(self._request(discovery, grant.client), scopes))
        return await self._by_person(discovery, scopes)

    async def refresh(self, discovery: Discovered, before: TokenSet) -> TokenSet | None:
        """Return refreshed tokens; None if the issuer has changed, or accepts no refresh token of
        ours.

        Raises IssuerUnavailable, Disconnected: the refresh token may still be good.
        """
        client = await self._known_client(discovery)
        issuer = discovery.issuer
        is_ours = same_issuer(before.issuer, issuer)
        if not is_ours or before.refresh_token is None or client is None:
            return None
        try:
            newer = await self._run(refresh(self._request(discovery, client), before))
        except IssuerUnavailable:
            raise
        except OAuthError as error:
            self.report(f"the refresh token is not accepted: {error}")
            if error.code == "invalid_client":
                await self._settings.storage.delete(_client_key(issuer))
            return None
        if client.is_doubted:
            await self._keep_client(issuer, replace(client, is_doubted=False))
        return newer

    async def _by_person(self, discovery: Discovered, scopes: tuple[str, ...]) -> TokenSet:
        redirect = self._settings.redirect
        if redirect is None:
            raise LoginNeeded(discovery.issuer)
        client = known = await self._known_client(discovery)
        async with AsyncExitStack() as stack:
            way = redirect(client.redirect_uri if client is not None else None)
            visit = await stack.enter_async_context(way)
            fits = client is not None and client.redirect_uri in (None, visit.uri)
            if client is None or not fits or client.is_doubted:
                client = await self._register(discovery, visit.uri)
            asked = _with_offline_access(discovery, scopes)
            flow = code_flow(
                self._request(discovery, client), visit.uri, asked, self._settings.draw
            )
            try:
                return await self._run(flow, visit)
            except LoginAbandoned:
                if client is known and client.redirect_uri is not None:
                    doubted = replace(client, is_doubted=True)
                    await self._keep_client(discovery.issuer, doubted)
                raise

    def _request(self, discovery: Discovered, client: ClientRegistration) -> TokenRequest:
        return TokenRequest(
            discovery=discovery,
            client=client,
            now=self._settings.now,
            assertion=lambda: self._assertion(discovery, client),
            proof=None if self.key is None else self.key.proof,
        )

    def _assertion(self, discovery: Discovered, client: ClientRegistration) -> str:
        """Sign an assertion. Raises AuthorizationError without a key to sign with."""
        grant = self._settings.grant
        if grant is None or grant.key is None:
            raise AuthorizationError("private_key_jwt needs a private key: give `key` to the grant")
        return sign_assertion(
            grant.key,
            client_id=client.client_id,
            audience=discovery.server.issuer,
            jti=self._settings.draw(),
            now=self._settings.now(),
        )

    # ---- who the client is

    def _require_issuer(self, discovery: Discovered, before: TokenSet | None) -> None:
        """Raise RegistrationRefused if our credentials come from another issuer than this one.

        Raises IssuerNeeded if their issuer is unknown.
        """
        settings, issuer = self._settings, discovery.issuer
        ours = settings.client_issuer
        if ours is None and settings.shown:
            grant = settings.grant
            client_id = settings.client_id if grant is None else grant.client.client_id
            if before is None or before.client_id != client_id:
                raise IssuerNeeded(settings.shown, issuer, self._url)
            ours = before.issuer
        if ours is not None and not _is_issuer(ours, discovery):
            raise RegistrationRefused(
                f"the client is known to {ours!r}, and the server is now protected by {issuer!r}:"
                " register there, and give what you get there"
            )

    async def _known_client(self, discovery: Discovered) -> ClientRegistration | None:
        """Return the client given in the settings, identified by its document, or registered
        earlier with the same issuer; None if there is none.

        Source: 2026-07-28 basic/authorization/client-registration, "Authorization Server Binding".
        """
        settings, server = self._settings, discovery.server
        if settings.grant is not None:
            return settings.grant.client
        if settings.client_id is not None:
            return self._given_client(settings.client_id)
        if settings.client_metadata_url and server.client_id_metadata_document_supported:
            return ClientRegistration(client_id=settings.client_metadata_url)
        kept = await settings.storage.get(_client_key(discovery.issuer))
        client = None if kept is None else decode_stored(kept, ClientRegistration)
        return client if client is not None and client.is_usable(settings.now()) else None

    def _given_client(self, client_id: str) -> ClientRegistration:
        settings = self._settings
        usual: AuthMethod = "client_secret_basic" if settings.client_secret else "none"
        return ClientRegistration(
            client_id=client_id,
            client_secret=settings.client_secret,
            auth_method=settings.client_auth_method or usual,
        )

    async def _register(self, discovery: Discovered, uri: str) -> ClientRegistration:
        name = self._settings.client_name
        client = await self._run(register(discovery.server, client_name=name, redirect_uri=uri))
        await self._keep_client(discovery.issuer, client)
        return client

    async def _keep_client(self, issuer: str, client: ClientRegistration) -> None:
        await self._settings.storage.set(_client_key(issuer), msgspec.json.encode(client))

    # ---- doing what a flow asks for

    async def _run(self, flow: Flow[_T], visit: Visit | None = None) -> _T:
        """Run a flow: send its requests, and give it the outcomes."""
        reply: AuthResponse | str | None = None
        while True:
            try:
                step = flow.send(reply)
            except StopIteration as done:
                result: _T = done.value
                return result
            except OAuthError as error:
                if isinstance(reply, AuthResponse):
                    error.explain(clock_difference(reply.headers, self._settings.now()))
                raise
            if isinstance(step, AuthRequest):
                reply = await self._send(step)
            elif visit is not None:
                await self._require_page(step.url)
                self.report(f"sends a person to {masked_url(step.url)}")
                with self._paused():
                    reply = await visit(step.url, step.host)
            else:
                raise LoginNeeded(step.host)

    async def _require_page(self, url: str) -> None:
        """Raise DiscoveryFailed for a page in a private network, unless the server is in it."""
        if self._settings.allow_private_sign_in:
            return
        if isinstance(self._fetch, PageGuard):
            await self._fetch.require_page(url)
        else:
            require_near_page(url, self._url)

    async def _send(self, request: AuthRequest) -> AuthResponse:
        self.report(request_line(request))
        response = await self._fetch(request)
        self.report(f"  {response_line(response)}")
        if self.key is not None:
            self.key.remember(request.url, response.headers.get("dpop-nonce"))
        return response

    def report(self, line: str) -> None:
        """Report one step, if anybody listens."""
        if self._settings.report is not None:
            self._settings.report(printable(line.replace("\n", " ")))


def _client_key(issuer: str) -> str:
    """Return the storage key of the registration at an issuer."""
    return f"client {plain_issuer(issuer)}"


def _is_issuer(ours: str, discovery: Discovered) -> bool:
    """Return True if the issuer given to us is the discovered one.

    A server stating another issuer than its address (`allow_issuer_mismatch`) may be known by the
    stated name, unless a server at another origin states the same.
    """
    if same_issuer(ours, discovery.issuer):
        return True
    asked, stated = discovery.issuer, discovery.server.issuer
    return same_issuer(ours, stated) and origin(ours) == origin(asked)


def _with_offline_access(discovery: Discovered, scopes: Sequence[str]) -> tuple[str, ...]:
    """Ask for a refresh token too, where the authorization server has such a scope.

    Source: 2026-07-28 basic/authorization, "Refresh Tokens".
    """
    offered = "offline_access" in (discovery.server.scopes_supported or ())
    return tuple(dict.fromkeys((*scopes, "offline_access") if offered and scopes else scopes))


def decode_stored(kept: bytes, kind: type[_T]) -> _T | None:
    """Decode a stored value; None if it is unreadable."""
    try:
        return msgspec.json.decode(kept, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
