"""The laws hold for every choice of generation: what a choice refuses, and what it keeps."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from mcp_bindgen import emit
from mcp_bindgen.emit.options import Options
from mcp_bindgen.ir import unions
from mcp_bindgen.ir.choices import choose_literals
from mcp_bindgen.ir.model import Arr, Bounded, Map, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.ir.values.accepts import accepts
from tests.support.instances import JSON, Case, Generator, Seeded, more
from tests.support.judges import (
    FLAVOURS,
    REVISIONS,
    Flavour,
    Verdict,
    canonical,
    flavours,
    schema_of,
)
from tests.support.reach import Reach
from tests.support.seeds import seed

CHOICES: Final = tuple(
    Options(unknown=unknown, literals=literals)
    for unknown in ("keep", "drop", "reject")
    for literals in ("closed", "open")
    if (unknown, literals) != ("keep", "closed")
)
"""All but the default, which test_differential judges."""

EVERY_CHOICE: Final = pytest.mark.parametrize(
    "choice", CHOICES, ids=[f"{c.unknown}-{c.literals}" for c in CHOICES]
)

BOUNDED: Final = 1_000
"""Instances of one choice in `make test`: each type of the newest revision, once and more."""

LONG: Final = 10_000
"""Instances of one choice and one revision in `make long`."""

MANY: Final = 12
"""Disputes after which a run stops."""


@pytest.mark.wide
@pytest.mark.drawn
@EVERY_CHOICE
def test_a_choice_is_the_same_in_every_flavour(choice: Options, package: Package) -> None:
    revision = REVISIONS[-1]
    _hold(package(revision, choice), revision, choice, BOUNDED)


@pytest.mark.long
@pytest.mark.parametrize("revision", REVISIONS)
@EVERY_CHOICE
def test_a_choice_is_the_same_for_many_instances(
    revision: str, choice: Options, package: Package
) -> None:
    _hold(package(revision, choice), revision, choice, LONG)


@pytest.mark.drawn
@EVERY_CHOICE
def test_what_was_generated_by_another_choice_is_seen(choice: Options) -> None:
    with pytest.raises(AssertionError, match=r"refuses|accepts|keeps"):
        _hold(flavours(REVISIONS[-1]), REVISIONS[-1], choice, BOUNDED)


# ---- what a choice means


class Refused(Exception):
    """A choice does not take a value."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Reads values by a schema and a choice of unknown members; it knows no generated model."""

    schema: Schema
    unknown: str

    def kept(self, type: Type, value: JSON) -> JSON:
        """What is written of a value that was read. Raises Refused."""
        match type:
            case Ref(name=name):
                declaration = self.schema.types[name]
                if isinstance(declaration, Struct):
                    return self._struct(declaration, value)
                return self.kept(declaration.type, value)
            case Uni():
                return self._first(unions.arms(self.schema, type), value)
            case Arr() if isinstance(value, list):
                return [self.kept(type.of, item) for item in value]
            case Map() if isinstance(value, dict):
                return {key: self.kept(type.of, item) for key, item in value.items()}
            case _:
                if not accepts(self.schema, type, value):
                    raise Refused
                return self.kept(type.of, value) if isinstance(type, Bounded) else value

    def _first(self, arms: tuple[Type, ...], value: JSON) -> JSON:
        for arm in arms:
            try:
                return self.kept(arm, value)
            except Refused:
                continue
        raise Refused

    def _struct(self, struct: Struct, value: JSON) -> JSON:
        if not isinstance(value, dict) or any(
            field.required and field.wire not in value for field in struct.fields
        ):
            raise Refused
        kept: dict[str, JSON] = {}
        for key, item in value.items():
            field = struct.field(key)
            if field is not None:
                kept[key] = self.kept(field.type, item)
            elif struct.index is not None:
                kept[key] = self.kept(struct.index, item)
            elif self.unknown == "keep":
                kept[key] = item
            elif self.unknown == "reject":
                raise Refused
        return kept


# ---- what the flavours make of it


Package: TypeAlias = Callable[[str, Options], tuple[Flavour, ...]]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Makes a package of a revision by a choice, and imports its flavours."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(revision: str, choice: Options) -> tuple[Flavour, ...]:
        for path, text in emit.generate([schema_of(revision)], choice).items():
            (tmp_path / "chosen" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "chosen" / path).write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        fault = importlib.import_module("chosen._wire.faults").DecodeError
        models = f"chosen.v{revision.replace('-', '_')}.models_"
        return tuple(Flavour(f, importlib.import_module(models + f), fault) for f in FLAVOURS)

    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] == "chosen"]:
        del sys.modules[name]


def _hold(made: tuple[Flavour, ...], revision: str, choice: Options, count: int) -> None:
    """Judges instances, valid ones and broken ones; fails with a dispute about each type."""
    schema = choose_literals(schema_of(revision), choice.literals)
    chosen = Chosen(schema, choice.unknown)
    chance = Seeded(seed(f"{revision} {choice.unknown} {choice.literals}"))
    generator = Generator(schema, chance, Reach(schema))
    examples: dict[str, str] = {}
    taken = 0
    for case in islice(more(generator, list(schema.types)), count):
        try:
            wanted = canonical(chosen.kept(Ref(case.type), case.value))
        except Refused:
            disputes = _not_refused(made, case)
        else:
            taken += 1
            disputes = _not_kept(made, case, wanted)
        for dispute in disputes:
            examples.setdefault(
                case.type, f"{case.type} {json.dumps(case.value)[:1500]}\n  {dispute}"
            )
        if len(examples) >= MANY:
            break
    assert not examples, "\n\n".join(examples.values())
    assert 0 < taken < count


def _verdicts(made: tuple[Flavour, ...], case: Case) -> Iterator[tuple[str, Flavour, Verdict]]:
    """What each says in both gears."""
    text = json.dumps(case.value)
    for flavour in made:
        yield f"{flavour.name}.decode", flavour, flavour.decode(case.type, text)
        yield f"{flavour.name}.from_wire", flavour, flavour.from_wire(case.type, case.value)


def _not_refused(made: tuple[Flavour, ...], case: Case) -> Iterator[str]:
    said = {who: str(verdict) for who, _, verdict in _verdicts(made, case)}
    if "accepts" in said.values() or len(set(said.values())) > 1:
        yield f"it is to be refused, by all at one place: {said}"


def _not_kept(made: tuple[Flavour, ...], case: Case, wanted: str) -> Iterator[str]:
    for who, flavour, verdict in _verdicts(made, case):
        if not verdict.accepted:
            yield f"{who} {verdict}"
            continue
        for written in (json.loads(flavour.encode(verdict.value)), flavour.to_wire(verdict.value)):
            if canonical(written) != wanted:
                yield f"{who} keeps {canonical(written)}, not {wanted}"
