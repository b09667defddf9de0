"""A session of either role stands what a peer may say, and says what its revision has."""

from __future__ import annotations

import json
import time
from typing import Any, Final

import pytest
from msgspec.structs import replace

from mcp_runtime.core.session.events import (
    Answered,
    Called,
    Cancelled,
    Failed,
    Ignored,
    Opened,
    Progressed,
    Write,
)
from mcp_runtime.core.session.pending import Timeout
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.session.session import Session
from mcp_runtime.core.session.subscriptions import Change
from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.errors import (
    BadAnswer,
    Disconnected,
    NoCommonRevision,
    NotOffered,
    NotOpen,
    RemoteError,
    TimedOut,
    TooMuch,
)
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import ALL, UNSET, revision
from mcp_runtime.revisions import latest as t
from tests.support.session_pair import (
    HANDSHAKE,
    NEWEST,
    answered,
    cancelled,
    client_session,
    codes,
    frame,
    initialize,
    newborn,
    notification,
    of,
    receive,
    refused,
    request,
    server_session,
    with_meta,
    writes,
    written,
)

BATCHES: Final = "2025-03-26"
SHAKEN: Final = HANDSHAKE[-1]
BAD_UTF8: Final = b'"\xff"'
DEEP: Final = b"[" * 900 + b"]" * 900
TOOLS: Final = t.ListToolsResult(tools=[], ttl_ms=0, cache_scope="private", result_type="complete")


def meta(session: Any) -> Any:
    return t.PaginatedRequestParams(meta=session.meta())


def ask(session: Any, now: float = 0.0, **more: Any) -> Any:
    """A request of a client's own."""
    return session.call("tools/list", meta(session), now=now, **more)[0]


def calls(session: Session, id: Any, spoken: str | None = SHAKEN) -> None:
    assert of(Called, receive(session, request(id, "tools/list", with_meta(spoken, {}))))


# ---- the opening


@pytest.mark.parametrize(
    "params",
    [b'{"protocolVersion":5}', b"{}", b"[]", b"null", b""],
)
@pytest.mark.requirement("jsonrpc.error.same-id-if-readable")
def test_an_initialize_that_cannot_be_read_is_refused_and_the_next_one_opens(
    params: bytes,
) -> None:
    session = server_session(None)
    message = jsonrpc.request(1, "initialize", params)
    assert [(m["id"], m["error"]["code"]) for m in written(receive(session, message))] == [
        (1, -32602)
    ]
    events = receive(session, request(2, "initialize", initialize(SHAKEN)))
    assert [m["result"]["protocolVersion"] for m in written(events)] == [SHAKEN]


@pytest.mark.parametrize("spoken", HANDSHAKE)
@pytest.mark.requirement("lifecycle.version.server-same", "lifecycle.init.response")
def test_a_server_answers_with_the_version_that_was_asked_for(spoken: str) -> None:
    session = server_session(None)
    (answer,) = written(receive(session, request(1, "initialize", initialize(spoken))))
    assert set(answer["result"]) == {"protocolVersion", "capabilities", "serverInfo"}
    assert answer["result"]["protocolVersion"] == spoken


@pytest.mark.requirement("lifecycle.version.server-other")
def test_a_server_answers_an_unknown_version_with_its_newest_of_a_handshake() -> None:
    session = server_session(None, revisions=ALL[:3])
    (answer,) = written(receive(session, request(1, "initialize", initialize("1999-01-01"))))
    assert answer["result"]["protocolVersion"] == ALL[2]


def test_a_server_without_handshake_names_both_sides_versions() -> None:
    session = server_session(None, revisions=(NEWEST,))
    (answer,) = written(receive(session, request(1, "initialize", initialize(SHAKEN))))
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"supported": [NEWEST], "requested": SHAKEN}


