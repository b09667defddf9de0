"""Completion in front of servers that do not declare it: of an older revision, or of a few."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.bridge import Bridge
from mcp_runtime.errors import NotOffered, RemoteError
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.revisions import latest as t
from tests.runtime.bridge.test_carried import Raw

METHOD: Final = "completion/complete"


def origin(spoken: str, *, answers: bool) -> Raw:
    """A server with a prompt that declares no completion, and answers it, or knows no such method.

    The oldest revision has nothing to declare it by.
    """

    def answer(message: dict[str, Any]) -> bytes:
        outcome: dict[str, Any] = {"result": {"completion": {"values": ["a"]}}}
        if not answers:
            outcome = {"error": {"code": -32601, "message": "no such method"}}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()

    raw = Raw(spoken, answer, METHOD)

    @raw.server.prompt
    def greet(whom: str) -> str:
        return f"Hello {whom}."

    return raw


async def completed(client: Client, prompt: str) -> list[str]:
    result = await client.complete(t.PromptReference(name=prompt), "whom", "")
    return result.values


@pytest.mark.parametrize("client", [ALL[0], ALL[1], ALL[-1]])
async def test_what_an_older_server_cannot_declare_is_passed_on_and_an_error_is_no_suggestion(
    client: str,
) -> None:
    for answers in (True, False):
        bridge = Bridge(origin(ALL[0], answers=answers), revisions=[client])
        async with Client(bridge.server) as opened:
            if answers:
                assert await completed(opened, "greet") == ["a"]
            elif client == ALL[0]:  # as the server itself says: nothing was declared
                with pytest.raises(RemoteError, match=r"no such method \(-32601\)"):
                    await completed(opened, "greet")
            else:  # the bridge had to declare it
                assert "completions" in opened.server_capabilities
                assert await completed(opened, "greet") == []
            assert [prompt.name for prompt in await opened.list_prompts()] == ["greet"]


@pytest.mark.parametrize("client", [ALL[0], ALL[-1]])
async def test_a_server_that_could_declare_it_and_does_not_is_not_asked(client: str) -> None:
    for spoken in (ALL[1], ALL[-1]):
        raw = origin(spoken, answers=True)
        async with Client(Bridge(raw, revisions=[client]).server) as opened:
            assert "completions" not in opened.server_capabilities
            with pytest.raises((RemoteError, NotOffered), match=r"-32601|does not offer"):
                await completed(opened, "greet")
            assert [prompt.name for prompt in await opened.list_prompts()] == ["greet"]
        assert raw.asked == []


@pytest.mark.parametrize("client", ALL)
async def test_of_several_servers_those_without_it_suggest_nothing(client: str) -> None:
    full, raw = Server("full", "1"), origin(ALL[1], answers=True)

    @full.prompt
    def greet(whom: str) -> str:
        return f"Hello {whom}."

    @full.completion("greet", "whom")
    def names(text: str) -> list[str]:
        return ["Ada"]

    bridge = Bridge({"raw": raw, "full": full}, revisions=[client])
    async with Client(bridge.server) as opened:
        assert await completed(opened, "full_greet") == ["Ada"]
        if revision(client).methods[METHOD].capability:
            assert await completed(opened, "raw_greet") == []
        else:
            with pytest.raises(RemoteError, match=r"Method not found: completion/complete"):
                await completed(opened, "raw_greet")
        assert raw.asked == []
        assert len(await opened.list_prompts()) == 2
