"""The protocol's own messages, through every pair of revisions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.convert import conversion
from tests.convert.conversion import examples, outcome
from tests.laws.test_official_examples import NOT_OF_THE_SCHEMA
from tests.support.judges import REVISIONS
from tests.support.law_messages import Message, wrong

WITHOUT_ID = {"server/utilities/pagination, Request Format"}
"""Two pages write a request that has no id."""


@pytest.mark.parametrize("from_", REVISIONS)
def test_official_messages_arrive_valid_or_are_refused_with_a_reason(
    shared: Path, from_: str
) -> None:
    assert shared
    invalid: set[str] = set()
    count = 0
    for example in examples(from_):
        message = example.message
        for to in REVISIONS:
            result = outcome(message, to)
            count += 1
            if result.converted is None:
                assert result.why, example.place
                invalid.update([example.place] if result.mark == "invalid" else [])
                continue
            arrived = Message(to, message.method, message.position, message.bare, result.converted)
            assert wrong(arrived) is None, (example.place, to, wrong(arrived))
    assert count > 200
    known = {f"{place}, {name}" for revision, place, name in NOT_OF_THE_SCHEMA if revision == from_}
    assert invalid <= known | WITHOUT_ID


def test_the_table_is_what_conversion_does(shared: Path) -> None:
    assert shared
    assert conversion.FILE.read_text("utf-8") == conversion.text()


def test_a_changed_table_is_seen(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shared
    monkeypatch.setattr(conversion, "FILE", tmp_path / "CONVERSION.md")
    assert conversion.main([]) == 0
    assert conversion.main(["--check"]) == 0
    conversion.FILE.write_text(conversion.FILE.read_text("utf-8").replace("✓", "=", 1), "utf-8")
    assert conversion.main(["--check"]) == 1
