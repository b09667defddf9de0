"""A response that is a stream, by itself: what it sends, and how it ends."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from mcp_runtime.core.wire import sse
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.server.http.asgi.event_response import EventResponse
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import ClientGone, HttpRequest
from tests.support.patience import PATIENCE, until
from tests.support.virtual_time import elapse


class Peer:
    """A client's end: what reached it, and what sending to it does."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.ended = False
        self.broken = False
        self.open = asyncio.Event()
        self.open.set()
        self._gone = asyncio.Event()

    def leave(self) -> None:
        self._gone.set()

    async def receive(self) -> Mapping[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.open.wait()
        if self.broken:
            raise OSError("broken")
        if message["type"] == "http.response.body":
            self.sent.append(message["body"])
            self.ended = not message.get("more_body", False)


class Owner:
    """Makes events at once, or fails; counts the responses that are over."""

    def __init__(self) -> None:
        self.over = 0
        self.failure: Exception | None = None

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        if self.failure is not None:
            raise self.failure
        return b"".join(sse.encode(sse.Event(data=data)) for data in messages)

    def on_response_end(self, stream: Outbox) -> None:
        self.over += 1


class Case:
    """A stream that is being sent."""

    def __init__(self, limits: Limits = DEFAULT, **options: Any) -> None:
        self.peer, self.owner, self.stream = Peer(), Owner(), Outbox("1", limits)
        scope: dict[str, Any] = {"method": "GET", "path": "/mcp", "headers": []}
        call = HttpRequest(scope, self.peer.receive, self.peer.send)
        reader = self.stream.attach()
        sending = EventResponse(call, self.owner, self.stream, reader, **options)
        self.task = asyncio.ensure_future(sending.run())

    async def until_sent(self, count: int) -> None:
        await until(lambda: len(self.peer.sent) >= count)

    async def over(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.task


async def test_messages_go_out_as_they_come_and_the_end_ends_the_response() -> None:
    case = Case(first=[b"first\n\n"])
    case.stream.put(b"1")
    await case.until_sent(2)
    case.stream.put(b"2")
    case.stream.put(b"3")
    await case.until_sent(3)
    assert case.task.done() is False
    case.stream.put(b"4")
    case.stream.finish()
    await case.over()
    data = [b"first\n\n", b"data: 1\n\n", b"data: 2\n\ndata: 3\n\n", b"data: 4\n\n", b""]
    assert (case.peer.sent, case.peer.ended, case.owner.over) == (data, True, 1)


async def test_an_idle_response_has_no_task_but_the_one_that_runs_it() -> None:
    case = Case()
    before = asyncio.all_tasks()
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before == {asyncio.current_task(), case.task}
    case.peer.leave()
    await case.over()


async def test_to_a_client_that_is_gone_nothing_more_is_sent() -> None:
    case = Case()
    case.stream.put(b"1")
    await case.until_sent(1)
    case.peer.leave()
    await case.over()
    case.stream.put(b"2")
    await elapse(0.01)
    assert (case.peer.sent, case.peer.ended) == ([b"data: 1\n\n"], False)
    assert (case.owner.over, case.stream.reader) == (1, 0)
    assert case.stream.pop(case.stream.attach()) == b"2"


async def test_comments_come_only_where_nothing_else_was_sent_for_so_long() -> None:
    case = Case(Limits(keep_alive=10))
    for number in range(6):
        case.stream.put(b"%d" % number)
        await elapse(9)
    assert b":\n\n" not in case.peer.sent
    for comments in (1, 2):
        await elapse(10)
        assert case.peer.sent.count(b":\n\n") == comments
    case.peer.leave()
    await case.over()


async def test_what_cannot_be_sent_ends_the_response_as_a_client_does_that_is_gone() -> None:
    case = Case()
    await asyncio.sleep(0)
    case.peer.broken = True
    case.stream.put(b"1")
    with pytest.raises(ClientGone):
        await case.over()
    assert case.owner.over == 1


async def test_what_fails_while_an_event_is_made_is_raised() -> None:
    case = Case()
    case.owner.failure = RuntimeError("the store is full")
    case.stream.put(b"1")
    with pytest.raises(RuntimeError, match="the store is full"):
        await case.over()
    assert (case.owner.over, case.peer.ended) == (1, False)


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("breaks", [False, True])
async def test_a_response_that_is_cancelled_while_it_sends_leaves_nothing(
    is_gone: bool, breaks: bool
) -> None:
    complaints: list[Mapping[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    case = Case()
    case.stream.put(b"1")
    await case.until_sent(1)
    case.peer.open.clear()
    case.stream.put(b"2")
    await elapse(0.01)
    if is_gone:
        case.peer.leave()
        await elapse(0.01)
    if breaks:
        case.peer.broken = True
        case.peer.open.set()
    case.task.cancel()
    await asyncio.wait({case.task})
    assert case.task.cancelled()
    assert (case.owner.over, case.stream.reader) == (1, 0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    del case
    gc.collect()
    assert complaints == []


async def test_a_reader_that_takes_over_ends_the_response_before_it() -> None:
    case = Case()
    case.stream.put(b"1")
    await case.until_sent(1)
    reader = case.stream.attach()
    case.stream.put(b"2")
    await case.over()
    assert (case.peer.sent, case.peer.ended) == ([b"data: 1\n\n", b""], True)
    assert (case.stream.pop(reader), case.stream.reader) == (b"2", reader)


async def test_a_stream_that_is_interrupted_tells_when_to_come_again_and_goes_on() -> None:
    case = Case()
    case.stream.put(b"1")
    await case.until_sent(1)
    case.stream.interrupt(40)
    case.stream.put(b"2")
    await case.over()
    assert case.peer.sent == [b"data: 1\n\n", b"retry: 40\ndata: \n\n", b""]
    reader = case.stream.attach()
    assert (case.stream.pop(reader), case.stream.has_more(reader)) == (b"2", True)