@pytest.mark.requirement("errors.data.unsupported-version", "versioning.unsupported")
def test_a_request_for_a_version_that_is_not_spoken_names_both_sides_versions() -> None:
    session = server_session(None, revisions=HANDSHAKE)
    (answer,) = written(receive(session, request(1, "server/discover", with_meta(NEWEST, {}))))
    assert answer["error"]["code"] == -32022
    supported = list(reversed(HANDSHAKE))
    assert answer["error"]["data"] == {"supported": supported, "requested": NEWEST}


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, 0, 7])
@pytest.mark.requirement("transport.stdio.probe.any-code")
def test_whatever_error_an_old_server_gives_the_probe_a_handshake_follows(code: int) -> None:
    session = newborn()
    probe = json.loads(session.open(0.0))
    (offer,) = written(receive(session, refused(probe["id"], code)))
    assert offer["method"] == "initialize"
    assert offer["params"]["protocolVersion"] == SHAKEN


def test_a_probe_without_an_answer_is_followed_by_a_handshake_and_its_late_answer_ignored() -> None:
    session = newborn()
    session.shakes_hands_late = True
    probe = json.loads(session.open(0.0))
    assert session.expire(session.limits.probe - 0.01) == []
    (offer,) = written(session.expire(session.limits.probe))
    assert offer["method"] == "initialize"
    late = receive(session, answered(probe["id"], {"supportedVersions": [NEWEST]}))
    assert [type(event) for event in late] == [Ignored]


def test_a_server_that_was_still_starting_has_as_long_for_its_answer_as_one_that_was_not() -> None:
    session = newborn()
    session.shakes_hands_late, session.is_unread = True, lambda: True
    session.open(0.0)
    probe = session.limits.probe
    assert session.expire(probe) == []
    session.is_unread = lambda: False  # it reads the probe a moment before that is looked at again
    assert session.expire(2 * probe) == []
    assert session.expire(3 * probe - 0.01) == []
    (offer,) = written(session.expire(3 * probe))
    assert offer["method"] == "initialize"


@pytest.mark.requirement("lifecycle.init.request", "lifecycle.init.first")
def test_a_client_opens_with_initialize_and_reports_a_version_it_does_not_speak() -> None:
    session = newborn(*ALL[:2])
    offer = json.loads(session.open(0.0))
    assert (offer["method"], set(offer["params"])) == (
        "initialize",
        {"protocolVersion", "capabilities", "clientInfo"},
    )
    answer = {"protocolVersion": ALL[2], "capabilities": {}, "serverInfo": INFO}
    events = receive(session, answered(offer["id"], answer))
    assert [type(event) for event in events] == [Failed]
    assert isinstance(session.failure, NoCommonRevision)
    assert (session.failure.ours, session.failure.theirs) == ((ALL[1], ALL[0]), (ALL[2],))


INFO: Final = {"name": "a peer", "version": "1"}


@pytest.mark.parametrize(
    "result",
    [b"5", b"null", b"[]", b"{}", BAD_UTF8, b'{"protocolVersion":%b}' % BAD_UTF8, DEEP],
)
@pytest.mark.parametrize("spoken", [SHAKEN, NEWEST])
def test_a_first_answer_that_cannot_be_read_fails_the_opening(spoken: str, result: bytes) -> None:
    session = newborn(spoken)
    opening = json.loads(session.open(0.0))
    message = jsonrpc.response(opening["id"], result)
    (failed,) = receive(session, message)
    assert isinstance(failed, Failed)
    assert session.failure is failed.error
    assert isinstance(failed.error, BadAnswer | NoCommonRevision)


# ---- answers


