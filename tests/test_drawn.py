"""A share of the cases is drawn: the same by the same seed, each case in its turn by others."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from tests.support.seeds import NEW, USUAL, choose, seed
from tests.support.wide import draw, draw_at_most, mark_what_waits, part

TWO_WAYS: Final = [{("who", who), ("what", what)} for who, what in product(range(9), range(7))]
"""Cases of a test with nine and seven parameters."""


def test_the_same_seed_draws_the_same_cases_and_another_seed_draws_others() -> None:
    draws = [draw(TWO_WAYS, f"{number} a test") for number in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize(("cases", "drawn"), [(1, 1), (4, 1), (5, 1), (6, 2), (63, 13)])
def test_a_fifth_of_the_cases_is_drawn_and_at_least_one(cases: int, drawn: int) -> None:
    assert len(draw(TWO_WAYS[:cases], "1")) == drawn


def test_every_parameter_is_drawn_where_there_is_room() -> None:
    for number in range(20):
        drawn = draw(TWO_WAYS, str(number))
        assert set().union(*(TWO_WAYS[place] for place in drawn)) == set().union(*TWO_WAYS)


def test_every_case_is_drawn_in_its_turn() -> None:
    times = Counter(place for number in range(200) for place in draw(TWO_WAYS, str(number)))
    assert set(times) == {*range(len(TWO_WAYS))}


class Case:
    """What is asked of a case that pytest collected."""

    def __init__(self, place: int, *marks: str, test: str = "test_a.py::test_a") -> None:
        self.nodeid = f"{test}[{place}]"
        self.path = Path(test.partition("::")[0])
        self.callspec = SimpleNamespace(indices={"a": place})
        self.marks = set(marks)

    def get_closest_marker(self, name: str) -> bool:
        return name in self.marks

    def add_marker(self, name: str) -> None:
        self.marks.add(name)


def waiting(cases: list[Any]) -> list[Any]:
    mark_what_waits(cases)
    return [case for case in cases if "wide" in case.marks]


def test_a_case_waits_if_its_test_is_drawn_and_it_is_not() -> None:
    cases = [Case(place, "drawn") for place in range(20)]
    assert len(waiting(cases)) == 16
    assert len(waiting([Case(place) for place in range(20)])) == 0


def test_a_pinned_case_never_waits() -> None:
    pinned = Case(0, "drawn", "pinned")
    assert len(waiting([pinned, *(Case(place, "drawn") for place in range(1, 11))])) == 8
    assert "wide" not in pinned.marks


def test_some_cases_are_drawn_from_every_file_and_every_test_in_turn() -> None:
    cases: list[Any] = [
        Case(place, test=test)
        for test, count in (
            ("a.py::many", 50),
            ("a.py::one", 1),
            ("b.py::few", 5),
            ("c.py::one", 1),
        )
        for place in range(count)
    ]
    drawn = draw_at_most(cases, 7)
    assert drawn == [case for case in cases if case in drawn], "not in their order"
    assert Counter(case.nodeid.partition("[")[0] for case in drawn) == {
        "a.py::one": 1,
        "a.py::many": 2,
        "b.py::few": 3,
        "c.py::one": 1,
    }


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_each_case_is_in_one_part(parts: int) -> None:
    taken = [place for number in range(parts) for place in range(20)[part(f"{number + 1}/{parts}")]]
    assert sorted(taken) == [*range(20)]


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_what_names_no_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no part|invalid literal"):
        part(text)


def test_the_seed_is_handed_on_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers of xdist inherit it, so all collect and draw alike."""
    monkeypatch.setenv("MCP_TEST_SEED", "3")
    assert (choose(), choose("2"), choose(), seed("a draw")) == ("3", "2", "2", "2 a draw")


def test_every_run_has_the_same_seed_unless_a_new_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MCP_TEST_SEED")
    assert choose() == choose() == USUAL
    assert len({choose(NEW) for _ in range(3)}) == 3
    assert choose() != USUAL
