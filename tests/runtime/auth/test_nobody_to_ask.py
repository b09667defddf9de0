"""A protected server's demand is said at once to whoever cannot meet it, before anything else."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import MemoryStorage
from mcp_runtime.auth.errors import LoginNeeded
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.errors import NotReached, Unauthorized
from tests.support.authorization_server import SERVER, Clock, World, refused


class Unreachable:
    """No name can be looked up."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        self.asked.append(request.url)
        raise NotReached("as.example cannot be reached: no such name")

    async def close(self) -> None:
        """There is nothing to close."""


async def stored(world: World) -> MemoryStorage:
    """The tokens of an earlier sign-in."""
    storage = MemoryStorage()
    settings: dict[str, Any] = {"redirect": world.redirect, "now": Clock(), "storage": storage}
    await Authorizer(OAuth(**settings), SERVER, world).recover(refused(), SERVER, {})
    return storage


async def demand_of(fetch: Unreachable, storage: MemoryStorage) -> str:
    client = Authorizer(OAuth(now=Clock(), storage=storage), SERVER, fetch)
    sent = await client.headers("POST", SERVER)
    client.accepted(sent)
    with pytest.raises(LoginNeeded) as caught:
        await client.recover(refused(), SERVER, sent)
    return str(caught.value)


@pytest.mark.parametrize("has_old_tokens", [False, True])
async def test_without_a_way_to_a_token_no_name_is_looked_up(has_old_tokens: bool) -> None:
    fetch = Unreachable()
    storage = await stored(World(refresh=False)) if has_old_tokens else MemoryStorage()
    said = await demand_of(fetch, storage)
    assert "mcp.example demands a token" in said
    assert "--login" in said
    assert "--header 'Authorization: Bearer" in said
    assert fetch.asked == []


async def test_a_refresh_token_is_a_way() -> None:
    fetch, storage = Unreachable(), await stored(World())
    client = Authorizer(OAuth(now=Clock(), storage=storage), SERVER, fetch)
    sent = await client.headers("POST", SERVER)
    client.accepted(sent)
    with pytest.raises(NotReached, match="no such name"):
        await client.recover(refused(), SERVER, sent)


@pytest.mark.parametrize("is_refused", [False, True])
def test_without_authorization_the_refusal_names_both_ways(is_refused: bool) -> None:
    said = str(Unauthorized("POST", refused=is_refused))
    assert "--login" in said
    assert "--header" in said
