"""A token's whole way through a real authorization server, `oidc-provider` for Node."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime import Client
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.revisions import ALL
from tests.interop.oidc import Person, bounded, first_text, protected

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("revision", [ALL[-2], ALL[-1]])
def test_a_client_registers_signs_in_and_is_served(revision: str) -> None:
    async def main() -> None:
        person = Person()
        async with protected() as (url, issuer):
            auth = OAuth(redirect=person, client_name="interop")
            async with Client.http(url, auth=auth, revisions=[revision]) as client:
                assert await first_text(client, "whoami") == "ann read"
            (asked,) = person.asked
            assert asked["resource"] == [url]
            assert asked["code_challenge_method"] == ["S256"]
            assert issuer

    bounded(main())


def test_a_token_that_ends_is_refreshed_and_its_refresh_token_rotates() -> None:
    async def main() -> None:
        person = Person()
        async with protected() as (url, _):
            async with Client.http(url, auth=OAuth(redirect=person)) as client:
                for _ in range(3):
                    assert await first_text(client, "whoami") == "ann read"
                    await asyncio.sleep(2.1)
            assert person.visits == 1

    bounded(main())


def test_missing_scopes_are_asked_for_when_a_tool_needs_them() -> None:
    async def main() -> None:
        person = Person()
        async with protected() as (url, _):
            async with Client.http(url, auth=OAuth(redirect=person)) as client:
                assert await first_text(client, "whoami") == "ann read"
                assert await first_text(client, "change") == "changed"
                assert await first_text(client, "whoami") == "ann read write"
            assert person.visits == 2

    bounded(main())


def test_a_bound_token_is_of_use_with_its_key_alone() -> None:
    async def main() -> None:
        person = Person()
        seen: list[str] = []
        async with protected() as (url, _):
            auth = OAuth(redirect=person, dpop=True, report=seen.append)
            async with Client.http(url, auth=auth) as client:
                assert await first_text(client, "whoami") == "ann read bound"
                assert await first_text(client, "whoami") == "ann read bound"

    bounded(main())
