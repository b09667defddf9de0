"""Servers of the low level of `mcp` 1.x, and sessions of its clients, in both eras."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime import Client
from mcp_runtime import types as t
from mcp_runtime.compat.mcp import ClientSession, McpError, types
from mcp_runtime.compat.mcp.server.lowlevel import NotificationOptions, Server
from mcp_runtime.compat.mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp_runtime.compat.mcp.shared.memory import create_connected_server_and_client_session
from mcp_runtime.revisions import ALL, revision

ERAS = [
    next(name for name in reversed(ALL) if revision(name).era == era)
    for era in ("handshake", "per-request")
]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def git() -> Server:
    server = Server("git", "2.0", instructions="Reads.")

    @server.list_tools()
    async def tools() -> list[Any]:
        return [types.Tool(name=name, inputSchema=SCHEMA) for name in ("log", "both", "json")]

    @server.call_tool()
    async def call(name: str, arguments: dict[str, Any]) -> Any:
        text = [types.TextContent(type="text", text=f"{name} {arguments['n']}")]
        if arguments["n"] < 0:
            raise ValueError("no such commit")
        session = server.request_context.session
        await session.send_log_message("info", "asked")
        return {"log": text, "both": (text, {"n": 1}), "json": {"n": 2}}[name]

    @server.list_resources()
    async def resources() -> list[Any]:
        return [types.Resource(uri="git://head", name="head", mimeType="text/plain")]

    @server.read_resource()
    async def read(uri: Any) -> Any:
        if uri.host == "gone":
            raise ValueError("no such ref")
        return [ReadResourceContents(f"{uri.scheme} {uri.host}", "text/x-ref")]

    @server.list_prompts()
    async def prompts() -> list[Any]:
        argument = types.PromptArgument(name="of", required=True)
        return [types.Prompt(name="review", arguments=[argument])]

    @server.get_prompt()
    async def prompt(name: str, arguments: dict[str, str] | None) -> Any:
        text = types.TextContent(type="text", text=f"{name} {arguments}")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Any:
        return types.Completion(values=[f"{ref.name}.{argument.name}.{argument.value}"])

    return server


@pytest.mark.parametrize("era", ERAS)
async def test_each_handler_answers_in_both_eras(era: str) -> None:
    async with Client(git().native, revisions=[era]) as client:
        assert [each.name for each in await client.list_tools()] == ["log", "both", "json"]
        results = {
            name: t.to_wire(await client.call_tool(name, {"n": 1}))
            for name in ("log", "both", "json")
        }
        (head,) = await client.list_resources()
        (contents,) = await client.read_resource("git://head")
        prompt = t.to_wire(await client.get_prompt("review", {"of": "a"}))
        completed = await client.complete(t.PromptReference(name="review"), "of", "x")
        instructions = client.instructions
    assert results["log"]["content"][0]["text"] == "log 1"
    assert results["both"]["structuredContent"] == {"n": 1}
    assert results["json"]["structuredContent"] == {"n": 2}
    assert results["json"]["content"][0]["text"] == '{\n  "n": 2\n}'
    assert head.uri == "git://head"
    assert t.to_wire(contents) == {
        "uri": "git://head",
        "mimeType": "text/x-ref",
        "text": "git head",
    }
    assert prompt["messages"][0]["content"]["text"] == "review {'of': 'a'}"
    assert completed.values == ["review.of.x"]
    assert instructions == "Reads."


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"n": "x"}, "Input validation error"), ({"n": -1}, "no such commit"), ({}, "n")],
)
async def test_a_failed_call_has_a_text(era: str, arguments: dict[str, Any], text: str) -> None:
    async with Client(git().native, revisions=[era]) as client:
        result = t.to_wire(await client.call_tool("log", arguments))
    assert result["isError"] is True
    assert text in result["content"][0]["text"]


async def test_a_session_of_a_client_has_the_results_of_the_original() -> None:
    logged: list[Any] = []

    async def log(params: Any) -> None:
        logged.append(params.data)

    async with create_connected_server_and_client_session(git(), logging_callback=log) as session:
        tools: Any = await session.list_tools()
        result: Any = await session.call_tool("both", {"n": 1})
        read: Any = await session.read_resource("git://head")
        with pytest.raises(McpError) as caught:
            await session.read_resource("git://gone")
    assert [tool.inputSchema for tool in tools.tools] == [SCHEMA] * 3
    assert result.content == [types.TextContent(type="text", text="both 1")]
    assert (result.structuredContent, result.isError) == ({"n": 1}, False)
    assert read.contents[0].text == "git head"
    assert "no such ref" in caught.value.error.message
    assert logged == ["asked"]


async def test_the_server_asks_the_callbacks_of_a_session() -> None:
    server = Server("asks")

    @server.list_tools()
    async def tools() -> list[Any]:
        return [types.Tool(name="ask", inputSchema={"type": "object"})]

    @server.call_tool()
    async def call(name: str, arguments: dict[str, Any]) -> Any:
        session = server.request_context.session
        roots: Any = await session.list_roots()
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        answer: Any = await session.elicit("Who?", requestedSchema=form)
        text = f"{roots.roots[0].uri} {answer.action} {answer.content}"
        return [types.TextContent(type="text", text=text)]

    async def roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///work")])

    async def elicit(context: Any, params: Any) -> Any:
        assert params.message == "Who?"
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async with create_connected_server_and_client_session(
        server, list_roots_callback=roots, elicitation_callback=elicit
    ) as session:
        result: Any = await session.call_tool("ask", {})
    assert result.content[0].text == "file:///work accept {'name': 'Ada'}"


async def test_the_description_of_a_server_may_change_until_it_runs() -> None:
    server = git()
    server.name, server.version, server.instructions = "hg", "3", "Reads more."
    options = server.create_initialization_options(
        NotificationOptions(tools_changed=True), {"x": {}}
    )
    assert (options.server_name, options.server_version) == ("hg", "3")
    async with create_connected_server_and_client_session(server) as session:
        answer: Any = session.get_server_capabilities()
    assert answer.tools is not None
    async with Client(server.native, revisions=[ERAS[0]]) as client:
        assert client.server_info
        assert client.server_info.name == "hg"
        assert client.instructions == "Reads more."
        assert client.server_capabilities["experimental"] == {"x": {}}


def test_streams_of_other_packages_are_refused() -> None:
    with pytest.raises(TypeError, match="does not come from this package"):
        ClientSession(object(), object())


async def test_a_server_refuses_streams_of_other_packages() -> None:
    server = git()
    with pytest.raises(TypeError, match="does not come from this package"):
        await server.run(object(), object(), server.create_initialization_options())


async def test_a_handler_that_is_called_by_its_request_wraps_the_result() -> None:
    handlers = git().request_handlers
    listed = await handlers[types.ListToolsRequest](types.ListToolsRequest())
    assert isinstance(listed, types.ServerResult)
    assert [tool.name for tool in listed.root.tools] == ["log", "both", "json"]
    asked = types.CallToolRequest(params={"name": "json", "arguments": {"n": -1}})
    called = await handlers[types.CallToolRequest](asked)
    assert called.root.isError is True
    assert called.root.content[0].text == "no such commit"
