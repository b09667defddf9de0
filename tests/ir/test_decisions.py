"""Rows of decisions: demanded where no rule answers, used where they stand, and never idle."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Lit, Schema

METHODS: Final = {
    "2024-11-05": 24,
    "2025-03-26": 24,
    "2025-06-18": 25,
    "2025-11-25": 31,
    "2026-07-28": 21,
}

SCHEMA: Final = """
interface FooRequest { method: "foo/bar"; params?: {} } interface FooResult { kind: string }
interface ServerCapabilities { tools?: { listChanged?: boolean } }
interface ToolsRequest { method: "tools/list" } interface ToolsResult { }
type ClientRequest = FooRequest | ToolsRequest;
"""
ANSWER: Final = """[[method]]
revisions = ["r1"]
path = "foo/bar"
capability = ""
page = "p"
why = "w"
"""


HTTP: Final = "".join(
    f"""
[[http]]
revisions = ["r1"]
path = "{path}"
value = false
page = "p"
why = "w"
"""
    for path in ("version_header", "primed_streams")
)


def lowered(folder: Path, rows: str, text: str = SCHEMA) -> Schema:
    """The schema as r1, whose questions about HTTP are answered beside the rows."""
    table = folder / "decisions.toml"
    table.write_text(rows + HTTP, encoding="utf-8")
    return load(text.encode(), "a.ts", "r1", decisions.load(table))


def check_refused(folder: Path, rows: str, words: str) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        lowered(folder, rows)
    assert words in str(caught.value)
    return caught.value


def test_a_missing_row_is_given_to_paste(tmp_path: Path) -> None:
    error = check_refused(tmp_path, "", "`foo/bar`")
    row = error.remedy.partition("[[method]]")[2]
    filled = row.replace('page = ""', 'page = "p"').replace('why = ""', 'why = "w"')
    assert lowered(tmp_path, f"[[method]]{filled}").methods[0].capability == ""


def test_a_byte_order_mark_is_no_part_of_the_rows(tmp_path: Path) -> None:
    lowered(tmp_path, f"\ufeff{ANSWER}".replace("\n", "\r\n"))


def test_a_row_answers_what_no_type_says(tmp_path: Path) -> None:
    rows = ANSWER.replace('capability = ""', 'capability = "tools.listChanged"')
    methods = lowered(tmp_path, rows).methods
    assert [(m.name, m.capability) for m in methods] == [
        ("foo/bar", "tools.listChanged"),
        ("tools/list", "tools"),
    ]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            ANSWER.replace("foo/bar", "no/such"),
            "nothing in r1 needs [[method]] `no/such` (line 8)",
        ),
        (ANSWER, "two [[method]] rows"),
        (ANSWER.replace("[[method]]", "[[other]]"), "not a kind of row"),
        (ANSWER.replace('why = "w"', ""), "lacks why"),
        (ANSWER.replace('["r1"]', "[]"), "lacks revisions"),
        (
            ANSWER.replace("foo/bar", "tools/list").replace('ity = ""', 'ity = "tools"'),
            "says what the rule finds",
        ),
        (
            ANSWER.replace("foo/bar", "tools/list")
            .replace("capability", "result")
            .replace('= ""', '= ["Gone"]'),
            "no type Gone",
        ),
        (
            '[[narrow]]\nrevisions = ["r1"]\npath = "A.b"\ntype = "1"\npage = "p"\nwhy = "w"',
            "no such",
        ),
        (
            '[[narrow]]\nrevisions = ["r1"]\npath = "FooResult.kind"\ntype = "x"\npage = "p"\n'
            'why = "w"',
            "not a JSON literal",
        ),
        (ANSWER.replace("foo/bar", "no/such").replace('["r1"]', '"r1"'), "revisions = 'r1' does"),
        (ANSWER.replace("foo/bar", "no/such") + "\ncapabilty = 1", "`capabilty` is not a key"),
        (ANSWER.replace("foo/bar", "no/such").replace('"w"', "3"), "why = 3 does not fit"),
        ("x = [[", ""),
        ("[handlers]\nrevision = 1", "[handlers] lacks"),
    ],
)
def test_a_row_that_cannot_stand_is_refused(tmp_path: Path, more: str, words: str) -> None:
    check_refused(tmp_path, f"{ANSWER}\n{more}", words)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('capability = "fo"', "no capability `fo` in r1"),
        ('capability = "tools.no"', "no capability `tools.no` in r1"),
        ('capability = ["foo"]', "capability = ['foo'] does not fit"),
        ('capability = ""\nresult = "FooResult"', "result = 'FooResult' does not fit"),
        ('capability = ""\nresult = []', "no type is named in r1"),
        ('capability = ""\nresult = [3]', "result = [3] does not fit"),
    ],
)
def test_an_answer_that_cannot_be_is_refused(tmp_path: Path, answer: str, words: str) -> None:
    assert check_refused(tmp_path, ANSWER.replace('capability = ""', answer), words).remedy


def test_a_narrowed_member_has_its_literal(tmp_path: Path) -> None:
    row = '[[narrow]]\nrevisions = ["r1"]\npath = "FooResult.kind"\ntype = \'"k"\'\n'
    row += 'page = "p"\nwhy = "w"'
    field = lowered(tmp_path, f"{ANSWER}\n{row}").structs["FooResult"].field("kind")
    assert field is not None
    assert field.type == Lit("k")


def test_rows_of_other_revisions_are_left_alone(tmp_path: Path) -> None:
    other = ANSWER.replace("r1", "r2").replace("foo/bar", "no/such")
    assert len(lowered(tmp_path, f"{ANSWER}\n{other}").methods) == 2


def pinned(root: Path, revision: str) -> Schema:
    data = (root / "schema" / revision / "schema.ts").read_bytes()
    return load(data, "a.ts", revision, decisions.load(root / "schema" / "decisions.toml"))


@pytest.mark.parametrize("revision", sorted(METHODS))
def test_every_method_of_a_revision_is_found(root: Path, revision: str) -> None:
    schema = pinned(root, revision)
    assert len(schema.methods) == METHODS[revision]
    assert len({m.name for m in schema.methods}) == METHODS[revision]
    for method in schema.methods:
        assert (method.kind == "notification") == (method.result is None)
    assert schema.era == ("per-request" if revision == "2026-07-28" else "handshake")


@pytest.mark.parametrize(
    ("revision", "method", "direction", "capability"),
    [
        ("2024-11-05", "initialize", "client-to-server", ""),
        ("2024-11-05", "ping", "both", ""),
        ("2025-03-26", "tools/call", "client-to-server", "tools"),
        ("2025-06-18", "notifications/tools/list_changed", "server-to-client", "tools.listChanged"),
        ("2025-11-25", "resources/subscribe", "client-to-server", "resources.subscribe"),
        ("2025-11-25", "notifications/progress", "both", ""),
        ("2026-07-28", "notifications/progress", "server-to-client", ""),
        ("2026-07-28", "elicitation/create", "input-request", "elicitation"),
    ],
)
def test_a_method_has_its_direction_and_capability(
    root: Path, revision: str, method: str, direction: str, capability: str
) -> None:
    (row,) = [m for m in pinned(root, revision).methods if m.name == method]
    assert (row.direction, row.capability) == (direction, capability)
