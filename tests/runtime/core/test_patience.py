"""Sessions of both roles read what real peers write, and count what they forgave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_runtime.core.session.client_session import ClientSession
from mcp_runtime.core.session.events import (
    Answered,
    Called,
    Cancelled,
    Event,
    Failed,
    Notified,
    Opened,
)
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.terms.extension import Extensions
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.core.terms.translation import translation
from mcp_runtime.extensions.tasks import ClientTasks
from mcp_runtime.revisions import ALL, UNSET, Context, latest, revision
from tests.support.session_pair import (
    HANDSHAKE,
    NEWEST,
    answered,
    client_session,
    initialize,
    newborn,
    notification,
    receive,
    request,
    server_session,
    with_meta,
    written,
)

MARK = b"\xef\xbb\xbf"


def raw(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def called(session: ServerSession, message: bytes) -> tuple[Called, Any]:
    """The request that a handler gets for a message, and its params."""
    (event,) = receive(session, message)
    assert isinstance(event, Called)
    return event, event.terms.translation.read("params", event.method, event.params)


def result_of(session: ClientSession, method: str, body: Any, text: bytes = b"") -> Event:
    """What a client makes of an answer: its result, or raw text with ID in place of the id."""
    params = latest.PaginatedRequestParams(meta=session.meta())
    if method == "tools/call":
        params = latest.CallToolRequestParams(name="t", meta=session.meta())
    sent, _ = session.call(method, params, now=0.0)
    data = text.replace(b"ID", str(sent.id).encode()) or answered(sent.id, body)
    (event,) = receive(session, data)
    return event


# ---- null


@pytest.mark.parametrize("spoken", ALL)
@pytest.mark.parametrize(
    "nulls",
    [
        {"arguments": None},
        {"_meta": None},
        {"arguments": None, "_meta": None},
        {"_meta": {"progressToken": None}},
    ],
)
def test_a_server_reads_null_members_of_params_as_absent(spoken: str, nulls: Any) -> None:
    session = server_session(spoken)
    params = with_meta(spoken, {"name": "t"})
    meta = nulls.get("_meta") or {}
    if spoken == NEWEST:  # whose requests need a `_meta`
        nulls = {**nulls, "_meta": {**params["_meta"], **meta}}
    if nulls == {"_meta": params.get("_meta")}:
        return
    _, read = called(session, raw(id=1, method="tools/call", params={**params, **nulls}))
    assert (read.name, read.arguments, read.meta.progress_token) == ("t", UNSET, UNSET)
    assert session.tolerances.counts["null"] >= 1


@pytest.mark.parametrize("spoken", HANDSHAKE)
@pytest.mark.parametrize("method", ["ping", "tools/list", "x/own"])
def test_params_may_be_null(spoken: str, method: str) -> None:
    session = server_session(spoken, methods=frozenset({"x/own"}))
    events = receive(session, raw(id=1, method=method, params=None))
    if method == "ping":
        assert written(events) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    else:
        (event,) = events
        assert isinstance(event, Called)
        assert event.params == b""


@pytest.mark.parametrize("spoken", HANDSHAKE)
def test_a_handshake_may_have_nulls_on_both_sides(spoken: str) -> None:
    session = server_session(None)
    params = initialize(spoken)
    params["capabilities"] = {
        **params["capabilities"],
        "sampling": None,
        "elicitation": None,
        "roots": {"listChanged": None},
        "experimental": None,
    }
    params["clientInfo"] = {**params["clientInfo"], "title": None, "icons": None}
    (answer,) = written(receive(session, raw(id=0, method="initialize", params=params)))
    assert answer["result"]["protocolVersion"] == spoken
    assert session.agreed is not None
    assert "sampling" not in session.agreed.capabilities
    assert session.agreed.capabilities["roots"] == {}
    assert "title" not in (session.agreed.info or {})
    receive(session, raw(method="notifications/initialized", params=None, id=None))
    event, _ = called(session, request(1, "tools/list"))
    assert event.terms is session.agreed


@pytest.mark.parametrize("spoken", HANDSHAKE)
@pytest.mark.parametrize("reason", [None, ""])
def test_a_cancellation_may_have_no_reason(spoken: str, reason: str | None) -> None:
    session = server_session(spoken)
    called(session, request(7, "tools/call", {"name": "t"}))
    cancellation = {"requestId": 7, "reason": reason}
    (event,) = receive(session, notification("notifications/cancelled", cancellation))
    assert event == Cancelled(7, "")


@pytest.mark.parametrize("spoken", ALL)
def test_a_response_may_have_a_null_error_beside_its_result(spoken: str) -> None:
    session = client_session(spoken)
    result = json.dumps(
        {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    )
    text = b'{"jsonrpc":"2.0","id":ID,"method":null,"result":%b,"error":null}' % result.encode()
    event = result_of(session, "tools/list", None, text)
    assert isinstance(event, Answered)
    assert session.tolerances.counts == {"null": 1}


def test_an_error_may_have_a_null_result_beside_it() -> None:
    session = client_session("2025-11-25")
    text = b'{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32602,"message":"no"}}'
    event = result_of(session, "tools/list", None, text)
    assert isinstance(event, Failed)
    assert "no" in str(event.error)


def test_a_notification_may_have_null_params_members_and_id() -> None:
    session = client_session("2025-11-25")
    params = {"level": "info", "data": None, "logger": None}
    event = receive(session, raw(method="notifications/message", params=params, id=None))[0]
    assert isinstance(event, Notified)
    assert (event.params.data, event.params.logger) == (None, UNSET)


@pytest.mark.parametrize(
    "message",
    [
        raw(id=None, method="tools/list"),
        raw(id=1, method=None),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","error":null,"error":null}',
        b'{"jsonrpc":null,"id":1,"method":"ping"}',
    ],
)
def test_what_has_no_plain_meaning_is_refused(message: bytes) -> None:
    session = server_session("2025-11-25")
    assert all("error" in each for each in written(receive(session, message)))
    assert not session.tolerances.counts


def test_one_message_of_a_batch_is_repaired_with_the_others() -> None:
    session = server_session("2025-03-26")
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": None, "error": None},
    ]
    (answers,) = written(receive(session, json.dumps(batch).encode()))
    assert [each["id"] for each in answers if "result" in each] == [1, 2]


# ---- text


@pytest.mark.parametrize("spoken", ALL)
def test_a_byte_order_mark_before_a_message_is_left_out(spoken: str) -> None:
    server = server_session(spoken)
    params = with_meta(spoken, {"name": "t"})
    called(server, MARK + request(1, "tools/call", params))
    assert server.tolerances.counts == {"bom": 1}
    client = client_session(spoken)
    body = {"content": [], "resultType": "complete"}
    text = MARK + b'{"jsonrpc":"2.0","id":ID,"result":%b}' % json.dumps(body).encode()
    assert isinstance(result_of(client, "tools/call", None, text), Answered)
    assert client.tolerances.counts == {"bom": 1}


def test_a_mark_alone_is_no_message_and_no_fault() -> None:
    session = server_session("2025-11-25")
    assert receive(session, MARK) == []
    assert receive(session, MARK + b"  ") == []


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (rb"cut \ud83d", "cut \ufffd"),
        (rb"\ude00 begins", "\ufffd begins"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\uD83D \\ud83d", "\ufffd \\ud83d"),
        (rb"\\\ud83dx", "\\\ufffdx"),
    ],
)
@pytest.mark.parametrize("spoken", ALL)
def test_half_a_character_becomes_a_replacement_character(
    spoken: str, sent: bytes, read: str
) -> None:
    client = client_session(spoken)
    body = b'{"content":[{"type":"text","text":"%b"}],"resultType":"complete"}' % sent
    event = result_of(client, "tools/call", None, b'{"jsonrpc":"2.0","id":ID,"result":%b}' % body)
    assert isinstance(event, Answered)
    assert event.result.content[0].text == read
    assert client.tolerances.counts == {"surrogate": 1}
    server = server_session(spoken)
    params = json.dumps(with_meta(spoken, {"name": "t", "arguments": {"q": "HERE"}})).encode()
    message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}' % params
    _, called_with = called(server, message.replace(b"HERE", sent))
    assert called_with.arguments == {"q": read}


def test_an_id_of_half_a_character_is_refused_and_the_session_lives() -> None:
    session = server_session("2025-11-25")
    (answer,) = written(receive(session, rb'{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}'))
    assert answer["error"]["code"] == -32700
    assert written(receive(session, request(2, "ping")))[0]["result"] == {}


@pytest.mark.parametrize("half", [b"\xf0\x9f", b"\xf0\x9f\x98", b"\xc3", b"\xed\xa0\xbd"])
def test_bytes_that_are_cut_in_a_character_end_no_session(half: bytes) -> None:
    server = server_session("2025-11-25")
    message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%b"}}' % half
    (answer,) = written(receive(server, message))
    assert "error" in answer
    assert written(receive(server, request(2, "ping")))[0]["result"] == {}
    client = client_session("2025-11-25")
    text = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"%b"}]}}' % half
    assert isinstance(result_of(client, "tools/call", None, text), Failed)
    assert isinstance(result_of(client, "tools/call", {"content": []}), Answered)


# ---- items

GOOD: dict[str, Any] = {"name": "good", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize("spoken", ALL)
@pytest.mark.parametrize(
    "schema",
    [{}, {"$schema": "x"}, {"anyOf": [{"type": "object"}]}, None, [], {"type": "array"}],
)
def test_a_tool_that_is_invalid_is_left_out_and_named(spoken: str, schema: Any) -> None:
    session = client_session(spoken)
    bad = {"name": "bad", "inputSchema": schema}
    body = {"tools": [GOOD, bad], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    event = result_of(session, "tools/list", {**body, "nextCursor": "more"})
    assert isinstance(event, Answered)
    assert [tool.name for tool in event.result.tools] == ["good"]
    assert event.result.next_cursor == "more"
    (problem,) = session.tolerances.problems
    assert (problem.method, problem.name) == ("tools/list", "bad")
    assert problem.path.startswith("$.tools[1].inputSchema")
    assert problem.reason.startswith("expected ")
    assert session.tolerances.counts == {"item": 1}


@pytest.mark.parametrize("spoken", ALL)
def test_a_list_of_nothing_valid_is_empty_and_says_so(spoken: str) -> None:
    session = client_session(spoken)
    body = {"tools": [3, {"name": "x"}], "resultType": "complete", "ttlMs": 0}
    event = result_of(session, "tools/list", {**body, "cacheScope": "private"})
    assert isinstance(event, Answered)
    assert event.result.tools == []
    assert len(session.tolerances.problems) == 2


@pytest.mark.parametrize("spoken", ALL)
def test_a_result_keeps_the_content_that_fits_and_is_refused_without_any(spoken: str) -> None:
    session = client_session(spoken)
    text = {"type": "text", "text": "a"}
    body = {"content": [{"type": "hologram"}, text], "resultType": "complete"}
    event = result_of(session, "tools/call", body)
    assert isinstance(event, Answered)
    assert [item.text for item in event.result.content] == ["a"]
    (problem,) = session.tolerances.problems
    assert problem.path.startswith("$.content[0]")
    body = {"content": [{"type": "hologram"}], "resultType": "complete"}
    assert isinstance(result_of(session, "tools/call", body), Failed)


def test_nulls_and_bad_items_of_one_list_are_both_read() -> None:
    session = client_session(NEWEST)
    tools = [{**GOOD, "description": None}, {"name": "bad", "title": None}]
    event = result_of(session, "tools/list", {"tools": tools, "nextCursor": None})
    assert isinstance(event, Answered)
    assert [tool.name for tool in event.result.tools] == ["good"]
    counts = {"null": 1, "item": 1, "resultType": 1, "ttlMs": 1, "cacheScope": 1}
    assert session.tolerances.counts == counts


# ---- requests of a server


@pytest.mark.parametrize("spoken", HANDSHAKE)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("roots/list", None),
        ("roots/list", {"_meta": None}),
        (
            "sampling/createMessage",
            {
                "messages": [{"role": "user", "content": {"type": "text", "text": "a"}}],
                "maxTokens": 1,
                "tools": None,
                "toolChoice": None,
                "systemPrompt": None,
                "stopSequences": None,
                "modelPreferences": {"hints": None, "costPriority": None},
            },
        ),
    ],
)
def test_a_client_reads_null_members_of_a_request_as_absent(
    spoken: str, method: str, params: Any
) -> None:
    session = client_session(spoken)
    (event,) = receive(session, raw(id=1, method=method, params=params))
    assert isinstance(event, Called), event
    read = event.terms.translation.read("params", method, event.params)
    if method == "sampling/createMessage":
        assert (read.max_tokens, read.system_prompt) == (1, UNSET)
        assert read.model_preferences.hints is UNSET
    assert session.tolerances.counts["null"] >= 1


@pytest.mark.parametrize("spoken", HANDSHAKE)
def test_a_handshake_of_a_server_may_have_nulls(spoken: str) -> None:
    session = newborn(spoken)
    opening = json.loads(session.open(0.0))
    result = {
        "protocolVersion": spoken,
        "capabilities": {"tools": {"listChanged": None}, "prompts": None, "logging": {}},
        "serverInfo": {"name": "s", "version": "1", "title": None, "websiteUrl": None},
        "instructions": None,
        "_meta": None,
    }
    events = receive(session, answered(opening["id"], result))
    assert any(isinstance(event, Opened) for event in events)
    assert session.agreed is not None
    assert session.agreed.capabilities == {"tools": {}, "logging": {}}
    assert session.agreed.info == {"name": "s", "version": "1"}
    assert session.instructions is None
    assert isinstance(result_of(session, "tools/list", {"tools": []}), Answered)


def test_a_discovery_may_have_nulls() -> None:
    session = newborn(NEWEST)
    opening = json.loads(session.open(0.0))
    result = {
        "supportedVersions": [NEWEST],
        "capabilities": {"tools": None, "prompts": {"listChanged": None}},
        "instructions": None,
        "_meta": None,
    }
    receive(session, answered(opening["id"], result))
    assert session.agreed is not None
    assert session.agreed.capabilities == {"prompts": {}}
    assert (session.agreed.info, session.instructions) == (None, None)


# ---- extensions


def test_messages_of_an_extension_are_read_as_patiently() -> None:
    extension = ClientTasks()
    theirs = {"extensions": {extension.identifier: {}}}
    spoken = revision(NEWEST)
    tolerances = Tolerances("client")
    ours = Extensions([extension], [NEWEST])
    reading = translation(spoken, Context(), tolerances, ours, theirs)
    task = {
        "taskId": "1",
        "status": "working",
        "statusMessage": None,
        "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttlMs": None,
        "pollIntervalMs": None,
        "resultType": "complete",
    }
    read = reading.read("result", "tasks/get", json.dumps(task).encode())
    assert (read.ttl_ms, read.status_message, read.poll_interval_ms) == (None, UNSET, UNSET)
    assert tolerances.counts == {"null": 1}
