"""A report is told to people: by method, worst first, what is alike as one, nothing lost."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Audience
from mcp_bindgen.compare.report import grouping, words
from mcp_bindgen.compare.report.github import workflow_commands
from mcp_bindgen.compare.report.headlines import headlines
from mcp_bindgen.compare.report.markdown import markdown
from mcp_bindgen.compare.report.report import FORMAT, Report, Side, compare, document
from mcp_bindgen.compare.report.short import short
from mcp_bindgen.source import Source
from tests.support.command import invoke

PAIRS = list(pairwise(pins.revisions()))


@cache
def report(old: str, new: str) -> Report:
    return compare(side(old), side(new))


def side(revision: str) -> Side:
    file = pins.find(revision)
    return Side(revision, pins.lower(file), Source(file.data, file.path))


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_every_finding_is_told_once(old: str, new: str) -> None:
    whole = report(old, new)
    items = [item for section in grouping.sections(whole) for item in section.items]
    assert sorted(id(f) for item in items for f in item.findings) == sorted(map(id, whole.findings))
    assert len(items) < len(whole.findings)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_what_is_told_as_one_is_alike(old: str, new: str) -> None:
    whole = report(old, new)
    for section in grouping.sections(whole):
        for item in section.items:
            assert len({f.rule.id for f in item.findings}) == 1
            assert len({whole.severity(f) for f in item.findings}) == 1
            assert len({words.breaks(whole, f) for f in item.findings}) == 1
            assert len(item.findings) == 1 or not any(f.unproved for f in item.findings)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_sections_and_what_is_in_them_stand_worst_first(old: str, new: str) -> None:
    whole = report(old, new)
    sections = grouping.sections(whole)
    ranks = [
        [SEVERITIES.index(whole.severity(item.first)) for item in section.items]
        for section in sections
    ]
    assert all(each == sorted(each) for each in ranks)
    alone = [section.title == "Python source alone" for section in sections]
    assert alone == sorted(alone), "findings about messages come first"
    worst = [each[0] for each, is_alone in zip(ranks, alone, strict=True) if not is_alone]
    assert worst == sorted(worst)


def test_sections_that_are_alike_follow_the_methods_of_the_new_schema() -> None:
    whole = report(*PAIRS[-1])
    names = [method.name for method in whole.new.schema.methods]
    by_severity: dict[str, list[str]] = {}
    for section in grouping.sections(whole):
        of_severity = by_severity.setdefault(whole.severity(section.items[0].first), [])
        of_severity.append(section.title)
    for titles in by_severity.values():
        places = [names.index(title) for title in titles if title in names]
        assert places == sorted(places)
    assert by_severity["breaking"][0] == "Several methods"


def test_members_that_are_now_required_are_named_by_what_is_in_them() -> None:
    """That an object must now have members does not hide which ones."""
    paths = {f.change.path for f in report(*PAIRS[-1]).findings if f.client == "if used"}
    assert {
        "RequestParams._meta.io.modelcontextprotocol/protocolVersion",
        "RequestParams._meta.io.modelcontextprotocol/clientCapabilities",
    } <= paths


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_items_in_a_path_are_brackets(old: str, new: str) -> None:
    paths = {f.change.path for f in report(old, new).findings}
    assert [path for path in paths if "item" in path.split(".")] == []


def test_changes_of_an_envelope_name_the_methods_that_they_hit() -> None:
    by_path = {f.change.path: f for f in report(*PAIRS[-1]).findings if f.severity == "breaking"}
    hit = by_path["Result.resultType"]
    assert {"tools/call", "tools/list", "resources/read"} <= set(hit.methods)


@pytest.mark.parametrize("audience", ["client", "server"])
def test_the_message_that_is_shown_breaks_those_who_ask(audience: Audience) -> None:
    """An old client sends to a new server or reads from it; an old server the other way round."""
    whole = replace(report(*PAIRS[-1]), audiences=(audience,))
    ways = {"client": ("client-to-server", "server-to-client")}
    sends, reads = ways.get(audience, ("server-to-client", "client-to-server"))
    shown = [grouping.witness(whole, f) for f in whole.findings if f.verdict(audience) != "holds"]
    witnesses = [each for each in shown if each is not None]
    assert len(witnesses) > 10
    assert {(each.writer, each.way) for each in witnesses} <= {("old", sends), ("new", reads)}


def test_the_summary_answers_for_those_who_ask() -> None:
    whole = report(*PAIRS[-1])
    counts = {audience: counts for audience, _, counts in words.summary(whole)}
    assert set(counts) == {"client", "server", "bindings"}
    for audience, each in counts.items():
        assert sum(each.values()) == len(whole.findings)
        alone = replace(whole, audiences=(audience,))
        assert each == {severity: alone.count(severity) for severity in SEVERITIES}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_markdown_names_every_path_and_keeps_its_tables(old: str, new: str) -> None:
    whole = report(old, new)
    text = markdown(whole)
    for finding in whole.findings:
        assert f"`{finding.change.path}`" in text
        assert f" — {finding.rule.id}" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {6}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_workflow_command_is_one_line_with_its_place(old: str, new: str) -> None:
    whole = report(old, new)
    *lines, counts = workflow_commands(whole).splitlines()
    items = [item for s in grouping.sections(whole, ["breaking", "dangerous"]) for item in s.items]
    assert len(lines) == len(items) > 0
    shape = re.compile(
        r"::(error|warning) "
        r"(file=schema/[\d-]+/schema\.ts,line=\d+,col=\d+,)?title=[A-Z_]+ [^:,]+::.+"
    )
    assert [line for line in lines if not shape.fullmatch(line)] == []
    placed = [item for item in items if item.first.change.old.at or item.first.change.new.at]
    assert sum("file=" in line for line in lines) == len(placed)
    left = r"\d+ compatible changes?(, \d+ docs changes?)?"
    assert re.fullmatch(rf"::notice::[\d-]+ to [\d-]+: {left}", counts)


@pytest.mark.parametrize(
    ("added", "reworded", "counts"),
    [
        (1, 0, "1 compatible change"),
        (0, 1, "1 docs change"),
        (1, 2, "1 compatible change, 2 docs changes"),
        (2, 1, "2 compatible changes, 1 docs change"),
    ],
)
def test_a_count_of_one_is_singular_for_each_kind_in_a_workflow(
    added: int, reworded: int, counts: str, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    before = [tool(f"kept{n}", "before") for n in range(2)]
    after = [tool(f"kept{n}", "after" if n < reworded else "before") for n in range(2)]
    old.write_text(json.dumps({"tools": before}))
    new.write_text(json.dumps({"tools": [*after, *(tool(f"new{n}", "") for n in range(added))]}))
    done = invoke("diff", "--tools", old, new, "--for", "client", "--format", "github")
    assert done.stdout == f"::notice::{old} to {new}: {counts}\n"


def tool(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def test_files_that_are_brought_along_are_not_named_in_a_workflow() -> None:
    """A pinned schema is no file of the repository that is annotated."""
    done = invoke("diff", *PAIRS[-1], "--format", "github")
    assert done.stdout.startswith("::error title=")
    assert "file=" not in done.stdout


def test_a_report_opens_with_its_news_in_five_lines() -> None:
    lines = headlines(report(*PAIRS[-1]))
    assert len(lines) == 5
    assert lines[0] == "The handshake is gone: initialize, notifications/initialized"
    assert lines[1].startswith("Now required: _meta of RequestParams and 1 more (in 8 methods), ")


@pytest.mark.parametrize(
    ("pair", "news"),
    [
        (
            PAIRS[0],
            [
                "Also travels: JSONRPCBatchRequest, JSONRPCBatchResponse, "
                "AudioContent (in 3 methods)",
                "Capabilities: +completions; New in results: Tool.annotations",
            ],
        ),
        (
            PAIRS[1],
            [
                "New: elicitation/create",
                "Also travels: ResourceLink (in 2 methods); "
                "Travels no longer: JSONRPCBatchRequest, JSONRPCBatchResponse",
                "Capabilities: +elicitation; New in results: _meta of Resource and 9 more, "
                "title of Implementation and 5 more, Annotations.lastModified, "
                "CallToolResult.structuredContent, Tool.outputSchema",
            ],
        ),
    ],
)
def test_arms_capabilities_and_members_of_results_are_news(
    pair: tuple[str, str], news: list[str]
) -> None:
    assert headlines(report(*pair)) == news


def test_an_envelope_with_another_name_is_no_news() -> None:
    assert not [line for line in headlines(report(*PAIRS[2])) if "JSONRPC" in line]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_short_form_is_one_line_for_each_finding_worst_first(old: str, new: str) -> None:
    whole = report(old, new)
    lines = short(whole).splitlines()
    shape = re.compile(r"(\S+schema\.ts:\d+:\d+: )?(breaking|dangerous|compatible|docs) [A-Z_]+ .+")
    matches = [shape.fullmatch(line) for line in lines]
    severities = [match[2] for match in matches if match]
    assert severities == [whole.severity(finding) for finding in whole.worst_first()]


def test_a_text_cannot_end_a_workflow_command(tmp_path: Path) -> None:
    hostile = "a%0A::error::b\\n::warning::c"
    old, new = schemas(tmp_path, f'"{hostile}"', '"b"')
    done = invoke("diff", old, new, "--format", "github")
    assert all(line.startswith("::") for line in done.stdout.splitlines())
    assert done.stdout.count("::error::b") == done.stdout.count("%250A::error::b")


def test_markup_in_a_schema_stays_text_in_markdown(tmp_path: Path) -> None:
    old, new = schemas(tmp_path, '"`</td>`|<img>"', '"b"')
    done = invoke("diff", old, new, "--format", "markdown")
    outside = re.sub(r"(`+)(?:.(?!\1(?!`)))*.\1(?!`)", "", done.stdout)
    assert "<img>" in done.stdout
    assert "<" not in outside


def schemas(folder: Path, before: str, after: str) -> tuple[Path, Path]:
    """Two schemas that differ in the type of one member."""
    text = """
