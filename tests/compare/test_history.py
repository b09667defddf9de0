"""The history of several schemas: what came, changed and left, followed through its names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.report.history import (
    History,
    Row,
    document,
    history,
    members,
    related_rows,
)
from mcp_bindgen.compare.report.report import Side
from mcp_bindgen.errors import InputError
from mcp_bindgen.source import Source

ENVELOPE = (
    'interface FooRequest { method: "foo/bar"; params: %s } interface FooResult { ok: boolean }'
)
ROLES = "type ClientRequest = FooRequest; type ServerResult = FooResult;"


def made(*texts: str) -> History:
    """The history of schemas, each a text of declarations beside one method."""
    files = [pins.Found(text.encode(), f"{n}.ts", "") for n, text in enumerate(texts)]
    return history([Side(f.path, pins.lower(f), Source(f.data, f.path)) for f in files])


def foo(params: str, more: str = "") -> str:
    return f"{ENVELOPE % params} {ROLES} {more}"


def states(row: Row) -> list[str]:
    return [cell.state for cell in row.cells]


@pytest.fixture(scope="module")
def released() -> History:
    files = [pins.find(revision) for revision in pins.revisions()]
    return history([Side(f.revision, pins.lower(f), Source(f.data, f.path)) for f in files])


def named(rows: Sequence[Row], name: str) -> Row:
    return next(row for row in rows if row.name == name)


def test_what_comes_and_goes_is_told() -> None:
    changes = made(foo("{}"), foo("{}", "interface Bar { a: string }"), foo("{}"))
    assert states(changes.row("Bar")) == ["absent", "came", "gone"]
    assert states(changes.row("foo/bar")) == ["present", "present", "present"]


def test_a_cell_after_the_going_is_absent_and_a_return_is_the_same_row() -> None:
    bar = "interface Bar { a: string }"
    changes = made(foo("{}", bar), foo("{}"), foo("{}"), foo("{}", bar))
    assert states(changes.row("Bar")) == ["present", "gone", "absent", "came"]
    assert [row.name for row in changes.rows].count("Bar") == 1


def test_a_renamed_declaration_keeps_its_row() -> None:
    bar = "interface %s { a: string; b: number }"
    changes = made(foo("Bar", bar % "Bar"), foo("Baz", bar % "Baz"))
    row = changes.row("Bar")
    assert (row.name, states(row)) == ("Baz", ["present", "changed"])
    assert [f.rule.id for f in row.cells[1].findings] == ["DECLARATION_RENAMED"]
    assert changes.row("Baz") is row


def test_a_shape_that_becomes_a_declaration_was_inline_before() -> None:
    changes = made(foo("{ a: string }"), foo("Bar", "interface Bar { a: string }"))
    row = changes.row("Bar")
    assert [(c.inline, c.path) for c in row.cells] == [(True, "FooRequest.params"), (False, "Bar")]
    assert row.names == ("Bar",)


def test_a_change_inside_an_inline_shape_is_told_of_its_declaration() -> None:
    changes = made(foo("{ a: { b?: string } }"), foo("{ a: { b: string } }"))
    cell = changes.row("FooRequest").cells[1]
    assert (cell.state, [f.change.path for f in cell.findings]) == (
        "changed",
        ["FooRequest.params.a.b"],
    )
    assert [row.name for row in changes.rows if "params" in row.name] == []


def test_the_severity_is_the_worst_for_those_who_ask() -> None:
    changes = made(foo("{ a: string }"), foo("{ }"))
    cell = changes.row("FooRequest").cells[1]
    assert cell.severity() == "breaking"
    assert changes.row("FooResult").cells[1].severity() is None
    changes = made(foo("{ a?: string }"), foo("{ }"))
    cell = changes.row("FooRequest").cells[1]
    assert (cell.severity(), cell.severity(("client", "server"))) == ("breaking", "compatible")


def test_a_change_is_told_of_the_methods_whose_messages_have_it() -> None:
    changes = made(foo("{ a: string }"), foo("{ }"))
    assert states(changes.row("foo/bar")) == ["present", "changed"]


def test_an_inherited_change_is_told_of_the_heirs() -> None:
    base = "interface Base { a%s: string } interface Bar extends Base { b: string }"
    changes = made(foo("Bar", base % "?"), foo("Bar", base % ""))
    assert states(changes.row("Bar")) == states(changes.row("Base")) == ["present", "changed"]


def test_constants_have_rows() -> None:
    changes = made(foo("{}", "export const N = 1;"), foo("{}", "export const N = 2;"), foo("{}"))
    row = changes.row("N")
    assert (row.kind, states(row)) == ("constant", ["present", "changed", "gone"])
    assert [f.rule.id for f in row.cells[2].findings] == ["CONSTANT_REMOVED"]


def test_members_are_followed_into_inline_shapes() -> None:
    changes = made(
        foo("{ a: string; list: { x: string }[] }"), foo("{ list: { x?: string; y?: number }[] }")
    )
    rows = members(changes, changes.row("FooRequest"))
    assert {row.name: states(row) for row in rows} == {
        ".method": ["present", "present"],
        ".params": ["present", "present"],
        ".params.a": ["present", "gone"],
        ".params.list": ["present", "present"],
        ".params.list[].x": ["present", "changed"],
        ".params.list[].y": ["absent", "came"],
    }
    gone = named(rows, ".params.a").cells[1]
    assert [f.rule.id for f in gone.findings] == ["MEMBER_REMOVED_REQUIRED"]


def test_members_of_a_renamed_declaration_are_the_same_members() -> None:
    bar = "interface %s { a: string; b: number; c%s: number }"
    changes = made(foo("Bar", bar % ("Bar", "")), foo("Baz", bar % ("Baz", "?")))
    assert [(r.name, *states(r)) for r in members(changes, changes.row("Baz"))] == [
        (".a", "present", "present"),
        (".b", "present", "present"),
        (".c", "present", "changed"),
    ]


def test_a_method_leads_to_its_declarations() -> None:
    changes = made(foo("Bar", "interface Bar { a: string }"))
    assert [row.name for row in related_rows(changes, changes.row("foo/bar"))] == [
        "foo/bar",
        "FooRequest",
        "Bar",
        "FooResult",
    ]
    assert related_rows(changes, changes.row("Bar")) == (changes.row("Bar"),)


def test_an_unknown_name_is_refused_with_those_close_to_it() -> None:
    changes = made(foo("{}"))
    with pytest.raises(InputError, match="Did you mean FooResult"):
        changes.row("FooResul")
    with pytest.raises(InputError, match="of any revision is called 'xyzzy'"):
        changes.row("xyzzy")


def test_every_declaration_and_method_of_every_revision_has_one_cell(released: History) -> None:
    for number, side in enumerate(released.sides):
        cells = [row.cells[number] for row in released.rows]
        declared = [cell.path for cell in cells if cell.path and not cell.inline]
        anonymous = {s.name for s in side.schema.structs.values() if s.place}
        names = [d.name for d in side.schema.declarations if d.name not in anonymous]
        assert sorted(declared) == sorted([*names, *(m.name for m in side.schema.methods)])


def test_every_finding_is_told_in_some_row(released: History) -> None:
    for number, report in enumerate(released.reports, 1):
        listed = {id(f) for row in released.rows for f in row.cells[number].findings}
        assert [f.change.path for f in report.findings if id(f) not in listed] == []


def test_thirteen_methods_leave_and_three_come_at_2026_07_28(released: History) -> None:
    last = [row.cells[-1].state for row in released.rows if row.kind == "method"]
    assert (last.count("gone"), last.count("came")) == (13, 3)


def test_the_renames_of_the_protocol_are_followed(released: History) -> None:
    assert released.row("JSONRPCError").name == "JSONRPCErrorResponse"
    assert released.row("ResourceReference").name == "ResourceTemplateReference"


def test_the_document_has_the_rows_and_with_a_name_its_members_and_findings() -> None:
    changes = made(foo("{ a: string }"), foo("{ }"))
    whole = document(changes)
    assert (whole["format"], whole["revisions"]) == (1, ["0.ts", "1.ts"])
    assert [row["name"] for row in whole["rows"]][:2] == ["foo/bar", "FooRequest"]
    assert "findings" not in whole["rows"][0]["cells"][0]
    row = document(changes, ["FooRequest"])["rows"][0]
    assert [f["rule"] for f in row["cells"][1]["findings"]] == ["MEMBER_REMOVED_REQUIRED"]
    assert [m["name"] for m in row["members"]] == [".method", ".params", ".params.a"]
    assert row["members"][2]["cells"][1]["state"] == "gone"
