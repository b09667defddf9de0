"""Which features are enabled: by the rules of the server, and by those of one session."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, cast

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.errors import RemoteError
from mcp_runtime.server.rules import NO_RULES, Rules, Switch

HANDSHAKE = "2025-11-25"


def tagged(**tags: set[str]) -> Server:
    server = Server("s", "1")
    for name, each in tags.items():
        server.add_tool(lambda: "", name=name, tags=each)
    return server


async def names(server: Server, **options: Any) -> list[str]:
    async with Client(server, **options) as client:
        return [tool.name for tool in await client.list_tools()]


CASES: Final[list[tuple[Callable[[Server], object], list[str]]]] = [
    (lambda s: None, ["plain", "old", "new", "both"]),
    (lambda s: s.disable(), ["plain", "old", "new", "both"]),
    (lambda s: s.disable(tags={"x"}), ["plain", "new"]),
    (lambda s: (s.disable(tags={"x"}), s.enable(tags={"y"})), ["plain", "new", "both"]),
    (lambda s: (s.enable(tags={"y"}), s.disable(tags={"x"})), ["plain", "new"]),
    (lambda s: (s.disable(tags={"x"}), s.enable("old")), ["plain", "old", "new"]),
    (lambda s: (s.disable("old"), s.enable(tags={"x"})), ["plain", "old", "new", "both"]),
    (lambda s: (s.disable("plain"), s.enable(tags={"y"}, only=True)), ["new", "both"]),
    (lambda s: (s.enable("plain", tags=["y"], only=True), s.disable("both")), ["plain", "new"]),
    (lambda s: (s.disable("old"), s.remove_tool("old"), s.add_tool(lambda: "", name="old")),
     ["plain", "new", "both", "old"]),
]  # fmt: skip


@pytest.mark.parametrize(("switch", "enabled"), CASES)
async def test_the_last_rule_about_a_feature_counts(
    switch: Callable[[Server], object], enabled: list[str]
) -> None:
    server = tagged(plain=set(), old={"x"}, new={"y"}, both={"x", "y"})
    switch(server)
    assert await names(server) == enabled


async def test_a_rule_for_a_tag_is_about_later_features_too() -> None:
    server = tagged()
    server.disable(tags={"x"})
    server.add_tool(lambda: "", name="later", tags={"x"})
    with pytest.raises(ValueError, match="a tool 'later' is registered already"):
        server.add_tool(lambda: "", name="later")
    async with Client(server, revisions=[HANDSHAKE]) as client:
        assert client.server_capabilities["tools"] == {"listChanged": True}
        assert await client.list_tools() == []
    server.remove_tool("later")
    server.add_tool(lambda: "", name="later")
    assert await names(server) == ["later"]


async def test_a_tool_that_is_removed_while_it_is_disabled_is_gone() -> None:
    server = tagged(one={"x"}, two=set())
    server.disable(tags={"x"})
    server.remove_tool("one")
    server.enable(tags={"x"})
    assert await names(server) == ["two"]
    with pytest.raises(KeyError):
        server.remove_tool("one")


def test_rules_are_no_more_than_names_and_tags() -> None:
    rules: Rules = NO_RULES
    for number in range(100):
        rules = rules.switch(Switch(number % 2 == 0, ["a", "b"], ["x"]))
    assert len(rules) == 3


async def test_a_page_has_as_many_enabled_features_as_any_other() -> None:
    server = Server("s", "1", limits=Limits(page_size=2))
    for number in range(6):
        server.add_tool(lambda: "", name=f"t{number}", tags={"even"} if number % 2 == 0 else ())
    server.disable(tags={"even"})
    async with Client(server) as client:
        page = await client.request("tools/list", {})
        assert [tool.name for tool in page.tools] == ["t1", "t3"]
        rest = await client.request("tools/list", {"cursor": page.next_cursor})
        assert [tool.name for tool in rest.tools] == ["t5"]


@pytest.mark.parametrize("of", ["server", "session"])
async def test_a_slip_in_a_rule_is_an_error(of: str) -> None:
    server = tagged(one=set())
    unknown = "'two' is not the name of a registered feature, nor its URI"
    letters = "tags is a list: write ['x'] instead of 'x'"
    if of == "server":
        with pytest.raises(ValueError, match=unknown):
            server.disable("two")
        with pytest.raises(ValueError, match=re.escape(letters)):
            server.enable(tags=cast("set[str]", "x"))
        return

    @server.tool
    async def switch(ctx: Context, name: bool) -> None:
        await (ctx.disable("two") if name else ctx.enable(tags=cast("set[str]", "x")))

    server.show_errors = True
    async with Client(server, revisions=[HANDSHAKE]) as client:
        assert unknown in (await client.call_tool("switch", {"name": True})).text
        assert letters in (await client.call_tool("switch", {"name": False})).text


async def test_a_session_ends_with_its_rules() -> None:
    server = tagged(one={"x"})

    @server.tool
    def show(ctx: Context) -> str:
        """Run in a thread."""
        ctx.wait(ctx.enable(tags={"x"}))
        return ""

    @server.resource("note://one", tags={"x"})
    def note() -> str:
        return "one"

    @server.tool
    async def read(ctx: Context) -> str:
        (contents,) = await ctx.read("note://one")
        return contents.uri

    server.disable(tags={"x"})
    for _ in range(2):
        async with Client(server, revisions=[HANDSHAKE]) as client:
            async with client.listen(tools=True, resources=True) as changes:
                with pytest.raises(RemoteError, match="Resource not found"):
                    await client.call_tool("read")
                await client.call_tool("show")
                assert {(await anext(changes)).what for _ in range(2)} == {"tools", "resources"}
            assert [tool.name for tool in await client.list_tools()] == ["one", "show", "read"]
            assert (await client.call_tool("read")).text == "note://one"
