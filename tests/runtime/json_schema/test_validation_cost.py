"""The work that a schema makes is known before it is done, and what is too much is not done."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_runtime.json_schema.validation_cost import Unfollowed, worker
from mcp_runtime.json_schema.validator import BadSchema, checker
from mcp_runtime.limits import SCHEMA_VISITS

Schema: TypeAlias = dict[str, Any]

IN_PLACE = ("allOf", "anyOf", "oneOf")


def chain(length: int, keyword: str) -> Schema:
    """Each of its definitions refers to the next one twice."""
    defs: Schema = {
        f"d{number}": {keyword: [{"$ref": f"#/$defs/d{number + 1}"}] * 2}
        for number in range(length)
    }
    defs[f"d{length}"] = {"type": "string"}
    return {"$defs": defs, "$ref": "#/$defs/d0"}


def recursive(keyword: str, **more: Any) -> Schema:
    """Each level of a value is looked at twice as often as the one above it."""
    twice = [{"properties": {"a": {"$ref": "#/$defs/s"}}, **more}] * 2
    return {"$defs": {"s": {keyword: twice}}, "$ref": "#/$defs/s"}


def deep(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


BOMB = recursive("anyOf")["$defs"]["s"]


# ---- what is too much


@pytest.mark.requirement("jsonschema.bounds")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        *((chain(100, keyword), "a") for keyword in IN_PLACE),
        *((recursive(keyword), deep(100)) for keyword in IN_PLACE),
        (recursive("anyOf", required=["b"]), deep(100)),
        ({"items": {"allOf": [{"type": "integer"}] * 5000}}, [1] * 5000),
        ({"unevaluatedProperties": {"$ref": "#"}}, deep(100)),
        ({"not": {"$ref": "#/$defs/a~1b"}, "$defs": {"a/b": BOMB, "s": BOMB}}, deep(100)),
    ],
)
def test_what_would_keep_a_validator_busy_is_not_begun(schema: Schema, value: Any) -> None:
    begun = time.process_time()
    fault = checker(schema)(value)
    assert time.process_time() - begun < 10  # it would be hours, and nothing else would run
    assert fault is not None
    assert f"over {SCHEMA_VISITS} visits" in fault


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_what_is_looked_at_again_and_again_is_judged_without_details(keyword: str) -> None:
    begun = time.process_time()
    assert checker(chain(16, keyword))(1) == "$: it does not fit the schema"
    assert time.process_time() - begun < 1


def test_large_values_and_schemas_that_share_are_not_too_much() -> None:
    schema: Schema = {
        "$defs": {
            "text": {"type": "string"},
            "row": {"properties": {name: {"$ref": "#/$defs/text"} for name in "abc"}},
        },
        "items": {"$ref": "#/$defs/row"},
    }
    rows: list[Any] = [{"a": "1", "b": "2", "c": "3"}] * 50_000
    assert checker(schema)(rows) is None
    fault = checker(schema)([*rows, {"b": 2}])
    assert fault is not None
    assert fault.startswith("$[50000].b: 2 is not of type")


def test_a_recursive_schema_is_not_too_much_for_a_tree() -> None:
    leaf_or_node = [
        {"type": "integer"},
        {"type": "object", "properties": {side: {"$ref": "#"} for side in "lr"}},
    ]
    tree: Any = 1
    for _ in range(12):
        tree = {"l": tree, "r": tree}
    assert checker({"anyOf": leaf_or_node})(tree) is None


# ---- references


@pytest.mark.parametrize(
    ("schema", "visits"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, 2),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, 2),
        ({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, 2),
        ({"$ref": "#/%24defs/a%20b~01", "$defs": {"a b~1": True}}, 2),
        ({"$id": "http://a/b/c", "$ref": "d", "$defs": {"x": {"$id": "d", "not": {}}}}, 3),
        ({"$id": "http://a/b", "$ref": "http://a/b#/x/0", "x": [{"not": {"not": {}}}]}, 4),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, 1),
        ({"allOf": [{"$ref": "#"}]}, 3),
        ({"properties": {"$ref": {"type": "string"}}, "default": {"$ref": "nowhere"}}, 1),
    ],
)
def test_references_are_followed_as_validators_do(schema: Schema, visits: int) -> None:
    cost = worker(schema)(1)
    assert cost.visits >= visits
    checker(schema)


@pytest.mark.parametrize("reference", ["#/$defs/b", "#b", "#/$defs/a/x/0", "urn:x"])
def test_a_reference_that_leads_nowhere_is_refused(reference: str) -> None:
    schema = {"$ref": reference, "$defs": {"a": {"x": {}}}}
    with pytest.raises(Unfollowed, match="leads nowhere"):
        worker(schema)
    with pytest.raises(BadSchema):
        checker(schema)


# ---- the count


def naive(root: Schema, schema: Any, value: Any) -> int:
    """Visits, each made as a validator makes it."""
    if isinstance(schema, bool):
        return 1
    visits = 1
    for keyword in ("allOf", "anyOf"):
        visits += sum(naive(root, each, value) for each in schema.get(keyword, ()))
    if "$ref" in schema:
        visits += naive(root, root["$defs"][schema["$ref"].rpartition("/")[2]], value)
    return visits + sum(naive(root, each, part) for each, part in below(schema, value))


def below(schema: Schema, value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list) and "items" in schema:
        yield from ((schema["items"], part) for part in cast("Sequence[Any]", value))
    if isinstance(value, dict):
        for name, part in cast("Schema", value).items():
            if name in schema.get("properties", {}):
                yield schema["properties"][name], part
            if "additionalProperties" in schema:
                yield schema["additionalProperties"], part


def schemas(names: list[str], depth: int) -> st.SearchStrategy[Any]:
    """They refer to those of `names` alone."""
    leaf: st.SearchStrategy[Any] = st.sampled_from([True, {}, {"type": "string"}])
    if names:
        leaf |= st.sampled_from(names).map(lambda name: {"$ref": f"#/$defs/{name}"})
    if not depth:
        return leaf
    below = schemas(names, depth - 1)
    return leaf | st.fixed_dictionaries(
        {},
        optional={
            "allOf": st.lists(below, max_size=2),
            "anyOf": st.lists(below, max_size=2),
            "properties": st.dictionaries(st.sampled_from("ab"), below, max_size=2),
            "additionalProperties": below,
            "items": below,
        },
    )


@st.composite
def documents(draw: st.DrawFn) -> Schema:
    """A schema whose definitions refer to those before them, or to themselves one level below."""
    defs: Schema = {}
    for name in "pqr":
        defs[name] = draw(schemas([*defs], 1))
    defs["self"] = {
        "properties": {"a": {"$ref": "#/$defs/self"}},
        "allOf": draw(
            st.lists(st.sampled_from([{"items": {"$ref": "#/$defs/self"}}, {"$ref": "#/$defs/p"}]))
        ),
    }
    return {"$defs": defs, "allOf": [draw(schemas([*defs], 2)) for _ in range(2)]}


values = st.recursive(
    st.sampled_from([1, "a", None]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from("abc"), below),
    max_leaves=6,
)


@given(documents(), values)
@example({"allOf": [True, {"anyOf": [{}]}]}, 1)
@example({"$defs": {"p": {}}, "items": {"allOf": [{"$ref": "#/$defs/p"}, {}]}}, [1, "a"])
def test_no_more_visits_are_made_than_were_counted(schema: Schema, value: Any) -> None:
    cost = worker(schema)(value)
    assert naive(schema, schema, value) <= cost.visits
