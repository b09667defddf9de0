"""The ledger and the tests agree: no mark without a row, no binding row without a mark."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.spec.areas import RULES, Area, Named, Rule, rule_of
from tests.spec.ledger import FOLDER, all_marks, held, marks, rows


def not_yet_held() -> list[str]:
    return (FOLDER / "not_yet_held.txt").read_text("utf-8").split()


def owed() -> set[str]:
    """The rows that a test has to hold: binding, seen on the wire or in the API, and ours now."""
    return {r.id for r in rows().values() if r.binds and rule_of(r).area is Area.NOW}


@pytest.mark.wide
def test_every_mark_names_a_row_of_the_ledger() -> None:
    wrong = [m for m in all_marks() if m.problem or m.id not in rows()]
    assert [f"{m.place}: {m.problem or f'no row is called {m.id}'}" for m in wrong] == []


def test_every_binding_row_is_held_or_listed_as_not_yet_held() -> None:
    assert sorted(owed() - held().keys() - set(not_yet_held())) == []


def test_what_is_listed_as_not_yet_held_is_owed_and_not_held() -> None:
    listed = not_yet_held()
    assert listed == sorted(set(listed))
    assert [id for id in listed if id in held() or id not in owed()] == []


@pytest.mark.parametrize("rule", RULES, ids=[rule.why for rule in RULES])
def test_a_rule_sorts_a_row_and_so_does_every_name_in_it(rule: Rule) -> None:
    sorted_by_it = [row for row in rows().values() if rule_of(row) is rule]
    patterns = rule.fits.patterns if isinstance(rule.fits, Named) else ("*",)
    assert [p for p in patterns if not any(fnmatchcase(row.id, p) for row in sorted_by_it)] == []


def test_what_binds_and_is_ours_is_seen_on_the_wire_or_in_the_api() -> None:
    assert {rows()[id].how for id in owed()} == {"wire", "api"}


@pytest.mark.parametrize("name", ["base.json", "features.json", "README.md"])
def test_the_ledger_is_the_shared_one(shared: Path, name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == (shared / "requirements" / name).read_text("utf-8")


def test_a_row_stands_on_one_line() -> None:
    for name in ("base.json", "features.json"):
        lines = (FOLDER / name).read_text("utf-8").splitlines()[1:-1]
        assert all(isinstance(json.loads(line.rstrip(",")), dict) for line in lines)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("@pytest.mark.requirement('a.b')\ndef test_it(): ...", ["a.b"]),
        ("@pytest.mark.requirement('a', 'b')\nasync def test_it(): ...", ["a", "b"]),
        ("pytestmark = pytest.mark.requirement('a')", ["a"]),
        ("rows = [pytest.param(1, marks=pytest.mark.requirement('a'))]", ["a"]),
        ("requirement = pytest.mark.requirement\n@requirement('a')\ndef test_it(): ...", ["a"]),
        ("class TestIt:\n    @pytest.mark.requirement('a')\n    def test_it(self): ...", ["a"]),
        ("TEXT = \"@pytest.mark.requirement('a')\"", []),
    ],
)
def test_a_mark_is_read_wherever_pytest_knows_it(text: str, ids: list[str]) -> None:
    assert [(m.id, m.problem) for m in marks(text, "tests/test_it.py")] == [(id, "") for id in ids]


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        ("@requirement(ID)\ndef test_it(): ...", "tests/test_it.py", "not written out"),
        ("@requirement(*IDS)\ndef test_it(): ...", "tests/test_it.py", "not written out"),
        ("@requirement('a', id='b')\ndef test_it(): ...", "tests/test_it.py", "not written out"),
        ("@requirement()\ndef test_it(): ...", "tests/test_it.py", "names no id"),
        ("@requirement('a')\ndef check_it(): ...", "tests/test_it.py", "stands at no test"),
        ("@requirement('a')\ndef test_it(): ...", "tests/helper.py", "stands at no test"),
    ],
)
def test_a_mark_that_holds_nothing_is_a_problem(text: str, name: str, problem: str) -> None:
    assert [problem in mark.problem for mark in marks(text, name)].count(True) == 1
