"""However a message, its params and its response are written, they are in the method, or refused.

The law was tested with messages alone, in two spellings of their results: so a response that was an
intersection lost its result in silence. Here every part is written in every way that the reader
knows.
"""

from __future__ import annotations

from typing import Final

import pytest

from mcp_bindgen import emit
from mcp_bindgen.errors import SchemaError
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref, Schema, Uni
from mcp_bindgen.ir.unions import arms

HEAD: Final = """
export interface Result { _meta?: { [key: string]: unknown } }
export interface A extends Result { a: string }
export interface B extends Result { b: string }
export interface Failed { jsonrpc: "2.0"; error: { code: number } }
export interface Resp { jsonrpc: "2.0"; id: string; result: Result }
export interface GenericResp<R> extends Resp { result: R & Result }
interface RA extends Resp { result: A }
interface RB extends Resp { result: B }
interface Answers { one: RA }
export interface Req { jsonrpc: "2.0"; id: string }
export interface GenericReq<M extends string> extends Req { method: M; params: { x: string } }
interface Asked<M> { method: M; params: { x: string } }
interface Messages { one: { method: "do/it"; id: string; params: { x: string } } }
"""
REQUEST: Final = (
    'export interface DoRequest extends Req { method: "do/it"; params: { x: string } }\n'
)
LISTED: Final = "export type ClientRequest = DoRequest;\n"

RESPONSES: Final = {
    "interface DoResultResponse extends Resp { result: A }": {"A"},
    "interface DoResultResponse extends RA {}": {"A"},
    "interface DoResultResponse extends Resp { result: A | B }": {"A", "B"},
    "interface DoResultResponse extends Resp { result: { c: number } }": {"DoResultResponseResult"},
    "interface DoResultResponse extends Resp { result: Result & { c: number } }": {
        "DoResultResponseResult"
    },
    "interface DoResultResponse extends Resp { result: A | { c: number } }": {
        "A",
        "DoResultResponseResult",
    },
    "type DoResultResponse = RA;": {"A"},
    "type DoResultResponse = RA | RB;": {"A", "B"},
    "type DoResultResponse = RA | Failed;": {"A"},
    "type DoResultResponse = (Resp & { result: A }) | RB;": {"A", "B"},
    "type DoResultResponse = Resp & { result: A };": {"A"},
    "type DoResultResponse = Resp & { result: A | B };": {"A", "B"},
    "type DoResultResponse = Resp & { result: { c: number } };": {"DoResultResponseResult"},
    'type DoResultResponse = Omit<RA, "id">;': {"A"},
    "type DoResultResponse = GenericResp<A>;": {"A"},
    "type DoResultResponse = GenericResp<A> | GenericResp<B>;": {"A", "B"},
    "type DoResultResponse = { id: string; result: A };": {"A"},
    'type DoResultResponse = Answers["one"];': {"A"},
    "type Other = RA | RB; export type DoResultResponse = Other;": {"A", "B"},
    "type DoResultResponse = Readonly<RA>;": {"A"},
    "interface DoResult extends A {}": {"DoResult"},
    "type DoResult = A | B;": {"A", "B"},
    "type DoResult = A & B;": {"DoResult"},
}
REFUSED: Final = {
    "interface DoResultResponse { id: string }": "`DoResultResponse` has no member `result`",
    "type DoResultResponse = Failed;": "`DoResultResponse` has no member `result`",
    "type DoResultResponse = RA | string;": "a type that is not one object",
    "interface DoResultResponse { result: string }": "`result` of `DoResultResponse` is no object",
    "interface DoResultResponse { result: A[] }": "`result` of `DoResultResponse` is no object",
    "interface DoResultResponse { result: A | null }": "`result` of `DoResultResponse` is no",
}
REQUESTS: Final = (
    REQUEST,
    'export interface DoRequest extends Req, Asked<"do/it"> {}\n',
    'export type DoRequest = Req & Asked<"do/it">;\n',
    'export type DoRequest = Req & { method: "do/it"; params: { x: string } };\n',
    'export type DoRequest = { method: "do/it"; id: string; params: { x: string } };\n',
    'export type DoRequest = GenericReq<"do/it">;\n',
    'export type DoRequest = Omit<Req & Asked<"do/it">, "id">;\n',
    'export type DoRequest = Readonly<Asked<"do/it">>;\n',
    'export type DoRequest = Messages["one"];\n',
    'export type DoRequest = { [K in keyof Asked<"do/it">]: Asked<"do/it">[K] };\n',
)
UNNAMED: Final = (
    'export type DoRequest = { method: "do/it"; id: "1" } | { method: "do/that"; id: "2" };\n',
    'interface Other { a: string }\nexport type DoRequest = Other | (Req & { method: "do/it" });\n',
)


def lowered(*parts: str) -> Schema:
    return load("".join((HEAD, *parts)).encode(), "a.ts", "r1")


def answers(schema: Schema) -> set[str]:
    (method,) = schema.methods
    assert method.result is not None
    leaves = arms(schema, method.result)
    assert all(isinstance(leaf, Ref) for leaf in leaves)
    return {leaf.name for leaf in leaves if isinstance(leaf, Ref)}


@pytest.mark.parametrize("written", RESPONSES)
def test_a_response_in_any_form_gives_its_method_a_result(written: str) -> None:
    schema = lowered(REQUEST, LISTED, f"export {written}\n")
    assert answers(schema) == RESPONSES[written]
    files = emit.generate([schema], emit.Options(flavours=("msgspec",)))
    listed = files["vr1/methods.py"].split('"do/it": Method(')[1].split("\n    )")[0]
    names = {"DoResult"} if "DoResult " in written else RESPONSES[written]  # an alias stays one
    assert [name for name in names if f'"{name}"' not in listed] == []
    assert "results=()" not in listed


@pytest.mark.parametrize("written", REFUSED)
def test_a_response_that_brings_no_result_is_refused_at_its_own_place(written: str) -> None:
    text = (HEAD + REQUEST + LISTED).count("\n") + 1
    with pytest.raises(SchemaError) as error:
        lowered(REQUEST, LISTED, f"export {written}\n")
    assert str(error.value).startswith(f"a.ts:{text}:")
    assert REFUSED[written] in str(error.value)


@pytest.mark.parametrize("written", REQUESTS)
def test_a_request_in_any_form_is_a_method_with_its_params(written: str) -> None:
    schema = lowered(written, LISTED, "export interface DoResult extends Result { y: 1 }\n")
    (method,) = schema.methods
    assert (method.name, method.type, method.kind) == ("do/it", "DoRequest", "request")
    assert method.direction == "client-to-server"
    assert method.params is not None
    assert answers(schema) == {"DoResult"}


@pytest.mark.parametrize("written", UNNAMED)
def test_a_message_without_a_name_is_refused(written: str) -> None:
    with pytest.raises(SchemaError, match="`DoRequest` has a message in it that has no name"):
        lowered(written, LISTED)


def test_a_union_of_named_messages_is_a_method_for_each() -> None:
    more = 'export interface MoreRequest extends Req { method: "do/more" }\n'
    union = "export type Any = DoRequest | MoreRequest;\nexport type ClientRequest = Any;\n"
    results = "export interface DoResult { y: 1 }\nexport interface MoreResult { z: 1 }\n"
    schema = lowered(REQUEST, more, union, results)
    assert [(m.name, m.direction) for m in schema.methods] == [
        ("do/it", "client-to-server"),
        ("do/more", "client-to-server"),
    ]
    assert [m.result for m in schema.methods] == [Ref("DoResult"), Ref("MoreResult")]
    assert Uni not in {type(m.result) for m in schema.methods}
