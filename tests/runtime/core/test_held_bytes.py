"""What is held for a peer is bounded in bytes; what is too long is answered in each revision."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.core.session.events import Called, Ignored
from mcp_runtime.core.session.held import EVENT_BYTES, KEPT, OF_PROCESS, HeldBytes, Hold, Process
from mcp_runtime.core.session.session import Session
from mcp_runtime.core.wire import peek
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.transports.memory import pair
from tests.support.session_pair import (
    HANDSHAKE,
    NEWEST,
    cancelled,
    held_by_process,
    initialize,
    notification,
    of,
    receive,
    request,
    server_session,
    with_meta,
    written,
)
from tests.support.virtual_time import elapse

SHAKEN: Final = HANDSHAKE[-1]
LARGE: Final = {"_meta": {"x": "x" * 40_000}}


def calls(session: Session, id: int, params: Any = LARGE) -> bool:
    """Whether the request is worked on, and not refused as busy."""
    events = receive(session, request(id, "tools/list", with_meta(SHAKEN, params)))
    if of(Called, events):
        return True
    (answer,) = written(events)
    assert (answer["error"]["code"], answer["id"]) == (-32000, id)
    return False


def listed(text: str = "") -> t.ListToolsResult:
    schema = t.ToolInputSchema()
    tool = t.Tool(name="t", input_schema=schema, description=text)
    return t.ListToolsResult(tools=[tool], ttl_ms=0, cache_scope="private", result_type="complete")


def test_requests_without_an_answer_have_a_budget_in_bytes() -> None:
    session = server_session(SHAKEN, Limits(held_bytes=100_000))
    assert [calls(session, id) for id in range(5)] == [True, True, True, False, False]
    assert calls(session, 5, {})
    session.answer(0, listed())
    assert calls(session, 6)


def test_a_cancelled_request_is_not_held() -> None:
    session = server_session(SHAKEN, Limits(held_bytes=100_000))
    before = session.held.count
    for id in range(20):
        assert calls(session, id)
        receive(session, notification("notifications/cancelled", {"requestId": id}))
    assert session.held.count == before


def test_an_open_subscription_counts_as_a_request_without_an_answer() -> None:
    session = server_session(NEWEST)
    params = with_meta(NEWEST, {"notifications": {"toolsListChanged": True}})
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {"extensions": {"x/y": LARGE}}
    receive(session, request(1, "subscriptions/listen", params))
    assert session.held.count > 40_000
    receive(session, cancelled(1))
    assert session.held.count == 0


def test_the_process_has_a_budget_too() -> None:
    limits = Limits(process_bytes=held_by_process() + 100_000)
    sessions = [server_session(SHAKEN, limits) for _ in range(3)]
    assert [calls(session, 1) for session in sessions] == [True, True, False]
    assert calls(sessions[2], 2, {})
    sessions[0].lost()
    assert calls(sessions[2], 3)


def test_a_peer_may_hold_as_much_as_is_left_for_others() -> None:
    limits = Limits(process_bytes=held_by_process() + 1_000_000)
    held = []
    for _ in range(4):
        session = server_session(SHAKEN, limits)
        count = next(id for id in range(100) if not calls(session, id))
        held.append((session, count))
    counts = [count for _, count in held]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] in (11, 12)  # half, at 44 kB each
    assert counts[-1] >= 1


def test_what_a_session_holds_is_given_back_with_it() -> None:
    before = held_by_process()
    session = server_session(SHAKEN)
    calls(session, 1)
    assert OF_PROCESS.count > before
    del session
    assert OF_PROCESS.count == before


def test_a_large_answer_is_refused_while_too_many_are_not_sent() -> None:
    session = server_session(SHAKEN, Limits(held_bytes=100_000))
    unsent = 0
    session.unsent = lambda: unsent
    for id in range(4):
        calls(session, id, {})
    assert "result" in json.loads(session.answer(0, listed("x" * 40_000)))
    unsent = 200_000
    busy = json.loads(session.answer(1, listed("x" * 40_000)))
    assert (busy["id"], busy["error"]["code"]) == (1, -32000)
    assert "result" in json.loads(session.answer(2, listed()))


def test_a_small_answer_has_the_room_of_its_request_however_little_is_left() -> None:
    session = server_session(SHAKEN, Limits(process_bytes=held_by_process() + 100_000))
    assert calls(session, 1, {})
    assert calls(session, 2, {})
    others = HeldBytes()
    others.change(10_000_000)
    assert not calls(session, 3, {})
    assert "result" in json.loads(session.answer(1, listed()))
    assert json.loads(session.answer(2, listed("x" * 40_000)))["error"]["code"] == -32000


def test_messages_of_a_response_count_until_they_are_sent() -> None:
    held = HeldBytes()
    outbox = Outbox("1", Limits(), held)
    outbox.put(b"x" * 40_000)
    outbox.put(b"small")
    assert held.count == 40_005 + 2 * EVENT_BYTES
    reader = outbox.attach()
    data = outbox.pop(reader)
    assert data is not None
    assert held.count == 5 + EVENT_BYTES
    outbox.put_back([data])
    assert held.count == 40_005 + 2 * EVENT_BYTES
    while outbox.pop(reader):
        pass
    assert held.count == 0


async def _answers_that_nobody_reads() -> int:
    server = Server("s", "1", limits=Limits(held_bytes=2_000_000))

    @server.tool
    async def large() -> str:
        await elapse(0.05)
        return "x" * 500_000

    ours, theirs = pair()
    serving = asyncio.create_task(ServerWireConnection(dispatcher_of(server)).serve(theirs))
    messages = [request("i", "initialize", initialize(SHAKEN))]
    messages += [request(id, "tools/call", {"name": "large"}) for id in range(100)]
    ours.write(b"".join(message + b"\n" for message in messages))
    await elapse(0.5)
    waiting = theirs.waiting
    await ours.close()
    await serving
    return waiting


async def test_answers_that_nobody_reads_do_not_fill_the_memory() -> None:
    assert await _answers_that_nobody_reads() < 3_000_000


async def test_params_are_not_kept_once_they_are_read() -> None:
    server = Server("s", "1")
    seen: list[Context] = []

    @server.tool
    async def size(text: str, ctx: Context) -> str:
        seen.append(ctx)
        return ""

    ours, theirs = pair()
    serving = asyncio.create_task(ServerWireConnection(dispatcher_of(server)).serve(theirs))
    call = {"name": "size", "arguments": {"text": "x" * 10_000}}
    ours.write(request("i", "initialize", initialize(SHAKEN)) + b"\n")
    ours.write(request(1, "tools/call", call) + b"\n")
    await elapse(0.05)
    await ours.close()
    await serving
    assert [vars(ctx)["called"].params for ctx in seen] == [b""]


# ---- what is too long


def cut(message: bytes) -> bytes:
    return message.replace(b'"x"', b'"%b"' % (b"x" * 20_000))


FIRST: Final = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"a":"x"}}}'
LAST: Final = b'{"params":{"_meta":{"a":"x"}},"method":"ping","jsonrpc":"2.0","id":7}'
BETWEEN: Final = b'{"params":{"a":"x"},"id":7,"method":"ping","b":"x"}'


@pytest.mark.parametrize("spoken", HANDSHAKE)
@pytest.mark.parametrize("line", [FIRST, LAST])
def test_a_line_that_is_too_long_is_answered_under_its_id(spoken: str, line: bytes) -> None:
    session = server_session(spoken, Limits(line_bytes=10_000))
    (answer,) = written(receive(session, cut(line)))
    assert answer["error"]["code"] == -32600
    assert answer.get("id", 7) == 7
    if line is FIRST or spoken != SHAKEN:
        assert answer["id"] == 7


def test_without_its_id_it_is_answered_where_an_error_needs_none() -> None:
    for spoken in HANDSHAKE:
        session = server_session(spoken, Limits(line_bytes=10_000))
        answers = written(receive(session, cut(BETWEEN)))
        assert [answer.get("id") for answer in answers] == ([None] if spoken == SHAKEN else [])


@pytest.mark.parametrize("head", [b'{"jsonrpc":"2.0","id":7,"result":{"a":"', b"[", b"x"])
def test_what_is_no_request_has_no_id_to_answer_to(head: bytes) -> None:
    assert peek.request_id(head, b'"}}', needs_id=True) == (None, False)


def test_each_request_of_a_batch_that_is_too_long_is_answered() -> None:
    session = server_session("2025-03-26", Limits(batch=2))
    parts = [request(1, "ping"), request("b", "tools/list"), notification("notifications/x")]
    (answers,) = written(receive(session, b"[%b]" % b",".join(parts)))
    assert [(each["id"], each["error"]["code"]) for each in answers] == [(1, -32600), ("b", -32600)]
    many = b"[%b]" % b",".join(request(id, "ping") for id in range(5000))
    (answers,) = written(receive(session, many))
    assert len(answers) == 1024


def test_a_batch_of_what_is_no_message_is_not_answered() -> None:
    session = server_session("2025-03-26", Limits(batch=2))
    assert {type(event) for event in receive(session, b"[1,2,3]")} == {Ignored}


def test_an_account_of_its_own_counts_and_frees_nothing_of_the_process() -> None:
    process, before = Process(), OF_PROCESS.count
    held = HeldBytes(process.share_of("ann"))
    kept = _Kept(Hold(held, 5000))
    assert (process.count, OF_PROCESS.count) == (5000, before)
    assert held.make_room(Limits(process_bytes=8000), 5000) == "Limits.process_bytes"
    kept.hold.offer(KEPT, kept.free)
    assert held.make_room(Limits(process_bytes=8000), 5000) == ""
    assert (process.count, process.givers, OF_PROCESS.count) == (0, {}, before)


class _Kept:
    def __init__(self, hold: Hold) -> None:
        self.hold = hold

    def free(self) -> None:
        self.hold.change(-self.hold.size)
