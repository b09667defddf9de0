"""Servers written for `mcp` 1.x: their features, in both eras."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from mcp_runtime import Client, RpcError
from mcp_runtime import types as t
from mcp_runtime.client.subscription import Change
from mcp_runtime.compat.mcp import McpError, types
from mcp_runtime.compat.mcp.server.fastmcp import Context, FastMCP, Image
from mcp_runtime.compat.mcp.server.fastmcp.exceptions import ToolError
from mcp_runtime.compat.mcp.server.fastmcp.prompts import base
from mcp_runtime.compat.mcp.server.fastmcp.resources import TextResource
from mcp_runtime.revisions import ALL, revision

ERAS = [
    next(name for name in reversed(ALL) if revision(name).era == era)
    for era in ("handshake", "per-request")
]
eras = pytest.mark.parametrize("revisions", [[each] for each in ERAS], ids=ERAS)


class Order(BaseModel):
    item: str
    count: int = 1


@dataclass
class State:
    greeting: str


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncGenerator[State]:
    yield State(f"hello from {server.name}")


def shop() -> FastMCP:
    mcp = FastMCP("shop", instructions="Sells.", lifespan=lifespan)

    @mcp.tool()
    async def add(
        a: int, b: Annotated[int, Field(description="The other one.")] = 2, ctx: Any = None
    ) -> int:
        """Adds.

        Args:
            a: The one.
        """
        return a + b

    @mcp.tool(description="Buys.", annotations=types.ToolAnnotations(readOnlyHint=False))
    def buy(order: Order) -> Order:
        return Order(item=order.item, count=order.count + 1)

    @mcp.tool()
    def fail() -> str:
        raise ValueError("the shelf is empty")

    @mcp.tool()
    async def greet(ctx: Context[Any, State]) -> str:
        await ctx.info("greeting")
        await ctx.report_progress(1, 2)
        greeting: str = ctx.request_context.lifespan_context.greeting
        return greeting

    @mcp.tool()
    def picture() -> Image:
        return Image(data=b"png", format="png")

    @mcp.tool()
    def mixed() -> list[Any]:
        return ["a", {"b": 1}, types.TextContent(type="text", text="c")]

    @mcp.resource("shelf://{name}")
    def shelf(name: str) -> str:
        return f"the shelf {name}"

    @mcp.resource("shop://hours", mime_type="application/json")
    def hours() -> dict[str, int]:
        return {"opens": 8}

    @mcp.prompt(title="Ask")
    def ask(item: str, count: int = 1) -> list[base.Message]:
        return [base.UserMessage(f"{count} {item}"), base.AssistantMessage("gladly")]

    mcp.add_resource(TextResource("shop://motto", "always open"))
    return mcp


def client(server: FastMCP, revisions: list[str], **options: Any) -> Client:
    return Client(server.native, revisions=revisions, **options)


@eras
async def test_tools_have_the_names_parameters_and_descriptions_of_the_original(
    revisions: list[str],
) -> None:
    async with client(shop(), revisions) as session:
        tools = {tool.name: t.to_wire(tool) for tool in await session.list_tools()}
    assert list(tools) == ["add", "buy", "fail", "greet", "picture", "mixed"]
    add = tools["add"]["inputSchema"]
    assert add["required"] == ["a"]
    assert add["properties"]["b"]["description"] == "The other one."
    assert add["properties"]["a"]["description"] == "The one."
    assert tools["add"]["description"].startswith("Adds.\n")
    assert "Args:" in tools["add"]["description"]
    assert tools["buy"]["description"] == "Buys."
    assert tools["buy"]["annotations"] == {"readOnlyHint": False}
    assert tools["greet"]["inputSchema"]["properties"] == {}


@eras
@pytest.mark.parametrize(
    ("name", "arguments", "texts", "structured"),
    [
        ("add", {"a": 1}, ["3"], {"result": 3}),
        ("add", {"a": "1", "b": 1, "unknown": 0}, ["2"], {"result": 2}),
        (
            "buy",
            {"order": {"item": "tea"}},
            ['{\n  "item": "tea",\n  "count": 2\n}'],
            {"item": "tea", "count": 2},
        ),
        ("greet", {}, ["hello from shop"], {"result": "hello from shop"}),
        ("mixed", {}, ["a", '{\n  "b": 1\n}', "c"], None),
    ],
)
async def test_a_call_has_the_result_of_the_original(
    revisions: list[str],
    name: str,
    arguments: dict[str, Any],
    texts: list[str],
    structured: Any,
) -> None:
    async with client(shop(), revisions) as session:
        result = t.to_wire(await session.call_tool(name, arguments))
    assert [each["text"] for each in result["content"]] == texts
    assert result.get("structuredContent") == structured
    assert not result.get("isError")


async def test_clients_before_structured_content_get_the_content_of_the_original() -> None:
    async with client(shop(), ["2024-11-05"]) as session:
        results = [await session.call_tool(*each) for each in (("add", {"a": 1}), ("greet", {}))]
    assert [[each["text"] for each in t.to_wire(r)["content"]] for r in results] == [
        ["3"],
        ["hello from shop"],
    ]


@eras
async def test_the_model_reads_the_text_of_an_exception(revisions: list[str]) -> None:
    async with client(shop(), revisions) as session:
        result = t.to_wire(await session.call_tool("fail", {}))
    assert result["isError"] is True
    assert result["content"][0]["text"] == "Error executing tool fail: the shelf is empty"


@eras
async def test_resources_and_prompts_are_served(revisions: list[str]) -> None:
    async with client(shop(), revisions) as session:
        (shelf,) = await session.read_resource("shelf://a")
        (hours,) = await session.read_resource("shop://hours")
        (motto,) = await session.read_resource("shop://motto")
        prompt = await session.get_prompt("ask", {"item": "tea", "count": "2"})
        image = t.to_wire(await session.call_tool("picture", {}))
    assert t.to_wire(shelf)["text"] == "the shelf a"
    assert t.to_wire(hours) == {
        "uri": "shop://hours",
        "mimeType": "application/json",
        "text": '{\n  "opens": 8\n}',
    }
    assert t.to_wire(motto)["text"] == "always open"
    messages = t.to_wire(prompt)["messages"]
    assert [(each["role"], each["content"]["text"]) for each in messages] == [
        ("user", "2 tea"),
        ("assistant", "gladly"),
    ]
    assert image["content"][0] == {"type": "image", "data": "cG5n", "mimeType": "image/png"}


@eras
async def test_a_user_is_asked_in_both_eras(revisions: list[str]) -> None:
    mcp = FastMCP("asks")

    @mcp.tool()
    async def order(ctx: Context) -> str:
        answer = await ctx.elicit("What?", schema=Order)
        return f"{answer.action} {answer.data}"

    async def fill(params: Any) -> t.ElicitResult:
        return t.ElicitResult(action="accept", content={"item": "tea", "count": 3})

    async with client(mcp, revisions, on_elicit=fill) as session:
        result = t.to_wire(await session.call_tool("order", {}))
    assert result["content"][0]["text"] == "accept item='tea' count=3"


@eras
async def test_the_model_of_the_client_is_asked_in_both_eras(revisions: list[str]) -> None:
    mcp = FastMCP("samples")

    @mcp.tool()
    async def think(ctx: Context) -> str:
        message = types.SamplingMessage(
            role="user", content=types.TextContent(type="text", text="?")
        )
        answer = await ctx.session.create_message([message], max_tokens=5)
        return f"{answer.model}: {answer.content.text}"

    async def sample(params: Any) -> t.CreateMessageResult:
        return t.CreateMessageResult(role="assistant", model="m", content=t.TextContent(text="42"))

    async with client(mcp, revisions, on_sample=sample) as session:
        result = t.to_wire(await session.call_tool("think", {}))
    assert result["content"][0]["text"] == "m: 42"


async def test_features_are_called_without_a_client() -> None:
    mcp = shop()
    assert await mcp.call_tool("add", {"a": 1}) == (
        [types.TextContent(type="text", text="3")],
        {"result": 3},
    )
    with pytest.raises(ToolError, match="the shelf is empty"):
        await mcp.call_tool("fail", {})
    (contents,) = await mcp.read_resource("shelf://b")
    assert contents.content == "the shelf b"
    assert [each.name for each in await mcp.list_tools()][:2] == ["add", "buy"]


async def test_an_error_of_the_protocol_keeps_its_code() -> None:
    mcp = FastMCP("errors")

    @mcp.prompt()
    def ask() -> str:
        raise McpError(types.ErrorData(code=-32001, message="not now"))

    async with client(mcp, [ERAS[0]]) as session:
        with pytest.raises(Exception, match="not now") as caught:
            await session.get_prompt("ask")
    assert getattr(caught.value, "code", None) == -32001
    assert issubclass(McpError, RpcError)


async def test_an_earlier_tool_stays() -> None:
    mcp = FastMCP("twice")
    mcp.add_tool(lambda: 1, name="one", description="first")
    mcp.add_tool(lambda: 2, name="one", description="second")
    (tool,) = await mcp.list_tools()
    assert tool.description == "first"


@pytest.mark.parametrize("decorator", ["tool", "prompt", "resource"])
def test_forgotten_parentheses_are_named(decorator: str) -> None:
    mcp: Any = FastMCP("slips")
    with pytest.raises(TypeError, match="used incorrectly"):
        getattr(mcp, decorator)(lambda: 1)


def test_an_unknown_transport_is_refused() -> None:
    with pytest.raises(ValueError, match="Unknown transport: carrier-pigeon"):
        FastMCP("x").run("carrier-pigeon")


@eras
@pytest.mark.parametrize(
    "change",
    [
        Change("tools"),
        Change("prompts"),
        Change("resources"),
        Change("resource", "note://tea"),
    ],
)
async def test_a_handler_announces_a_change_by_its_session(
    change: Change, revisions: list[str]
) -> None:
    mcp = shop()
    mcp.add_resource(TextResource(uri="note://tea", name="tea", text="buy some"))

    @mcp.tool()
    async def announce(ctx: Context[Any, State]) -> str:
        announcements = {
            "tools": ctx.session.send_tool_list_changed,
            "prompts": ctx.session.send_prompt_list_changed,
            "resources": ctx.session.send_resource_list_changed,
        }
        if change.uri is None:
            await announcements[change.what]()
        else:
            await ctx.session.send_resource_updated(change.uri)
        return "announced"

    async with Client(mcp.native, revisions=revisions) as client:
        listening = client.listen(tools=True, prompts=True, resources=True, uris=["note://tea"])
        async with listening as changes:
            await client.call_tool("announce")
            assert await anext(aiter(changes)) == change
