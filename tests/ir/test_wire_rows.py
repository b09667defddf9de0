"""A data model apart from the wire: rows say how its messages travel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import judge
from mcp_bindgen.errors import DecisionError, UnansweredError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Alias, Field, Lit, Map, Prim, Ref, Schema, Uni
from mcp_bindgen.paths import schema as schema_folder
from tests.support import successor
from tests.support.successor_data_model import WIRE_ROWS, data_model, in_files

NEWEST: Final = successor.BEFORE
HTTP: Final = "".join(
    f'[[http]]\nrevisions = ["r1"]\npath = "{path}"\nvalue = false\npage = "p"\nwhy = "w"\n\n'
    for path in ("version_header", "primed_streams")
)
MODEL: Final = """
interface Bag { [key: string]: unknown } interface Set extends Bag { who: string }
interface About { meta?: Bag }
interface Message<P = unknown, M extends About = About> { version: string; metadata: M; payload: P }
interface Ask<P = unknown> extends Message<P> { method: string; metadata: About & { meta: Set } }
interface Answer<P extends Result = Result> extends Message<P> {}
interface Nothing {} interface CallParams extends Nothing { name: string }
interface Result { text?: string } interface CallResult extends Result {}
interface StopParams { why?: string }
interface CallRequest extends Ask { method: "tools/call"; payload: CallParams }
type PingRequest = Ask<Nothing> & { method: "ping" };
interface CallResultResponse extends Answer { payload: CallResult }
interface PingResultResponse extends Answer { payload: Result }
interface ServerCapabilities { tools?: {}; ping?: {} }
type ClientRequest = CallRequest | PingRequest;
"""
ROWS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Ask": {
        "as": "Asked",
        "places": {
            "version": "params._meta.a.b/version",
            "method": "method",
            "metadata.meta": "params._meta",
            "payload": "params",
        },
        "adds": {"id": "string | number", "params._meta.a.b/trace?": '"on" | "off"'},
    },
    "Answer": {
        "as": "Answered",
        "places": {"version": "", "metadata.meta": "result._meta", "payload": "result"},
        "adds": {"id?": "string | number", "result._meta.a.b/id": "string"},
    },
    "StopParams": {"adds": {"id": "string"}},
}


def lowered(folder: Path, rows: Mapping[str, Mapping[str, Any]], text: str = MODEL) -> Schema:
    table = folder / "decisions.toml"
    texts = [successor.wire_row("r1", *row) for row in rows.items()]
    table.write_text(HTTP + "\n\n".join(texts), encoding="utf-8")
    return load(text.encode(), "a.ts", "r1", decisions.load(table))


def members(schema: Schema, name: str) -> dict[str, tuple[object, bool]]:
    return {field.wire: (field.type, field.required) for field in schema.structs[name].fields}


ID: Final = Uni((Prim("string"), Prim("number")))


def test_messages_have_the_form_of_the_wire(tmp_path: Path) -> None:
    schema = lowered(tmp_path, ROWS)
    call = {
        "id": (ID, True),
        "method": (Lit("tools/call"), True),
        "params": (Ref("CallParams"), True),
    }
    assert members(schema, "CallRequest") == call
    assert members(schema, "PingRequest")["params"] == (Ref("Nothing_"), True)
    assert members(schema, "CallParams") == {
        "_meta": (Ref("Set"), True),
        "name": (Prim("string"), True),
    }
    trace = Uni((Lit("on"), Lit("off")))
    version = {"a.b/version": (Prim("string"), True), "a.b/trace": (trace, False)}
    assert members(schema, "Set") == {**version, "who": (Prim("string"), True)}
    assert members(schema, "CallResultResponse") == {
        "id": (ID, False),
        "result": (Ref("CallResult"), True),
    }
    assert members(schema, "CallResult")["_meta"] == (Ref("ResultMeta"), False)
    assert members(schema, "ResultMeta") == {"a.b/id": (Prim("string"), True)}
    assert schema.structs["ResultMeta"].index == Prim("unknown")
    assert members(schema, "StopParams")["id"] == (Prim("string"), True)
    assert [(m.name, m.params, m.result) for m in schema.methods] == [
        ("tools/call", Ref("CallParams"), Ref("CallResult")),
        ("ping", Ref("Nothing_"), Ref("Result")),
    ]


def test_envelopes_are_added_and_metadata_that_nothing_names_is_gone(tmp_path: Path) -> None:
    schema = lowered(tmp_path, ROWS)
    asked = {"id": (ID, True), "method": (Prim("string"), True)}
    assert members(schema, "Asked") == {**asked, "params": (Map(Prim("unknown")), False)}
    assert members(schema, "Answered") == {"id": (ID, False), "result": (Ref("Result"), True)}
    union = schema.types["JSONRPCMessage"]
    assert isinstance(union, Alias)
    assert union.type == Uni((Ref("Asked"), Ref("Answered")))
    assert not {"About", "CallRequestMetadata", "AskMetadata"} & schema.types.keys()
    assert {"Nothing_", "Result", "Set"} <= schema.types.keys()


def test_without_answers_each_kind_of_message_is_asked_for_at_its_place(tmp_path: Path) -> None:
    with pytest.raises(UnansweredError) as caught:
        lowered(tmp_path, {})
    asked = successor.asked(str(caught.value.remedy) + "\n")
    assert [row.splitlines()[:3] for _, row in asked] == [
        ["[[wire]]", 'revisions = ["r1"]', f'path = "{kind}"'] for kind in ("Ask", "Answer")
    ]
    assert [question.split(":")[:2] for question, _ in asked] == [["a.ts", "5"], ["a.ts", "6"]]
    assert 'places = {"version" = "", "metadata.meta" = "", "payload" = ""}' in asked[1][1]


def with_change(kind: str, key: str, **changes: str) -> dict[str, Mapping[str, Any]]:
    return {**ROWS, kind: {**ROWS[kind], key: {**ROWS[kind].get(key, {}), **changes}}}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (with_change("Ask", "places", payload=""), "`Ask` of r1 does not fit"),
        (with_change("Ask", "places", other="params"), "`Ask` of r1 does not fit"),
        ({**ROWS, "Answer": {**ROWS["Answer"], "as": "Asked"}}, "two shapes are called `Asked`"),
        (
            {**ROWS, "Ask": {**ROWS["Ask"], "as": "CallParams"}},
            "two shapes are called `CallParams`",
        ),
        (with_change("Ask", "adds", id="text"), "'text' is no type"),
        (with_change("Ask", "adds", id="[1]"), "'[1]' is no type"),
        (with_change("Ask", "adds", _="string"), "'_' has no Python name"),
        ({**ROWS, "StopParam": ROWS["StopParams"]}, "r1 has no such declaration"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(
    tmp_path: Path, rows: Mapping[str, Mapping[str, Any]], words: str
) -> None:
    with pytest.raises(DecisionError) as caught:
        lowered(tmp_path, rows)
    assert words in str(caught.value)


def test_the_same_wire_as_the_newest_revision_breaks_no_peer(tmp_path: Path) -> None:
    """The data model that is made of the newest schema travels as the newest schema does."""
    text = (schema_folder() / NEWEST / "schema.ts").read_text("utf-8")
    table = tmp_path / "decisions.toml"
    texts = [successor.wire_row(NEWEST, *row) for row in WIRE_ROWS.items()]
    kept = (schema_folder() / "decisions.toml").read_text("utf-8")
    table.write_text("\n\n".join([kept, *texts]), encoding="utf-8")
    path = f"schema/{NEWEST}/schema.ts"
    new = load(data_model(text).encode(), path, NEWEST, decisions.load(table))
    old = pins.lower(pins.find(NEWEST))
    findings = list(judge(old, new))
    assert len(findings) > 10
    assert {verdict for f in findings for verdict in (f.client, f.server)} == {"holds"}
    assert [m.name for m in new.methods] == [m.name for m in old.methods]


def test_three_files_read_as_one(tmp_path: Path) -> None:
    text = data_model((schema_folder() / NEWEST / "schema.ts").read_text("utf-8"))
    (tmp_path / "whole.ts").write_text(text, encoding="utf-8")
    files = in_files(text)
    assert sorted(files) == sorted(
        ["schema.ts", "data-model.schema.ts", "stdio.schema.ts", "streamable-http.schema.ts"]
    )
    for name, part in files.items():
        (tmp_path / name).write_text(part, encoding="utf-8")
    one, several = (pins.by_facts(pins.find(str(tmp_path / f))) for f in ("whole.ts", "schema.ts"))
    assert by_name(one) == by_name(several)


def by_name(schema: Schema) -> object:
    """The declarations without their places in files, and the methods."""
    return (
        {d.name: repr(replace(d, at=0, **_fields(d))) for d in schema.declarations},
        {m.name: m for m in schema.methods},
    )


def _fields(declaration: Any) -> dict[str, Any]:
    fields: tuple[Field, ...] = getattr(declaration, "fields", ())
    return {"fields": tuple(replace(each, at=0) for each in fields)} if fields else {}
