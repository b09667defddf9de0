"""Messages in every form are methods, and what answers them is found or asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import emit
from mcp_bindgen.errors import DecisionError, SchemaError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref, Schema, Uni

SCHEMA: Final = """
export interface JSONRPCRequest { jsonrpc: "2.0"; id: string }
export interface GenRequest<M extends string> extends JSONRPCRequest {
  method: M;
  params?: { a?: string };
}
export type FooRequest = JSONRPCRequest & { method: "foo/do"; params: { x: string } };
export type OtherName = FooRequest;
export type BarRequest = { method: "bar/do"; id: string };
export type BazRequest = GenRequest<"baz/do">;
export interface TwoRequest extends JSONRPCRequest { method: "two/a" | "two/b" }
export type Moved = { method: "moved/it" };
export interface AnyRequest { method: string }
export interface FooResult { y: string }
export interface BarResult { kind: "bar" }
export interface BazResult { z: string }
export interface TwoResult { z: string }
export interface EmptyResult { }
export type ClientRequest = FooRequest | BarRequest | BazRequest | TwoRequest;
export type ServerNotification = Moved;
export type ServerResult = EmptyResult | FooResult | BazResult | TwoResult;
"""
ROW: Final = """
[[{kind}]]
revisions = ["r1"]
path = "{path}"
{line}
page = "p"
why = "w"
"""


def row(path: str, line: str, kind: str = "method") -> str:
    return ROW.format(kind=kind, path=path, line=line)


HTTP: Final = "".join(
    row(path, "value = false", "http") for path in ("version_header", "primed_streams")
)
BAR: Final = """
interface BarRequest { method: "bar/do" }
interface DoBarResult { bar: string }
interface OtherResult { other: string }
interface EmptyResult { }
type ClientRequest = BarRequest;
type ServerResult = EmptyResult | DoBarResult;
interface ServerCapabilities { bar?: {} }
"""


def lowered(folder: Path, text: str, *rows: str) -> Schema:
    table = folder / "decisions.toml"
    table.write_text("".join((HTTP, *rows)), encoding="utf-8")
    return load(text.encode(), "a.ts", "r1", decisions.load(table))


def refusal(folder: Path, text: str, *rows: str) -> str:
    with pytest.raises(DecisionError) as caught:
        lowered(folder, text, *rows)
    return str(caught.value)


def test_messages_are_found_in_every_form_once() -> None:
    methods = load(SCHEMA.encode(), "a.ts").methods
    assert [(m.name, m.kind, m.direction, m.result) for m in methods] == [
        ("foo/do", "request", "client-to-server", Ref("FooResult")),
        ("bar/do", "request", "client-to-server", Ref("BarResult")),
        ("baz/do", "request", "client-to-server", Ref("BazResult")),
        ("two/a", "request", "client-to-server", Ref("TwoResult")),
        ("two/b", "request", "client-to-server", Ref("TwoResult")),
        ("moved/it", "notification", "server-to-client", None),
    ]
    assert [m.params is not None for m in methods] == [True, False, True, False, False, False]


@contextmanager
def bindings(schema: Schema, flavour: str, folder: Path) -> Iterator[tuple[Any, Any]]:
    """The modules calls and models of a flavour."""
    for path, text in emit.generate([schema], emit.Options(flavours=(flavour,))).items():
        file = folder / "vanish" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    sys.path.insert(0, str(folder))
    try:
        names = (f"vanish.vr1.{kind}_{flavour}" for kind in ("calls", "models"))
        calls, models = map(importlib.import_module, names)
        yield calls, models
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "vanish"]:
            del sys.modules[name]


@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_their_bindings_have_every_method(flavour: str, tmp_path: Path) -> None:
    schema = load(SCHEMA.encode(), "a.ts", "r1")
    with bindings(schema, flavour, tmp_path) as (calls, models):
        assert list(calls.RESULTS) == ["foo/do", "bar/do", "baz/do", "two/a", "two/b"]
        assert {"foo", "baz", "two_a", "two_b"} <= set(dir(calls.ServerHandlers))
        for method in ("two/a", "two/b"):
            raw = b'{"jsonrpc":"2.0","id":"1","method":"%s"}' % method.encode()
            assert models.decode(models.TwoRequest, raw).method == method


def test_a_request_without_a_result_of_its_name_is_asked_about(tmp_path: Path) -> None:
    message = refusal(tmp_path, BAR)
    assert "which types answer it, as a list of names? (DoBarResult, OtherResult" in message
    schema = lowered(tmp_path, BAR, row("bar/do", 'result = ["DoBarResult"]'))
    assert schema.methods[0].result == Ref("DoBarResult")


def test_a_row_that_lacks_the_result_is_named_by_its_line(tmp_path: Path) -> None:
    text = BAR.replace("bar?: {}", "foo?: {}")
    message = refusal(tmp_path, text, row("bar/do", 'capability = ""'))
    assert "# in the row at line 16\nresult = []" in message


OVERLAP: Final = BAR.replace("DoBarResult", "BarResult")
OVERLAP_ROW: Final = row("bar/do", 'result = ["BarResult", "OtherResult"]')


def test_results_that_several_types_accept_are_asked_about(tmp_path: Path) -> None:
    message = refusal(tmp_path, OVERLAP, OVERLAP_ROW)
    assert "some results are of `BarResult` and `OtherResult`: which type goes first?" in message
    assert 'path = "bar/do.result"\norder = ["BarResult", "OtherResult"]' in message


@pytest.mark.parametrize("flavour", emit.FLAVOURS)
@pytest.mark.parametrize("first", ["BarResult", "OtherResult"])
def test_the_order_of_a_row_decides_whose_a_result_is(
    first: str, flavour: str, tmp_path: Path
) -> None:
    names = [first, *({"BarResult", "OtherResult"} - {first})]
    union = row("bar/do.result", f"order = {names}".replace("'", '"'), "union")
    schema = lowered(tmp_path, OVERLAP, OVERLAP_ROW, union)
    assert schema.methods[0].result == Uni(tuple(map(Ref, names)), ordered=True)
    with bindings(schema, flavour, tmp_path) as (calls, models):
        result = models.decode(calls.RESULTS["bar/do"], b'{"bar": "a", "other": "b"}')
        assert type(result).__name__ == first


def test_a_narrowed_member_answers_too(tmp_path: Path) -> None:
    narrow = row("BarResult.bar", "type = '\"bar\"'", "narrow")
    assert lowered(tmp_path, OVERLAP, OVERLAP_ROW, narrow).methods[0].result == Uni(
        (Ref("BarResult"), Ref("OtherResult"))
    )


@pytest.mark.parametrize("order", ['["BarResult"]', '["BarResult", "Gone"]'])
def test_an_order_that_lists_other_types_is_refused(tmp_path: Path, order: str) -> None:
    union = row("bar/do.result", f"order = {order}", "union")
    assert "does not list" in refusal(tmp_path, OVERLAP, OVERLAP_ROW, union)


def test_an_order_that_nothing_needs_is_refused(tmp_path: Path) -> None:
    text = OVERLAP.replace("bar: string", 'bar: "a"').replace("other: string", 'bar: "b"')
    union = row("bar/do.result", 'order = ["BarResult", "OtherResult"]', "union")
    assert "needs [[union]]" in refusal(tmp_path, text, OVERLAP_ROW, union)


# ---- two declarations of one method

CALL: Final = """
interface CallRequest { method: "tools/call"; id: string; params: { name: string } }
interface CallResult { text: string }
type ClientRequest = CallRequest;
"""


def methods(text: str) -> list[tuple[str, str, str]]:
    listed = load(text.encode(), "a.ts").methods
    return [(method.name, method.type, method.direction) for method in listed]


@pytest.mark.parametrize(
    "second",
    [
        "interface TracedCallRequest extends CallRequest { trace: string }",
        'interface CallResultResponse { method: "tools/call"; result: CallResult }',
        'type LoggedCallRequest = CallRequest & { level: "debug" };',
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_the_message_of_a_method_is_the_one_in_a_union(second: str, first: bool) -> None:
    text = f"{second}\n{CALL}" if first else f"{CALL}\n{second}"
    assert methods(text) == [("tools/call", "CallRequest", "client-to-server")]


RUN: Final = 'interface RunRequest { method: "tools/call" }\n'


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("= CallRequest;", "= CallRequest | RunRequest;") + RUN,
        CALL + RUN + "type ServerNotification = RunRequest;",
        CALL.replace("type ClientRequest = CallRequest;", "") + RUN,
    ],
)
def test_two_messages_of_one_method_are_refused_with_both_places(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load(text.encode(), "a.ts")
    said = str(caught.value)
    assert "`RunRequest` is a second message of the method 'tools/call'" in said
    assert "`CallRequest` at a.ts:2:1 is one too" in said
    assert "List one of the two in ClientRequest" in said


def test_data_with_a_method_is_no_message() -> None:
    hook = 'interface Hook { method: "GET" | "POST"; url: string }\n'
    assert methods(CALL + hook) == [("tools/call", "CallRequest", "client-to-server")]
    pick = 'interface PickRequest { method: "files/pick" }\n'
    assert methods(CALL + pick)[1] == ("files/pick", "PickRequest", "none")


SPLIT: Final = """
interface Metadata { meta?: { [key: string]: unknown } }
interface Message<P = unknown, M extends Metadata = Metadata> { metadata: M; payload: P }
interface Asking<P = unknown> extends Message<P> { method: string }
interface Answer<P = unknown> extends Message<P> { method: string }
interface CallRequest extends Asking { method: "tools/call"; payload: { name: string } }
interface CallResult { text: string }
interface WaitResult { wait: number }
interface CallResultResponse extends Answer<CallResult | WaitResult> { method: "tools/call" }
type ClientRequest = CallRequest;
"""


def test_a_message_with_a_payload_beside_its_metadata_has_params_and_a_result() -> None:
    (method,) = load(SPLIT.encode(), "a.ts").methods
    assert method.params == Ref("CallRequestPayload")
    assert method.result == Uni((Ref("CallResult"), Ref("WaitResult")))
