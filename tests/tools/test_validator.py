"""Our validator of values, which witnesses must pass, against another one: keyword by keyword."""

from __future__ import annotations

import json
from typing import Any, Final

import jsonschema_rs
import pytest

from mcp_bindgen.tools.json_document import read_documents
from mcp_bindgen.tools.validator import Validator

NUMBERS: Final = {"type": "number"}
SCHEMAS: Final[dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]]] = {
    "allOf": ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, (1, 3), (0, 4)),
    "anyOf": ({"anyOf": [{"minimum": 3}, {"maximum": 1}]}, (1, 3), (2,)),
    "oneOf": ({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, (0, 4), (1, 2, 3)),
    "not": ({"not": NUMBERS}, ("a",), (1,)),
    "if and then": ({"if": NUMBERS, "then": {"minimum": 1}}, (1, "a"), (0,)),
    "if and else": ({"if": NUMBERS, "else": {"minLength": 1}}, (0, "a"), ("",)),
    "then alone": ({"then": {"minimum": 1}}, (0, 1), ()),
    "a boolean": ({"properties": {"a": False, "b": True}}, ({"b": 1}, {}), ({"a": 1},)),
    "type": ({"type": ["integer", "null"]}, (1, 1.0, None), (1.5, True, "1")),
    "enum": ({"enum": [1, "a", [1]]}, (1, 1.0, "a", [1]), (True, 2, [2])),
    "const": ({"const": {"a": 1}}, ({"a": 1}, {"a": 1.0}), ({"a": True}, {})),
    "exclusive bounds": ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, (2,), (1, 3)),
    "multipleOf": ({"multipleOf": 3}, (0, 3, -3, 3.0), (1, 1.5)),
    "lengths": ({"minLength": 1, "maxLength": 2}, ("a", "ab", 5), ("", "abc")),
    "pattern": ({"pattern": "b+"}, ("abc", 1), ("ac",)),
    "required": ({"required": ["a"]}, ({"a": None}, 1), ({},)),
    "additionalProperties": (
        {"properties": {"a": {}}, "patternProperties": {"^x": {}}, "additionalProperties": NUMBERS},
        ({"a": "b", "xy": "c", "d": 1},),
        ({"d": "e"},),
    ),
    "patternProperties": (
        {"patternProperties": {"^x": NUMBERS}},
        ({"xy": 1}, {"y": "a"}),
        ({"x": "a"},),
    ),
    "propertyNames": ({"propertyNames": {"maxLength": 1}}, ({"a": 1}, {}), ({"ab": 1},)),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, ({"a": 1, "b": 2}, {}), ({"a": 1},)),
    "dependentSchemas": (
        {"dependentSchemas": {"a": {"required": ["b"]}}},
        ({"a": 1, "b": 2}, {"b": 1}),
        ({"a": 1},),
    ),
    "counts of members": (
        {"minProperties": 1, "maxProperties": 1},
        ({"a": 1}, []),
        ({}, {"a": 1, "b": 2}),
    ),
    "items": ({"items": NUMBERS}, ([], [1], {}), (["a"], [1, "a"])),
    "prefixItems": ({"prefixItems": [NUMBERS], "items": False}, ([], [1]), (["a"], [1, 2])),
    "counts of items": ({"minItems": 1, "maxItems": 2}, ([1], [1, 2]), ([], [1, 2, 3])),
    "uniqueItems": ({"uniqueItems": True}, ([], [1, True], [1, "1"]), ([1, 1.0],)),
    "contains": ({"contains": NUMBERS}, ([1], ["a", 1], {}), ([], ["a"])),
    "minContains": (
        {"contains": NUMBERS, "minContains": 2, "maxContains": 2},
        ([1, 2], [1, "a", 2]),
        ([1], [1, 2, 3]),
    ),
    "a reference": (
        {"$ref": "#/$defs/a", "maximum": 3, "$defs": {"a": {"minimum": 1}}},
        (1, 3),
        (0, 4),
    ),
}


@pytest.mark.parametrize("keyword", SCHEMAS)
def test_a_keyword_takes_what_another_validator_takes(keyword: str) -> None:
    schema, taken, refused = SCHEMAS[keyword]
    (root,) = read_documents(json.dumps(schema).encode(), "a.json")
    other = jsonschema_rs.Draft202012Validator(schema)
    for values, wanted in ((taken, True), (refused, False)):
        for value in values:
            verdicts = Validator(root).accepts(value), other.is_valid(value)
            assert verdicts == (wanted, wanted), value
