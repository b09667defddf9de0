"""Rows about peers: each revision answers for HTTP, and tolerances are asked about again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Conventions, Tolerance

SCHEMA: Final = """
interface ServerCapabilities { tools?: {} }
interface PageParams { cursor?: string }
interface ToolsRequest { method: "tools/list"; params?: PageParams }
interface DoneResult { kind: "done"; age?: number }
interface OpenResult { kind: "open" }
type ClientRequest = ToolsRequest;
interface ToolsResultResponse { result: DoneResult | OpenResult }
"""
METHOD: Final = """
[[method]]
revisions = ["r1", "r2"]
path = "tools/list"
result = ["DoneResult", "OpenResult"]
page = "p"
why = "w"
"""


def http(path: str, value: str = "false") -> str:
    return f"""
[[http]]
revisions = ["r1", "r2"]
path = "{path}"
value = {value}
page = "p"
why = "w"
"""


def tolerance(revision: str = "r1", **changes: str) -> str:
    values = {
        "path": '"result.age"',
        "reader": '"client"',
        "value": "0",
        "forgives": '["absent"]',
        **changes,
    }
    lines = [f"{key} = {value}" for key, value in values.items()]
    return "\n".join(
        ["", "[[tolerance]]", f'revisions = ["{revision}"]', *lines, 'page = "p"', 'why = "w"']
    )


ANSWERS: Final = METHOD + http("version_header", "true") + http("primed_streams")


def lowered(folder: Path, rows: str, revision: str = "r1", text: str = SCHEMA) -> Conventions:
    table = folder / "decisions.toml"
    table.write_text(rows, encoding="utf-8")
    return load(text.encode(), "a.ts", revision, decisions.load(table)).conventions


def test_answers_and_tolerances_are_of_the_revision(tmp_path: Path) -> None:
    conventions = lowered(tmp_path, ANSWERS + tolerance())
    row = Tolerance("client", "result", "age", 0, ("absent",))
    assert conventions == Conventions(version_header=True, primed_streams=False, tolerances=(row,))


def test_a_file_that_is_no_revision_has_the_defaults() -> None:
    assert load(SCHEMA.encode(), "a.ts").conventions == Conventions()


def test_both_questions_about_http_are_asked(tmp_path: Path) -> None:
    with pytest.raises(DecisionError) as caught:
        lowered(tmp_path, METHOD)
    assert caught.value.remedy.count("[[http]]") == 2
    assert "an event that has an id and no data?" in caught.value.remedy


@pytest.mark.parametrize("forgives", ['["absent"]', "[]"])
def test_a_tolerance_is_asked_about_again(tmp_path: Path, forgives: str) -> None:
    """The row to paste carries it over; one that forgives nothing ends it."""
    rows = ANSWERS + tolerance()
    with pytest.raises(DecisionError) as caught:
        lowered(tmp_path, rows, "r2")
    pasted = "[[tolerance]]" + caught.value.remedy.partition("[[tolerance]]")[2]
    pasted = pasted.replace('page = ""', 'page = "p"').replace('why = ""', 'why = "w"')
    conventions = lowered(tmp_path, rows + "\n" + pasted.replace('["absent"]', forgives), "r2")
    assert [row.member for row in conventions.tolerances] == (
        ["age"] if "absent" in forgives else []
    )


def test_a_tolerance_of_what_is_gone_is_not_asked_about(tmp_path: Path) -> None:
    text = SCHEMA.replace("; age?: number", "")
    assert lowered(tmp_path, ANSWERS + tolerance(), "r2", text).tolerances == ()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (tolerance(path='"result.gone"'), "no result of this revision has a member 'gone'"),
        (tolerance(path='"age"'), "no age of this revision has a member ''"),
        (tolerance(path='"params.age"'), "no params of this revision"),
        (tolerance(reader='"anyone"'), "reader 'anyone'"),
        (tolerance(forgives='["late"]'), "forgives ('late',)"),
        (tolerance(value="[1]"), "value [1]"),
        (tolerance(why='""', page='""').replace('page = "p"\nwhy = "w"', ""), "lacks page, why"),
    ],
)
def test_a_tolerance_that_cannot_be_applied_is_refused(
    tmp_path: Path, rows: str, words: str
) -> None:
    with pytest.raises(DecisionError) as caught:
        lowered(tmp_path, ANSWERS + rows)
    assert words in str(caught.value)


@pytest.mark.parametrize("value", ['"yes"', "1", '""'])
def test_an_answer_about_http_is_true_or_false(tmp_path: Path, value: str) -> None:
    rows = METHOD + http("version_header", value) + http("primed_streams")
    with pytest.raises(DecisionError, match=r"decisions\.toml: .*(fit\nSay true|lacks value)"):
        lowered(tmp_path, rows)


def test_the_rows_of_the_project_are_as_the_pages_say(root: Path) -> None:
    table = decisions.load(root / "schema" / "decisions.toml")
    conventions: dict[str, Any] = {}
    lists = ["tools", "prompts", "resources", "resourceTemplates", "content", "contents"]
    for revision in ("2024-11-05", "2025-11-25", "2026-07-28"):
        data = (root / "schema" / revision / "schema.ts").read_bytes()
        each = load(data, "a.ts", revision, table).conventions
        members = [row.member for row in each.tolerances]
        conventions[revision] = (each.version_header, each.primed_streams, members)
    assert conventions == {
        "2024-11-05": (False, False, lists),
        "2025-11-25": (True, True, lists),
        "2026-07-28": (True, False, ["resultType", "ttlMs", "cacheScope", *lists]),
    }
