"""A server mounted into another one: its features are served beside the host's."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.bridge import Access, Names, Upstream
from mcp_runtime.errors import LocalError, RemoteError
from mcp_runtime.revisions import latest as t

ERAS: Final = ("2025-11-25", "2026-07-28")


def library(revision: str) -> Server:
    server = Server("library", "1", revisions=[revision])

    @server.tool
    async def find(title: str, ctx: Context) -> str:
        answer = await ctx.elicit(f"Borrow {title}?", bool)
        return f"{title}: {answer.content}"

    @server.prompt
    def advise(genre: str) -> str:
        return f"a {genre}"

    @server.completion("advise", "genre")
    def genres(value: str) -> list[str]:
        return ["novel", "essay"]

    @server.resource("book://one")
    def one() -> str:
        return "of the library"

    @server.resource("book://{id}/page")
    def page(id: str) -> str:
        return f"page of {id}"

    return server


@pytest.mark.parametrize("revision", ERAS)
async def test_features_of_both_servers_are_served_and_seen_by_the_middleware(
    revision: str,
) -> None:
    host, seen = Server("host", "1", limits=Limits(page_size=2)), list[tuple[str, Any]]()
    for name in ("a", "b", "c"):
        host.tool(name=name)(lambda: "of the host")
    host.resource("book://one")(lambda: "of the host")

    @host.middleware
    async def watch(method: str, params: Any, ctx: Context, call: Any) -> Any:
        seen.append((method, getattr(params, "name", None)))
        return await call(params, ctx)

    upstream = library(revision)
    host.mount("books", upstream)

    async def agree(question: Any) -> Any:
        return t.ElicitResult(action="accept", content={"value": True})

    async with Client(host, revisions=[revision], on_elicit=agree) as client:
        assert [each.name for each in await client.list_tools()] == ["a", "b", "c", "books_find"]
        assert [each.name for each in await client.list_prompts()] == ["books_advise"]
        assert [each.uri for each in await client.list_resources()] == [
            "book://one",
            "book://books/one",
        ]
        (template,) = await client.list_resource_templates()
        assert template.uri_template == "book://books/{id}/page"
        assert (await client.call_tool("a")).text == "of the host"
        assert (await client.call_tool("books_find", {"title": "Emma"})).text == "Emma: True"
        assert ("tools/call", "books_find") in seen
        (message,) = (await client.get_prompt("books_advise", {"genre": "x"})).messages
        assert message.content == t.TextContent(text="a x")
        reference = t.PromptReference(name="books_advise")
        assert (await client.complete(reference, "genre", "")).values == ["novel", "essay"]
        texts = [
            getattr((await client.read_resource(uri))[0], "text", "")
            for uri in ("book://one", "book://books/one", "book://books/7/page")
        ]
        assert texts == ["of the host", "of the library", "page of 7"]
        async with client.listen(uris=["book://books/one"]) as changes:
            upstream.resource_updated("book://one")
            assert (await anext(aiter(changes))).uri == "book://books/one"
        with pytest.raises(RemoteError, match="Unknown tool: none"):
            await client.call_tool("books_none")


async def test_a_lost_server_is_left_out_and_hooks_hold_for_the_others() -> None:
    def allow(access: Access) -> bool:
        return access.name != "t_secret"

    async def lost(*_: Any) -> Any:
        raise OSError("no such server")

    other = Server("other", "1")
    for name in ("plain", "secret", "left"):
        other.tool(name=name)(lambda: "of the other")
    host = Server("host", "1")
    host.mount("gone", lost)
    names = Names(renamed={"left": "right"}, tools=("plain", "secret", "left"))
    host.mount("t", Upstream.of(Client(other), names), allow=allow)
    async with Client(host) as client:
        assert [each.name for each in await client.list_tools()] == ["t_plain", "right"]
        assert (await client.call_tool("right")).text == "of the other"
        for name, why in (("gone_x", "gone is not available"), ("t_secret", "Unknown tool")):
            with pytest.raises(RemoteError, match=why):
                await client.call_tool(name)


async def test_names_of_both_a_bad_prefix_and_a_late_call_are_refused() -> None:
    host, other = Server("host", "1"), Server("other", "1")
    host.tool(name="a_b")(lambda: 1)
    host.resource("note://r/x")(lambda: "")
    for prefix, why in (
        ("a", "there is a tool 'a_b'"),
        ("r", "there is a resource 'note://r/x'"),
        ("", "'' is no prefix"),
        ("a b", "'a b' is no prefix"),
    ):
        with pytest.raises(ValueError, match=why):
            host.mount(prefix, other)
    with pytest.raises(TypeError, match="42 is no server, client, URL"):
        host.mount("n", 42)
    host.mount("m", other)
    with pytest.raises(ValueError, match="there is a server mounted as 'm'"):
        host.mount("m", other)
    with pytest.raises(ValueError, match="tool 'm_x': the server mounted as 'm' has it"):
        host.tool(name="m_x")(lambda: 1)
    async with Client(host):
        with pytest.raises(LocalError, match="'late' is mounted too late: the server has clients"):
            host.mount("late", other)
