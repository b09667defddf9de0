"""Errors name what is meant here, and what was meant by whom comes from another library."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import pytest

import mcp_runtime
from mcp_runtime import Client, Context, Server, types
from mcp_runtime.errors import RemoteError
from mcp_runtime.server.other_names import CONTEXT_NAMES, SERVER_NAMES


def adding(**options: Any) -> Server:
    server = Server("s", "1", **options)

    @server.tool
    def add(title: str, days: int = 1) -> str:
        return title

    @server.prompt
    def review(code: str) -> str:
        return code

    return server


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"title": 3}, "$.title: expected string, found 3"),
        ({"title": "a", "days": "x"}, '$.days: expected integer, found "x"'),
        ({}, '$: expected the argument "title", found none'),
        (
            {"title": "a", "day": 1},
            '$: unknown argument "day"; did you mean "days"? expected "title", "days"',
        ),
        ({"title": "a", "zzz": 1}, '$: unknown argument "zzz"; expected "title", "days"'),
    ],
)
async def test_an_argument_that_does_not_fit_is_named_in_words_of_json(
    arguments: dict[str, Any], said: str
) -> None:
    async with Client(adding()) as client:
        result = await client.call_tool("add", arguments)
    assert result.content == [types.TextContent(text=said)]


async def test_a_name_that_may_be_meant_is_suggested() -> None:
    async with Client(adding()) as client:
        with pytest.raises(RemoteError, match=r"Unknown tool: ad \(did you mean add\?\)"):
            await client.call_tool("ad", {})
        with pytest.raises(RemoteError, match=r"Unknown tool: zzz \("):
            await client.call_tool("zzz", {})
        with pytest.raises(RemoteError, match=r"Unknown prompt: reviews \(did you mean review\?"):
            await client.get_prompt("reviews", {})


def test_names_of_other_libraries_are_answered_with_ours() -> None:
    server = Server("s", "1")
    with pytest.raises(TypeError, match=r"'streamable-http': run\(\) serves stdio, and run\(http="):
        server.run("streamable-http")
    with pytest.raises(AttributeError, match=r"streamable_http_app.*write server\.asgi\(\)"):
        server.streamable_http_app()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        server.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(("owner", "names"), [(Server, SERVER_NAMES), (Context, CONTEXT_NAMES)])
def test_every_name_of_another_library_is_answered_and_no_hook_slows_down_the_rest(
    owner: type, names: Mapping[str, str]
) -> None:
    for name, ours in names.items():
        with pytest.raises(AttributeError, match=f"{name!r}; write {re.escape(ours)}$"):
            getattr(owner, name)
    assert not hasattr(owner, "__getattr__")


async def test_names_of_other_contexts_are_answered_with_ours() -> None:
    server = Server("s", "1", show_errors=True)

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.report_progress(1, 3)  # type: ignore[attr-defined]
        return ""

    async with Client(server) as client:
        result = await client.call_tool("work", {})
    assert "write ctx.progress(1, 3)" in str(result.content)


def test_the_cause_of_an_import_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> Any:
        raise AttributeError("module 'msgspec' has no attribute 'Raw'")

    monkeypatch.setattr(mcp_runtime, "import_module", fails)
    with pytest.raises(ImportError, match="msgspec' has no attribute 'Raw'"):
        exec("from mcp_runtime import Server")
    assert "mcp_runtime" in sys.modules
