"""Every construct that is read, by JSON that it takes and JSON that it does not; every refusal.

One judge walks the types, one is the exported JSON Schema under another validator, three are the
generated flavours, each from text and from parsed JSON, and pydantic is asked without our
functions. A value that is taken comes back as it was.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest
from pydantic import TypeAdapter, ValidationError

from mcp_bindgen.compare.judge.verdicts import judge
from mcp_bindgen.errors import SchemaError
from mcp_bindgen.ir.accepts import accepts
from mcp_bindgen.ir.json_schema import json_schema
from mcp_bindgen.ir.lower import load
from mcp_bindgen.ir.model import Ref, Schema
from mcp_bindgen.source import Source
from tests.support.constructs import CASES, FLAVOURS, Case, write_package

READ: Final = sorted(name for name, case in CASES.items() if not case.refused)
REFUSED: Final = sorted(name for name, case in CASES.items() if case.refused)
REVISION: Final = "1"

_Judge = Callable[[str], bool]


def read(case: Case) -> Schema:
    files = {name: Source(text.encode(), name) for name, text in case.imports.items()}
    return load(case.schema.encode(), "a.ts", REVISION, imports=files)


def test_the_corpus_has_at_least_200_schemas_with_json_on_both_sides() -> None:
    assert len(CASES) >= 200
    assert all(CASES[name].accepts for name in READ)
    lenient = {name for name in READ if not CASES[name].rejects}
    assert lenient == {"recursion/all-of-json"}


@pytest.mark.drawn
@pytest.mark.parametrize("name", READ)
def test_every_judge_takes_what_the_type_takes_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    schema = read(case)
    package = f"constructs_{name.replace('/', '_').replace('-', '_')}"
    write_package(schema, tmp_path, package)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    judges = judges_of(schema, package)
    for wanted, texts in ((True, case.accepts), (False, case.rejects)):
        verdicts = {(text, who): judge(text) for text in texts for who, judge in judges.items()}
        assert verdicts == dict.fromkeys(verdicts, wanted)


def judges_of(schema: Schema, package: str) -> dict[str, _Judge]:
    document = json_schema(schema, "Root")
    jsonschema_rs.meta.validate(document)
    validator = jsonschema_rs.Draft202012Validator(document)
    judges: dict[str, _Judge] = {
        "types": lambda text: accepts(schema, Ref("Root"), json.loads(text)),
        "json schema": lambda text: validator.is_valid(json.loads(text)),
    }
    for flavour in FLAVOURS:
        module = importlib.import_module(f"{package}.v{REVISION}.models_{flavour}")
        judges[f"{flavour} text"] = taken_by(module, lambda m, text: m.decode(m.Root, text))
        judges[f"{flavour} object"] = taken_by(
            module, lambda m, text: m.from_wire(m.Root, json.loads(text))
        )
    return judges | native_judges(importlib.import_module(f"{package}.v{REVISION}.models_pydantic"))


def native_judges(module: Any) -> dict[str, _Judge]:
    """What pydantic takes by itself, and the JSON Schema that it writes."""
    adapter = TypeAdapter[Any](module.Root)
    validator = jsonschema_rs.Draft202012Validator(adapter.json_schema())

    def judge(text: str) -> bool:
        try:
            value = adapter.validate_json(text)
        except ValidationError:
            return False
        assert json.loads(adapter.dump_json(value)) == json.loads(text)
        return True

    return {
        "pydantic itself": judge,
        "pydantic's JSON Schema": lambda text: validator.is_valid(json.loads(text)),
    }


def taken_by(module: Any, decode: Callable[[Any, str], object]) -> _Judge:
    """Whether a flavour takes a text; what it takes it must write again as it was."""

    def judge(text: str) -> bool:
        try:
            value = decode(module, text)
        except module.DecodeError:
            return False
        assert json.loads(module.encode(value)) == json.loads(text)
        assert module.to_wire(value) == json.loads(text)
        return True

    return judge


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_where_and_what_to_do(name: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read(CASES[name])
    error = caught.value
    assert CASES[name].refused in error.message
    assert error.place.startswith("a.ts:")
    assert error.excerpt.endswith("^")
    assert error.remedy


MESSAGES: Final = """
export interface XRequest { method: "x/y"; params: Root }
export interface XResult { result: Root }
export type ClientRequest = XRequest;
export type ServerResult = XResult;
"""


@pytest.mark.parametrize("name", [name for name in READ if name.startswith("recursion/")])
def test_types_that_hold_themselves_are_compared(name: str) -> None:
    """With themselves nothing changes; with each other something does."""
    old = load((CASES[name].schema + MESSAGES).encode(), "a.ts", REVISION)
    assert judge(old, old) == ()
    for other in (n for n in READ if n.startswith("recursion/") and n != name):
        new = load((CASES[other].schema + MESSAGES).encode(), "a.ts", REVISION)
        assert judge(old, new)
