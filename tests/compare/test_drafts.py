"""A file is judged as the revision that it is, or becomes, is judged with its rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import judge
from mcp_bindgen.ir.model import Schema
from mcp_bindgen.paths import schema as schema_folder

PAIRS = list(pairwise(pins.revisions()))


def verdicts(schemas: list[Schema]) -> Iterator[str]:
    old, new = schemas
    for finding in judge(old, new):
        change = finding.change
        verdict = finding.severity, finding.client, finding.server, finding.bindings
        yield f"{change.path} {change.key} {verdict}"


def draft(folder: Path, revision: str, called: str) -> pins.Found:
    """The file of a revision, by another name."""
    text = (schema_folder() / revision / "schema.ts").read_text("utf-8")
    path = folder / "draft.ts"
    path.write_text(text.replace(f'VERSION = "{revision}"', f'VERSION = "{called}"'), "utf-8")
    return pins.find(str(path))


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_file_of_a_revision_is_judged_as_the_revision(tmp_path: Path, old: str, new: str) -> None:
    pinned = [pins.find(old), pins.find(new)]
    file = draft(tmp_path, new, new)
    assert {*verdicts(pins.lower_alike([pinned[0], file]))} == {*verdicts(pins.lower_alike(pinned))}


def test_a_draft_that_takes_an_answer_away_is_as_dangerous_as_its_revision(tmp_path: Path) -> None:
    """Rows alone say that a task may answer a call."""
    old, new = PAIRS[-1]
    schemas = pins.lower_alike([pins.find(old), draft(tmp_path, new, "DRAFT-2027-v1")])
    assert "tools/call result ('arm', 'removed', '') ('dangerous'" in "\n".join(verdicts(schemas))


def test_a_draft_is_not_judged_by_rows_that_its_revision_has_no_more(tmp_path: Path) -> None:
    """2025-11-25 has a row by which a task may answer a call; the revision after it has none."""
    path = tmp_path / "draft.ts"
    text = (schema_folder() / "2026-07-28/schema.ts").read_text("utf-8")
    declared = "result: CallToolResult | InputRequiredResult"
    assert declared in text
    made = "export interface CreateTaskResult extends Result { taskId: string }"
    path.write_text(f"{text.replace(declared, f'{declared} | CreateTaskResult')}{made}\n", "utf-8")
    findings = [*verdicts(pins.lower_alike([pins.find("2026-07-28"), pins.find(str(path))]))]
    assert "tools/call result ('arm', 'added', '')" in "\n".join(findings)
    assert not any("'removed'" in each for each in findings), findings
    assert not any("elicitation/create" in each for each in findings), findings


def test_a_row_that_does_not_hold_in_a_file_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "draft.ts"
    text = (schema_folder() / "2025-11-25/schema.ts").read_text("utf-8")
    path.write_text(text.replace("CreateTaskResult", "MadeTaskResult"), "utf-8")
    (schema,) = pins.lower_alike([pins.find(str(path))])
    (call,) = (method for method in schema.methods if method.name == "tools/call")
    assert repr(call.result) == "Ref(name='CallToolResult')"
    assert call.capability == "tools"
