"""`mcp-bindgen diff --history`: all revisions in a row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bindgen import pins
from tests.support.command import invoke
from tests.support.schemas import pinned


def history_of(*args: str) -> str:
    result = invoke("diff", "--history", *args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def cells(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.split()[:1] == [name])
    return line.split()[1:]


def test_the_matrix_has_every_method_and_declaration_of_the_newest_revision() -> None:
    text = history_of()
    schema = pinned(pins.revisions()[-1])
    named = {line.split()[0] for line in text.splitlines() if line.startswith("  ")}
    declared = {d.name for d in schema.declarations} - {
        s.name for s in schema.structs.values() if s.place
    }
    assert declared | {m.name for m in schema.methods} <= named


def test_a_cell_says_what_became_of_it() -> None:
    text = history_of()
    assert cells(text, "server/discover") == ["new"]
    assert cells(text, "JSONRPCBatchRequest") == ["new", "gone"]
    assert cells(text, "JSONRPC_VERSION") == ["●"] * len(pins.revisions())
    assert cells(text, "CallToolRequestParams")[:1] == ["○"]


def test_a_name_has_its_members_and_what_changed() -> None:
    text = history_of("Tool")
    assert cells(text, ".execution") == ["new", "gone"]
    assert "2025-11-25 → 2026-07-28" in text
    assert "Tool.execution" in text
    assert "MEMBER_REMOVED_OPTIONAL" in text


def test_an_old_name_leads_to_the_row() -> None:
    assert history_of("JSONRPCError").startswith("JSONRPCErrorResponse (declaration)")


def test_a_method_is_told_with_its_declarations() -> None:
    text = history_of("tools/call")
    for name in ("tools/call (method)", "CallToolRequest (", "CallToolResult ("):
        assert name in text


@pytest.mark.parametrize("names", [(), ("Tool", "tools/call", "CallToolRequest")])
def test_every_row_of_markdown_has_a_cell_for_each_revision(names: tuple[str, ...]) -> None:
    rows = [
        line for line in history_of(*names, "--format", "markdown").splitlines() if line[:1] == "|"
    ]
    assert len(rows) > 10
    assert {row.count("|") for row in rows} == {len(pins.revisions()) + 2}


def test_json_names_the_revisions_and_once_what_is_asked_twice() -> None:
    body: dict[str, Any] = json.loads(history_of("Tool", "Tool", "--format", "json"))
    assert body["revisions"] == pins.revisions()
    (row,) = body["rows"]
    assert [cell["state"] for cell in row["cells"]].count("changed") == 4
    assert "members" in row


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("Tol",), "Did you mean Tool"),
        (("old.ts", "new.ts"), "of any revision is called 'old.ts'\n--history shows all pinned"),
        (("2025-06-18",), "give it names of methods or declarations"),
        (("\x1b[31m",), "no method or declaration of any revision is called"),
    ],
)
def test_an_unknown_name_is_refused(args: tuple[str, ...], text: str) -> None:
    result = invoke("diff", "--history", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert text in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("option", [("--tools",), ("--ignore", "rows.toml"), ("--for", "client")])
def test_what_a_history_cannot_heed_is_refused(option: tuple[str, ...]) -> None:
    result = invoke("diff", "--history", *option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--history goes without" in result.stderr
