"""What `diff --tools` once said wrongly: quiet changes, crashes, alarms that no message proves."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import jsonschema_rs
import pytest

from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import read
from tests.support.wide import wide_but

INTEGER: Final = {"type": "integer"}
STRING: Final = {"type": "string"}
NULL: Final = {"type": "null"}
Sides: TypeAlias = Callable[[int], tuple[Any, Any]]


def inputs(old: Any, new: Any) -> tuple[Finding, ...]:
    """The findings of two inputs; each witness is of its writer and refused by the reader."""
    sides = ([{"name": "t", "inputSchema": schema}] for schema in (old, new))
    before, after = (read(json.dumps(side).encode(), "t.json") for side in sides)
    findings = compare(before, after).findings
    judges = {"old": jsonschema_rs.validator_for(old), "new": jsonschema_rs.validator_for(new)}
    for finding in findings:
        for witness in finding.witnesses:
            value = witness.message["params"]["arguments"]
            reader = "new" if witness.writer == "old" else "old"
            assert judges[witness.writer].is_valid(value), (witness, old, new)
            assert not judges[reader].is_valid(value), (witness, old, new)
    return findings


def verdicts_of(old: Any, new: Any) -> list[str]:
    return [
        f"{f.rule.id} {f.change.path} {f.client} {f.server}".replace("if used", "used")
        for f in inputs(old, new)
    ]


def member(schema: Any, *, required: bool = False) -> Any:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"] if required else []}


def sent(findings: tuple[Finding, ...], writer: str) -> list[Any]:
    """What the witnesses of one side send."""
    witnesses = [w for finding in findings for w in finding.witnesses if w.writer == writer]
    return [witness.message["params"]["arguments"] for witness in witnesses]


# ---- bounds


@pytest.mark.parametrize(
    ("type", "keyword", "refused"),
    [
        ("integer", "minimum", -1),
        ("integer", "maximum", 1),
        ("number", "exclusiveMinimum", 0),
        ("number", "exclusiveMaximum", 0),
        ("string", "maxLength", "x"),
        ("array", "maxItems", [None]),
    ],
)
def test_a_bound_of_zero_inside_a_union_counts(type: str, keyword: str, refused: Any) -> None:
    def either(schema: Any) -> Any:
        return {"anyOf": [schema, NULL]}

    old, new = either({"type": type}), either({"type": type, keyword: 0})
    assert verdicts_of(old, new) == ["BOUNDS_TIGHTENED t.input used holds"]
    assert verdicts_of(new, old) == ["BOUNDS_LOOSENED t.input holds used"]
    (value,) = sent(inputs(old, new), "old")
    assert jsonschema_rs.is_valid(old, value)
    assert jsonschema_rs.is_valid(old, refused)
    assert not jsonschema_rs.is_valid(new, refused)
    lists = {"type": "array", "items": old}, {"type": "array", "items": new}
    assert verdicts_of(*lists) == ["BOUNDS_TIGHTENED t.input[] used holds"]


def test_a_type_that_becomes_nullable_keeps_its_bounds() -> None:
    old = {"type": "integer", "minimum": 0}
    assert verdicts_of(old, {"anyOf": [old, NULL]}) == ["MEMBER_BECAME_NULLABLE t.input holds used"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"minimum": 1}, {"minimum": 1, "exclusiveMinimum": 0}),
        ({"maximum": 1}, {"maximum": 1, "exclusiveMaximum": 2}),
        ({**INTEGER, "minimum": 1}, {**INTEGER, "exclusiveMinimum": 0}),
        ({**INTEGER, "maximum": 4}, {**INTEGER, "exclusiveMaximum": 4.5}),
        ({**INTEGER, "minimum": 0.5}, {**INTEGER, "minimum": 1}),
        ({"type": "array", "minItems": 0}, {"type": "array"}),
    ],
)
def test_bounds_that_mean_the_same_are_no_change(old: Any, new: Any) -> None:
    assert verdicts_of(old, new) == []
    assert verdicts_of(new, old) == []
    assert verdicts_of(member(old), member(new)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": INTEGER},
            ["TYPE_WIDENED t.input{} holds used"],
        ),
        (STRING, INTEGER, ["TYPE_REPLACED t.input breaks breaks"]),
        ({**STRING, "maxLength": 3}, INTEGER, ["TYPE_REPLACED t.input breaks breaks"]),
    ],
)
def test_bounds_are_compared_where_both_sides_have_values_for_them(
    old: Any, new: Any, expected: list[str]
) -> None:
    assert verdicts_of(old, new) == expected


def test_true_is_not_the_number_one_among_literals() -> None:
    assert verdicts_of({"enum": [1], "const": True}, {"const": True}) == [
        "TYPE_WIDENED t.input holds used"
    ]


# ---- arrays


def test_items_that_become_places_are_compared() -> None:
    shaped = {"type": "object", "properties": {"b": STRING}, "required": ["b"]}
    old = {"type": "array", "items": {"type": "object"}}
    new = {"type": "array", "prefixItems": [STRING], "items": shaped}
    assert verdicts_of(old, new) == [
        "TYPE_CHANGED t.input used used",
        "MEMBER_ADDED_REQUIRED t.input[].b used holds",
    ]


# ---- keywords that are not read


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        (
            {"properties": {"a": {}, "b": {}}, "unevaluatedProperties": False},
            {"properties": {"a": {}}, "unevaluatedProperties": False},
            {"b": 1},
        ),
        (
            {"properties": {"a": {}, "b": {}}, "patternProperties": {"^x": {}}}
            | {"additionalProperties": False},
            {"properties": {"a": {}}, "patternProperties": {"^x": {}}}
            | {"additionalProperties": False},
            {"b": 1},
        ),
        (
            {"properties": {}, "patternProperties": {"^a": {}}},
            {"properties": {"a": STRING}, "patternProperties": {"^a": {}}},
            {"a": 1},
        ),
        (
            {"type": "object", "enum": [{"a": 1}]},
            {"type": "object", "enum": [{"a": 1}], "properties": {"a": STRING}},
            {"a": 1},
        ),
        (
            {"not": {"$ref": "#x"}, "$defs": {"y": {"$anchor": "x", "type": "string"}}},
            {"not": {"$ref": "#x"}, "$defs": {"y": {"$anchor": "x", "type": "null"}}},
            None,
        ),
    ],
)
def test_an_unread_keyword_of_equal_text_differs_where_what_it_depends_on_does(
    old: Any, new: Any, refused: Any
) -> None:
    assert jsonschema_rs.is_valid(old, refused)
    assert not jsonschema_rs.is_valid(new, refused)
    findings = inputs(old, new)
    assert "TOOL_SCHEMA_UNREAD" in {f.rule.id for f in findings}
    assert {f.client for f in findings} & {"if used", "breaks"}
    notes = [f.change.note for f in findings if f.rule.id == "TOOL_SCHEMA_UNREAD"]
    assert all("written alike" in note for note in notes)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            {"anyOf": [INTEGER, {"const": [1]}]},
            {"anyOf": [STRING, {"const": [1]}]},
            ["ARM_REMOVED t.input used holds", "ARM_ADDED t.input holds used"],
        ),
        (
            {"anyOf": [INTEGER, {"not": NULL}]},
            {"anyOf": [INTEGER, {"not": NULL}, NULL]},
            ["MEMBER_BECAME_NULLABLE t.input holds used"],
        ),
        (
            {"anyOf": [{"not": NULL}, NULL]},
            {"not": NULL},
            ["MEMBER_NO_LONGER_NULLABLE t.input used holds"],
        ),
        (
            {"anyOf": [STRING, {"$ref": "#x"}], "$defs": {"x": {"$anchor": "x", **NULL}}},
            {"anyOf": [{"$ref": "#x"}], "$defs": {"x": {"$anchor": "x", **NULL}}},
            ["ARM_REMOVED t.input used holds"],
        ),
    ],
)
def test_an_arm_that_is_only_partly_read_hides_no_other(
    old: Any, new: Any, expected: list[str]
) -> None:
    assert verdicts_of(old, new) == expected


def test_a_witness_passes_the_keywords_of_its_writer_that_are_not_read() -> None:
    pattern = {"type": "object", "properties": {"a": {**STRING, "pattern": "^x"}}}
    findings = inputs(pattern, pattern | {"required": ["b"], "properties": {"a": INTEGER}})
    assert {"b": None, "a": "x"} in sent(findings, "old")


def test_what_no_sample_passes_has_no_witness_and_says_so() -> None:
    old, new = member({**STRING, "pattern": "^[0-9]{8}$"}), member(INTEGER)
    (replaced,) = (f for f in inputs(old, new) if f.rule.id == "TYPE_REPLACED")
    assert [w.writer for w in replaced.witnesses] == ["new"]
    assert replaced.unproved == "no message of the old side could be made"


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x+x+)+y", "x*x*x*x*x*x*y", "("])
def test_a_pattern_that_may_take_for_ever_is_not_tried(pattern: str) -> None:
    old = member({**STRING, "pattern": pattern, "minLength": 9_000})
    began = time.process_time()
    sides = ([{"name": "t", "inputSchema": schema}] for schema in (old, member(INTEGER)))
    before, after = (read(json.dumps(side).encode(), "t.json") for side in sides)
    findings = compare(before, after).findings
    assert time.process_time() - began < 5
    assert [w.writer for f in findings for w in f.witnesses] == ["new"]


# ---- alarms


def test_an_optional_member_of_a_replaced_type_breaks_only_if_it_is_used() -> None:
    optional = member({"type": "array"}), member({"type": "boolean"})
    assert verdicts_of(*optional) == ["TYPE_REPLACED t.input.a used used"]
    required = member({"type": "array"}, required=True), member({"type": "boolean"}, required=True)
    assert verdicts_of(*required) == ["TYPE_REPLACED t.input.a breaks breaks"]


def test_an_open_object_in_a_union_takes_what_a_changed_arm_refuses() -> None:
    old = member(STRING, required=True)
    new = {"anyOf": [member(INTEGER, required=True), {"type": "object"}]}
    assert verdicts_of(old, new) == [
        "ARM_ADDED t.input holds used",
        "TYPE_REPLACED t.input.a holds used",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            member(STRING, required=True),
            {"anyOf": [member(INTEGER, required=True), member({"enum": ["", "x"]}), STRING]},
        ),
        (
            {"type": "array", "items": member(STRING, required=True), "minItems": 1},
            {
                "type": "array",
                "items": {"anyOf": [member(INTEGER, required=True), {"maxProperties": 1}]},
                "minItems": 1,
            },
        ),
    ],
)
def test_what_the_other_side_accepts_is_never_breaking(old: Any, new: Any) -> None:
    findings = inputs(old, new)
    assert {f.client for f in findings} <= {"holds", "if used"}
    assert "TYPE_REPLACED" in {f.rule.id for f in findings}


def test_a_removed_member_is_proved_although_another_one_is_missing() -> None:
    old = member({"type": "boolean"}) | {"additionalProperties": False}
    new = {"type": "object", "properties": {"b": STRING}, "required": ["b"]}
    findings = inputs(old, new | {"additionalProperties": False})
    (removed,) = (f for f in findings if f.rule.id == "MEMBER_REMOVED_CLOSED")
    assert removed.witnesses[0].message["params"]["arguments"] == {"a": False}
    assert removed.witnesses[0].path == "$.params.arguments.a"


def test_a_required_member_with_a_default_is_said_to_have_one() -> None:
    defaulted = {"enum": ["low", "high"], "default": "low"}
    for old in (member(STRING), {"type": "object"}):
        notes = [f.change.note for f in inputs(old, member(defaulted, required=True))]
        assert any('default, "low"' in note for note in notes)


# ---- work


def replaced(members: int) -> tuple[Any, Any]:
    return many(STRING, members), many(INTEGER, members)


def nested(members: int) -> tuple[Any, Any]:
    inner = {"type": "object", "properties": {"b": STRING}}
    return many(inner, members), many({"type": "object"}, members)


def demanded(members: int) -> tuple[Any, Any]:
    return many(STRING, members), required(many(STRING, members))


def demanded_and_replaced(members: int) -> tuple[Any, Any]:
    return required(many(STRING, members)), required(many(INTEGER, members))


SIDES: Final = [replaced, nested, demanded, demanded_and_replaced]


@pytest.mark.wide
@pytest.mark.parametrize("sides", wide_but([demanded_and_replaced], SIDES))
def test_twice_the_changed_members_are_twice_the_work(sides: Sides) -> None:
    """`make bench ARGS=diff` measures the time of 5 000."""
    calls(*sides(10))  # what is made once is made
    few, many = calls(*sides(100)), calls(*sides(200))
    assert many < 2.3 * few


def many(schema: Any, members: int) -> Any:
    return {"type": "object", "properties": {f"m{n}": schema for n in range(members)}}


def required(schema: Any) -> Any:
    return schema | {"required": list(schema["properties"])}


def calls(old: Any, new: Any) -> int:
    """How many calls reading and comparing two inputs takes; all their members have changed."""
    texts = [json.dumps([{"name": "t", "inputSchema": each}]).encode() for each in (old, new)]
    counted = Counter[str]()
    sys.setprofile(lambda frame, event, _: counted.update((event,)))
    try:
        before, after = (read(text, "t.json") for text in texts)
        findings = compare(before, after).findings
    finally:
        sys.setprofile(None)
    assert len(findings) == len(old["properties"])
    return counted["call"] + counted["c_call"]
