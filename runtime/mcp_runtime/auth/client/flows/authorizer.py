"""Authorizes the requests of one client to one server, and answers the server's challenges."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from typing import Any, Final

import msgspec

from mcp_runtime.auth.addresses import shown_host
from mcp_runtime.auth.challenge import Challenge, challenges
from mcp_runtime.auth.client.authorization_server.discovery import Discovered, canonical
from mcp_runtime.auth.client.authorization_server.tokens import TokenSet
from mcp_runtime.auth.client.flows.clock_difference import clock_difference
from mcp_runtime.auth.client.flows.declined import asking_once
from mcp_runtime.auth.client.flows.token_source import TokenSource, decode_stored
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import SharedStorage
from mcp_runtime.auth.errors import AuthorizationError, LoginNeeded, TokenRefused
from mcp_runtime.auth.messages import AuthResponse, Fetch
from mcp_runtime.errors import Disconnected

_BRIEFLY: Final = 0.1
"""Seconds to wait for another client to renew the tokens, while the present ones are valid."""
_LEEWAY: Final = 30.0
"""Seconds before its end at which a token counts as expired."""
_STEP_UPS: Final = 2
"""How often one client asks for more scopes than the authorization server has granted."""
_NO_CHALLENGE: Final = Challenge("bearer", {})


class Authorizer:
    """The tokens of one client for the server at `url`; requests to it go through `fetch`.

    Any number of requests may use it at one time: while tokens are renewed, they wait for the same
    ones. A renewal goes on though its caller is cancelled, so no new refresh token is lost.
    `paused` stops the clocks of those requests while a person signs in.
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
        self._source = TokenSource(settings, url, fetch, paused)
        self._storage_key = tokens_key(url)
        self._tokens: TokenSet | None = None
        self._loaded = False
        self._unproved = ""
        self._asked: tuple[str, ...] = ()
        self._step_ups: set[frozenset[str]] = set()
        self._renewal: asyncio.Task[None] | None = None

    async def headers(self, method: str, url: str) -> dict[str, str]:
        """Return the headers that authorize one request; none before the server has asked for it.

        Raises SessionError where tokens have ended and cannot be renewed.
        """
        if not self._loaded:
            await self._load()
        if self._renewal is not None:
            await asyncio.shield(self._renewal)
        tokens = self._tokens
        if tokens is not None and not self._lasts(_LEEWAY):
            await self._renew(self._before_expiry(tokens))
            tokens = self._tokens
        if tokens is None:
            return {}
        headers = {"Authorization": f"{tokens.token_type} {tokens.access_token}"}
        if tokens.token_type == "DPoP" and self._source.key is not None:
            headers["DPoP"] = self._source.key.proof(method, url, token=tokens.access_token)
        return headers

    def accepted(self, sent: Mapping[str, str]) -> None:
        """Note that the server accepted a request with these headers of ours."""
        if self._unproved and self._unproved == _token_of(sent):
            self._unproved = ""
            self._step_ups = {
                asked for asked in self._step_ups if not asked <= self._granted_scopes
            }

    async def recover(self, response: AuthResponse, url: str, sent: Mapping[str, str]) -> bool:
        """Handle a refused request; return True if it may be sent once more, with new headers.

        `sent` are the refused request's authorization headers. Raises SessionError with the remedy.
        """
        if response.status not in (401, 403):
            return False
        named = challenges(response.headers.get("www-authenticate"))
        if self._has_new_nonce(response, url, named):
            return True
        challenge = _answerable(named)
        if response.status == 403 and challenge.error != "insufficient_scope":
            return False
        if self._renewal is not None:
            await asyncio.shield(self._renewal)
        elif _token_of(sent) == self._current:
            differs = clock_difference(response.headers, self._settings.now())
            is_unknown = response.status == 401
            renewal = self._sign_in(challenge, differs) if is_unknown else self._step_up(challenge)
            await self._renew(renewal)
        return True

    async def close(self) -> None:
        """End a running renewal, and close the connections of authorization."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait((self._renewal,))
        await self._fetch.close()

    # ---- the tokens of now

    @property
    def _current(self) -> str:
        return self._tokens.access_token if self._tokens is not None else ""

    @property
    def _scopes(self) -> tuple[str, ...]:
        return self._tokens.scopes if self._tokens is not None else ()

    @property
    def _granted_scopes(self) -> frozenset[str]:
        return frozenset(self._scopes)

    @property
    def _issuer(self) -> str:
        return self._tokens.issuer if self._tokens is not None else "the authorization server"

    async def _load(self) -> None:
        self._loaded = True
        stored = await self._settings.storage.get(self._storage_key)
        if stored is not None:
            self._tokens = decode_stored(stored, TokenSet) or self._tokens

    def _lasts(self, leeway: float) -> bool:
        return self._tokens is not None and self._tokens.lasts(self._settings.now(), leeway)

    async def _adopt_tokens(self) -> bool:
        """Take over the tokens if another client of the storage has renewed them; return True then.

        Our refresh token is used up then; a second use could revoke theirs too.
        """
        before = self._current
        if self._source.key is None:  # tokens that are bound to a key are not stored
            await self._load()
        if self._current == before:
            return False
        self._unproved = ""
        return True

    async def _keep(self, tokens: TokenSet) -> None:
        self._tokens, self._loaded = tokens, True
        self._unproved = tokens.access_token
        if tokens.token_type != "DPoP":
            await self._settings.storage.set(self._storage_key, msgspec.json.encode(tokens))

    # ---- renewing them

    async def _renew(self, renewal: Coroutine[Any, Any, None]) -> None:
        """Run `renewal`, or wait for the one under way, until the tokens are renewed."""
        if self._renewal is not None:
            renewal.close()
        else:
            self._renewal = asyncio.get_running_loop().create_task(renewal)
            self._renewal.add_done_callback(self._forget_renewal)
        await asyncio.shield(self._renewal)

    def _forget_renewal(self, renewal: asyncio.Task[None]) -> None:
        self._renewal = None
        if not renewal.cancelled():
            renewal.exception()  # each waiter has it; without this asyncio would complain

    async def _before_expiry(self, tokens: TokenSet) -> None:
        """Renew the tokens early. On failure the old token is sent, and the server's answer
        decides.
        """
        if tokens.refresh_token is None and self._settings.grant is None:
            return
        try:
            discovery = await self._source.discover(_NO_CHALLENGE, tokens)
            await self._obtain(discovery, tokens.scopes, waits=_BRIEFLY if self._lasts(0) else None)
        except (AuthorizationError, Disconnected) as error:
            self._source.report(f"the token could not be renewed: {error}")

    def _has_new_nonce(self, response: AuthResponse, url: str, named: Sequence[Challenge]) -> bool:
        key = self._source.key
        if key is None or not key.remember(url, response.headers.get("dpop-nonce")):
            return False
        return any(challenge.error == "use_dpop_nonce" for challenge in named)

    async def _sign_in(self, challenge: Challenge, differs: str) -> None:
        """Answer a 401. Raises TokenRefused if the server refuses a token just issued.

        `differs` says if the server's clock differs from ours.
        """
        if await self._adopt_tokens():
            return
        if self._unproved:
            why = f": {challenge.error[:200]}" if challenge.error else ""
            why += f", {challenge.description[:200]!r}" if challenge.description else ""
            why += differs
            raise TokenRefused(
                f"{self._url} refuses the token that {self._issuer} has just issued for it{why}"
            )
        tokens = self._tokens
        if not self._source.can_ask and (tokens is None or tokens.refresh_token is None):
            raise LoginNeeded(shown_host(self._url))
        discovery = await self._source.discover(challenge, tokens)
        await self._obtain(discovery, (*(challenge.scopes or discovery.scopes or ()),))

    async def _step_up(self, challenge: Challenge) -> None:
        """Answer a 403 with missing scopes, each set of them once until it is granted.

        Source: 2026-07-28 basic/authorization, "Step-Up Authorization Flow".
        """
        missing = frozenset(challenge.scopes)
        is_asked = missing <= self._granted_scopes or missing in self._step_ups
        if is_asked or len(self._step_ups) >= _STEP_UPS:
            raise AuthorizationError(
                f"{self._url} wants scope {' '.join(sorted(missing))[:200]!r}, which"
                f" {self._issuer} does not grant this client"
            )
        self._step_ups.add(missing)
        discovery = await self._source.discover(challenge, self._tokens)
        await self._obtain(discovery, (*self._asked, *challenge.scopes), missing)

    async def _obtain(
        self,
        discovery: Discovered,
        scopes: tuple[str, ...],
        more: frozenset[str] = frozenset(),
        waits: float | None = None,
    ) -> None:
        """Get new tokens: refresh the present ones, unless more scopes are needed; else ask for new
        ones.

        Sufficient tokens another client of the storage gets meanwhile are used. If the turn takes
        longer than `waits` seconds, nothing is done.
        """
        self._asked = tuple(dict.fromkeys((*scopes, *self._settings.scopes)))
        since = self._settings.now()
        async with self._turn(waits) as is_ours:
            if not is_ours:
                return
            if await self._adopt_tokens() and self._lasts(0) and self._granted_scopes >= more:
                return
            tokens = None
            if more:
                self._asked = tuple(dict.fromkeys((*self._scopes, *self._asked)))
            elif self._tokens is not None:
                tokens = await self._source.refresh(discovery, self._tokens)
                if tokens is None and await self._adopt_tokens():
                    return
            await self._keep(tokens or await self._obtain_anew(discovery, since))

    async def _obtain_anew(self, discovery: Discovered, since: float) -> TokenSet:
        """Get new tokens by the grant, or from a person. Raises OAuthError if the person has
        refused the same scopes to another client since `since`.
        """
        async with AsyncExitStack() as stack:
            if (storage := self._shared_storage) is not None and self._settings.grant is None:
                key, now = f"refused {canonical(self._url)}", self._settings.now
                once = asking_once(storage, key, self._asked, since=since, now=now)
                await stack.enter_async_context(once)
            return await self._source.obtain(discovery, self._asked)

    @property
    def _shared_storage(self) -> SharedStorage | None:
        """Return the storage whose clients wait for each other; None if there is none.

        Tokens bound to a key are in no storage.
        """
        storage = self._settings.storage
        if self._source.key is None and isinstance(storage, SharedStorage):
            return storage
        return None

    @asynccontextmanager
    async def _turn(self, waits: float | None) -> AsyncGenerator[bool]:
        """Wait for this client's turn among all clients of the storage, and hold it; yield False if
        it did not come within `waits` seconds.
        """
        storage, is_ours = self._shared_storage, True
        async with AsyncExitStack() as stack:
            if storage is not None:
                # a person may be signing in to the client whose turn it is
                by_person = self._settings.grant is None
                try:
                    with self._paused() if by_person else nullcontext():
                        async with asyncio.timeout(waits):
                            await stack.enter_async_context(storage.renewing(self._storage_key))
                except TimeoutError:
                    is_ours = False
            yield is_ours


def tokens_key(url: str) -> str:
    """Return the storage key of the tokens for the server at `url`."""
    return f"tokens {canonical(url)}"


def _answerable(named: Sequence[Challenge]) -> Challenge:
    """Return the challenge we can answer; an empty one where the server names none."""
    known = (challenge for challenge in named if challenge.scheme in ("bearer", "dpop"))
    return next(known, _NO_CHALLENGE)


def _token_of(headers: Mapping[str, str]) -> str:
    return headers.get("Authorization", "").partition(" ")[2]
