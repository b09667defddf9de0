"""A peer's JSON Schema judges values, and never makes us fetch anything."""

from __future__ import annotations

import socket
import sys
import time
from typing import Any

import pytest

from mcp_runtime.json_schema.validator import BadSchema, checker, validate_schema


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


@pytest.mark.requirement("tools.schema.default-dialect")
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (True, 1),
        ({"type": "object"}, {"a": 1}),
        ({"prefixItems": [{"type": "string"}]}, ["a", 1]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, None),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]}, [1]),
        ({"properties": {"a": {"$ref": "#"}}}, {"a": {"a": {}}}),
    ],
)
def test_what_fits_has_no_fault(schema: Any, value: Any) -> None:
    assert validate_schema(schema, value) is None


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        (False, 1, "$: "),
        ({"properties": {"a": {"items": {"type": "integer"}}}}, {"a": [1, "x"]}, "$.a[1]: "),
        ({"required": ["a"]}, {}, '$: "a" is a required property'),
        ({"prefixItems": [{"type": "string"}]}, [1], "$[0]: "),
        ({"type": "string"}, "\ud800", "$: "),
        ({"maxLength": 3}, "x" * 10**6, "$: "),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(schema: Any, value: Any, said: str) -> None:
    problem = validate_schema(schema, value)
    assert problem is not None
    assert problem.startswith(said)
    assert len(problem) < 300


@pytest.mark.parametrize(
    "schema", [3, None, "{}", [], {"type": "objekt"}, {"pattern": "("}, nested(3000)]
)
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(BadSchema, match="schema"):
        checker(schema)


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$schema"])
@pytest.mark.parametrize("scheme", ["http://127.0.0.1:{port}/x", "file:///etc/hostname"])
def test_nothing_is_fetched(keyword: str, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = scheme.format(port=listener.getsockname()[1])
        with pytest.raises(BadSchema) as refused:
            checker({"properties": {"a": {keyword: uri}}, keyword: uri})
        assert uri in str(refused.value)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_reference_to_a_closed_port_is_told() -> None:
    with pytest.raises(BadSchema, match=r"http://127\.0\.0\.1:1/x, and schemas are not fetched"):
        validate_schema({"$ref": "http://127.0.0.1:1/x"}, {})


def test_a_pattern_that_goes_back_for_ever_is_stopped() -> None:
    check = checker({"pattern": "^(?=(a+)+$)(a|aa)+\\1$"})
    start = time.process_time()
    assert check("a" * 60 + "b") is not None
    assert time.process_time() - start < 2


def test_a_missing_validator_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(ModuleNotFoundError, match=r"mcp-bindgen-runtime\[schemas\]"):
        validate_schema({}, 1)
