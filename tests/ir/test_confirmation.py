"""A successor's questions: what the revision before answers is shown, confirmed, or asked anew."""

from __future__ import annotations

import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.decisions.decisions import Decisions
from mcp_bindgen.ir.decisions.edits import add_confirmations
from mcp_bindgen.ir.lower.lower import load

OLD: Final = """
interface ServerCapabilities { things?: { subscribe?: boolean } }
interface FooRequest { method: "foo/bar" }
interface FooResult { kind: string }
interface ThingsUpdatedNotification { method: "notifications/things/updated" }
type ClientRequest = FooRequest;
type ServerNotification = ThingsUpdatedNotification;
"""
TABLE: Final = """# The rows.
[[method]]
revisions = ["r1"]
path = "foo/bar"
capability = ""
page = "p"
why = "It says [[method]] nowhere."

[[narrow]]
revisions = [
  "r1",
]
path = "FooResult.kind"
type = '"foo"'
page = "p"
why = "w"

[[method]]
why = "w"
page = "p"
path = "notifications/things/updated"
capability = "things.subscribe"
revisions = ["r1"]

[[http]]
revisions = ["r1", "r2"]
path = "version_header"
value = false
page = "p"
why = "w"

[[http]]
revisions = ["r1", "r2"]
path = "primed_streams"
value = false
page = "p"
why = "w"
"""


def asked(folder: Path, new: str, table: str = TABLE, *, old: str = OLD) -> Decisions:
    """The rows after r1 and r2 were lowered by them."""
    file = folder / "decisions.toml"
    file.write_text(table, encoding="utf-8")
    rows = replace(decisions.load(file), deferred=True, source="decisions.toml")
    load(old.encode(), "old.ts", "r1", rows)
    load(new.encode(), "new.ts", "r2", rows)
    return rows


def refusal(rows: Decisions) -> str:
    with pytest.raises(DecisionError) as caught:
        rows.settle()
    return str(caught.value)


def test_what_is_unchanged_is_confirmed_in_one_edit_that_applies(tmp_path: Path) -> None:
    message = refusal(asked(tmp_path, OLD))
    assert "3 answers wait to be confirmed" in message
    patch = message[message.index("--- a/") :] + "\n"
    subprocess.run(["patch", "-p1"], cwd=tmp_path, input=patch, text=True, check=True)
    asked(tmp_path, OLD, (tmp_path / "decisions.toml").read_text("utf-8")).settle()


def test_the_edit_changes_the_lists_alone(tmp_path: Path) -> None:
    rows = asked(tmp_path, OLD)
    text = add_confirmations(rows.text, rows.confirmations)
    before, after = tomllib.loads(TABLE), tomllib.loads(text)
    for kind in ("method", "narrow"):
        for row, new in zip(before[kind], after[kind], strict=True):
            assert new == {**row, "revisions": ["r1", "r2"]}
    assert after["http"] == before["http"]
    assert "# The rows." in text


def test_an_answer_that_is_confirmed_applies_at_once(tmp_path: Path) -> None:
    """A narrowed member is as narrow in both, or every step would be asked about."""
    rows = asked(tmp_path, OLD)
    schema = load(OLD.encode(), "new.ts", "r2", rows)
    assert schema.structs["FooResult"].consts
    assert [m.capability for m in schema.methods] == ["", "things.subscribe"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("{ kind: string }", '{ kind: "foo" | "bar" }', 9),
        ("type ClientRequest = FooRequest", "type ServerRequest = FooRequest", 2),
    ],
)
def test_what_changed_is_asked_with_the_line_of_the_older_row(
    tmp_path: Path, old: str, new: str, line: int
) -> None:
    message = refusal(asked(tmp_path, OLD.replace(old, new)))
    assert f"line {line} answers it for r1: add r2 to that row" in message
    assert "a row is missing, 2 answers wait" in message


def test_a_capability_of_a_row_is_asked_for_again_where_a_rule_finds_another(
    tmp_path: Path,
) -> None:
    """By rule it is `things`; nothing would say that `.subscribe` was lost."""
    message = refusal(asked(tmp_path, OLD))
    assert '"things.subscribe"\n-revisions = ["r1"]\n+revisions = ["r1", "r2"]' in message


def test_rows_of_what_is_gone_are_not_asked_for(tmp_path: Path) -> None:
    new = OLD.replace(
        "interface FooResult { kind: string }", "interface FooResult { sort: string }"
    )
    assert "FooResult.kind" not in refusal(asked(tmp_path, new))


def test_rows_of_unknown_revisions_and_pairs_are_refused(tmp_path: Path) -> None:
    rows = asked(tmp_path, OLD)
    rows.require_known(["r1", "r2"], ["r1..r2"])
    with pytest.raises(DecisionError, match=r"not pinned: r2 \(line 25\)"):
        rows.require_known(["r1"], ["r1..r2"])
    step = '[[step]]\npair = "r1..r3"\npath = "A.b"\nup = "drop"\npage = "p"\nwhy = "w"\n'
    with pytest.raises(DecisionError, match=r"r1\.\.r3 \(line 39\)"):
        asked(tmp_path, OLD, TABLE + "\n" + step).require_known(["r1", "r2"], ["r1..r2"])
    with pytest.raises(DecisionError, match="handlers"):
        replace(rows, handlers="r9").require_known(["r1", "r2"], ["r1..r2"])
