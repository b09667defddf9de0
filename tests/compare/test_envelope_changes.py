"""Changes of what is around every message: the methods that they hit, and messages that exist."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.ir.model import Schema
from mcp_bindgen.paths import schema as schema_folder

REVISION: Final = "2025-11-25"
PAIRS: Final = list(pairwise(pins.revisions()))


def changed(folder: Path, old: str, new: str) -> tuple[Schema, Schema]:
    """A revision, and the same with one piece of its text changed."""
    path = schema_folder() / REVISION / "schema.ts"
    text, count = re.subn(old, new, path.read_text("utf-8"), count=1)
    assert count == 1
    file = folder / "schema.ts"
    file.write_text(text, encoding="utf-8")
    before, after = pins.lower_alike([pins.find(REVISION), pins.find(str(file))])
    return before, after


ID: Final = r"(interface JSONRPCRequest extends Request \{[^}]*?)\n  id: RequestId;"


@pytest.mark.parametrize("way", ["removed", "added"])
def test_a_message_has_no_id_where_its_writer_knows_none(tmp_path: Path, way: str) -> None:
    before, after = changed(tmp_path, ID, r"\1")
    old, new = (before, after) if way == "removed" else (after, before)
    (finding,) = (f for f in judge(old, new) if f.change.path == "JSONRPCRequest.id")
    assert {"tools/call", "ping", "initialize"} <= set(finding.methods)
    assert {finding.client, finding.server} == {"breaks"}
    assert finding.witnesses
    assert [w.message for w in finding.witnesses if "id" in w.message] == []


def test_a_change_of_every_id_names_the_methods_that_have_one(tmp_path: Path) -> None:
    old, new = changed(tmp_path, r"RequestId = string \| number", "RequestId = string")
    findings = [f for f in judge(old, new) if f.change.path == "RequestId"]
    named = {method for finding in findings for method in finding.methods}
    assert {"tools/call", "ping", "notifications/cancelled"} <= named


def test_a_message_of_a_new_method_has_its_name(tmp_path: Path) -> None:
    """Though the declaration is that of a method that both sides have."""
    old, new = changed(tmp_path, 'method: "tools/call"', 'method: "tools/call" | "tools/run"')
    (finding,) = (f for f in judge(old, new) if f.rule.id == "METHOD_ADDED")
    assert [witness.message["method"] for witness in finding.witnesses] == ["tools/run"]


def witnesses(old: str, new: str) -> list[tuple[Finding, Any, str]]:
    schemas = [pins.lower(pins.find(name)) for name in (old, new)]
    findings = judge(*schemas)
    return [(f, w, json.dumps(w.message)) for f in findings for w in f.witnesses]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_results_are_of_a_type_that_the_protocol_has(old: str, new: str) -> None:
    assert [text for *_, text in witnesses(old, new) if '"resultType": ""' in text] == []


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_answers_to_input_requests_have_no_envelope(old: str, new: str) -> None:
    """From 2026-07-28 on they travel inside params."""
    schemas = {side: pins.lower(pins.find(name)) for side, name in (("old", old), ("new", new))}
    inputs = {
        side: {m.name for m in schema.methods if m.direction == "input-request"}
        for side, schema in schemas.items()
    }
    wrong = [
        text
        for _, witness, text in witnesses(old, new)
        if witness.method in inputs[witness.writer] and "jsonrpc" in witness.message
    ]
    assert wrong == []


VIDEO: Final = 'export interface VideoContent { type: "video"; mimeType: `video/${string}` }\n'


def test_a_member_with_a_pattern_does_not_hide_what_an_arm_breaks(tmp_path: Path) -> None:
    old, new = changed(tmp_path, "(export type ContentBlock =)", rf"{VIDEO}\1 VideoContent |")
    findings = [f for f in judge(old, new) if f.change.path == "ContentBlock"]
    messages = [json.dumps(w.message) for finding in findings for w in finding.witnesses]
    assert [text for text in messages if '{"type": "video", "mimeType": "video/"}' in text]


def test_a_member_that_a_draft_demands_of_a_result_breaks_old_servers(tmp_path: Path) -> None:
    """Though an open declaration of the newest revision would take the result without it."""
    newest = pins.revisions()[-1]
    text = (schema_folder() / newest / "schema.ts").read_text("utf-8")
    start = "interface CallToolResult extends Result {"
    (tmp_path / "draft.ts").write_text(text.replace(start, f"{start} cost: number;"), "utf-8")
    files = [pins.find(newest), pins.find(str(tmp_path / "draft.ts"))]
    (finding,) = judge(*pins.lower_alike(files))
    assert (finding.change.path, finding.server) == ("CallToolResult.cost", "if used")
    (witness,) = finding.witnesses
    assert witness.message["result"] == {"content": [], "resultType": "complete"}


RENAMED: Final = ("JSONRPCMessage", "WireMessage")


def renamed(folder: Path, *edits: tuple[str, str]) -> tuple[Schema, Schema]:
    """A revision, and the same with another name for the union of its envelopes, and edits."""
    text = (schema_folder() / REVISION / "schema.ts").read_text("utf-8")
    for old, new in (RENAMED, *edits):
        assert old in text
        text = text.replace(old, new)
    (folder / "schema.ts").write_text(text, "utf-8")
    before, after = pins.lower_alike([pins.find(REVISION), pins.find(str(folder / "schema.ts"))])
    return before, after


RESULT: Final = "  id: RequestId;\n  result: Result;"
ERROR: Final = "  id?: RequestId;\n  error: Error;"


@pytest.mark.parametrize(
    "names",
    [
        [],
        [("JSONRPCResultResponse", "Answer")],
        [("JSONRPCResultResponse", "Answer"), ("JSONRPCRequest", "Question")],
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_envelopes_of_other_names_are_compared(
    tmp_path: Path, names: list[tuple[str, str]], backwards: bool
) -> None:
    edited = (RESULT, RESULT.replace("id: RequestId", "id: string[]"))
    sides = renamed(tmp_path, edited, *names)
    old, new = (sides[1], sides[0]) if backwards else sides
    findings = judge(old, new)
    (finding,) = (f for f in findings if f.change.path.endswith(("ResultResponse.id", "Answer.id")))
    assert {finding.client, finding.server} == {"breaks"}
    assert {"tools/call", "ping"} <= set(finding.methods)
    assert not [f for f in findings if f.rule.id == "ENVELOPE_NOT_COMPARED"]


def test_a_union_that_is_renamed_changes_nothing_on_the_wire(tmp_path: Path) -> None:
    wire = [f for f in judge(*renamed(tmp_path)) if {f.client, f.server} != {"holds"}]
    assert wire == []


@pytest.mark.parametrize("backwards", [False, True])
def test_an_envelope_that_one_side_lacks_is_no_clean_comparison(
    tmp_path: Path, backwards: bool
) -> None:
    sides = renamed(tmp_path, (ERROR, ERROR.replace("error:", "fault:")))
    old, new = (sides[1], sides[0]) if backwards else sides
    findings = judge(old, new)
    (finding,) = (f for f in findings if f.rule.id == "ENVELOPE_NOT_COMPARED")
    assert finding.change.path == "the envelope of errors"
    assert (finding.client, finding.server) == ("if used", "if used")
    assert "no types say" in finding.unproved