@pytest.mark.parametrize(
    "raw",
    [
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"m","data":"\xff"}}',
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"m","data":' + DEEP + b"}}",
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":"1","message":"m"}}',
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":1.5,"message":"m"}}',
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":1}}',
        b'{"jsonrpc":"2.0","id":%d,"error":"x"}',
        b'{"jsonrpc":"2.0","id":%d,"result":{},"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"1.0","id":%d,"result":{}}',
        b'{"id":%d,"result":{}}',
        b'{"jsonrpc":"2.0","id":%d,"result":"\xff"}',
        b'{"jsonrpc":"2.0","id":%d,"result":[]}',
        b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[],"tools":5}}',
    ],
)
@pytest.mark.requirement(
    "jsonrpc.response.not-both",
    "jsonrpc.response.one-of",
    "jsonrpc.error.code-integer",
    "jsonrpc.error.code-and-message",
)
def test_an_answer_that_cannot_be_read_is_told_at_once_to_who_waits_for_it(raw: bytes) -> None:
    session = client_session(SHAKEN)
    sent = ask(session)
    (failed,) = receive(session, raw.replace(b"%d", b"%d" % sent.id))
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, BadAnswer)
    assert len(session.pending) == 0
    assert [type(e) for e in receive(session, answered(sent.id, {"tools": []}))] == [Ignored]


def test_an_error_reaches_who_waits_with_its_code_and_data() -> None:
    session = client_session(SHAKEN)
    sent = ask(session)
    error = {"code": -5, "message": "no", "data": {"why": [1]}}
    (failed,) = receive(session, frame(id=sent.id, error=error))
    assert isinstance(failed.error, RemoteError)
    assert (failed.error.code, failed.error.message, failed.error.data) == (-5, "no", {"why": [1]})


@pytest.mark.parametrize("id", [1, "2", "", -1, 2**53])
def test_an_answer_under_an_id_of_another_type_or_value_answers_nothing(id: Any) -> None:
    session = client_session(SHAKEN)
    sent = ask(session)
    assert sent.id != id
    assert [type(event) for event in receive(session, answered(id, {"tools": []}))] == [Ignored]
    assert [type(e) for e in receive(session, answered(sent.id, {"tools": []}))] == [Answered]


# ---- cancellation


@pytest.mark.parametrize(
    "params",
    [
        b"",
        b"[]",
        b"{}",
        b'{"requestId":null}',
        b'{"requestId":1.5}',
        b'{"requestId":1,"reason":%b}' % DEEP,
        b'{"requestId":"1"}',
    ],
)
@pytest.mark.requirement("jsonrpc.notification.no-response")
def test_a_cancellation_that_cannot_be_read_cancels_nothing_and_gets_no_answer(
    params: bytes,
) -> None:
    session = server_session(SHAKEN)
    calls(session, 1)
    events = receive(session, jsonrpc.notification("notifications/cancelled", params))
    assert [type(event) for event in events] == [Ignored]
    assert list(session.running) == [1]


@pytest.mark.requirement("cancel.race")
def test_a_cancelled_request_is_never_answered_and_a_late_answer_is_ignored() -> None:
    server, client = server_session(SHAKEN), client_session(SHAKEN)
    calls(server, 1)
    assert [type(event) for event in receive(server, cancelled(1))] == [Cancelled]
    assert server.answer(1, TOOLS) == b""
    assert server.refuse(1, -1, "late") == b""
    assert [type(event) for event in receive(server, cancelled(1))] == [Ignored]
    sent = ask(client)
    assert json.loads(client.cancel(sent.id))["params"] == {"requestId": sent.id}
    assert client.cancel(sent.id) == b""
    assert [type(e) for e in receive(client, answered(sent.id, {"tools": []}))] == [Ignored]


@pytest.mark.requirement("cancel.not-initialize")
def test_initialize_is_never_cancelled_by_its_client() -> None:
    session = newborn(SHAKEN)
    opening = json.loads(session.open(0.0))
    assert session.cancel(opening["id"]) == b""


# ---- deadlines


def test_each_answer_has_its_deadline_and_the_request_is_then_cancelled() -> None:
    session = client_session(SHAKEN)
    sent = ask(session, now=10.0, timeout=Timeout(5.0))
    assert session.expire(14.99) == []
    write, failed = session.expire(15.0)
    assert isinstance(write, Write)
    assert json.loads(write.data)["method"] == "notifications/cancelled"
    assert json.loads(write.data)["params"]["requestId"] == sent.id
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, TimedOut)
    assert failed.error.seconds == 5.0
    assert session.expire(100.0) == []


