"""A server that means no good, or errs in ways nobody foresaw: no call waits in vain for it."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from mcp_runtime.errors import BadAnswer, BadStatus, Disconnected, TimedOut
from mcp_runtime.limits import Limits
from tests.runtime.client.http.test_eras import Old
from tests.support.raw_http_server import Asked, Reply, Server, answer
from tests.support.virtual_time import elapse, now

LEAST_PAUSE: Final = 0.1
"""Seconds before a stream is opened again, where its server asked for less."""
SOON: Final = 5.0
"""Far less than the deadline of the calls here, in seconds of virtual time."""


class Resumed(Server):
    """Leaves a call after an event with an id of these bytes, and answers it on a GET."""

    def __init__(self, id: bytes) -> None:
        super().__init__("2025-11-25", "s1")
        self.id = id
        self.open: Asked | None = None
        self.acts |= {"tools/call": self._begin, "GET": self._resume}

    async def _begin(self, asked: Asked, reply: Reply) -> None:
        self.open = asked
        await reply.stream()
        await reply.raw(b"id: %b\nretry: 10\ndata:\n\n" % self.id)
        await reply.end()

    async def _resume(self, asked: Asked, reply: Reply) -> None:
        if "last-event-id" not in asked.headers:
            await reply.send(405)
            return
        assert self.open is not None
        await reply.stream()
        await reply.event(answer(self.open, self.called()), id="e2")
        await reply.end()


@pytest.mark.parametrize("id", ["\u00e9", "\u2603 \U0001f600", "a b", '"'])
async def test_an_id_of_an_event_is_said_again_in_utf_8(id: str) -> None:
    server = Resumed(id.encode())
    async with server.running(), server.client() as client:
        await client.call_tool("t")
    (resumed,) = [asked for asked in server.of("GET") if "last-event-id" in asked.headers]
    assert resumed.headers["last-event-id"].encode("latin-1").decode() == id


async def test_an_id_that_no_header_can_hold_fails_its_call_alone() -> None:
    server = Resumed(b" begins with a space")
    async with server.running(), server.client(limits=Limits(resume_attempts=1)) as client:
        started = now()
        with pytest.raises(Disconnected):
            await client.call_tool("t")
        assert now() - started == LEAST_PAUSE
        server.id = b"e1"
        await client.call_tool("t")


@pytest.mark.parametrize(
    "to", ["javascript:1", "mailto:a@b", "data:,", "http://[::1", "http://a:b"]
)
async def test_a_redirection_to_what_is_no_place_fails_its_call_at_once(to: str) -> None:
    server = Server()
    serves = server.acts["tools/call"]

    async def moved(asked: Asked, reply: Reply) -> None:
        await reply.send(307, Location=to)

    server.acts["tools/call"] = moved
    async with server.running(), server.client() as client:
        started = now()
        with pytest.raises(BadAnswer, match=r"the server (gave an invalid URL|points to)"):
            await client.call_tool("t")
        assert now() == started
        server.acts["tools/call"] = serves
        await client.call_tool("t")


@pytest.mark.parametrize("endpoint", ["javascript:1", "http://[::1", "data:,"])
async def test_an_endpoint_that_is_no_place_ends_it_at_once(endpoint: str) -> None:
    started = now()
    async with Old(endpoint).running() as server:
        with pytest.raises(BadAnswer, match="the server gave an invalid URL"):
            async with server.client():
                pass
    assert now() == started


async def test_a_call_that_is_answered_on_another_stream_leaves_its_own() -> None:
    server = Server("2025-11-25", "s1")
    own: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    left = asyncio.Semaphore(0)

    async def listen(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.raw(b":\n\n")
        own.set_result(reply)
        await reply.gone.wait()

    async def call(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await (await own).event(answer(asked, server.called()))
        await reply.gone.wait()
        left.release()

    server.acts |= {"GET": listen, "tools/call": call}
    async with server.running(), server.client(limits=Limits(close_wait=0.1)) as client:
        for _ in range(3):
            await client.call_tool("t")
        async with asyncio.timeout(SOON):
            for _ in range(3):
                await left.acquire()


async def test_a_post_of_http_and_sse_that_has_no_end_is_left_when_its_call_is_answered() -> None:
    server = Old()
    left = asyncio.Event()

    async def call(asked: Asked, reply: Reply) -> None:
        assert server.stream is not None
        await server.stream.event(answer(asked, {"content": []}))
        await reply.gone.wait()
        left.set()

    server.acts["tools/call"] = call
    async with server.running(), server.client(limits=Limits(close_wait=0.1)) as client:
        await client.call_tool("t")
        await asyncio.wait_for(left.wait(), SOON)


@pytest.mark.parametrize("own", [True, False])
async def test_a_flood_of_questions_is_answered_by_few_posts_at_a_time(own: bool) -> None:
    server = Server("2025-11-25", "s1")
    answering, most, total, done = 0, 0, 200, asyncio.Event()

    async def flood(reply: Reply) -> None:
        await reply.stream()
        pings = ({"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"} for n in range(total))
        for ping in pings:
            await reply.event(ping)

    async def listen(asked: Asked, reply: Reply) -> None:
        await flood(reply)
        await reply.gone.wait()

    async def call(asked: Asked, reply: Reply) -> None:
        await flood(reply)
        await reply.event(answer(asked, server.called()))
        await reply.end()

    async def accept(asked: Asked, reply: Reply) -> None:
        nonlocal answering, most
        answering += 1
        most = max(most, answering)
        await elapse(0.002)
        answering -= 1
        await reply.send(202)
        if len(server.of("response")) == total:
            done.set()

    server.acts |= {"response": accept} | ({"GET": listen} if own else {"tools/call": call})
    async with server.running(), server.client(limits=Limits(posts=4)) as client:
        await client.call_tool("t")
        await asyncio.wait_for(done.wait(), SOON)
    assert most <= 4


async def test_a_subscription_into_a_black_hole_ends_at_the_deadline() -> None:
    server = Server()
    async with server.running(), server.client(timeout=0.2) as client:
        with pytest.raises(TimedOut, match="subscriptions/listen"):
            async with client.listen(tools=True):
                pass
        await client.call_tool("t")


async def test_who_listens_on_a_stream_that_is_lost_for_good_is_told() -> None:
    server = Server("2025-11-25", "s1")

    async def listen(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.raw(b":\n\n")
        await reply.gone.wait()

    server.acts["GET"] = listen
    limits = Limits(resume_attempts=1, resume_wait=0.01)
    async with (
        server.running(),
        server.client(limits=limits) as client,
        client.listen(tools=True) as changes,
    ):
        waiting = asyncio.ensure_future(anext(changes))
        await server.until("GET")
        await server.kill()
        with pytest.raises(Disconnected, match="lost after 1 attempts"):
            await asyncio.wait_for(waiting, SOON)


class Fickle(Server):
    """Opens a stream of its own in each session, ends it, and has forgotten the session."""

    def __init__(self, status: int = 404) -> None:
        super().__init__("2025-11-25", *(f"s{number}" for number in range(100)))
        self.status = status
        self.forgotten: set[str] = set()
        self.acts |= {"GET": self._listen}

    async def _listen(self, asked: Asked, reply: Reply) -> None:
        if self.live in self.forgotten:
            await reply.send(self.status)
            return
        self.forgotten.add(self.live)
        await reply.stream()
        await reply.event(id="e1", retry=0)
        await reply.end()


async def test_a_server_that_forgets_each_session_is_asked_for_few() -> None:
    server, limits = Fickle(), Limits(resume_attempts=3, resume_wait=0.01)
    async with (
        server.running(),
        server.client(limits=limits) as client,
        client.listen(tools=True) as changes,
    ):
        async with asyncio.timeout(SOON):
            with pytest.raises(Disconnected, match="a session is lost after 3 attempts"):
                _ = [change async for change in changes]
        assert len(server.of("initialize")) == 4
        await client.call_tool("t")


async def test_before_another_session_a_client_waits_longer_each_time() -> None:
    server, opened = Fickle(), list[float]()
    opens = server.acts["initialize"]

    async def noted(asked: Asked, reply: Reply) -> None:
        opened.append(now())
        await opens(asked, reply)

    server.acts["initialize"] = noted
    async with server.running(), server.client(limits=Limits(resume_wait=0.2)):
        await server.until("initialize", 4)
    assert opened[2] - opened[1] >= 0.2
    assert opened[3] - opened[2] >= 0.4


async def test_who_listens_is_told_that_no_other_session_could_be_opened() -> None:
    server = Fickle()
    opens = server.acts["initialize"]

    async def once(asked: Asked, reply: Reply) -> None:
        await (opens(asked, reply) if len(server.of("initialize")) == 1 else reply.send(500))

    server.acts["initialize"] = once
    async with (
        server.running(),
        server.client() as client,
        client.listen(tools=True) as changes,
    ):
        with pytest.raises(BadStatus, match="initialize: HTTP 500"):
            await asyncio.wait_for(anext(changes), SOON)
        server.acts["initialize"] = opens
        await client.call_tool("t")


async def test_who_listens_is_told_that_a_stream_which_was_there_is_refused() -> None:
    server = Fickle(status=405)
    async with (
        server.running(),
        server.client() as client,
        client.listen(tools=True) as changes,
    ):
        with pytest.raises(BadStatus, match="GET: HTTP 405"):
            await asyncio.wait_for(anext(changes), SOON)
        await client.call_tool("t")
