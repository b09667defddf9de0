"""The official schema.json, made by another tool from the same schema.ts, accepts what we accept.

That tool loses something on the way (tests/oracle/CONSTRUCTS.md). A row of LOSSES mends one
kind of loss in the document; mended by every row it must agree with us about every instance, and
without any one row it must not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import jsonschema_rs
import pytest

from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import accepts
from tests.support.instances import Case, Generator, Seeded, cases, more
from tests.support.judges import REVISIONS, schema_of
from tests.support.official_files import require
from tests.support.seeds import seed

COUNT: Final = 6_000
"""Instances of one revision; what reaches everything takes up to 5 300 of them."""


@dataclass(frozen=True, slots=True)
class Loss:
    """`places` says how many places of the document `mend` changes, by revision; `why` what it did.

    CONSTRUCTS.md counts members by definition, so it counts the aliases differently that the tool
    wrote out or referred to.
    """

    name: str
    places: dict[str, int]
    mend: Callable[[dict[str, Any]], int]
    why: str


def integers(document: dict[str, Any]) -> int:
    mended = 0
    for node in _nodes(document):
        kinds = node.get("type")
        if kinds == "integer":
            node["type"], mended = "number", mended + 1
        elif isinstance(kinds, list) and "integer" in kinds:
            node["type"] = ["number" if kind == "integer" else kind for kind in kinds]
            mended += 1
    return mended


def nulls(document: dict[str, Any]) -> int:
    arms = _definitions(document)["JSONValue"]["anyOf"]
    arms.append({"type": "null"})
    return 1


def narrowed(document: dict[str, Any]) -> int:
    result = _definitions(document)["InputRequiredResult"]["properties"]
    result["resultType"] = {"const": "input_required"}
    return 1


LOSSES: Final = (
    Loss(
        "number is integer",
        dict(zip(REVISIONS, (6, 6, 10, 18, 30), strict=False)),
        integers,
        "without `@TJS-type number` its default for `number` is `integer`",
    ),
    Loss(
        "null is left out",
        {"2026-07-28": 1},
        nulls,
        "it runs without strict null checks; `Task.ttl` (2025-11-25) is saved by `@nullable`",
    ),
    Loss(
        "not narrowed",
        {"2026-07-28": 1},
        narrowed,
        "no loss of the tool but a [[narrow]] row of decisions.toml, which it does not know",
    ),
)


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _nodes(item)


def _definitions(document: dict[str, Any]) -> dict[str, Any]:
    definitions: dict[str, Any] = document.get("$defs") or document["definitions"]
    return definitions


def official(revision: str, *, without: str = "") -> dict[str, Any]:
    """The document, mended by every row but one. Skips where it is absent."""
    text = require(revision, "schema.json").read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    for loss in LOSSES:
        if revision in loss.places and loss.name != without:
            assert loss.mend(document) == loss.places[revision], loss.name
    return document


def _instances(revision: str) -> Iterator[Case]:
    schema = schema_of(revision)
    generator = Generator(schema, Seeded(seed(revision)))
    reaching = chain.from_iterable(cases(generator, name) for name in schema.types)
    return islice(chain(reaching, more(generator, list(schema.types))), COUNT)


def _disagreements(document: dict[str, Any], revision: str) -> Iterator[str]:
    schema = schema_of(revision)
    key = "$defs" if "$defs" in document else "definitions"
    make = jsonschema_rs.Draft202012Validator if key == "$defs" else jsonschema_rs.Draft7Validator
    validators = {
        name: make({"$ref": f"#/{key}/{name}", key: document[key]}, validate_formats=False)
        for name in document[key]
    }
    for case in _instances(revision):
        if case.type in validators:
            true = accepts(schema, Ref(case.type), case.value)
            if validators[case.type].is_valid(case.value) != true:
                body = json.dumps(case.value)[:300]
                yield f"{case.type} {body}: we {'accept' if true else 'refuse'} it"


@pytest.mark.drawn
@pytest.mark.parametrize("revision", REVISIONS)
def test_mended_it_agrees_about_every_instance(revision: str) -> None:
    disputes = list(islice(_disagreements(official(revision), revision), 10))
    assert not disputes, "\n".join(disputes)


@pytest.mark.parametrize(
    ("revision", "loss"), [(revision, loss.name) for loss in LOSSES for revision in loss.places]
)
def test_every_loss_is_one(revision: str, loss: str) -> None:
    document = official(revision, without=loss)
    assert next(_disagreements(document, revision), None) is not None


@pytest.mark.parametrize("revision", REVISIONS)
def test_it_has_our_declarations_and_no_others(revision: str) -> None:
    ours = {
        name
        for name, declared in schema_of(revision).types.items()
        if not getattr(declared, "place", "")
    }
    assert set(_definitions(official(revision))) == ours