@pytest.mark.parametrize(("counts", "due"), [(True, 13.0), (False, 10.0)])
def test_progress_extends_the_deadline_only_if_it_counts(counts: bool, due: float) -> None:
    session = client_session(SHAKEN)
    timeout = Timeout(10.0, progress_counts=counts)
    ask(session, timeout=timeout, token="t")
    progress = notification("notifications/progress", {"progressToken": "t", "progress": 1})
    assert [type(event) for event in receive(session, progress, now=3.0)] == [Progressed]
    assert session.pending.due == due


def test_progress_that_does_not_grow_extends_nothing() -> None:
    session = client_session(SHAKEN)
    ask(session, timeout=Timeout(10.0, progress_counts=True), token="t")
    progress = notification("notifications/progress", {"progressToken": "t", "progress": 1})
    receive(session, progress, now=3.0)
    assert [type(event) for event in receive(session, progress, now=9.0)] == [Ignored]
    assert session.pending.due == 13.0


def test_no_progress_extends_a_deadline_beyond_the_total() -> None:
    session = client_session(SHAKEN)
    ask(session, timeout=Timeout(10.0, total=25.0, progress_counts=True), token=0)
    for second in range(1, 25):
        params = {"progressToken": 0, "progress": second}
        receive(session, notification("notifications/progress", params), now=float(second))
    assert session.pending.due == 25.0
    assert [type(event) for event in session.expire(25.0)] == [Write, Failed]


@pytest.mark.requirement("progress.token.unique")
def test_two_open_requests_cannot_share_a_progress_token() -> None:
    session = client_session(SHAKEN)
    sent = ask(session, token=7)
    with pytest.raises(ValueError, match="progress token 7"):
        ask(session, token=7)
    assert len(session.pending) == 1
    receive(session, answered(sent.id, {"tools": []}))
    ask(session, token=7)


# ---- what is in flight


@pytest.mark.parametrize("spoken", [SHAKEN, NEWEST])
def test_a_server_over_its_limit_says_busy_and_serves_on(spoken: str) -> None:
    session = server_session(spoken, Limits(in_flight=2))
    for id in (1, 2):
        calls(session, id, spoken)
    events = receive(session, request(3, "tools/list", with_meta(spoken, {})))
    code = -32000 if spoken in HANDSHAKE else -32603
    (refused,) = written(events)
    assert (refused["id"], refused["error"]["code"]) == (3, code)
    assert "Limits.in_flight" in refused["error"]["message"]
    assert session.answer(1, TOOLS)
    calls(session, 4, spoken)


def test_a_client_over_its_limit_is_told_before_anything_is_sent() -> None:
    session = client_session(SHAKEN, Limits(in_flight=1))
    sent = ask(session)
    with pytest.raises(TooMuch, match=r"Limits\.in_flight"):
        ask(session)
    receive(session, answered(sent.id, {"tools": []}))
    ask(session)


@pytest.mark.parametrize("twin", [(1, "1"), (0, ""), (0, "0"), (-1, "-1"), (2**53, 2**53 + 1)])
@pytest.mark.requirement("jsonrpc.response.same-id", "jsonrpc.result.same-id")
def test_twins_of_an_id_are_two_requests_and_each_is_answered_under_its_own(twin: Any) -> None:
    session = server_session(SHAKEN)
    for id in twin:
        calls(session, id)
    for id in reversed(twin):
        echoed = json.loads(session.answer(id, TOOLS))["id"]
        assert (type(echoed), echoed) == (type(id), id)


