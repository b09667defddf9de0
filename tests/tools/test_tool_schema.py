"""JSON Schema read into types: what they accept, and what is remarked of the rest."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bindgen.errors import InputError, LimitExceeded
from mcp_bindgen.ir.model import Schema, Type
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.limits import MAX_LITERALS
from mcp_bindgen.tools.json_document import read_documents
from mcp_bindgen.tools.json_schema import Reader

DRAFT_7 = "http://json-schema.org/draft-07/schema#"

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    1.0,
    1.5,
    -3,
    "",
    "a",
    "abc",
    [],
    [1],
    ["a", 1],
    [1, 1, "a"],
    {},
    {"a": 1},
    {"a": "a"},
    {"a": "a", "b": None},
    {"b": [1], "c": {}},
    {"c": {"a": 1}},
    {"a": 1, "z": 1},
]


def read(schema: Any) -> tuple[Reader, Type]:
    reader = Reader()
    parsed = read_documents(json.dumps(schema).encode(), "t.json")[0]
    return reader, reader.read(parsed, "t", "input")


def check(schema: Any, values: list[Any] = VALUES) -> None:
    """The type takes exactly what the independent validator takes, and leaves nothing unread."""
    reader, type = read(schema)
    assert reader.unread == {}
    made = Schema("", "", "", tuple(reader.declarations))
    validator = jsonschema_rs.validator_for(schema)
    for value in values:
        assert accepts(made, type, value) == validator.is_valid(value), value


def remarks(schema: Any) -> dict[str, str]:
    reader, _ = read(schema)
    return {f"{r.path} {r.keyword}": r.value for r in reader.unread.values()}


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "string"},
        {"type": "integer"},
        {"type": ["integer", "null"]},
        {"type": ["integer", "number"]},
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"minimum": 1},
        {"minimum": 0, "exclusiveMaximum": 1.5, "type": ["number", "string"]},
        {"enum": ["a", 1, None, True]},
        {"enum": [1.0], "type": "integer"},
        {"const": 0},
        {"const": None},
        {"type": "string", "enum": ["abc", 1], "maxLength": 2},
        {"type": "object"},
        {"properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "object", "required": ["b"]},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "array"}},
        {"type": "object", "required": ["z"], "additionalProperties": {"type": "integer"}},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array", "items": False},
        {"type": "array", "minItems": 1, "maxItems": 2},
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
        {"type": "array", "prefixItems": [{}, {"const": 1}], "items": {"type": "string"}},
        {"type": "array", "prefixItems": [{"const": 1}], "minItems": 1},
        {"$schema": DRAFT_7, "items": [{"const": 1}], "additionalItems": False},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "maxLength": 1}]},
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "maximum": -1}]},
        {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["c"]}]},
        {"anyOf": [{"type": "string"}, {"type": "object"}], "oneOf": [{"required": ["a"]}]},
        {"allOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]},
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}},
                {"properties": {"a": {"maxLength": 1}, "b": {"type": "null"}}, "required": ["a"]},
            ]
        },
        {
            "allOf": [
                {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
                {"properties": {"b": {"type": "null"}}},
            ],
            "type": "object",
        },
        {"allOf": [{"items": {"type": "integer"}}, {"prefixItems": [{"minimum": 1}]}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"type": "string"}}, "maxLength": 1},
        {"$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}},
        {
            "$schema": DRAFT_7,
            "$ref": "#/definitions/a",
            "maxLength": 1,
            "definitions": {"a": {"type": "string"}},
        },
        {"$ref": "#/allOf/1", "allOf": [{}, {"type": "null"}]},
    ],
)
def test_the_type_takes_what_the_schema_takes(schema: Any) -> None:
    check(schema)


NODES: list[Any] = [
    {"type": "object", "properties": {"c": {"$ref": "#/$defs/node"}}, "required": ["a"]},
    {"type": "object", "properties": {"c": {"allOf": [{"$ref": "#/$defs/node"}]}, "a": {}}},
    {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/node"}, "type": "array"}]},
    {"oneOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"$ref": "#"}}]},
]


@pytest.mark.parametrize("node", NODES)
def test_a_type_may_stand_in_itself(node: Any) -> None:
    schema = {"$defs": {"node": node}, "$ref": "#/$defs/node"}
    reader, type = read(schema)
    made = Schema("", "", "", tuple(reader.declarations))
    assert [keyword for _, keyword in reader.unread] == ["$ref"]
    for value in [*VALUES, [[1]], [["a"]], {"a": {"a": None}}, {"c": {"c": {"a": 1}}}]:
        assert accepts(made, type, value) == jsonschema_rs.is_valid(schema, value), value


SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": ["number", "null"]},
        {"type": "boolean"},
        {"enum": ["a", 1, None]},
        {"const": "abc"},
        {"minimum": 1},
        {"type": "string", "maxLength": 1},
        {"maxItems": 1, "type": ["array", "string"]},
        {"required": ["a"]},
        True,
        False,
        {},
    ]
)


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "c"])
    objects = st.fixed_dictionaries(
        {"properties": st.dictionaries(names, inner, max_size=2)},
        optional={
            "type": st.sampled_from(["object", ["object", "null"]]),
            "required": st.lists(names, unique=True, max_size=2),
            "additionalProperties": inner,
        },
    )
    arrays = st.fixed_dictionaries(
        {"items": inner},
        optional={"prefixItems": st.lists(inner, min_size=1, max_size=2), "minItems": st.just(1)},
    )
    groups = st.tuples(
        st.sampled_from(["anyOf", "allOf"]), st.lists(inner, min_size=1, max_size=3)
    ).map(lambda row: {row[0]: row[1]})
    return objects | arrays | groups | st.tuples(objects, groups).map(lambda two: two[0] | two[1])


@given(st.recursive(SCALARS, combined, max_leaves=6))
def test_the_type_of_a_random_schema_takes_what_the_schema_takes(schema: Any) -> None:
    check(schema)


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("pattern", "a+"),
        ("not", {"type": "null"}),
        ("if", {}),
        ("dependentRequired", {"a": ["b"]}),
        ("uniqueItems", True),
        ("multipleOf", 2),
        ("patternProperties", {"a": {}}),
        ("propertyNames", {"maxLength": 1}),
        ("minProperties", 1),
        ("contains", {"type": "string"}),
        ("unevaluatedProperties", False),
        ("nullable", True),
        ("enum", [["a"], 1]),
        ("enum", list(range(MAX_LITERALS + 1))),
        ("exclusiveMinimum", True),
        ("$ref", "https://example.com/schema"),
        ("$ref", "#anchor"),
        ("neverHeardOf", 1),
    ],
)
def test_what_a_type_cannot_say_is_remarked(keyword: str, value: Any) -> None:
    remarked = remarks({"type": "object", "properties": {"a": {keyword: value}}})
    assert list(remarked) == [f"t.input.a {keyword}"]


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": False},
        {"nullable": False},
        {"x-order": 1},
        {"format": "uri", "default": 1, "examples": [], "$comment": "", "deprecated": True},
    ],
)
def test_what_constrains_nothing_is_not_remarked(schema: Any) -> None:
    assert remarks(schema) == {}


def test_a_remark_names_what_it_refers_to() -> None:
    schema = {
        "not": {"$ref": "#/$defs/a"},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"const": 1}},
    }
    reader, _ = read(schema)
    (remark,) = reader.unread.values()
    assert (remark.path, remark.keyword, remark.value) == ("t.input", "not", '{"$ref":"#/$defs/a"}')
    assert '{"const":1}' in remark.context


def test_a_one_of_whose_arms_overlap_is_remarked() -> None:
    arms = [{"type": "integer"}, {"type": "number"}]
    assert list(remarks({"oneOf": arms})) == ["t.input oneOf"]
    kinds = [{"properties": {"k": {"const": k}}, "required": ["k"], "type": "object"} for k in "ab"]
    assert remarks({"oneOf": kinds}) == {}


def test_with_patterns_nothing_is_said_of_unlisted_members() -> None:
    schema = {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False}
    reader, type = read(schema)
    assert accepts(Schema("", "", "", tuple(reader.declarations)), type, {"y": 1})
    assert {keyword for _, keyword in reader.unread} == {
        "patternProperties",
        "additionalProperties",
    }


def nested(depth: int) -> Any:
    return {
        "$ref": "#/$defs/a0",
        "$defs": {
            **{f"a{n}": {"items": {"$ref": f"#/$defs/a{n + 1}"}} for n in range(depth)},
            f"a{depth}": {},
        },
    }


def bushy(depth: int) -> Any:
    return {
        "$ref": "#/$defs/a0",
        "$defs": {
            **{
                f"a{n}": {"properties": {k: {"$ref": f"#/$defs/a{n + 1}"} for k in "xy"}}
                for n in range(depth)
            },
            f"a{depth}": {},
        },
    }


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ([], r"t.json:1:1: \$: expected a schema"),
        ({"type": "text"}, r"t.json:1:10: \$.type: expected one or some of string,"),
        ({"type": []}, r"\$.type: expected one or some"),
        ({"properties": {"a": 1}}, r"\$.properties: expected an object of schemas"),
        ({"properties": []}, r"\$.properties: expected an object of schemas"),
        ({"required": True}, r"\$.required: expected a list of names"),
        ({"items": 1}, r"\$.items: expected a schema or a list"),
        ({"anyOf": []}, r"\$.anyOf: expected a list of schemas, not empty"),
        ({"anyOf": [{"minimum": "1"}]}, r"\$.anyOf\[0\].minimum: expected a number"),
        ({"minLength": -1}, r"\$.minLength: expected a whole number"),
        ({"minLength": 2**60}, r"\$.minLength: expected a whole number"),
        ({"minLength": 0.5}, r"\$.minLength: expected a whole number"),
        ({"enum": 1}, r"\$.enum: expected a list"),
        ({"$ref": 1}, r"\$.\$ref: expected a reference"),
        ({"$ref": "#/$defs/none"}, r'"#/\$defs/none" leads nowhere'),
        ({"$ref": "#/enum/0", "enum": [1]}, r"\$.enum\[0\]: expected a schema"),
        ({"$ref": "#"}, "refers to itself"),
        ({"allOf": [{"$ref": "#"}]}, "refers to itself"),
        ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "is an alternative of itself"),
        (nested(70), "nests deeper than 64"),
        (bushy(30), "come to more than 20000 places"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(schema: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(schema)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (b"{", InputError, "t.json:1:2: is not JSON"),
        (b'{"a": 1e999}', InputError, "beyond a double"),
        (b'{"a": NaN}', InputError, "NaN is not a number of JSON"),
        (b"9" * 400, InputError, "beyond a double"),
        (b"9" * 5000, InputError, "is not JSON that we read"),
        (b"[" * 100, LimitExceeded, "nest deeper than 64"),
    ],
)
def test_a_file_that_is_no_json_is_refused(text: bytes, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        read_documents(text, "t.json")


def test_every_value_of_a_document_knows_its_place() -> None:
    text = b'{"a": [1, {"b": []}], "c": ""}\n[true]  {"\\u0061": 1}'
    first, second, third = read_documents(text, "t.json")
    assert text[first.below("a", 1, "b").at :].startswith(b"[]}]")
    assert text[first.below("c").at :].startswith(b'""}')
    assert text[second.below(0).at :].startswith(b"true]")
    assert text[third.below("a").at :] == b"1}"
    assert third.document.source.place(third.at) == "t.json:2:9"
