"""The types of a tool accept and refuse the same values as a validator of its JSON Schema."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest

from mcp_bindgen.scaffold import type_checks
from mcp_bindgen.scaffold.tools import Tool, read
from mcp_bindgen.scaffold.typed import Untyped, typed
from tests.support import tool_lists
from tests.support.schema_values import values_near

STRING: Final = {"type": "string"}
INTEGER: Final = {"type": "integer"}
NULL: Final = {"type": "null"}
POINT: Final = {
    "type": "object",
    "properties": {"x": INTEGER, "y": {"type": "number"}},
    "required": ["x"],
}
TREE: Final = {
    "type": "object",
    "properties": {"name": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
    "required": ["name"],
}
FEW: Final = 60
"""Values of a schema."""


def member(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], **more}


EXACT: Final[dict[str, dict[str, Any]]] = {
    "kinds": member({"type": ["string", "integer", "boolean", "null"]}),
    "an optional member": {"type": "object", "properties": {"a": STRING}},
    "a nullable member": member({"anyOf": [STRING, NULL]}),
    "an integer or a number": member({"anyOf": [INTEGER, {"type": "number"}]}),
    "an integer in the range of a number": member(
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "exclusiveMinimum": 0}]}
    ),
    "an integer or a number above a fraction": member(
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 0.5}]}
    ),
    "a constant that another arm accepts": member(
        {"anyOf": [{"const": 2}, {"type": "integer", "maximum": 3}]}
    ),
    "bounds of an integer that are fractions": member(
        {"type": "integer", "minimum": -0.5, "exclusiveMaximum": 1e1}
    ),
    "both truth values": member({"enum": [True, False]}),
    "bounds": member({"type": "integer", "minimum": 1, "maximum": 3}),
    "bounds of one kind among several": member({"type": ["string", "null"], "maxLength": 2}),
    "bounds around a union": member({"anyOf": [STRING, INTEGER], "minLength": 1, "maximum": 1}),
    "sizes": member({"type": "array", "items": STRING, "minItems": 1, "maxItems": 2}),
    "literals": member({"enum": ["a", "b", 1, None]}),
    "literals in two arms": member({"anyOf": [{"enum": ["a"]}, {"enum": ["b", "c"]}]}),
    "a constant": member({"const": "a"}),
    "objects": member(POINT),
    "objects or a string": member({"anyOf": [POINT, STRING]}),
    "a closed object": member({**POINT, "additionalProperties": False}),
    "a closed root": member(STRING, additionalProperties=False),
    "values of one type": member({"type": "object", "additionalProperties": INTEGER}),
    "a closed object without members": member({"type": "object", "additionalProperties": False}),
    "a closed object without members, or null": member(
        {"anyOf": [{"type": "object", "properties": {}, "additionalProperties": False}, NULL]}
    ),
    "a closed object in another": member(member(STRING, additionalProperties=False)),
    "closed items": member({"type": "array", "items": {**POINT, "additionalProperties": False}}),
    "a closed definition": member(
        {"$ref": "#/$defs/p"}, **{"$defs": {"p": {**POINT, "additionalProperties": False}}}
    ),
    "any members": member({"type": "object"}),
    "any value": member({}),
    "an array of arrays": member({"type": "array", "items": {"type": "array", "items": INTEGER}}),
    "a reference": member({"$ref": "#/$defs/p"}, **{"$defs": {"p": POINT}}),
    "two references": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/p"}, "b": {"$ref": "#/$defs/p"}},
        "$defs": {"p": POINT},
    },
    "references in a list with a default": {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"$ref": "#/$defs/p"}, "default": [{"x": 1}]}
        },
        "$defs": {"p": POINT},
    },
    "a nullable reference": member(
        {"anyOf": [{"$ref": "#/$defs/p"}, NULL]}, **{"$defs": {"p": POINT}}
    ),
    "a definition that contains itself": member({"$ref": "#/$defs/t"}, **{"$defs": {"t": TREE}}),
    "a root that contains itself": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "a member that contains itself": member(
        {"type": "object", "properties": {"b": {"$ref": "#/properties/a"}}}
    ),
    "parts of one object": member(
        {"allOf": [POINT, {"properties": {"z": STRING}, "required": ["z"]}]}
    ),
    "parts with bounds": member({"allOf": [INTEGER, {"minimum": 1}, {"minimum": 2}]}),
    "a required member that is not listed": {"type": "object", "required": ["a"]},
    "no members": {"type": "object"},
}


def tool_of(schema: dict[str, Any]) -> Tool:
    (tool,) = read(tool_lists.listing({"name": "t", "inputSchema": schema}), "f")
    return tool


def decoder(models: Any) -> Any:
    module = type_checks.run(models)
    return msgspec.json.Decoder(getattr(module, models.name))


def check(declared: Any, models: Any, count: int, *, exact: bool) -> Counter[bool]:
    """Compare both; without `exact` the types may accept more. Count values by validity."""
    judge = jsonschema_rs.validator_for(declared, validate_formats=False)
    read_value, seen = decoder(models).decode, Counter[bool]()
    for value in values_near(declared, 1, count):
        right = judge.is_valid(value)
        try:
            read_value(json.dumps(value))
            taken = True
        except msgspec.MsgspecError:
            taken = False
        seen[right] += 1
        assert taken == right or (taken and not exact), (declared, value)
    return seen


@pytest.mark.parametrize("name", EXACT)
def test_types_accept_what_the_schema_accepts(name: str) -> None:
    schema = EXACT[name]
    tool = tool_of(schema)
    assert (tool.loose, tool.unsaid) == ((), ())
    seen = check(schema, tool.input, FEW, exact=True)
    assert min(seen[True], seen[False]) > 0


def test_a_definition_in_two_places_is_one_class() -> None:
    tool = tool_of(EXACT["two references"])
    assert [each.name for each in tool.input.types] == ["InputP", "Input"]


WIDER: Final[dict[str, dict[str, Any]]] = {
    "objects that nothing tells apart": member({"anyOf": [POINT, TREE, STRING]}),
    "arrays that nothing tells apart": member(
        {"anyOf": [{"type": "array", "items": STRING}, {"type": "array", "items": INTEGER}]}
    ),
    "strings of two sizes": member(
        {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "string", "minLength": 2}]}
    ),
    "an integer out of the range of a number": member(
        {
            "anyOf": [
                {"type": ["boolean", "integer"], "maximum": 1, "exclusiveMinimum": -1},
                {"type": "number", "exclusiveMinimum": 2},
            ]
        }
    ),
    "an integer in a range, or a number": member(
        {"anyOf": [{"type": "integer", "maximum": 1}, {"type": "number", "maximum": 0}]}
    ),
    "a constant beside a range": member(
        {"anyOf": [{"type": "integer", "maximum": 3}, {"const": 5}]}
    ),
    "a text beside a size": member(
        {"anyOf": [{"const": "abc"}, {"type": "string", "maxLength": 1}]}
    ),
    "one truth value": member({"const": False}),
    "a fraction": member({"enum": [1, 2.5]}),
    "an integer of more than 64 bits": member({"enum": [2**64]}),
    "a bound of more than 64 bits": member({"type": "integer", "minimum": 2**63}),
    "a bound beyond exact floats": member({"type": "number", "minimum": 2**53 + 1}),
    "items by place": member({"type": "array", "prefixItems": [STRING, INTEGER]}),
}


@pytest.mark.parametrize("name", WIDER)
def test_a_place_without_a_type_keeps_its_kind(name: str) -> None:
    schema = {**WIDER[name], "$defs": {"t": TREE}}
    tool = tool_of(schema)
    assert [each.place for each in tool.loose] == ["input.a"]
    check(schema, tool.input, FEW, exact=False)
    with pytest.raises(msgspec.ValidationError):
        decoder(tool.input).decode(b'{"a": null}')


def test_types_that_would_lose_a_bound_are_refused() -> None:
    """The generator drops the bounds of an integer beside a number of another range."""
    arms = [{"type": "integer", "maximum": 1}, {"type": "number"}]
    with pytest.raises(Untyped, match="its types would not use XA"):
        typed(member({"anyOf": arms}), "X")


@pytest.mark.wide
def test_types_of_the_tools_of_real_servers_accept_what_their_schemas_accept(shared: Path) -> None:
    compared = Counter[bool]()
    for path in tool_lists.of_real_servers(shared):
        for tool in read(path.read_bytes(), path.name):
            exact = not tool.loose and not tool.unsaid
            for member, models in (("inputSchema", tool.input), ("outputSchema", tool.output)):
                if models is not None:
                    compared += check(tool.declared[member], models, FEW, exact=exact)
    assert min(compared.values()) > 5_000