def test_an_id_in_flight_is_refused_and_the_first_request_goes_on() -> None:
    session = server_session(SHAKEN)
    calls(session, 1)
    assert codes(receive(session, request(1, "tools/list"))) == [-32600]
    assert codes(receive(session, request(1, "ping"))) == [-32600]
    assert json.loads(session.answer(1, TOOLS))["id"] == 1
    calls(session, 1)


def test_what_is_lost_ends_both_ways_and_watches_nothing_more() -> None:
    session = server_session(None)
    calls(session, 1, NEWEST)
    listening = with_meta(NEWEST, {"notifications": {"toolsListChanged": True}})
    receive(session, request(2, "subscriptions/listen", listening))
    assert len(session.about(Change(list="tools"))) == 1
    assert [event.id for event in of(Cancelled, session.lost())] == [1, 2]
    assert session.about(Change(list="tools")) == []
    assert not session.running


def test_who_waits_hears_that_the_peer_is_gone() -> None:
    session = client_session(SHAKEN)
    ask(session)
    (failed,) = session.lost("gone")
    assert isinstance(failed.error, Disconnected)
    with pytest.raises(NotOpen):
        ask(session)


# ---- what is not offered


def test_nothing_is_sent_for_which_the_peer_declares_no_capability() -> None:
    session = client_session(SHAKEN)
    with pytest.raises(NotOffered, match="prompts/list: the server does not offer prompts"):
        session.call("prompts/list", meta(session), now=0.0)
    server = server_session(SHAKEN)
    with pytest.raises(NotOffered, match="roots/list: the client does not offer roots"):
        server.call("roots/list", UNSET, now=0.0)
    assert len(session.pending) == len(server.pending) == 0


@pytest.mark.requirement("lifecycle.capabilities.negotiated")
@pytest.mark.parametrize("method", ["prompts/list", "completion/complete", "nope", "roots/list"])
def test_a_request_that_was_not_negotiated_is_no_method(method: str) -> None:
    events = receive(server_session(SHAKEN), request(1, method, {}))
    assert codes(events) == [-32601]


@pytest.mark.parametrize("spoken", [SHAKEN, NEWEST])
def test_a_method_is_refused_as_soon_as_it_is_no_longer_offered(spoken: str) -> None:
    session = server_session(spoken)
    offer, nothing = session.offer(), t.ServerCapabilities()
    seen: list[list[int]] = []
    for id, now in enumerate([offer, offer, replace(offer, capabilities=nothing), offer]):
        session.offer = lambda now=now: now
        seen.append(codes(receive(session, request(id, "tools/list", with_meta(spoken, {})))))
    assert seen == [[], [], [-32601], []]


@pytest.mark.requirement("transport.stdio.client-no-responses")
def test_a_client_of_the_per_request_era_answers_no_request_of_the_server() -> None:
    session = client_session(NEWEST)
    for method in ("ping", "roots/list", "sampling/createMessage", "nope"):
        assert [type(event) for event in receive(session, request(1, method, {}))] == [Ignored]


# ---- batches


def batch(*messages: bytes) -> bytes:
    return b"[" + b",".join(messages) + b"]"


def answers(session: ServerSession, *ids: Any) -> list[Any]:
    """What the answers to these requests bring, one after the other."""
    return [session.answer(id, TOOLS) for id in ids]


@pytest.mark.requirement("jsonrpc.batch.receive")
def test_a_batch_is_answered_in_one_when_its_last_request_is() -> None:
    session = server_session(BATCHES)
    message = batch(
        request(1, "tools/list"),
        notification("notifications/nope"),
        answered(99, {}),
        request(2, "nope"),
        b"5",
        request("", "ping"),
        request(3, "tools/list"),
    )
    events = receive(session, message)
    assert [event.id for event in of(Called, events)] == [1, 3]
    assert writes(events) == []
    first, last = answers(session, 3, 1)
    assert first == b""
    batch_answers = json.loads(last)
    assert [message["id"] for message in batch_answers] == [2, "", 3, 1]
    assert [("error" in message, "result" in message) for message in batch_answers] == [
        (True, False),
        *[(False, True)] * 3,
    ]


