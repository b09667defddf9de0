"""Over HTTP the front of a bridge compares headers with bodies, as a server with tools does."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mcp_runtime import Limits, Server
from mcp_runtime.bridge import Bridge, Names, Upstream
from mcp_runtime.core.wire import error_codes
from mcp_runtime.revisions import ALL, UNSET
from mcp_runtime.revisions import latest as t
from tests.support.asgi_client import Client, Headers, serving

REGION: Final = {"type": "string", "x-mcp-header": "Region"}
PLAIN: Final = {"type": "string"}


def origin(revision: str, asked: list[str], region: dict[str, Any]) -> Server:
    """A server whose tool `where` marks its argument as `region` says at the time of its list."""
    server = Server("origin", "1", revisions=[revision])
    server.tool(name="plain")(lambda: "plain")

    @server.prompt
    async def greet() -> str:
        return "Hello."

    @server.on("tools/list")
    async def tools(params: Any, ctx: Any) -> t.ListToolsResult:
        asked.append("tools/list")
        schema = t.ToolInputSchema(extra_={"properties": {"region": dict(region)}})
        return t.ListToolsResult(
            tools=[t.Tool(name="where", input_schema=schema)],
            result_type="complete",
            ttl_ms=60_000,
            cache_scope="private",
        )

    @server.on("tools/call")
    async def call(params: t.CallToolRequestParams, ctx: Any) -> t.CallToolResult:
        asked.append(params.name)
        said = {} if params.arguments is UNSET else params.arguments
        text = str(said.get("region"))
        return t.CallToolResult(content=[t.TextContent(text=text)], result_type="complete")

    return server


async def answer(client: Client, name: str, said: str | None, headers: Headers) -> Any:
    """Return the text of a result, or the status and the code of an error with the header in it."""
    arguments = {} if said is None else {"region": said}
    response = await client.call(name, arguments, headers).until_over()
    if "error" not in response.json:
        return response.json["result"]["content"][0]["text"]
    error = response.error
    return response.status, error["code"], error["message"].split()[2]


def region_is(value: str) -> Headers:
    return {"Mcp-Param-Region": value}


REFUSED: Final = (400, error_codes.HEADER_MISMATCH, "Mcp-Param-Region")


@pytest.mark.parametrize("revision", [ALL[0], ALL[-2], ALL[-1]])
async def test_headers_are_compared_with_the_arguments_marked_by_the_server_behind(
    revision: str,
) -> None:
    asked, region = list[str](), dict(REGION)
    names = Names(prefix="o", renamed={"where": "located"})
    servers = {"o": Upstream.of(origin(revision, asked, region), names), "other": Server("x", "1")}
    async with serving(Bridge(servers).server) as client:
        assert await answer(client, "located", "eu", region_is("eu")) == "eu"
        assert asked == ["tools/list", "where"]
        assert await answer(client, "located", "eu", region_is("=?base64?ZXU=?=")) == "eu"
        assert await answer(client, "located", None, {}) == "None"
        assert asked == ["tools/list", *["where"] * 3]  # the list is known by now
        del asked[:]
        assert await answer(client, "located", "eu", region_is("us")) == REFUSED
        assert await answer(client, "located", "eu", {}) == REFUSED
        assert await answer(client, "located", None, region_is("eu")) == REFUSED
        assert set(asked) == {"tools/list"}
        for header, value in (("Name", "where"), ("Method", "tools/list")):
            refusal = await answer(client, "located", "eu", {f"Mcp-{header}": value})
            assert refusal == (400, error_codes.HEADER_MISMATCH, f"Mcp-{header}")
        prompt = client.request("prompts/get", {"name": "o_greet"}, {"Mcp-Name": "greet"})
        assert (await prompt.until_over()).error["code"] == error_codes.HEADER_MISMATCH

        region.clear()
        region |= PLAIN
        assert await answer(client, "located", "eu", {}) == "eu"  # refused only by the newest list
        region |= REGION
        assert await answer(client, "located", "eu", {}) == "eu"  # the change was not announced
        await client.request("tools/list").until_over()
        assert await answer(client, "located", "eu", {}) == REFUSED


@pytest.mark.parametrize(("most", "lists"), [(1, 3), (2, 2)])
async def test_the_lists_of_so_many_principals_are_known_at_a_time(most: int, lists: int) -> None:
    asked = list[str]()
    bridge = Bridge(origin(ALL[-1], asked, REGION), limits=Limits(bridge_links=most))

    def principal(scope: Any) -> str:
        return str(dict(scope["headers"])[b"x-user"])

    async with serving(bridge.server, principal=principal) as client:
        for user in ("ada", "bob", "ada"):
            headers = {**region_is("eu"), "X-User": user}
            assert await answer(client, "where", "eu", headers) == "eu"
    assert asked.count("tools/list") == lists


async def test_headers_are_compared_for_the_tools_of_a_mounted_server() -> None:
    asked, host = list[str](), Server("host", "1")
    host.mount("o", origin(ALL[0], asked, REGION))
    async with serving(host) as client:
        assert await answer(client, "o_where", "eu", region_is("eu")) == "eu"
        assert await answer(client, "o_where", "eu", region_is("us")) == REFUSED


async def test_a_session_without_such_headers_is_asked_for_none() -> None:
    asked = list[str]()
    async with serving(Bridge(origin(ALL[-1], asked, REGION)).server) as client:
        session = await client.session()
        result = (await session.call("where", {"region": "eu"}).until_over()).json
        assert result["result"]["content"][0]["text"] == "eu"
        assert asked == ["where"]
