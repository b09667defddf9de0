"""Each fault that `make planted` plants can be planted, and the tests beside it are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted_faults import FAULTS, Fault, planted


def test_every_fault_changes_its_file(root: Path) -> None:
    """A row whose text has gone says nothing about the tests: it raises ValueError."""
    for fault in FAULTS:
        text = (root / fault.file).read_text("utf-8")
        assert planted(fault, text) != text


def test_the_tests_beside_a_fault_are_there(root: Path) -> None:
    named = {name for fault in FAULTS for name in fault.near.split()}
    assert [name for name in sorted(named) if not (root / "tests" / name).exists()] == []


def test_there_are_forty_faults_in_every_room_and_no_two_are_one() -> None:
    assert len({(fault.file, fault.old) for fault in FAULTS}) == len(FAULTS) >= 40


@pytest.mark.parametrize("text", ["", "a a"])
def test_a_text_that_does_not_stand_once_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"b\.py: 'a' is there [02] times"):
        planted(Fault("b.py", "a", "b", "", ""), text)
