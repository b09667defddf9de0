"""Arguments as JSON text, and nulls for absent ones, are read where nothing else can be meant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NotRequired

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from mcp_runtime import Client, Server, types
from mcp_runtime.json_schema.argument_repairs import repair_arguments
from mcp_runtime.revisions import HANDLERS


@dataclass
class Point:
    x: int
    y: int | None = None


class Box(BaseModel):
    corners: list[int]
    scale: float = 1.0


class Level(IntEnum):
    LOW = 1


def takes(kind: Any) -> Server:
    """A server whose tool `t` says the repr of its argument, which is of that kind."""
    server = Server("s", "1")

    async def t(value: kind) -> str:  # type: ignore[valid-type]
        return repr(value)

    t.__annotations__["value"] = kind
    server.tool(t)
    return server


async def said(server: Server, value: Any, tool: str = "t", name: str = "value") -> str:
    """What the tool says; `! ` and the error where the arguments are refused."""
    async with Client(server) as client:
        result = await client.call_tool(tool, {name: value})
        text: str = result.content[0].text  # type: ignore[union-attr]
        return f"! {text}" if result.is_error is True else text


@pytest.mark.parametrize(
    ("kind", "text", "read"),
    [
        (list[int] | None, "[1271, 2106]", "[1271, 2106]"),
        (list[int] | None, "null", "None"),
        (int, "3", "3"),
        (int, "3.0", "3"),
        (float, "-1.5e3", "-1500.0"),
        (bool, "true", "True"),
        (dict[str, int], '{"a": 1}', "{'a': 1}"),
        (list[dict[str, int]], ['{"a": 1}', {"b": 2}], "[{'a': 1}, {'b': 2}]"),
        (list[dict[str, int]], '["{\\"a\\": 1}"]', "[{'a': 1}]"),
        (Point, '{"x": 1}', "Point(x=1, y=None)"),
        (Point, {"x": "1", "y": "2"}, "Point(x=1, y=2)"),
        (list[Point], '[{"x": 1, "y": 2}]', "[Point(x=1, y=2)]"),
        (Box, '{"corners": [1]}', "Box(corners=[1], scale=1.0)"),
        (Box, {"corners": "[1, 2]", "scale": "2"}, "Box(corners=[1, 2], scale=2.0)"),
        (Literal[1, 2], "2", "2"),
        (Level, "1", "<Level.LOW: 1>"),
        (dict[str, list[int]], {"a": "[1]"}, "{'a': [1]}"),
    ],
)
async def test_a_text_that_says_a_value_is_that_value(kind: Any, text: Any, read: str) -> None:
    server = takes(kind)
    assert await said(server, text) == read
    assert server.forgiven == {"text_argument": 1}


@pytest.mark.parametrize(
    ("kind", "text", "read"),
    [
        (str, "3", "'3'"),
        (str | int, "3", "'3'"),
        (list[int] | str, "[1]", "'[1]'"),
        (Any, "[1]", "'[1]'"),
        (object, "true", "'true'"),
        (list[str], ["1", "[2]"], "['1', '[2]']"),
        (Literal["1", 2], "1", "'1'"),
        (dict[str, Any], {"a": "[1]"}, "{'a': '[1]'}"),
    ],
)
async def test_a_text_stays_a_text_where_one_may_be_meant(kind: Any, text: Any, read: str) -> None:
    server = takes(kind)
    assert await said(server, text) == read
    assert not server.forgiven


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, "three"),
        (int, "3.5"),
        (int, "True"),
        (int, "NaN"),
        (int, ""),
        (list[int], "1, 2"),
        (list[int], '["a"]'),
        (list[int], "3"),
        (bool, "1"),
        (float, "1e999"),
        (list[int], "[" * 100_000),
        (int, "9" * 5_000),
        (Literal[1, 2], "3"),
        (list[str] | None, "[1]"),
    ],
)
async def test_a_text_that_does_not_say_such_a_value_is_refused(kind: Any, text: str) -> None:
    server = takes(kind)
    assert (await said(server, text)).startswith("! ")
    assert not server.forgiven


@pytest.mark.parametrize("option", [{"strict_arguments": True}, {"strict": ["text_argument"]}])
async def test_it_can_be_switched_off(option: Any) -> None:
    server = Server("s", "1", **option)

    @server.tool
    async def t(value: int) -> str:
        return repr(value)

    assert (await said(server, "3")).startswith("! $.value: expected int")


async def test_a_raw_tool_reads_them_by_its_schema() -> None:
    pytest.importorskip("jsonschema_rs")
    server = Server("s", "1")
    schema = {
        "type": "object",
        "$defs": {"loc": {"type": "array", "items": {"type": "integer"}}},
        "properties": {
            "loc": {"anyOf": [{"$ref": "#/$defs/loc"}, {"type": "null"}]},
            "free": {},
            "text": {"type": ["string", "integer"]},
            "both": {"allOf": [{"type": "object"}, {"properties": {"n": {"type": "integer"}}}]},
        },
    }

    @server.raw_tool({"name": "t", "inputSchema": schema})
    async def t(arguments: dict[str, Any], ctx: Any) -> str:
        return repr(arguments)

    assert await said(server, "[1, 2]", name="loc") == "{'loc': [1, 2]}"
    assert await said(server, '{"n": 1}', name="both") == "{'both': {'n': 1}}"
    assert await said(server, "[1]", name="free") == "{'free': '[1]'}"
    assert await said(server, "1", name="text") == "{'text': '1'}"
    assert server.forgiven == {"text_argument": 2}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"anyOf": [{"$ref": "#"}]},
        {"$ref": "https://a.example/b"},
        {"type": 3, "properties": [], "enum": 1, "anyOf": {}},
    ],
)
def test_a_schema_that_says_little_or_goes_round_parses_nothing(schema: Any) -> None:
    assert repair_arguments(schema, "[1]") == ("[1]", [], [])
    assert repair_arguments(schema, {"a": "[1]"}) == ({"a": "[1]"}, [], [])


async def test_what_is_exact_is_never_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError(f"exact arguments were parsed again, with {HANDLERS}")

    monkeypatch.setattr("mcp_runtime.server.registry.repair_arguments", refuse)
    assert await said(takes(int), 3) == "3"


# ---- null for what is left out


class Form(TypedDict):
    name: str
    size: NotRequired[int]


@dataclass
class Search:
    text: str
    limit: int = 10
    near: Point | None = None


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (str, None, "'default'"),
        (Search, {"text": "a", "limit": None}, "Search(text='a', limit=10, near=None)"),
        (list[Search], [{"text": "a", "limit": None}], "[Search(text='a', limit=10, near=None)]"),
        (Form, {"name": "a", "size": None}, "{'name': 'a'}"),
        (Box, {"corners": "[1]", "scale": None}, "Box(corners=[1], scale=1.0)"),
        (Form | None, '{"name": "a", "size": null}', "{'name': 'a'}"),
    ],
)
async def test_null_for_an_optional_argument_is_its_absence(
    kind: Any, value: Any, read: str
) -> None:
    server = Server("s", "1")

    async def t(value: Any = "default") -> str:
        return repr(value)

    t.__annotations__["value"] = kind
    server.tool(t)
    assert await said(server, value) == read
    assert server.forgiven["null_argument"] == 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, None),
        (Search, {"text": None}),
        (Form, {"name": None, "size": 1}),
        (dict[str, int], {"a": None}),
        (list[int], [None]),
        (Box, {"corners": None}),
    ],
)
async def test_null_for_what_is_required_or_no_member_is_refused(kind: Any, value: Any) -> None:
    server = takes(kind)
    assert (await said(server, value)).startswith("! ")
    assert not server.forgiven


async def test_null_stays_null_where_it_may_be_meant() -> None:
    server = Server("s", "1")

    @server.tool
    async def t(one: int | None = 1, other: Any = 2, late: int = 3) -> str:
        return repr((one, other, late))

    async with Client(server) as client:
        result = await client.call_tool("t", {"one": None, "other": None, "late": None})
        assert result.content == [types.TextContent(text="(None, None, 3)")]


@pytest.mark.parametrize("option", [{"strict_arguments": True}, {"strict": ["null_argument"]}])
async def test_a_null_argument_can_be_refused(option: Any) -> None:
    server = Server("s", "1", **option)

    @server.tool
    async def t(value: int = 1) -> str:
        return repr(value)

    assert await said(server, None) == "! $.value: expected integer, found null"


async def test_a_raw_tool_gets_no_null_for_what_its_schema_says_is_optional() -> None:
    pytest.importorskip("jsonschema_rs")
    server = Server("s", "1")
    properties = {"a": {"type": "string"}, "b": {"enum": ["x", None]}, "c": True}
    schema = {"type": "object", "properties": properties}

    @server.raw_tool({"name": "t", "inputSchema": schema})
    async def t(arguments: dict[str, Any], ctx: Any) -> str:
        return repr(arguments)

    async with Client(server) as client:
        result = await client.call_tool("t", {"a": None, "b": None, "c": None})
        assert result.content == [types.TextContent(text="{'b': None, 'c': None}")]
    assert server.forgiven == {"null_argument": 1}
