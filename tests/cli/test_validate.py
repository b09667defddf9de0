"""`mcp-bindgen validate`: a verdict for each message, with its place, and never a stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_bindgen.cli.validate import Bindings
from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import fault
from mcp_bindgen.validate.messages import Text
from mcp_bindgen.validate.verdicts import Judge
from tests.support.command import invoke, run_here
from tests.support.judges import REVISIONS, schema_of

CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
RESULT: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
REVISION = ("--revision", "2025-11-25")


def rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def judged(folder: Path, *messages: Any, revision: str = "2025-11-25") -> list[tuple[Any, ...]]:
    """`valid`, `type`, `path` of each message, written as JSON lines."""
    file = folder / "messages.jsonl"
    file.write_text("".join(f"{json.dumps(m)}\n" for m in messages), encoding="utf-8")
    output = invoke("validate", "--revision", revision, "--format", "json", file).stdout
    assert [row["line"] for row in rows(output)] == list(range(1, len(messages) + 1))
    return [(row["valid"], row["type"], row["path"]) for row in rows(output)]


def test_a_message_is_known_by_its_method(tmp_path: Path) -> None:
    bad = {**CALL, "params": {"cursor": 1}}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert judged(tmp_path, CALL, bad, note) == [
        (True, "ListToolsRequest", None),
        (False, "ListToolsRequest", "$.params.cursor"),
        (True, "InitializedNotification", None),
    ]


def test_a_result_is_known_by_the_request_before_it(tmp_path: Path) -> None:
    bad = {**RESULT, "result": {"tools": [{"name": "a"}]}}
    other = {**RESULT, "id": "1"}
    assert judged(tmp_path, CALL, RESULT, CALL, bad, bad, CALL, other) == [
        (True, "ListToolsRequest", None),
        (True, "ListToolsResult", None),
        (True, "ListToolsRequest", None),
        (False, "ListToolsResult", "$.result.tools[0].inputSchema"),
        (False, "ListToolsResult", "$.result.tools[0].inputSchema"),
        (True, "ListToolsRequest", None),
        (True, "JSONRPCResultResponse", None),
    ]


def test_a_second_answer_to_one_id_is_judged_like_the_first(tmp_path: Path) -> None:
    bad = {**RESULT, "result": {"tools": 1}}
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}
    wrong = (False, "ListToolsResult", "$.result.tools")
    assert judged(tmp_path, CALL, RESULT, bad)[2:] == [wrong]
    assert judged(tmp_path, CALL, error, bad)[2:] == [wrong]


@pytest.mark.parametrize("result", [{}, {"roots": 1}, {"tools": 1}])
def test_a_result_at_fault_takes_no_other_sides_request(
    tmp_path: Path, result: dict[str, Any]
) -> None:
    roots = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"roots": [{"uri": "file:///a"}]}}
    tools, listed = (True, "ListToolsResult", None), (True, "ListRootsResult", None)
    for requests in ((CALL, roots), (roots, CALL)):
        verdicts = judged(tmp_path, *requests, {**RESULT, "result": result}, RESULT, answer)
        assert verdicts[2][0] is False
        assert verdicts[3:] == [tools, listed]
    named = {"roots": "ListRootsResult", "tools": "ListToolsResult"}
    assert [verdicts[2][1]] == [named[member] for member in result] or not result


def test_a_trace_is_told_where_it_is_judged(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(json.dumps({"at": 0, "direction": "sent", "message": CALL}))
    done = run_here("validate", *REVISION, tmp_path / "t")
    assert done.returncode == 1
    assert b"found a line of a trace, for `mcp-bindgen trace --check`" in done.stdout


def test_requests_of_both_sides_may_have_one_id(tmp_path: Path) -> None:
    roots = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"roots": [{"uri": "file:///a"}]}}
    bad = {**RESULT, "result": {"tools": 1}}
    tools, listed = (True, "ListToolsResult", None), (True, "ListRootsResult", None)
    wrong = (False, "ListToolsResult", "$.result.tools")
    assert judged(tmp_path, CALL, roots, RESULT, answer)[2:] == [tools, listed]
    assert judged(tmp_path, CALL, roots, answer, RESULT)[2:] == [listed, tools]
    assert judged(tmp_path, roots, CALL, answer, bad)[2:] == [listed, wrong]


def test_of_one_side_the_newest_request_with_an_id_counts(tmp_path: Path) -> None:
    again = {**CALL, "method": "resources/list"}
    assert judged(tmp_path, CALL, again, RESULT)[2] == (
        False,
        "ListResourcesResult",
        "$.result.resources",
    )


def test_an_error_answers_too(tmp_path: Path) -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}
    assert judged(tmp_path, CALL, error, RESULT)[1:] == [
        (True, "JSONRPCErrorResponse", None),
        (True, "ListToolsResult", None),
    ]


def test_an_error_is_known_by_its_code(tmp_path: Path) -> None:
    def error(data: Any) -> Any:
        return {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32042, "message": "wait", "data": data},
        }

    asked = {"mode": "url", "elicitationId": "1", "url": "https://a.example", "message": "go"}
    type = "URLElicitationRequiredError"
    messages = [error({"elicitations": [asked]}), error({"elicitations": [{}]}), error(1)]
    assert judged(tmp_path, *messages) == [
        (True, type, None),
        (False, type, "$.error.data.elicitations[0].mode"),
        (False, type, "$.error.data"),
    ]
    assert judged(tmp_path, error(1), revision="2025-06-18") == [(True, "JSONRPCError", None)]


def test_of_several_results_the_one_that_goes_furthest_tells_the_fault(tmp_path: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {**CALL, "method": "tools/call", "params": {"name": "a", "_meta": meta}}
    results = [
        {"resultType": "input_required", "inputRequests": {}},
        {"resultType": "input_required", "inputRequests": []},
        {"resultType": "input_required", "inputRequests": {"a": {"method": "no"}}},
        {"resultType": "complete"},
        {"resultType": "complete", "content": [{"type": "text", "text": 1}]},
    ]
    messages = [m for result in results for m in (call, {**RESULT, "result": result})]
    assert judged(tmp_path, *messages, revision="2026-07-28")[1::2] == [
        (True, "InputRequiredResult", None),
        (False, "InputRequiredResult", "$.result.inputRequests"),
        (False, "InputRequiredResult", "$.result.inputRequests.a.method"),
        (False, "CallToolResult", "$.result.content"),
        (False, "CallToolResult", "$.result.content[0].text"),
    ]


def test_only_so_many_requests_and_such_ids_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_bindgen.validate.verdicts.MAX_OPEN_REQUESTS", 2)
    messages = [{**base, "id": id} for base in (CALL, RESULT) for id in (1, 2, 3)]
    types = [type for _, type, _ in judged(tmp_path, *messages)]
    assert types[3:] == ["JSONRPCResultResponse", "ListToolsResult", "ListToolsResult"]
    for length, type in ((256, "ListToolsResult"), (257, "JSONRPCResultResponse")):
        messages = [{**base, "id": "x" * length} for base in (CALL, RESULT)]
        assert judged(tmp_path, *messages)[1] == (True, type, None)


@pytest.mark.parametrize(
    ("message", "type", "path"),
    [
        ({**CALL, "method": "tools/lists"}, "JSONRPCRequest", "$.method"),
        ({**CALL, "method": 1}, "JSONRPCRequest", "$.method"),
        ({"jsonrpc": "2.0", "method": "no/such"}, "JSONRPCNotification", "$.method"),
        ({"id": 1, "method": "tools/list"}, "ListToolsRequest", "$.jsonrpc"),
        ({"jsonrpc": "2.0", "method": "tools/list"}, "ListToolsRequest", "$.id"),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "notifications/initialized"},
            "InitializedNotification",
            "$.id",
        ),
        ({**RESULT, "id": None}, "JSONRPCResultResponse", "$.id"),
        ({**RESULT, "error": {}}, "JSONRPCResultResponse", "$.error"),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": ""}},
            "JSONRPCErrorResponse",
            "$.error.code",
        ),
        ({"tools": []}, None, "$"),
        ([CALL], None, "$"),
        (1, None, "$"),
    ],
)
def test_a_fault_has_its_place(tmp_path: Path, message: Any, type: str | None, path: str) -> None:
    assert judged(tmp_path, message) == [(False, type, path)]


def test_batches_are_where_the_revision_has_them(tmp_path: Path) -> None:
    assert (
        judged(tmp_path, [CALL], [CALL, {**CALL, "id": []}], [RESULT], [[]], [1], [])
        == [(False, None, "$")] * 6
    )
    assert judged(
        tmp_path, [CALL], [CALL, {**CALL, "id": []}], [RESULT], [[]], revision="2025-03-26"
    ) == [
        (True, "JSONRPCBatchRequest", None),
        (False, "JSONRPCBatchRequest", "$[1].id"),
        (True, "JSONRPCBatchResponse", None),
        (False, "JSONRPCBatchResponse", "$[0]"),
    ]


def test_requests_of_a_batch_are_answered_and_calls_and_responses_do_not_mix(
    tmp_path: Path,
) -> None:
    batch = [{**CALL, "id": []}, CALL]
    bad = [{**RESULT, "result": {"tools": 1}}]
    assert judged(tmp_path, batch, bad, [CALL, RESULT], revision="2025-03-26") == [
        (False, "JSONRPCBatchRequest", "$[0].id"),
        (False, "JSONRPCBatchResponse", "$[0].result.tools"),
        (False, "JSONRPCBatchRequest", "$[1]"),
    ]


def test_a_type_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"name": "a", "inputSchema": {"type": "array"}}')
    done = invoke("validate", *REVISION, "--type", "Tool", file)
    expected = f'{file}:1: invalid Tool at $.inputSchema.type: expected "object", found "array"'
    assert done.stdout.splitlines() == [expected, "1 message: 1 invalid"]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("Toool", "Did you mean Tool"), ("Xyzzy", "`mcp-bindgen inspect 2025-11-25` lists the types")],
)
def test_a_type_that_is_not_there_is_no_fault_of_the_messages(
    name: str, remedy: str, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n{}\n")
    done = invoke("validate", *REVISION, "--type", name, tmp_path / "a.jsonl")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"2025-11-25 has no type called '{name}'\n{remedy}" in done.stderr


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_types_that_can_be_named_are_those_of_the_schema(revision: str) -> None:
    types = set(Bindings(revision).types)
    assert types >= set(schema_of(revision).types)
    assert not {"DecodeError", "Unset", "UNSET", "decode"} & types


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_messages_of_the_official_pages_are_judged_as_the_schema_says(
    shared: Path, tmp_path: Path, revision: str
) -> None:
    schema = schema_of(revision)
    types = {method.name: method.type for method in schema.methods}
    page = json.loads((shared / "official" / revision / "messages.json").read_bytes())
    messages = [row["json"] for row in page if "method" in row["json"]]
    verdicts = judged(tmp_path, *messages, revision=revision)
    assert len(messages) > 10
    for message, verdict in zip(messages, verdicts, strict=True):
        if (type := types.get(message["method"])) is None:
            assert verdict == (False, "JSONRPCRequest", "$.method")
        else:
            envelope = "JSONRPCRequest" if type.endswith("Request") else "JSONRPCNotification"
            problem = fault(schema, Ref(envelope), message) or fault(schema, Ref(type), message)
            assert verdict == (problem is None, type, problem and str(problem).partition(": ")[0])
    responses = [row["json"] for row in page if "result" in row["json"] or "error" in row["json"]]
    assert responses
    assert all(valid for valid, _, _ in judged(tmp_path, *responses, revision=revision))


def test_the_official_examples_are_judged_as_the_schema_says(shared: Path, tmp_path: Path) -> None:
    schema, bindings = schema_of("2026-07-28"), Bindings("2026-07-28")
    examples = json.loads((shared / "official/2026-07-28/examples.json").read_bytes())
    assert len(examples) > 100
    for row in examples:
        verdict = Judge(bindings, row["type"]).judge(Text(1, json.dumps(row["json"]).encode()))
        problem = fault(schema, Ref(row["type"]), row["json"])
        assert (verdict.valid, verdict.type) == (problem is None, row["type"])
        path = verdict.fault.path if verdict.fault else None
        assert path == (problem and str(problem).partition(": ")[0])