def test_a_batch_of_notifications_and_answers_has_no_answer() -> None:
    session = server_session(BATCHES)
    events = receive(session, batch(notification("notifications/nope"), answered(1, {})))
    assert [type(event) for event in events] == [Ignored, Ignored]


def test_a_request_that_its_own_batch_cancels_is_left_out_of_the_answers() -> None:
    session = server_session(BATCHES)
    message = batch(
        request(5, "nope"), request(1, "tools/list"), cancelled(1), request(2, "tools/list")
    )
    events = receive(session, message)
    assert [event.id for event in of(Cancelled, events)] == [1]
    assert writes(events) == []
    assert [message["id"] for message in json.loads(session.answer(2, TOOLS))] == [5, 2]


def test_a_batch_that_cancels_the_last_of_another_sends_the_other_s_answers_by_themselves() -> None:
    session = server_session(BATCHES)
    receive(session, batch(request(5, "nope"), request(1, "tools/list")))
    events = receive(session, batch(cancelled(1), request(2, "ping")))
    assert [[message["id"] for message in answers] for answers in written(events)] == [[5], [2]]


def test_a_batch_whose_requests_are_all_cancelled_has_no_answer() -> None:
    session = server_session(BATCHES)
    receive(session, batch(request(1, "tools/list"), request(2, "tools/list")))
    assert writes(receive(session, cancelled(1))) == []
    assert writes(receive(session, cancelled(2))) == []


def test_an_id_that_stands_twice_in_a_batch_is_served_once() -> None:
    session = server_session(BATCHES)
    receive(session, batch(request(1, "tools/list"), request(1, "tools/list")))
    answers = json.loads(session.answer(1, TOOLS))
    assert [(m["id"], "error" in m) for m in answers] == [(1, True), (1, False)]


@pytest.mark.requirement("lifecycle.init.not-batched")
def test_initialize_in_a_batch_is_refused() -> None:
    session = server_session(BATCHES)
    (answers,) = written(receive(session, batch(request(1, "initialize", initialize(BATCHES)))))
    assert [(m["id"], m["error"]["code"]) for m in answers] == [(1, -32600)]


def test_a_batch_that_is_empty_or_too_long_is_refused() -> None:
    session = server_session(BATCHES, Limits(batch=2))
    assert [type(event) for event in receive(session, b"[]")] == [Ignored]
    (refused,) = written(receive(session, batch(*[request(id, "ping") for id in range(3)])))
    assert [(each["id"], each["error"]["code"]) for each in refused] == [
        (id, -32600) for id in range(3)
    ]
    assert len(written(receive(session, batch(request(1, "ping"), request(2, "ping"))))) == 1


@pytest.mark.parametrize("spoken", [name for name in ALL if name != BATCHES])
def test_elsewhere_an_array_is_no_message(spoken: str) -> None:
    session = server_session(spoken)
    events = receive(session, batch(request(1, "ping")))
    if revision(spoken).idless_errors:
        assert codes(events) == [-32600]
    else:
        assert [type(event) for event in events] == [Ignored]


# ---- work in proportion


def test_many_members_of_an_envelope_are_looked_at_once_each() -> None:
    count = 100_000
    many = b",".join(b'"m%d":0' % number for number in range(count))
    began = time.process_time()
    frame = jsonrpc.read(b'{"jsonrpc":"2.0","id":1,"method":"x",%b}' % many)
    assert isinstance(frame, jsonrpc.Request)
    assert time.process_time() - began < 2


def test_a_session_that_is_open_tells_so_once() -> None:
    session = server_session(None)
    receive(session, request(1, "initialize", initialize(SHAKEN)))
    opened = notification("notifications/initialized")
    assert [type(event) for event in receive(session, opened)] == [Opened]
    assert [type(event) for event in receive(session, opened)] == [Ignored]