export type JSONRPCMessage = FooRequest;
export interface FooRequest {
  jsonrpc: "2.0"; id: string; method: "foo"; params: { value: %s };
}
export interface EmptyResult {}
export type ClientRequest = FooRequest;
"""
    paths = folder / "old.ts", folder / "new.ts"
    for path, type in zip(paths, (before, after), strict=True):
        path.write_text(text % type, encoding="utf-8")
    return paths


def test_equal_schemas_are_said_to_be_equal() -> None:
    for format in ("text", "short", "markdown", "github"):
        done = invoke("diff", "2025-11-25", "2025-11-25", "--format", format)
        assert done.exit_code == 0
        assert "no changes" in done.stdout.lower()


@pytest.mark.drawn
@pytest.mark.parametrize("format", ["text", "short", "json", "markdown", "github"])
def test_what_cannot_be_compared_is_never_told_as_unchanged(tmp_path: Path, format: str) -> None:
    bad = tmp_path / "bad.ts"
    for text in ("", "nonsense", "export interface A {}"):
        bad.write_text(text)
        for pair in ((bad, "2025-11-25"), ("2025-11-25", bad), (bad, bad)):
            done = invoke("diff", *pair, "--format", format)
            assert done.exit_code == 2
            assert done.stdout == ""
            assert "bad.ts" in done.stderr
    assert invoke("diff", "2025-11-25", "2025-11-26", "--format", format).exit_code == 2


@pytest.mark.parametrize(
    ("fail_on", "whom", "code"),
    [
        ("breaking", "all", 1),
        ("breaking", "client", 0),
        ("breaking", "bindings", 1),
        ("dangerous", "client", 1),
        ("any", "server", 1),
        ("never", "all", 0),
    ],
)
def test_the_exit_code_is_that_of_whom_it_concerns(fail_on: str, whom: str, code: int) -> None:
    pair = ("2024-11-05", "2025-03-26")
    assert invoke("diff", *pair, "--fail-on", fail_on, "--for", whom).exit_code == code


def test_the_document_has_the_shape_that_is_documented(root: Path) -> None:
    page = (root / "docs" / "DIFF-JSON.md").read_text("utf-8")
    written = document(report(*PAIRS[-1]))
    assert f"`format` is {FORMAT}" in page
    rows = set(re.findall(r"^\| `([^`]+)` \|", page, re.M))
    assert rows == set(_keys(written))
    json.dumps(written)


def _keys(value: object, path: str = "") -> set[str]:
    """Every path of members; what is in a list is `[]`, a witness's message is anybody's."""
    if isinstance(value, list):
        return {key for item in value for key in _keys(item, f"{path}[]")}
    if not isinstance(value, dict) or path.endswith("message"):
        return {path} - {""}
    inside = {k for name, v in value.items() for k in _keys(v, f"{path}.{name}".lstrip("."))}
    return inside | {path for path in [path] if not value and path}


def test_a_file_is_compared_by_facts_alone(root: Path, tmp_path: Path) -> None:
    """What a decision narrows in a pinned revision is no difference to a file that has none."""
    text = (root / "schema" / "2026-07-28" / "schema.ts").read_text("utf-8")
    draft = tmp_path / "schema.ts"
    draft.write_text(
        text.replace("export const HEADER_MISMATCH = -32020", "export const HEADER_MISMATCH = -1")
    )
    done = invoke("diff", "2026-07-28", tmp_path, "--format", "json")
    findings = json.loads(done.stdout)["findings"]
    assert [(f["rule"], f["path"]) for f in findings] == [
        ("TYPE_REPLACED", "HeaderMismatchError.error.code"),
        ("ERROR_CODE_CHANGED", "HEADER_MISMATCH"),
    ]


def test_a_member_with_another_name_names_the_likely_one(tmp_path: Path) -> None:
    old, new = schemas(tmp_path, "{ first: string[] }", "{ last: string[] }")
    findings = json.loads(invoke("diff", old, new, "--format", "json").stdout)["findings"]
    notes = {f["path"]: f["note"] for f in findings}
    assert notes["FooRequest.params.value.first"].endswith("FooRequest.params.value.last")
    assert notes["FooRequest.params.value.last"].endswith("FooRequest.params.value.first")
