"""Remembers that a person has refused, so clients that waited meanwhile do not ask again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from mcp_runtime.auth.client.flows.token_source import decode_stored
from mcp_runtime.auth.client.storage import SharedStorage
from mcp_runtime.auth.errors import OAuthError

_DENIED: Final = "access_denied"
"""The code of a refusal. Source: RFC 6749 section 4.1.2.1."""


class _Refusal(msgspec.Struct, frozen=True):
    """`at` is in seconds on the clock of the clients."""

    scopes: tuple[str, ...]
    at: float
    description: str


@asynccontextmanager
async def asking_once(
    storage: SharedStorage,
    key: str,
    scopes: tuple[str, ...],
    *,
    since: float,
    now: Callable[[], float],
) -> AsyncGenerator[None]:
    """Hold the turn to ask a person for these scopes. The client has waited for it since `since`.

    A refusal is kept under `key`. Raises OAuthError if the person has refused the same scopes to
    another client of the storage while this one waited.
    """
    kept = await storage.get(key)
    refusal = None if kept is None else decode_stored(kept, _Refusal)
    if refusal and {*refusal.scopes} == {*scopes} and since <= refusal.at <= now():
        what = "the person who was asked for all waiting clients has refused"
        raise OAuthError(what, _DENIED, refusal.description)
    try:
        yield
    except OAuthError as error:
        if error.code == _DENIED:
            refusal = _Refusal(scopes, now(), error.description)
            await storage.set(key, msgspec.json.encode(refusal))
        raise
