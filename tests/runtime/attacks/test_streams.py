"""A peer on a stream that fills the memory: batches that stay open, in the core and on a wire."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.session import Session
from mcp_runtime.core.wire import error_codes
from mcp_runtime.limits import Limits
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.transports.memory import pair
from tests.support.session_pair import (
    held_by_process,
    initialize,
    of,
    receive,
    request,
    server_session,
    with_meta,
    written,
)
from tests.support.virtual_time import elapse

BATCHES: Final = "2025-03-26"
LARGE: Final = 100_000


def batch(session: Session, *ids: Any) -> list[Any]:
    calls = (request(id, "tools/call", with_meta(BATCHES, {"name": "t"})) for id in ids)
    return receive(session, b"[%b]" % b",".join(calls))


def _result(size: int = LARGE) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "x" * size}]}


def test_answers_that_wait_for_their_batch_count_until_it_is_sent() -> None:
    session = server_session(BATCHES)
    before = session.held.count
    assert len(of(Called, batch(session, 1, 2, 3))) == 3
    running = session.held.count - before
    for id in (1, 2):
        assert session.answer(id, _result()) == b""
    assert session.held.count - before > 2 * LARGE
    answers = json.loads(session.answer(3, _result(1)))
    assert [each["id"] for each in answers] == [1, 2, 3]
    assert session.held.count == before
    assert running > 0


def test_a_batch_that_is_cancelled_or_lost_holds_nothing_more() -> None:
    for end in ("cancelled", "lost"):
        session = server_session(BATCHES)
        before = session.held.count
        batch(session, 1, 2)
        session.answer(1, _result())
        if end == "lost":
            session.lost()
            before = 0
        else:
            params = {"requestId": 2}
            text = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            (answers,) = written(receive(session, json.dumps(text).encode()))
            assert [each["id"] for each in answers] == [1]
        assert session.held.count == before


def test_the_rest_of_a_batch_over_the_limit_gets_errors_and_the_session_lives_on() -> None:
    session = server_session(BATCHES, Limits(held_bytes=3 * LARGE))
    batch(session, *range(10))
    for id in range(9):
        assert session.answer(id, _result()) == b""
        assert session.held.count < 5 * LARGE
    answers = json.loads(session.answer(9, _result(1)))
    kinds = ["error" in each for each in answers]
    assert (kinds[0], kinds[8], kinds[9]) == (False, True, False)
    assert answers[8]["error"]["code"] == error_codes.BUSY
    batch(session, 20)
    assert "result" in json.loads(session.answer(20, _result()))[0]


def test_answers_that_are_ready_at_once_count_in_their_batch() -> None:
    session = server_session(BATCHES)
    before = session.held.count
    calls = [request(id, "ping") for id in range(5)]
    calls.append(request(9, "tools/call", {"name": "t"}))
    receive(session, b"[%b]" % b",".join(calls))
    assert session.held.count - before > 5 * len('{"jsonrpc":"2.0","id":1,"result":{}}')
    assert len(json.loads(session.answer(9, _result(1)))) == 6
    assert session.held.count == before


@pytest.mark.wide
async def test_batches_on_a_stream_are_bounded_together() -> None:
    limits = Limits(held_bytes=5 * LARGE)
    server, go = Server("s", "1", limits=limits), asyncio.Event()

    @server.tool
    async def large() -> str:
        return "x" * LARGE

    @server.tool
    async def wait() -> str:
        await go.wait()
        return "waited"

    before = held_by_process()
    ours, theirs = pair()
    connection = ServerWireConnection(dispatcher_of(server))
    serving = asyncio.create_task(connection.serve(theirs))
    ours.write(request("i", "initialize", initialize(BATCHES)) + b"\n")
    for number in range(8):
        calls = [request(f"{number}-{id}", "tools/call", {"name": "large"}) for id in range(63)]
        calls.append(request(f"{number}-wait", "tools/call", {"name": "wait"}))
        ours.write(b"[%b]\n" % b",".join(calls))
    await elapse(1)
    assert connection.session.held.count < 7 * LARGE
    assert held_by_process() - before < 7 * LARGE
    go.set()
    await elapse(1)
    assert connection.session.running == {}
    await ours.close()
    await serving
