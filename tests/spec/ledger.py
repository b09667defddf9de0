"""The ledger of requirements: its rows, and the marks of the tests that hold them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["FOLDER", "Mark", "Row", "all_marks", "held", "marks", "rows"]

FOLDER: Final = Path(__file__).parent
TESTS: Final = FOLDER.parent
MARK: Final = "requirement"


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement, in the members that README.md explains."""

    id: str
    level: str
    roles: frozenset[str]
    transports: frozenset[str]
    revisions: tuple[str, ...]
    rule: str
    source: str
    how: str
    replaces: str | None = None

    @property
    def binds(self) -> bool:
        """Whether it is a MUST or MUST NOT."""
        return self.level in {"MUST", "MUST NOT"}

    @property
    def advises(self) -> bool:
        """Whether it is a SHOULD or SHOULD NOT."""
        return self.level in {"SHOULD", "SHOULD NOT"}


@dataclass(frozen=True, slots=True)
class Mark:
    """A test that says it holds a requirement, or `problem`: why that cannot be so."""

    place: str
    id: str = ""
    problem: str = ""


def _row(members: dict[str, Any]) -> Row:
    sets = {name: frozenset(members[name]) for name in ("roles", "transports")}
    return Row(**{**members, **sets, "revisions": tuple(members["revisions"])})


@cache
def rows() -> dict[str, Row]:
    """Every row by its id, in the order of the files."""
    files = (FOLDER / name for name in ("base.json", "features.json"))
    read = [_row(row) for file in files for row in json.loads(file.read_text("utf-8"))]
    by_id = {row.id: row for row in read}
    if len(by_id) != len(read):
        raise ValueError("an id of the ledger stands there twice")
    return by_id


def marks(text: str, name: str) -> Iterator[Mark]:
    """The marks in one file's text. `name` is the file's, with its folder.

    They are read and not collected, so that the tests which a run leaves out count as well.
    Therefore ids are written out at the mark.
    """
    tree = ast.parse(text)
    helpers = _helpers(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_mark(node.func):
            place = f"{name}:{node.lineno}"
            in_test = Path(name).name.startswith("test_") and node not in helpers
            for problem in [] if in_test else ["stands at no test"]:
                yield Mark(place, problem=problem)
            yield from _ids(node, place)


def _helpers(tree: ast.Module) -> set[ast.expr]:
    """The decorators of functions that pytest takes for no tests."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {d for f in functions if not f.name.startswith("test") for d in f.decorator_list}


def _is_mark(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name == MARK
        case _:
            return False


def _ids(call: ast.Call, place: str) -> Iterator[Mark]:
    for argument in (*call.args, *call.keywords):
        match argument:
            case ast.Constant(value=str() as id):
                yield Mark(place, id)
            case _:
                yield Mark(place, problem="names an id that is not written out")
    if not call.args:
        yield Mark(place, problem="names no id")


@cache
def held() -> dict[str, tuple[str, ...]]:
    """Where each id is held, as far as marks are sound."""
    places: dict[str, tuple[str, ...]] = {}
    for mark in all_marks():
        if not mark.problem:
            places[mark.id] = (*places.get(mark.id, ()), mark.place)
    return places


@cache
def all_marks() -> tuple[Mark, ...]:
    """The marks of every file below tests/."""
    files = sorted(TESTS.rglob("*.py"))
    named = ((file.read_text("utf-8"), str(file.relative_to(TESTS.parent))) for file in files)
    marked = ((text, name) for text, name in named if "requirement" in text)
    return tuple(mark for text, name in marked for mark in marks(text, name))
