"""The day of a revision, step by step: where it stops, and that it goes on from there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.day import __main__ as day
from tests.day import answers, pages
from tests.support import successor
from tests.support.successor import BEFORE, MIXED, NAME

ASKED: Final = f"""mcp-bindgen: schema/decisions.toml: 2 rows are missing, 1 answer waits
Add, with your answers:

# schema/{NAME}/schema.ts:7: `A.b`, up: {NAME} does not declare it (rename, drop, keep)
[[step]]
pair = "{BEFORE}..{NAME}"
path = "A.b"
up = ""
page = ""
why = ""

# schema/{NAME}/schema.ts:9: `c/d`: which capability does it need?
[[method]]
revisions = ["{NAME}"]
path = "c/d"
capability = ""
page = ""
why = ""

So far nothing asks for these rows:
line 12: [[step]] `up A.bb`; is it for `A.b`?

What these rows answer is as it was in the revision before. If the answers still hold, run it.

--- a/schema/decisions.toml
+++ b/schema/decisions.toml
"""
DONE: Final = "generated/mcp_wire: 11 new\n"


def test_a_sheet_has_each_question_above_its_row_and_the_edit_to_confirm() -> None:
    asked = answers.questions(ASKED)
    assert [row.splitlines()[1] for row in asked.rows] == ["[[step]]", "[[method]]"]
    assert asked.confirm.startswith("What these rows answer")
    text = answers.sheet(asked, NAME)
    assert "# --- a/schema/decisions.toml" in text
    assert "confirm = false" in text
    assert "# line 12: [[step]] `up A.bb`; is it for `A.b`?" in text
    sheet = answers.read(text)
    pair = f"{BEFORE}..{NAME}"
    assert list(sheet.open) == [("step", pair, "up A.b"), ("method", NAME, "c/d")]
    assert (sheet.answered, sheet.confirm) == ({}, False)


def filled(text: str, *, confirm: bool = True) -> str:
    """A sheet as a person leaves it."""
    text = text.replace("confirm = false", f"confirm = {str(confirm).lower()}")
    return text.replace('up = ""', 'up = "drop"').replace('""\nwhy = ""', '"p"\nwhy = "w"')


def test_a_row_is_answered_when_no_text_of_it_is_empty() -> None:
    text = answers.sheet(answers.questions(ASKED), NAME)
    sheet = answers.read(filled(text))
    assert sheet.open == {}
    assert sheet.confirm
    row = sheet.answered["method", NAME, "c/d"]
    assert row.startswith('[[method]]\nrevisions = ["2027-03-11"]\npath = "c/d"\ncapability = ""')
    half = answers.read(filled(text).replace('up = "drop"', 'up = ""'))
    assert list(half.open) == [("step", f"{BEFORE}..{NAME}", "up A.b")]


def test_what_is_begun_in_a_sheet_stays_when_it_is_written_anew() -> None:
    asked = answers.questions(ASKED)
    begun = answers.sheet(asked, NAME).replace('up = ""', 'up = "rename"\nto = "x"')
    begun = begun.replace("confirm = false", "confirm = true")
    text = answers.sheet(asked, NAME, answers.read(begun))
    assert "`A.b`, up: 2027-03-11 does not declare it" in text
    assert 'path = "A.b"\nup = "rename"\nto = "x"\npage = ""' in text
    assert "confirm = true" in text
    assert text == answers.sheet(asked, NAME, answers.read(text))


@pytest.mark.parametrize("said", ["", "mcp-bindgen: schema/x.ts:1:1: `A` is not declared\n"])
def test_an_error_that_asks_nothing_is_no_question(said: str) -> None:
    assert answers.questions(said) == answers.Questions(())


Answer = Callable[[tuple[str, ...]], tuple[int, str, str]]


def _silent(args: tuple[str, ...]) -> tuple[int, str, str]:
    del args
    return 0, "", ""


@dataclass(frozen=True)
class Played(day.Day):
    """A day on which each program says what a test says."""

    answer: Answer = _silent
    asked: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        del env
        self.asked.append(args)
        return subprocess.CompletedProcess(args, *self.answer(args))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "schema").mkdir()
    (tmp_path / "schema" / "decisions.toml").write_text("# Rows.\n", "utf-8")
    (tmp_path / "schema" / "PINS.toml").write_text("", "utf-8")
    return tmp_path


def generated(root: Path) -> Answer:
    """`generate`, which asks until the table has both rows and is told that the rest holds."""

    def answer(args: tuple[str, ...]) -> tuple[int, str, str]:
        rows = set(answers.rows_of((root / "schema" / "decisions.toml").read_text("utf-8")))
        held = len(rows) == 2 and "--confirm" in args
        return (0, DONE, "") if held else (2, "", ASKED)

    return answer


def test_it_stops_with_a_sheet_and_goes_on_when_that_is_answered(root: Path) -> None:
    played = Played(root, NAME, "x.ts", (), None, answer=generated(root))
    sheet = played.work / "answers.toml"
    with pytest.raises(day.Stop, match="2 questions are open, and older answers wait"):
        day.decide(played)
    with pytest.raises(day.Stop, match="2 questions are open"):
        day.decide(played)
    sheet.write_text(filled(sheet.read_text("utf-8"), confirm=False), "utf-8")
    with pytest.raises(day.Stop, match="questions are open"):
        day.decide(played)
    assert len(set(answers.rows_of(played.table.read_text("utf-8")))) == 2
    sheet.write_text(sheet.read_text("utf-8").replace("confirm = false", "confirm = true"), "utf-8")
    assert day.decide(played) == "0 answers taken; generated/mcp_wire: 11 new"


def test_answers_in_a_file_are_taken_once_whatever_else_it_has(root: Path) -> None:
    given = root / "given.toml"
    given.write_text(filled(answers.sheet(answers.questions(ASKED), NAME)), "utf-8")
    played = Played(root, NAME, "x.ts", (), given, answer=generated(root))
    assert day.decide(played).startswith("2 answers taken")
    text = played.table.read_text("utf-8")
    assert day.decide(played).startswith("0 answers taken")
    assert played.table.read_text("utf-8") == text
    given.write_text("[[step]\n", "utf-8")
    with pytest.raises(day.Stop, match=r"given\.toml: "):
        day.decide(played)


def test_another_error_of_generation_names_the_table_to_mend(root: Path) -> None:
    refusal: Answer = lambda _: (2, "", "cannot degrade")  # noqa: E731
    played = Played(root, NAME, "x.ts", (), None, answer=refusal)
    with pytest.raises(day.Stop, match="cannot degrade\nMend the row in"):
        day.decide(played)


def test_pull_gets_the_origin_and_the_imports_and_tells_what_it_says(root: Path) -> None:
    said = "2027-03-11 is new\nschema/2027-03-11/schema.ts:3: A.b\n"
    played = Played(root, NAME, "x.ts", ("./a.js=a.ts",), None, answer=lambda _: (0, said, ""))
    assert day.pull(played) == "2027-03-11 is new"
    (args,) = played.asked
    assert args == ("mcp_bindgen", "pull", NAME, "--from", "x.ts", "--import", "./a.js=a.ts")
    assert (played.work / "pull.txt").read_text("utf-8") == said
    refusal: Answer = lambda _: (2, "", "no file stands for the import")  # noqa: E731
    refused = replace(played, answer=refusal)
    with pytest.raises(day.Stop, match="no file stands"):
        day.pull(refused)


def test_a_stop_ends_the_command_with_its_own_status(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = (0, "2027-03-11 is new\n", "")
    answer: Answer = lambda args: said if "pull" in args else (2, "", ASKED)  # noqa: E731
    assert day.play(Played(root, NAME, "x.ts", (), None, answer=answer)) == day.STOPPED
    out, err = capsys.readouterr()
    assert out == "schema   2027-03-11 is new\n"
    assert err.startswith("answers  stops: 2 questions are open")
    assert err.endswith("Then run the same command again.\n")


@pytest.mark.parametrize("name", ["draft", "2027", "../x"])
def test_a_name_that_is_no_date_is_refused(name: str) -> None:
    with pytest.raises(SystemExit):
        day.main([name])


FOUND: Final[list[Any]] = [
    {
        "rule": "METHOD_ADDED",
        "path": "c/d",
        "severity": "dangerous",
        "hint": "Ask only if it speaks it.",
        "old_client_new_server": "holds",
        "new_client_old_server": "if used",
        "bindings": "breaks",
    }
]
ROWS: Final = f"""
[[step]]
pair = "{BEFORE}..{NAME}"
path = "c/d"
down = "refuse"
page = "server/c"
why = "The older one has none."
"""


def test_the_entry_for_users_says_whom_it_breaks_what_to_do_and_what_is_lost() -> None:
    text = pages.changelog(BEFORE, NAME, "  New: c/d\n", FOUND, ROWS)
    assert "- New: c/d" in text
    assert "- a client of yours that stays as it is: no change breaks it" in text
    assert "- a server of yours that stays as it is: 1 break it if the feature is used" in text
    assert "- Ask only if it speaks it. (METHOD_ADDED: `c/d`)" in text
    assert "- `c/d` (refuse): The older one has none." in text


def test_the_rules_to_write_have_a_box_for_each_piece_of_news_page_and_comment() -> None:
    text = pages.ledger(NAME, FOUND, ROWS, f"{NAME} is new\nschema/{NAME}/schema.ts:3: A.b\n")
    assert [line for line in text.splitlines() if line.startswith("- [ ]")] == [
        "- [ ] the method `c/d`",
        "- [ ] server/c: [[step]] `c/d`",
        f"- [ ] schema/{NAME}/schema.ts:3: A.b",
    ]


FOLDERS: Final = ("codegen", "docs", "generated", "runtime", "schema", "templates", "tests")
FILES: Final = ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile")


@pytest.mark.wide
@pytest.mark.real_time
def test_the_day_of_a_successor_is_played_to_its_end(root: Path) -> None:
    """In a copy of the project: it stops once, and with the answers it goes on to the end."""
    copy, here = root / "copy", Path(__file__).parents[2]
    for folder in FOLDERS:
        shutil.copytree(here / folder, copy / folder)
    for name in FILES:
        shutil.copy(here / name, copy)
    (copy / "official.ts").write_text(MIXED.text(copy / "schema"), "utf-8")
    rows = successor.answers(MIXED, "")
    (copy / "given.toml").write_text(f"confirm = true\n{rows}", "utf-8")
    packages = ("codegen", "generated", "runtime", ".")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(copy / each) for each in packages)}

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.day", NAME, *args]
        return subprocess.run(
            command, cwd=copy, env=env, capture_output=True, text=True, check=False
        )

    stopped = run("--from", "official.ts")
    assert stopped.returncode == day.STOPPED
    assert "questions are open" in stopped.stderr
    ended = run("--answers", "given.toml")
    assert ended.returncode == 0, ended.stderr
    work = copy / "build" / "day" / NAME
    talks = (work / "conversation.txt").read_text("utf-8").splitlines()
    assert len(talks) == 14
    assert [sum(f", {way}: " in line for line in talks) for way in ("stdio", "HTTP")] == [7, 7]
    assert all(f": {NAME}, " in line or f": {BEFORE}, " in line for line in talks)
    assert "- New: checksum/get" in (work / "changelog.md").read_text("utf-8")
    assert "- [ ] the method `checksum/get`" in (work / "rules.md").read_text("utf-8")
    assert (copy / "docs" / "changes" / f"{BEFORE}_{NAME}.md").exists()
    again = run()
    assert again.returncode == 0, again.stderr
    assert "0 answers taken" in again.stdout
    assert json.dumps(NAME) in (copy / "schema" / "PINS.toml").read_text("utf-8")


def test_the_workflow_plays_the_day_with_commands_that_exist_and_no_secret() -> None:
    home = Path(__file__).parents[2]
    text = (home / ".github" / "workflows" / "schema.yml").read_text("utf-8")
    steps = yaml.safe_load(text)["jobs"]["pull"]["steps"]
    script = "\n".join(step.get("run", "") for step in steps)
    targets = set(re.findall(r"^([a-z]+):", (home / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)", script)) == {"setup", "day"}
    assert {"setup", "day"} <= targets
    assert re.findall(r"mcp-bindgen (\w+)", script) == ["pull"]
    assert "secrets." not in text
    branch = "official-schema"
    for words in ("--head", "switch -c", "push origin"):
        assert f"{words} {branch}" in script
    waiting = [step for step in steps if "if" in step]
    assert {step["if"] for step in waiting} == {"steps.open.outputs.count == '0'"}
    assert [step["name"] for step in waiting] == [step["name"] for step in steps if "name" in step]
