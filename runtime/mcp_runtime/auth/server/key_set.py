"""The public keys of an authorization server: fetched, kept, and fetched anew when they rotate.

Source: RFC 7517; RFC 8414 section 2, `jwks_uri`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from mcp_runtime.auth.addresses import require_secure
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.messages import Fetch, get
from mcp_runtime.auth.server.verifier import InvalidToken

_FRESH: Final = 3600.0
"""Seconds for which fetched keys are used before they are fetched anew."""
_MOST_KEYS: Final = 64
_PAUSE: Final = 30.0
"""Seconds from the end of one fetch to the next, so unknown ids, and a silent issuer, cost nobody
anything meanwhile.
"""
_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_TYPES: Final = {"ES": "EC", "Ed": "OKP", "PS": "RSA", "RS": "RSA"}
"""Types of keys, by the first letters of the algorithms they sign with."""


class _Document(msgspec.Struct):
    keys: list[dict[str, Any]]


def usable_keys(keys: Iterable[Mapping[str, Any]], algorithm: str) -> list[Mapping[str, Any]]:
    """Return the keys usable with an algorithm: `use`, `alg` and `key_ops` must allow it.

    Source: RFC 7517 sections 4.1 to 4.4; RFC 7518 section 6.1.
    """
    return [
        key
        for key in keys
        if key.get("kty") == _TYPES.get(algorithm[:2])
        and key.get("crv") == _CURVES.get(algorithm, key.get("crv"))
        and key.get("alg", algorithm) == algorithm
        and key.get("use", "sig") == "sig"
        and "verify" in _operations(key)
    ]


def _operations(key: Mapping[str, Any]) -> Sequence[Any]:
    """Return the operations a key allows: all if it names none, no operation if the member is no
    list.
    """
    operations = key.get("key_ops", ("verify",))
    return cast("Sequence[Any]", operations) if isinstance(operations, list | tuple) else ()


class KeySet:
    """The keys at `url`, fetched by `fetch`. `now` gives seconds on any steady clock."""

    def __init__(self, url: str, fetch: Fetch, now: Callable[[], float]) -> None:
        self._url = require_secure(url, "the key set")
        self._fetch = fetch
        self._now = now
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._fetched_at: float | None = None
        self._tried_at = -_PAUSE
        """The time when the last fetch ended."""
        self._withdrawals = 0
        self._failure = ""
        """Why the last fetch failed."""
        self._task: asyncio.Task[None] | None = None

    @property
    def _renewal(self) -> asyncio.Task[None] | None:
        """The fetch under way; None if its event loop has ended, since it would never end."""
        task = self._task
        is_ours = task is not None and task.get_loop() is asyncio.get_running_loop()
        return task if is_ours else None

    def revision(self) -> int:
        """Return how often a key was withdrawn. Fetch old keys anew in the background."""
        self._refresh_behind()
        return self._withdrawals

    async def candidates(self, key_id: str | None, algorithm: str) -> list[Mapping[str, Any]]:
        """Return the keys that may have signed. A known key is used while keys are fetched anew.

        Raises InvalidToken if there is none; DiscoveryFailed if there is none because keys could
        not be fetched.
        """
        self._refresh_behind()
        matching = self._matching(key_id, algorithm)
        if not matching and (self._renewal is not None or self._may_try()):
            await self._renew()
            matching = self._matching(key_id, algorithm)
        if not matching and self._failure:
            raise DiscoveryFailed(self._failure)
        if not matching:
            raise InvalidToken("the token is signed with a key that its issuer does not publish")
        return matching

    def _matching(self, key_id: str | None, algorithm: str) -> list[Mapping[str, Any]]:
        usable = usable_keys(self._keys, algorithm)
        return usable if key_id is None else [key for key in usable if key.get("kid") == key_id]

    def _refresh_behind(self) -> None:
        """Begin to fetch old keys anew; nobody waits for it."""
        fetched_at = self._fetched_at
        is_stale = fetched_at is not None and self._now() - fetched_at > _FRESH
        if is_stale and self._renewal is None and self._may_try():
            self._begin()

    def _may_try(self) -> bool:
        """Return True if a fetch may start now. Without any keys, each token may start one."""
        return not self._keys or self._now() - self._tried_at >= _PAUSE

    async def _renew(self) -> None:
        """Wait for one fetch, which goes on if a caller is cancelled."""
        await asyncio.shield(self._renewal or self._begin())

    def _begin(self) -> asyncio.Task[None]:
        self._task = asyncio.create_task(self._replace())
        return self._task

    async def _replace(self) -> None:
        """Fetch the keys; on failure the old ones stay."""
        try:
            keys = await self._read()
            if any(key not in keys for key in self._keys):
                self._withdrawals += 1
            self._keys, self._fetched_at, self._failure = keys, self._now(), ""
        except Exception as error:
            self._failure = str(error) or repr(error)
        finally:
            self._tried_at = self._now()
            self._task = None

    async def _read(self) -> tuple[Mapping[str, Any], ...]:
        response = await self._fetch(get(self._url, "asks for the keys of the issuer"))
        if not response.ok:
            raise DiscoveryFailed(f"the key set answers HTTP {response.status}")
        try:
            document = msgspec.json.decode(response.text, type=_Document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise DiscoveryFailed("the key set is not what RFC 7517 says") from None
        return tuple(document.keys[:_MOST_KEYS])


def fetch_for(url: str, connections: int = 1) -> Fetch:
    """Fetch `url`, in a private network too, since the operator of the server gave it.

    At most `connections` are open at one time. Each is closed after its response, since nobody
    would close it later.
    """
    from mcp_runtime.auth.fetch import GuardedFetch

    return GuardedFetch(url, reuse=False, connections=connections)
