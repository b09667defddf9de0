"""What a tool returns is checked against the schema that it was listed with, as it is now."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime import types as t
from mcp_runtime.client import output_schemas
from mcp_runtime.errors import BadAnswer, LocalError, NotInstalled


class Listed:
    """A server whose tool `t` is listed with `schema` and returns `value`."""

    def __init__(self, schema: Any, value: Any) -> None:
        self.schema, self.value, self.calls = schema, value, 0
        self.server = Server("s", "1")
        self.server.add_tool(lambda: "", name="t")
        self.server.on("tools/list")(self.list)
        self.server.on("tools/call")(self.call)

    async def list(self, params: Any, ctx: Context) -> t.ListToolsResult:
        takes = t.ToolInputSchema()
        gives = t.from_wire(t.ToolOutputSchema, self.schema)
        tools = [t.Tool(name="t", input_schema=takes, output_schema=gives)]
        tools.append(t.Tool(name="plain", input_schema=takes))
        return t.ListToolsResult(
            tools=tools, result_type="complete", ttl_ms=0, cache_scope="private"
        )

    async def call(self, params: Any, ctx: Context) -> t.CallToolResult:
        self.calls += 1
        return t.CallToolResult(content=[], structured_content=self.value, result_type="complete")


def holding(value: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"n": {"const": value}}}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The schemas for which a checker was made."""
    schemas: list[Any] = []
    make = output_schemas.checker

    def noted(schema: Any) -> Callable[[Any], str | None]:
        schemas.append(schema)
        return make(schema)

    monkeypatch.setattr(output_schemas, "checker", noted)
    return schemas


async def test_the_checker_of_a_tool_is_made_once_and_when_it_is_needed(made: list[Any]) -> None:
    listed = Listed(holding(1), {"n": 1})

    async with Client(listed.server) as client:
        await client.list_tools()
        assert made == []
        for _ in range(3):
            await client.call_tool("t")
            await client.list_tools()
    assert made == [holding(1)]


@pytest.mark.parametrize("other", [True, 1.5, "1"])
async def test_a_tool_that_is_listed_with_another_schema_is_checked_against_that(
    made: list[Any], other: Any
) -> None:
    listed = Listed(holding(1), {"n": 1})

    async with Client(listed.server) as client:
        await client.list_tools()
        await client.call_tool("t")
        listed.schema = holding(other)
        await client.list_tools()
        with pytest.raises(BadAnswer, match=r"does not fit the output schema: \$\.n"):
            await client.call_tool("t")
        listed.value = {"n": other}
        await client.call_tool("t")
    assert made == [holding(1), holding(other)]


async def test_a_schema_that_cannot_be_used_is_the_servers_fault() -> None:
    listed = Listed({"type": "object", "$ref": "http://other.example/"}, {})

    async with Client(listed.server) as client:
        await client.list_tools()
        with pytest.raises(BadAnswer, match=r"t: its output schema: .*schemas are not fetched"):
            await client.call_tool("t")


async def test_without_the_validator_such_a_tool_is_called_and_one_warning_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    output_schemas._warn_once.cache_clear()
    listed = Listed(holding(1), {"n": 2})

    for _ in range(2):
        async with Client(listed.server) as client:
            await client.list_tools()
            for _ in range(2):
                assert (await client.call_tool("t")).structured_content == {"n": 2}
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("structured results are not checked: ")
    assert "pip install 'mcp-bindgen-runtime[schemas]'" in warning


async def test_a_strict_client_without_the_validator_calls_no_such_tool_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    listed = Listed(holding(1), {"n": 2})

    async with Client(listed.server, validate="strict") as client:
        await client.list_tools()
        with pytest.raises(
            NotInstalled, match=r"jsonschema-rs.*mcp-bindgen-runtime\[schemas\]"
        ) as raised:
            await client.call_tool("t")
        assert isinstance(raised.value, LocalError)
        assert listed.calls == 0
        await client.call_tool("plain")
    async with Client(listed.server, validate=False) as client:
        await client.list_tools()
        await client.call_tool("t")
    assert listed.calls == 2
