"""Tools whose schemas are given: their arguments checked or typed, their results as declared."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from mcp_runtime import Client, Context, Server, types
from mcp_runtime.revisions import DecodeError
from mcp_runtime.server.decorators import dispatcher_of

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


class Input(Struct):
    a: int


def model(name: str, *, is_structured: bool) -> types.Tool:
    listed: dict[str, Any] = {"name": name, "inputSchema": SCHEMA}
    return types.from_wire(
        types.Tool, {**listed, "outputSchema": {"type": "object"}} if is_structured else listed
    )


async def called(function: Any, given: dict[str, Any], **options: Any) -> types.CallToolResult:
    """What a call of a tool brings, whose schemas are given."""
    structured = options.pop("is_structured", False)

    server = Server("raw", "1")
    server.raw_tool(model("raw", is_structured=structured), **options)(function)
    async with Client(server) as client:
        return await client.call_tool("raw", given)


async def kind(given: Any, ctx: Context) -> str:
    return type(given).__name__


def plain(given: Any, ctx: Context) -> Any:
    return given


def text(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def test_without_a_type_the_arguments_come_as_they_are() -> None:
    assert text(await called(kind, {"a": 1})) == "dict"


async def test_with_a_type_the_arguments_are_of_it() -> None:
    assert text(await called(kind, {"a": 1}, arguments=Input)) == "Input"


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, "is not of type"), ({"arguments": Input}, "Expected `int`, got `str`")],
)
async def test_arguments_that_do_not_fit_are_an_error_of_the_tool(
    options: dict[str, Any], said: str
) -> None:
    result = await called(kind, {"a": "one"}, **options)
    assert result.is_error is True
    assert said in text(result)


async def test_what_a_tool_with_an_output_schema_returns_is_structured() -> None:
    result = await called(plain, {"a": 1}, arguments=Input, is_structured=True)
    assert result.structured_content == {"a": 1}
    assert text(result) == '{"a":1}'


async def test_a_tool_may_be_given_as_the_json_that_clients_see() -> None:
    server = Server("raw", "1")
    server.raw_tool({"name": "raw", "inputSchema": SCHEMA})(plain)
    async with Client(server) as client:
        assert await client.list_tools() == [model("raw", is_structured=False)]
    with pytest.raises(DecodeError, match=r"^\$\.inputSchema: expected object, found nothing$"):
        Server("raw", "1").raw_tool({"name": "raw"})


async def test_what_another_returns_is_content() -> None:
    result = await called(plain, {"a": 1})
    assert result.structured_content is types.UNSET
    assert text(result) == '{"a":1}'


def test_a_function_that_does_not_take_arguments_and_context_is_refused_when_it_is_registered() -> (
    None
):
    async def one(given: Any) -> None: ...
    async def three(given: Any, ctx: Context, more: Any) -> None: ...
    async def named(given: Any, *, ctx: Context) -> None: ...
    async def any_number(*given: Any) -> None: ...

    server = Server("raw", "1")
    register: Any = server.raw_tool(model("raw", is_structured=False))
    for function in (one, three, named):
        with pytest.raises(TypeError, match="tool raw: its function is called with the arguments"):
            register(function)
    assert not dispatcher_of(server).features.tools
    register(any_number)


def test_a_compiled_function_that_does_not_say_what_it_takes_is_registered() -> None:
    server = Server("raw", "1")
    server.raw_tool(model("raw", is_structured=False))(dict.pop)
    assert [*dispatcher_of(server).features.tools] == ["raw"]
