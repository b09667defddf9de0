"""Verifies opaque access tokens by asking their authorization server.

Source: RFC 7662.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Final

from mcp_runtime.auth.addresses import require_secure
from mcp_runtime.auth.client.authorization_server.client_authentication import authenticate
from mcp_runtime.auth.client.authorization_server.registered import ClientRegistration
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.messages import Fetch, form
from mcp_runtime.auth.server.claims import read_claims
from mcp_runtime.auth.server.key_set import fetch_for
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken
from mcp_runtime.errors import TooMuch
from mcp_runtime.limits import DEFAULT, Limits

_MOST_SECONDS: Final = 60.0
_CONFIRMED: Final = 10_000
"""Tokens remembered as valid once, by their SHA-256."""


class IntrospectionVerifier:
    """Asks the endpoint at `url` as `client_id`, and accepts tokens of `issuer` for `audience`.

    A verdict is kept for `keeps` seconds, at most 60: so long may a revoked token be accepted.
    Raises ValueError for more.

    `Limits.token_checks` questions are asked at one time about tokens known as valid before, and as
    many about all others, so made-up tokens keep no known client waiting.
    """

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        audience: str | Sequence[str],
        client_id: str,
        client_secret: str,
        fetch: Fetch | None = None,
        keeps: float = _MOST_SECONDS,
        limits: Limits = DEFAULT,
    ) -> None:
        if keeps > _MOST_SECONDS:
            raise ValueError(f"a verdict is kept for at most {_MOST_SECONDS:g} seconds")
        self.keeps: float = keeps
        self._url = require_secure(url, "the introspection endpoint")
        self._issuer = issuer
        self._audience = frozenset([audience] if isinstance(audience, str) else audience)
        self._client = ClientRegistration(
            client_id=client_id, client_secret=client_secret, auth_method="client_secret_basic"
        )
        self._fetch = fetch or fetch_for(url, connections=2 * limits.token_checks)
        self._confirmed: OrderedDict[bytes, None] = OrderedDict()
        self._known_tokens = _Slots(limits)
        self._new_tokens = _Slots(limits)

    async def verify(self, token: str, /) -> VerifiedToken:
        """Verify a token by asking the endpoint. Raises InvalidToken, SessionError."""
        name = sha256(token.encode("utf-8", "surrogatepass")).digest()
        slots = self._known_tokens if name in self._confirmed else self._new_tokens
        async with slots.slot():
            verified = await self._ask_server(token)
        self._confirmed[name] = None
        self._confirmed.move_to_end(name)
        if len(self._confirmed) > _CONFIRMED:
            self._confirmed.popitem(last=False)
        return verified

    async def _ask_server(self, token: str) -> VerifiedToken:
        fields = {"token": token, "token_type_hint": "access_token"}
        body, headers = authenticate(self._client, fields)
        response = await self._fetch(form(self._url, "asks about a token", body, headers))
        if not response.ok:
            raise DiscoveryFailed(f"the introspection endpoint answers HTTP {response.status}")
        said = response.json("the introspection")
        if said.get("active") is not True:
            raise InvalidToken("the token is not active")
        claims = read_claims(said)
        if not claims.audience & self._audience:
            raise InvalidToken("the token is for another server")
        if claims.iss not in (None, self._issuer):
            raise InvalidToken("the token is from another issuer")
        return claims.verified(self._issuer, said)


class _Slots:
    """Lets `Limits.token_checks` callers in at one time; of the waiting callers, the newest goes
    next.

    So a flood makes the requests of the flood wait, and not later ones. Above `Limits.token_queue`
    the one waiting longest is refused.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._taken = 0
        self._waiting: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Hold a slot. Raises TooMuch for the caller waiting longest when too many wait."""
        if self._taken >= self._limits.token_checks:
            await self._wait()  # whoever leaves hands its slot over
        else:
            self._taken += 1
        try:
            yield
        finally:
            self._hand_over()

    async def _wait(self) -> None:
        if len(self._waiting) >= self._limits.token_queue:
            self._refuse_oldest()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._hand_over()  # it came at the same time
            raise
        finally:
            self._waiting.pop(turn, None)

    def _refuse_oldest(self) -> None:
        while self._waiting:
            turn, _ = self._waiting.popitem(last=False)
            if not turn.done():
                limit = f"{self._limits.token_queue} tokens wait (Limits.token_queue)"
                turn.set_exception(TooMuch(f"more than {limit}; try again"))
                return

    def _hand_over(self) -> None:
        while self._waiting:
            turn, _ = self._waiting.popitem()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken -= 1
