"""`*values` and `**options` of tools for `mcp` 1.x are parameters of these names."""

from __future__ import annotations

from typing import Any, Dict, Union  # noqa: UP035 - what servers write

import pytest

from mcp_runtime.compat.fastmcp import FastMCP as OtherFastMCP
from mcp_runtime.compat.mcp import types
from mcp_runtime.compat.mcp.server.fastmcp import FastMCP


def push(key: str, *values: str, where: str = "end", **options: Any) -> str:
    return f"{key} {values} {where} {options}"


async def push_async(key: str, *values: str, where: str = "end", **options: Any) -> str:
    return push(key, *values, where=where, **options)


@pytest.mark.parametrize("function", [push, push_async])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"key": "k", "values": "a", "options": {}}, "k ('a',) end {}"),
        ({"key": "k", "values": "a", "options": {"x": 1}}, "k ('a',) end {'x': 1}"),
        ({"key": "k", "values": "a", "where": "top", "options": {}}, "k ('a',) top {}"),
    ],
)
async def test_each_has_a_name(function: Any, arguments: Any, text: str) -> None:
    mcp = FastMCP("lists")
    mcp.add_tool(function, name="push")
    (tool,) = await mcp.list_tools()
    assert sorted(tool.inputSchema["properties"]) == ["key", "options", "values", "where"]
    assert tool.inputSchema["required"] == ["key", "values", "options"]
    content, _ = await mcp.call_tool("push", arguments)
    assert content == [types.TextContent(type="text", text=text)]


def test_fastmcp_refuses_them_as_before() -> None:
    with pytest.raises(TypeError, match="takes any number of values"):
        OtherFastMCP("lists").add_tool(push)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Dict, {"a": 1}),  # noqa: UP006 - what servers write
        (Dict[str, Union[str, bytes]], {"a": "b"}),  # noqa: UP006, UP007 - what servers write
        (object, [1]),
    ],
)
async def test_types_that_msgspec_does_not_read_are_left_to_pydantic(
    annotation: Any, value: Any
) -> None:
    async def show(data: Any) -> str:
        return repr(data)

    show.__annotations__["data"] = annotation
    mcp = FastMCP("types")
    mcp.add_tool(show)
    content, _ = await mcp.call_tool("show", {"data": value})
    assert content == [types.TextContent(type="text", text=repr(value))]
