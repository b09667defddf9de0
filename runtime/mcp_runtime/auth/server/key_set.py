"""The public keys of an authorization server: fetched, kept, and fetched anew when they rotate.

Source: RFC 7517; RFC 8414 section 2, `jwks_uri`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mcp_runtime.auth.addresses import require_secure
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.messages import Fetch, get
from mcp_runtime.auth.server.verifier import InvalidToken

_FRESH: Final = 3600.0
"""Seconds for which fetched keys are used before they are fetched anew."""
_MOST_KEYS: Final = 64
_PAUSE: Final = 30.0
"""Seconds between two fetches because of a key that is not known: unknown ids cost nothing."""


class _Document(msgspec.Struct):
    keys: list[dict[str, Any]]


class KeySet:
    """The keys at `url`, fetched by `fetch`. `now` gives seconds on any steady clock."""

    def __init__(self, url: str, fetch: Fetch, now: Callable[[], float]) -> None:
        self._url = require_secure(url, "the key set")
        self._fetch = fetch
        self._now = now
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._failure = ""
        """Why the last fetch failed."""
        self._renewal: asyncio.Task[None] | None = None

    async def candidates(self, key_id: str | None, algorithm: str) -> list[Mapping[str, Any]]:
        """The keys that may have signed. Raises InvalidToken for none.

        Raises DiscoveryFailed where there is none, but might be if keys could be fetched.
        """
        if self._is_stale():
            await self._renew(needed=not self._keys)
        matching = self._matching(key_id, algorithm)
        if not matching and self._may_try():
            await self._renew(needed=False)
            matching = self._matching(key_id, algorithm)
        if not matching and self._failure:
            raise DiscoveryFailed(self._failure)
        if not matching:
            raise InvalidToken("the token is signed with a key that its issuer does not publish")
        return matching

    def _matching(self, key_id: str | None, algorithm: str) -> list[Mapping[str, Any]]:
        return [
            key
            for key in self._keys
            if (key_id is None or key.get("kid") == key_id)
            and key.get("alg", algorithm) == algorithm
            and key.get("use", "sig") == "sig"
            and key.get("kty") != "oct"
        ]

    def _is_stale(self) -> bool:
        return self._fetched_at is None or self._now() - self._fetched_at > _FRESH

    def _may_try(self) -> bool:
        return self._tried_at is None or self._now() - self._tried_at >= _PAUSE

    async def _renew(self, *, needed: bool) -> None:
        """Waits for one fetch, which goes on if a caller is cancelled; `needed` skips the pause."""
        if self._renewal is None:
            if not (needed or self._may_try()):
                return
            self._tried_at = self._now()
            self._renewal = asyncio.create_task(self._replace())
        await asyncio.shield(self._renewal)

    async def _replace(self) -> None:
        """Fetches the keys; old ones stay where that fails."""
        try:
            self._keys = await self._read()
            self._fetched_at, self._failure = self._now(), ""
        except Exception as error:
            self._failure = str(error) or repr(error)
        finally:
            self._renewal = None

    async def _read(self) -> tuple[Mapping[str, Any], ...]:
        response = await self._fetch(get(self._url, "asks for the keys of the issuer"))
        if not response.ok:
            raise DiscoveryFailed(f"the key set answers HTTP {response.status}")
        try:
            document = msgspec.json.decode(response.body, type=_Document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise DiscoveryFailed("the key set is not what RFC 7517 says") from None
        return tuple(document.keys[:_MOST_KEYS])


def fetch_for(url: str) -> Fetch:
    """Fetches `url`, in a private network too, since the operator of the server gave it.

    Each connection is closed after its response, since nobody would close it later.
    """
    from mcp_runtime.auth.fetch import GuardedFetch

    return GuardedFetch(url, reuse=False)
