"""JSON Schema: the dialect, what is refused, and what a validator may cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest

from mcp_runtime import Client, Context, Header, Server
from mcp_runtime.errors import BadAnswer
from mcp_runtime.json_schema.validator import BadSchema, checker, validate_schema
from tests.support.json_peers import RawServer, connected, since, with_page
from tests.support.virtual_time import elapse

each = pytest.mark.parametrize("revision", since("2025-11-25"))
NEWEST_DIALECT = "https://json-schema.org/draft/2020-12/schema"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.requirement("jsonschema.default-dialect")
@pytest.mark.requirement("jsonschema.support-2020-12")
@pytest.mark.requirement("jsonschema.validate-by-dialect")
def test_a_schema_is_of_2020_12_unless_it_says_otherwise() -> None:
    # `prefixItems` came with 2020-12; before, `items` with an array said the same.
    new: dict[str, Any] = {"prefixItems": [{"type": "string"}]}
    old: dict[str, Any] = {"items": [{"type": "string"}]}
    assert validate_schema(new, [1])
    assert validate_schema(new | {"$schema": NEWEST_DIALECT}, [1])
    assert validate_schema(new | {"$schema": DRAFT_7}, [1]) is None
    assert validate_schema(old | {"$schema": DRAFT_7}, [1])
    assert validate_schema(old | {"$schema": DRAFT_7}, ["x"]) is None
    with pytest.raises(BadSchema):
        checker(old)
    # The newer vocabulary works: dependents, unevaluated members, dynamic references.
    strict = {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}
    assert validate_schema(strict, {"a": 1}) is None
    assert validate_schema(strict, {"b": 1})
    assert validate_schema({"dependentRequired": {"a": ["b"]}}, {"a": 1})


@pytest.mark.requirement("jsonschema.unsupported-dialect")
@pytest.mark.parametrize("dialect", ["https://example.com/own", "draft-99", "", 5, None])
@each
async def test_an_unknown_dialect_is_told_and_nothing_breaks(revision: str, dialect: Any) -> None:
    schema = {"$schema": dialect, "type": "object"}
    with pytest.raises(BadSchema) as refused:
        checker(schema)
    assert "schema" in str(refused.value)
    assert len(str(refused.value)) < 300
    tool = {"name": "x", "inputSchema": {"type": "object"}, "outputSchema": schema}
    if not isinstance(dialect, str):
        return
    answers = {
        "tools/list": with_page({"tools": [tool]}, revision),
        "tools/call": with_page({"content": [], "structuredContent": {}}, revision),
    }
    server = RawServer(revision, answers=answers)
    async with server.client() as client:
        await client.list_tools()
        with pytest.raises(BadAnswer):
            await client.call_tool("x")
        assert await client.list_tools()


@dataclass
class Tree:
    name: str
    size: float | None = None
    below: list[Tree] | None = None


@pytest.mark.requirement("jsonschema.valid")
@pytest.mark.requirement("jsonschema.prefer-2020-12")
@each
async def test_schemas_on_the_wire_are_valid_in_2020_12(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def many(
        text: Annotated[str, "what"],
        kind: Literal["a", "b", 3],
        tree: Tree,
        pair: tuple[int, str],
        table: dict[str, list[int | None]],
        region: Annotated[str, Header("Region")] = "x",
    ) -> Tree:
        return tree

    @server.tool
    async def none() -> list[dict[str, Any]]:
        return []

    @server.tool
    async def ask(ctx: Context) -> int:
        return 1

    async with connected(server, revision) as client:
        tools = (await client.result("tools/list"))["tools"]
    schemas = [tool[name] for tool in tools for name in ("inputSchema", "outputSchema")]
    assert len(schemas) == 6
    for schema in schemas:
        assert schema.get("$schema", NEWEST_DIALECT) == NEWEST_DIALECT
        assert jsonschema_rs.meta.is_valid({"$schema": NEWEST_DIALECT} | schema)
        jsonschema_rs.Draft202012Validator(schema)


@pytest.mark.requirement("jsonschema.ref.no-network")
@pytest.mark.requirement("jsonschema.ref.unresolved")
@pytest.mark.requirement("jsonschema.ref.opt-in-default-off")
@pytest.mark.requirement("tools.security.client-ref-resolution")
@pytest.mark.parametrize("where", ["root", "property", "items"])
async def test_a_reference_to_elsewhere_is_refused_and_not_fetched(where: str) -> None:
    visits = []

    async def visited(reader: Any, writer: Any) -> None:
        visits.append(1)
        writer.close()

    listener = await asyncio.start_server(visited, "127.0.0.1", 0)
    ref = {"$ref": f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/x"}
    schema: dict[str, Any] = {
        "root": {"type": "object"} | ref,
        "property": {"type": "object", "properties": {"a": ref}},
        "items": {"type": "object", "properties": {"a": {"items": ref}}},
    }[where]
    tool = {"name": "x", "inputSchema": schema, "outputSchema": schema}
    answers = {
        "tools/list": with_page({"tools": [tool]}, "2026-07-28"),
        "tools/call": with_page({"content": [], "structuredContent": {"a": [1]}}, "2026-07-28"),
    }
    async with RawServer("2026-07-28", answers=answers).client() as client:
        await client.list_tools()
        with pytest.raises(BadAnswer, match="schemas are not fetched"):
            await client.call_tool("x")
    with pytest.raises(BadSchema, match="schemas are not fetched"):
        checker(schema)
    await elapse(0.02)
    assert visits == []
    listener.close()
    await listener.wait_closed()
    # Nothing turns fetching on: neither side, nor the check itself, takes such a choice.
    for made in (Client.__init__, Server.__init__, checker, validate_schema):
        assert not [name for name in signature(made).parameters if "fetch" in name or "ref" in name]
