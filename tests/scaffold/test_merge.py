"""What becomes of each file of a project when its template has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from mcp_bindgen.cli.git import merging
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold.merge import Change, Merged, plan

MERGE = merging("new")
OLD = "".join(f"line {number}\n" for number in range(12))


def no_merge(yours: str, old: str, new: str) -> Merged:
    raise AssertionError("nothing is to be merged")


@pytest.mark.parametrize(
    ("old", "new", "yours", "becomes"),
    [
        ("a", "a", "a", None),
        ("a", "a", "mine", None),
        ("a", "a", None, None),
        ("a", "b", "b", None),
        ("a", None, None, None),
        ("a", "b", "a", Change("f", "written", "b")),
        (None, "b", None, Change("f", "written", "b")),
        ("a", "b", None, Change("f", "left out")),
        ("a", None, "a", Change("f", "removed")),
        ("a", None, "mine", Change("f", "kept")),
    ],
)
def test_where_one_side_changed_its_change_is_taken_or_yours_is_kept(
    old: str | None, new: str | None, yours: str | None, becomes: Change | None
) -> None:
    sides = [{} if text is None else {"f": text} for text in (old, new, yours)]
    assert plan(*sides, no_merge) == ([] if becomes is None else [becomes])


@pytest.mark.parametrize(("old", "new"), [("a", "a"), ("a", "b")])
def test_a_file_of_the_protocol_comes_back(old: str, new: str) -> None:
    path = "src/a/_mcp/wire/x.py"
    assert plan({path: old}, {path: new}, {}, no_merge) == [Change(path, "written", new)]


def test_a_sample_that_its_user_rewrote_stays() -> None:
    mine = "".join(f"my own line {number}\n" for number in range(30)) + "line 3\n"
    new = OLD.replace("line 5\n", "theirs\n")
    assert plan({"f": OLD}, {"f": new}, {"f": mine}, no_merge) == [Change("f", "rewritten")]
    for yours in (mine + OLD, mine + "".join(f"line {number}\n" for number in range(3, 8))):
        (change,) = plan({"f": OLD}, {"f": new}, {"f": yours}, MERGE)
        assert change.kind in ("merged", "conflict")


def test_changes_of_other_lines_are_merged() -> None:
    yours, new = OLD.replace("line 1\n", "mine\n"), OLD.replace("line 9\n", "theirs\n")
    (change,) = plan({"f": OLD}, {"f": new}, {"f": yours}, MERGE)
    assert change == Change("f", "merged", yours.replace("line 9\n", "theirs\n"))


def test_changes_of_the_same_line_are_marked_as_git_does() -> None:
    yours, new = OLD.replace("line 5\n", "mine\n"), OLD.replace("line 5\n", "theirs\n")
    (change,) = plan({"f": OLD}, {"f": new}, {"f": yours}, MERGE)
    conflict = "<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> new\n"
    assert change == Change("f", "conflict", OLD.replace("line 5\n", conflict))


def test_lines_that_you_deleted_stay_away_though_their_template_changed() -> None:
    lines = [f"line {number}\n" for number in range(40)]
    old, kept = "".join(lines), "".join(lines[:3] + lines[9:])
    new = old.replace("line 5\n", "theirs\n").replace("line 30\n", "new\n")
    (change,) = plan({"f": old}, {"f": new}, {"f": kept}, MERGE)
    assert change == Change("f", "merged", kept.replace("line 30\n", "new\n"))
    yours = kept.replace("line 30\n", "mine\n")
    (change,) = plan({"f": old}, {"f": new}, {"f": yours}, MERGE)
    conflict = "<<<<<<< yours\nmine\n=======\nnew\n>>>>>>> new\n"
    assert change == Change("f", "conflict", yours.replace("mine\n", conflict))


def test_a_file_that_both_made_is_a_conflict() -> None:
    (change,) = plan({}, {"f": "theirs\n"}, {"f": "mine\n"}, MERGE)
    assert change.kind == "conflict"
    assert change.text is not None
    assert {"mine", "theirs"} <= {*change.text.split("\n")}


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="merge-file"):
        plan({"f": "a\n"}, {"f": "b\n"}, {"f": "\0\n"}, MERGE)


def test_git_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="Install git"):
        MERGE("a\n", "b\n", "c\n")


LINES = st.lists(st.sampled_from(["def f():", "    pass", "", "x = 1", "}"]), max_size=12)
EDITS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=4)


def edited(lines: list[str], edits: list[tuple[int, int]], mark: str) -> list[str]:
    """Lines with some replaced by others that carry a mark of their own."""
    changed = list(lines)
    for number, (place, gone) in enumerate(edits):
        changed[place : place + gone] = [f"{mark} {number}"]
    return changed


@settings(max_examples=60)
@given(LINES, EDITS, EDITS)
def test_no_line_of_the_user_is_lost(
    old: list[str], mine: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    texts = [old, edited(old, theirs, "theirs"), edited(old, mine, "mine")]
    sides = [{"f": "".join(f"{line}\n" for line in text)} for text in texts]
    (change,) = plan(*sides, MERGE) or [Change("f", "kept")]
    after = sides[2]["f"] if change.text is None else change.text
    note(after)
    of_mine = [line for line in texts[2] if line.startswith("mine")]
    assert [line for line in after.split("\n") if line.startswith("mine")] == of_mine
