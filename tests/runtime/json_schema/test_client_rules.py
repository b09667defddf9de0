"""What clients refuse of a schema is said when the tool is registered, and not written by us."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from mcp_runtime import Context, Server
from mcp_runtime.json_schema.client_rules import CLIENT_RULES, objections
from mcp_runtime.json_schema.walk import every
from mcp_runtime.server.functions.signature import read

OBJECT: dict[str, Any] = {"type": "object"}
DRAFT = "http://json-schema.org/draft-0{}/schema#"

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"properties": {"a": {"type": "array"}}}, "an array without `items` (an array)", "VS Code"),
    ({"properties": {"a": {"type": ["array", "null"]}}}, "an array without `items`", "OpenAI"),
    ({"$defs": {"A": {"anyOf": [{"type": "array"}]}}}, "an array without `items`", "VS Code"),
    ({"anyOf": [{"required": ["a"]}]}, "a choice at the top level (anyOf)", "Claude"),
    ({"oneOf": []}, "a choice at the top level (oneOf)", "OpenAI"),
    ({"allOf": [{}]}, "a choice at the top level (allOf)", "Bedrock"),
    ({"$schema": DRAFT.format(4)}, "a dialect that is not read", "TypeScript client 2.4.0"),
    ({"$schema": "https://example.com/own"}, "a dialect that is not read", "TypeScript"),
    ({"$schema": DRAFT.format(7)}, "a dialect before draft 2020-12", "Claude Code"),
    ({"properties": {"a": {"$ref": "https://example.com/a"}}}, "another document", "all clients"),
    ({"properties": {"a": {"$ref": "other.json#/a"}}}, "(other.json#/a)", "all clients"),
    ({"$defs": {"a": {"$recursiveRef": "https://a.example"}}}, "another document", "all clients"),
]


@pytest.mark.parametrize(("schema", "what", "client"), REFUSED)
def test_a_schema_that_clients_refuse_is_named_with_client_and_remedy(
    schema: dict[str, Any], what: str, client: str
) -> None:
    (objection,) = objections({"name": "t", "inputSchema": OBJECT | schema})
    assert objection.startswith("inputSchema has ")
    assert what in objection
    assert ", refused by " in objection
    assert client in objection
    assert objection.rpartition("; ")[2]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "array", "items": {}}}},
        {"properties": {"a": {"type": "array", "prefixItems": [{}]}}},
        {"properties": {"type": {"enum": ["array"]}, "anyOf": {"type": "string"}}},
        {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"$defs": {"A": {}}, "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"properties": {"a": {"default": {"type": "array"}}}},
    ],
)
def test_a_schema_that_clients_take_is_not_named(schema: dict[str, Any]) -> None:
    assert [*objections({"inputSchema": OBJECT | schema, "outputSchema": OBJECT})] == []


def test_the_output_schema_is_judged_too_but_may_be_a_choice() -> None:
    (objection,) = objections(
        {"inputSchema": OBJECT, "outputSchema": {"type": "array", "items": {}}}
    )
    assert objection.startswith("outputSchema has a top level that is not an object (type 'array')")
    assert not [*objections({"inputSchema": OBJECT, "outputSchema": OBJECT | {"anyOf": [{}]}})]


def test_a_server_warns_when_the_tool_is_registered(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s", "1")

    @server.raw_tool({"name": "t", "inputSchema": OBJECT | {"$schema": DRAFT.format(4)}})
    def tool(arguments: Any, ctx: Any) -> str:
        return ""

    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("tool t: inputSchema has a dialect that is not read")


def test_the_page_has_a_row_for_each_rule(root: Path) -> None:
    page = (root / "docs" / "SERVER.md").read_text("utf-8")
    for rule in CLIENT_RULES:
        (row,) = [each for each in page.splitlines() if each.startswith(f"| {rule.what}")]
        assert rule.clients.partition(", which")[0] in row
        assert rule.seen in row


# ---- what we write


@dataclass
class Event:
    at: dt.datetime
    notes: list = field(default_factory=list)  # type: ignore[type-arg]
    next: Event | None = None


class Early(msgspec.Struct, tag=True):
    hour: dt.time


class Late(msgspec.Struct, tag=True):
    hour: dt.time


class Model(pydantic.BaseModel):
    at: dt.datetime
    tags: list  # type: ignore[type-arg]


def taking(annotation: Any) -> dict[str, Any]:
    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = annotation
    return read(tool, context=Context).input_schema


def arrays(schema: Any) -> Iterator[dict[str, Any]]:
    return (each for each in every(schema) if each.get("type") == "array")


@pytest.mark.parametrize(
    "annotation",
    [
        list,
        set,
        tuple,
        list[list],
        dict[str, list],
        list | None,
        Event,
        Model,
        tuple[()],
        frozenset,
    ],
)
def test_each_array_that_we_write_says_what_its_items_are(annotation: Any) -> None:
    places = [*arrays(taking(annotation))]
    assert places
    assert all("items" in each for each in places)


@pytest.mark.parametrize(
    ("annotation", "formats"),
    [
        (dt.datetime, ["date-time"]),
        (dt.time, ["time"]),
        (dt.date, ["date"]),
        (dt.datetime | None, ["date-time"]),
        (list[dt.datetime], ["date-time"]),
        (dict[str, dt.time] | None, ["time"]),
        (tuple[int, dt.datetime], ["date-time"]),
        (Annotated[dt.datetime, "when"], ["date-time"]),
        (Annotated[dt.datetime, msgspec.Meta(tz=True)], ["date-time"]),
        (Event, ["date-time"]),
        (list[Event | None], ["date-time"]),
        (Model, ["date-time"]),
        (Early | Late | None, ["time", "time"]),
        (Early | Late | dt.datetime, ["date-time", "time", "time"]),
        (str, []),
        (list[str] | int, []),
    ],
)
def test_a_time_has_its_format_wherever_it_stands(annotation: Any, formats: list[str]) -> None:
    places = [each["format"] for each in every(taking(annotation)) if "format" in each]
    assert sorted(places) == formats


def test_a_result_without_an_offset_has_no_format_that_demands_one() -> None:
    def tool() -> dt.datetime: ...  # type: ignore[empty-body]

    output = read(tool, context=Context).output
    assert output is not None
    assert output.schema["properties"]["result"] == {"type": "string"}
