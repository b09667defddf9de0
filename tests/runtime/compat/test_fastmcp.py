"""Servers and clients written for `fastmcp`, in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from mcp_runtime import Client as NativeClient
from mcp_runtime import types as t
from mcp_runtime.compat.fastmcp import Client, Context, FastMCP
from mcp_runtime.compat.fastmcp.contrib.mcp_mixin import (
    MCPMixin,
    mcp_prompt,
    mcp_resource,
    mcp_tool,
)
from mcp_runtime.compat.fastmcp.dependencies import CurrentContext, Depends
from mcp_runtime.compat.fastmcp.exceptions import NotFoundError, ToolError
from mcp_runtime.compat.fastmcp.prompts import Message
from mcp_runtime.compat.fastmcp.server.dependencies import (
    get_access_token,
    get_context,
    get_http_headers,
)
from mcp_runtime.compat.fastmcp.server.middleware import Middleware
from mcp_runtime.compat.fastmcp.tools import Tool, ToolResult
from mcp_runtime.compat.fastmcp.utilities.types import File
from mcp_runtime.compat.mcp.shared.exceptions import MCPError
from mcp_runtime.revisions import ALL, revision

ERAS = [
    next(name for name in reversed(ALL) if revision(name).era == era)
    for era in ("handshake", "per-request")
]
eras = pytest.mark.parametrize("era", ERAS)


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


def shop() -> FastMCP:
    mcp = FastMCP("shop", version=2, instructions="Sells.")

    @mcp.tool
    def add(a: int, b: Annotated[int, Field(description="The other one.")] = 2) -> int:
        """Adds."""
        return a + b

    @mcp.tool("renamed", tags={"x"}, annotations={"readOnlyHint": True}, meta={"k": 1})
    async def other(ctx: Context, unit: str = Depends(lambda: "kg")) -> str:
        await ctx.info("asked")
        return unit

    @mcp.tool(name="refuse")
    def refuse() -> str:
        raise ToolError("closed today")

    @mcp.tool()
    def fail() -> str:
        raise ValueError("a bug")

    @mcp.tool
    def report() -> ToolResult:
        return ToolResult(content="two", structured_content={"n": 2}, meta={"m": 1})

    @mcp.tool
    def listed() -> list[Any]:
        return [1, {"a": 2}]

    @mcp.tool
    def document() -> File:
        return File(data=b"hello", format="text", name="a")

    @mcp.resource("shelf://{row}/{place*}")
    def shelf(row: int, place: str) -> dict[str, Any]:
        return {"row": row, "place": place}

    @mcp.prompt
    def ask(item: str) -> list[Message]:
        return [Message(item), Message("gladly", role="assistant")]

    return mcp


async def call(server: FastMCP, era: str, name: str, **arguments: Any) -> Any:
    async with NativeClient(server.native, revisions=[era]) as client:
        return t.to_wire(await client.call_tool(name, arguments))


@eras
async def test_tools_are_listed_as_in_the_original(era: str) -> None:
    async with NativeClient(shop().native, revisions=[era]) as client:
        tools = {tool.name: t.to_wire(tool) for tool in await client.list_tools()}
    assert tools["add"]["description"] == "Adds."
    assert tools["add"]["inputSchema"]["required"] == ["a"]
    assert tools["add"]["inputSchema"]["properties"]["b"]["description"] == "The other one."
    assert tools["renamed"]["annotations"] == {"readOnlyHint": True}
    assert tools["renamed"]["_meta"] == {"fastmcp": {"tags": ["x"]}, "k": 1}
    assert tools["renamed"]["inputSchema"]["properties"] == {}


@eras
@pytest.mark.parametrize(
    ("name", "arguments", "text", "structured", "is_error"),
    [
        ("add", {"a": 1}, "3", {"result": 3}, False),
        ("renamed", {}, "kg", {"result": "kg"}, False),
        ("refuse", {}, "closed today", None, True),
        ("fail", {}, "Error calling tool 'fail': a bug", None, True),
        ("report", {}, "two", {"n": 2}, False),
        ("listed", {}, '[1,{"a":2}]', None, False),
    ],
)
async def test_a_call_has_the_result_of_the_original(
    era: str, name: str, arguments: Any, text: str, structured: Any, is_error: bool
) -> None:
    result = await call(shop(), era, name, **arguments)
    assert result["content"][0]["text"] == text
    assert result.get("structuredContent") == structured
    assert bool(result.get("isError")) is is_error


@eras
async def test_a_file_is_an_embedded_resource(era: str) -> None:
    result = await call(shop(), era, "document")
    assert result["content"][0]["resource"] == {
        "uri": "file:///a.plain",
        "mimeType": "text/plain",
        "text": "hello",
    }


async def test_a_client_raises_for_a_failed_call_unless_it_should_not() -> None:
    async with Client(shop()) as client:
        result = await client.call_tool("add", {"a": 4})
        assert (result.data, result.structured_content) == (6, {"result": 6})
        with pytest.raises(ToolError, match="closed today"):
            await client.call_tool("refuse")
        failed = await client.call_tool("refuse", raise_on_error=False)
        assert failed.is_error is True
        (contents,) = await client.read_resource("shelf://1/a/b")
        assert contents.text == '{\n  "row": 1,\n  "place": "a/b"\n}'
        prompt: Any = await client.get_prompt("ask", {"item": "tea"})
        assert [each.content.text for each in prompt.messages] == ["tea", "gladly"]
        assert await client.ping() is True
        assert client.is_connected() is True
    assert client.is_connected() is False


@eras
async def test_errors_can_be_masked(era: str) -> None:
    mcp = FastMCP("masks", mask_error_details=True)

    @mcp.tool
    def fail() -> str:
        raise ValueError("password")

    result = await call(mcp, era, "fail")
    assert result["content"][0]["text"] == "Error calling tool 'fail'"


# ---- composition


@eras
async def test_a_mounted_server_is_served_under_its_prefix_now_and_later(era: str) -> None:
    entered: list[str] = []

    @asynccontextmanager
    async def lifespan(server: FastMCP) -> AsyncGenerator[dict[str, str]]:
        entered.append(server.name)
        yield {"owner": server.name}

    weather, main = FastMCP("weather", lifespan=lifespan), FastMCP("main")

    @weather.tool
    def now(ctx: Context) -> str:
        return str(ctx.fastmcp.name)

    main.mount(weather, "w")

    @weather.tool
    def later() -> str:
        return "rain"

    @weather.resource("data://{city}")
    def data(city: str) -> str:
        return city

    @weather.prompt
    def plan() -> str:
        return "go out"

    async with NativeClient(main.native, revisions=[era]) as client:
        assert [each.name for each in await client.list_tools()] == ["w_now", "w_later"]
        result = t.to_wire(await client.call_tool("w_now"))
        (contents,) = await client.read_resource("data://w/oslo")
        assert [each.name for each in await client.list_prompts()] == ["w_plan"]
    assert result["content"][0]["text"] == "weather"
    assert t.to_wire(contents)["text"] == "oslo"
    assert entered == ["weather"]


async def test_an_imported_server_is_a_copy() -> None:
    weather, main = FastMCP("weather"), FastMCP("main")
    weather.tool(lambda: "sun", name="now")
    await main.import_server(weather, prefix="w")
    weather.tool(lambda: "rain", name="later")
    assert list(await main.get_tools()) == ["w_now"]


async def test_tags_and_switches_hide_tools() -> None:
    mcp = FastMCP("tags", exclude_tags={"secret"})
    mcp.tool(lambda: 1, name="a", tags={"x"})
    mcp.tool(lambda: 1, name="b", tags={"secret"})
    mcp.tool(lambda: 1, name="c", enabled=False)
    assert list(await mcp.get_tools()) == ["a"]
    mcp.disable(tags={"x"})
    assert list(await mcp.get_tools()) == []
    mcp.enable(names={"a"})
    assert list(await mcp.get_tools()) == ["a"]
    (await mcp.get_tool("a")).disable()
    with pytest.raises(NotFoundError):
        await mcp.get_tool("a")


async def test_tools_are_added_as_objects_and_removed() -> None:
    mcp = FastMCP("objects")

    def shout(text: str) -> str:
        """Shouts."""
        return text.upper()

    tool = Tool.from_function(shout, name="loud")
    assert tool.parameters["required"] == ["text"]
    mcp.add_tool(tool)
    assert (await mcp.call_tool("loud", {"text": "a"})).structured_content == {"result": "A"}
    mcp.remove_tool("loud")
    with pytest.raises(NotFoundError):
        await mcp.call_tool("loud", {"text": "a"})


@pytest.mark.parametrize("duplicate", ["error", "ignore", "replace"])
async def test_a_second_tool_of_a_name(duplicate: str) -> None:
    mcp = FastMCP("twice", on_duplicate=duplicate)
    mcp.tool(lambda: 1, name="a", description="first")
    if duplicate == "error":
        with pytest.raises(ValueError, match="already exists"):
            mcp.tool(lambda: 2, name="a", description="second")
        return
    mcp.tool(lambda: 2, name="a", description="second")
    expected = "first" if duplicate == "ignore" else "second"
    assert (await mcp.get_tool("a")).description == expected


# ---- middleware, state, dependencies


@eras
async def test_middleware_sees_calls_and_lists(era: str) -> None:
    mcp, seen = shop(), list[str]()

    class Outer(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            seen.append(f"call {context.message.name} {context.message.arguments}")
            result = await call_next(context)
            return ToolResult(f"<{result.content[0].text}>", result.structured_content)

        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            return [each for each in await call_next(context) if "x" not in each.tags]

    class Inner(Middleware):
        async def on_message(self, context: Any, call_next: Any) -> Any:
            seen.append(f"message {context.method}")
            return await call_next(context)

    mcp.add_middleware(Outer())
    mcp.add_middleware(Inner())
    async with NativeClient(mcp.native, revisions=[era]) as client:
        names = [each.name for each in await client.list_tools()]
        result = t.to_wire(await client.call_tool("add", {"a": 1}))
        refused = t.to_wire(await client.call_tool("refuse"))
    assert "renamed" not in names
    assert "add" in names
    assert result["content"][0]["text"] == "<3>"
    assert refused["isError"] is True
    assert seen[:3] == ["message tools/list", "call add {'a': 1}", "message tools/call"]


@eras
async def test_middleware_of_a_mounted_server_guards_its_tools(era: str) -> None:
    main, private = FastMCP("main"), FastMCP("private")
    private.tool(lambda: "secret", name="read")
    main.tool(lambda: "public", name="open")

    class Guard(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            raise ToolError("not allowed")

    private.add_middleware(Guard())
    main.mount(private, "p")
    assert (await call(main, era, "p_read"))["content"][0]["text"] == "not allowed"
    assert (await call(main, era, "open"))["content"][0]["text"] == "public"


async def test_state_is_kept_for_the_session() -> None:
    mcp, context = FastMCP("state"), CurrentContext()

    @mcp.tool
    async def put(value: int, ctx: Context) -> None:
        await ctx.set_state("v", value)

    @mcp.tool
    async def get(ctx: Context = context) -> Any:
        return await ctx.get_state("v")

    async with Client(mcp) as one, Client(mcp) as two:
        await one.call_tool("put", {"value": 7})
        first, second = await one.call_tool("get"), await two.call_tool("get")
    assert first.content[0].text == "7"
    assert second.content == []


@eras
async def test_functions_find_the_running_request(era: str) -> None:
    mcp = FastMCP("running")

    @mcp.tool
    async def where() -> str:
        return f"{get_context().fastmcp.name} {get_http_headers()} {get_access_token()}"

    result = await call(mcp, era, "where")
    assert result["content"][0]["text"] == "running {} None"
    with pytest.raises(RuntimeError, match="No active context"):
        get_context()


@eras
@pytest.mark.parametrize(
    ("response_type", "answer", "expected"),
    [
        (str, {"value": "tea"}, "'tea'"),
        (bool, {"value": True}, "True"),
        (Literal["a", "b"], {"value": "b"}, "'b'"),
        (["a", "b"], {"value": "a"}, "'a'"),
        (Size, {"value": "large"}, "<Size.LARGE: 'large'>"),
        (None, {}, "{}"),
    ],
)
async def test_a_user_is_asked_for_one_value(
    era: str, response_type: Any, answer: Any, expected: str
) -> None:
    mcp = FastMCP("asks")

    @mcp.tool
    async def ask(ctx: Context) -> str:
        result = await ctx.elicit("?", response_type)
        return f"{result.action} {result.data!r}"

    async def fill(params: Any) -> t.ElicitResult:
        return t.ElicitResult(action="accept", content=answer)

    async with NativeClient(mcp.native, revisions=[era], on_elicit=fill) as client:
        result = t.to_wire(await client.call_tool("ask"))
    assert result["content"][0]["text"] == f"accept {expected}"


async def test_a_tool_has_a_time_limit() -> None:
    mcp = FastMCP("slow")

    @mcp.tool(timeout=5)
    async def wait() -> str:
        await asyncio.Event().wait()
        return "never"

    async with Client(mcp) as client:
        with pytest.raises(ToolError, match="timed out after 5s"):
            await client.call_tool("wait")


# ---- missing things


@pytest.mark.parametrize("name", ["from_openapi", "from_fastapi", "as_proxy"])
def test_a_missing_method_names_the_way_to_do_the_same(name: str) -> None:
    with pytest.raises(NotImplementedError, match="instead use"):
        getattr(FastMCP, name)()


def test_an_auth_of_the_original_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="BearerAuth"):
        FastMCP("x", auth=object())


def test_an_unknown_target_of_a_client_is_refused() -> None:
    with pytest.raises(ValueError, match="Could not infer"):
        Client("carrier-pigeon")


class Shelf(MCPMixin):
    @mcp_tool(description="Counts.")
    def count(self, things: list[str]) -> int:
        return len(things)

    @mcp_tool("hidden", enabled=False)
    def hide(self) -> None: ...

    @mcp_resource("shelf://top")
    def top(self) -> str:
        return "tea"

    @mcp_prompt("ask")
    def question(self, about: str) -> str:
        return f"What is {about}?"


async def test_marked_methods_of_a_class_are_registered_with_a_prefix() -> None:
    mcp = FastMCP("shop")
    Shelf().register_all(mcp)
    Shelf().register_all(mcp, prefix="left")
    async with NativeClient(mcp.native) as client:
        names = [tool.name for tool in await client.list_tools()]
        uris = [each.uri for each in await client.list_resources()]
        prompts = [each.name for each in await client.list_prompts()]
        result = await client.call_tool("left_count", {"things": ["a", "b"]})
    assert names == ["count", "left_count"]
    assert uris == ["shelf://top", "left+shelf://top"]
    assert prompts == ["ask", "left_ask"]
    assert result.structured_content == {"result": 2}


def test_an_error_takes_its_members_one_by_one_by_its_later_name() -> None:
    error = MCPError(-32000, "no", {"a": 1})
    assert (error.code, error.message, error.error.data) == (-32000, "no", {"a": 1})


async def test_features_are_shown_alone_and_to_one_session() -> None:
    mcp = FastMCP("tags")
    for name in ("a", "b", "c"):
        mcp.tool(lambda: 1, name=name, tags={name, "all"})

    @mcp.tool
    async def show(ctx: Context, every: bool = False) -> None:
        if every:
            await ctx.enable_components(match_all=True)
        else:
            await ctx.enable_components(names={"b"}, tags={"c"})
            await ctx.disable_components(tags={"c"})

    mcp.prompt(lambda: "", name="a")
    mcp.enable(tags={"all"}, names={"show"}, only=True)
    assert list(await mcp.get_tools()) == ["a", "b", "c", "show"]
    mcp.disable(tags={"all"})
    assert list(await mcp.get_tools()) == ["show"]
    mcp.enable(names={"a"})
    async with NativeClient(mcp.native, revisions=["2025-11-25"]) as client:
        assert [tool.name for tool in await client.list_tools()] == ["a", "show"]
        assert [prompt.name for prompt in await client.list_prompts()] == ["a"]
        await client.call_tool("show")
        assert [tool.name for tool in await client.list_tools()] == ["a", "b", "show"]
        await client.call_tool("show", {"every": True})
        assert [tool.name for tool in await client.list_tools()] == ["a", "b", "c", "show"]
