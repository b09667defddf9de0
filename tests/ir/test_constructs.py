"""Every construct that is read, by JSON that it takes and JSON that it does not; every refusal.

One judge walks the types, one is the exported JSON Schema under another validator, three are the
generated flavours, each from text and from parsed JSON, and pydantic is asked without our
functions. A value that is taken comes back as it was.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import jsonschema_rs
import pytest
from pydantic import TypeAdapter, ValidationError

from mcp_bindgen.compare.judge.verdicts import judge
from mcp_bindgen.errors import SchemaError
from mcp_bindgen.ir.export.json_schema import json_schema
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref, Schema
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.source import Source
from tests.support.constructs import CASES, FLAVOURS, Case, write_package

READ: Final = sorted(name for name, case in CASES.items() if not case.refused)
REFUSED: Final = sorted(name for name, case in CASES.items() if case.refused)
REVISION: Final = "1"

_Judge = Callable[[str], bool]


def read(case: Case, revision: str = REVISION) -> Schema:
    files = {name: Source(text.encode(), name) for name, text in case.imports.items()}
    return load(case.schema.encode(), "a.ts", revision, imports=files)


@cache
def schemas_of(stem: str) -> dict[str, Schema]:
    """The schemas of a file of the corpus, each as a revision of its own, by the case's name."""
    return {
        name: read(CASES[name], f"{number}")
        for number, name in enumerate(READ)
        if name.startswith(f"{stem}/")
    }


@pytest.fixture(scope="module")
def package_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Writes the package with the bindings of all schemas of a file of the corpus; its name.

    One package of many revisions is written and imported in a third of the time of many packages.
    """
    home = tmp_path_factory.mktemp("constructs")

    @cache
    def package(stem: str) -> str:
        write_package([*schemas_of(stem).values()], home, f"constructs_{stem}")
        return f"constructs_{stem}"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(home), *sys.path])
        yield package


def test_the_corpus_has_at_least_200_schemas_with_json_on_both_sides() -> None:
    assert len(CASES) >= 200
    assert all(CASES[name].accepts for name in READ)
    lenient = {name for name in READ if not CASES[name].rejects}
    assert lenient == {"recursion/all-of-json"}


@pytest.mark.parametrize("name", READ)
def test_every_judge_takes_what_the_type_takes_and_nothing_else(
    name: str, package_of: Callable[[str], str]
) -> None:
    case, stem = CASES[name], name.partition("/")[0]
    judges = judges_of(schemas_of(stem)[name], package_of(stem))
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
    models = f"{package}.v{schema.revision}.models"
    for flavour in FLAVOURS:
        module = importlib.import_module(f"{models}_{flavour}")
        judges[f"{flavour} text"] = taken_by(module, lambda m, text: m.decode(m.Root, text))
        judges[f"{flavour} object"] = taken_by(
            module, lambda m, text: m.from_wire(m.Root, json.loads(text))
        )
    return judges | native_judges(importlib.import_module(f"{models}_pydantic"))


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
