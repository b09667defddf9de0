"""Answers come whole or as streams; streams end, break, and are taken up again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from mcp_runtime import types as t
from mcp_runtime.errors import BadAnswer, Disconnected, TimedOut, TooMuch
from mcp_runtime.limits import Limits
from tests.support.json_peers import NEWEST, since
from tests.support.raw_http_server import Asked, Reply, Server, answer
from tests.support.virtual_time import elapse, now

STREAMABLE = since("2025-03-26")
RESUMABLE = STREAMABLE[:-1]
QUICK = Limits(resume_wait=0.02, resume_attempts=3, close_wait=0.1)


def progress(token: Any, value: float) -> dict[str, Any]:
    params = {"progressToken": token, "progress": value}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


# ---- both kinds of answer


@pytest.mark.requirement("transport.http.post.response-types-read")
@pytest.mark.parametrize("revision", STREAMABLE)
async def test_an_answer_is_one_document_or_a_stream(revision: str) -> None:
    server = Server(revision)

    async def streamed(asked: Asked, reply: Reply) -> None:
        await reply.stream("Text/Event-Stream; charset=utf-8")
        await reply.raw(b": hello\r\n\r\n")
        await reply.event(answer(asked, server.called()))
        await reply.end()

    async def whole(asked: Asked, reply: Reply) -> None:
        await reply.send(200, answer(asked, server.called()), "APPLICATION/JSON;charset=UTF-8")

    async with server.running(), server.client() as client:
        for act in (streamed, whole):
            server.acts["tools/call"] = act
            assert (await client.call_tool("t")).content[0] == t.TextContent(text="done")


@pytest.mark.parametrize("kind", ["text/html", "application/jsonx", "text/plain", ""])
async def test_an_answer_of_another_type_is_no_answer(kind: str) -> None:
    server = Server()

    async def odd(asked: Asked, reply: Reply) -> None:
        await reply.send(200, answer(asked, server.called()), kind)

    server.acts["tools/call"] = odd
    async with server.running(), server.client() as client:
        with pytest.raises(BadAnswer, match=r"tools/call: an answer (of|without a) type"):
            await client.call_tool("t")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0","id":99,"result":{}}'])
async def test_a_document_without_the_answer_is_no_answer(body: bytes) -> None:
    server = Server()

    async def other(asked: Asked, reply: Reply) -> None:
        await reply.send(200, body)

    server.acts["tools/call"] = other
    async with server.running(), server.client() as client:
        with pytest.raises(BadAnswer, match="ended without an answer"):
            await client.call_tool("t")


async def test_an_answer_in_a_coding_that_was_not_asked_for_is_refused() -> None:
    server = Server()

    async def coded(asked: Asked, reply: Reply) -> None:
        await reply.send(200, b"x", **{"Content-Encoding": "gzip"})

    server.acts["tools/call"] = coded
    async with server.running(), server.client() as client:
        with pytest.raises(BadAnswer, match="content coding, 'gzip'"):
            await client.call_tool("t")
    assert server.asked[-1].headers["accept-encoding"] == "identity"


@pytest.mark.requirement("transport.http.stream.notifications")
@pytest.mark.requirement("transport.http.stream.server-messages")
@pytest.mark.parametrize("revision", STREAMABLE)
async def test_progress_comes_before_the_answer(revision: str) -> None:
    server = Server(revision)

    async def slow(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        for value in (1, 2):
            await reply.event(progress(asked.message["params"]["_meta"]["progressToken"], value))
        await reply.event(answer(asked, server.called()))
        await reply.end()

    server.acts["tools/call"] = slow
    steps: list[float] = []
    async with server.running(), server.client() as client:
        await client.call_tool("t", on_progress=lambda value, *_: steps.append(value))
    assert steps == [1, 2]


@pytest.mark.requirement("transport.http.stream.server-messages")
@pytest.mark.requirement("transport.http.post.one-per-message")
@pytest.mark.requirement("transport.http.post.body-single", "transport.http.post.body-or-batch")
@pytest.mark.parametrize("revision", RESUMABLE)
async def test_what_the_server_asks_on_a_stream_is_answered_by_a_post(revision: str) -> None:
    server = Server(revision, "s1")

    async def asking(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await server.until("response")
        await reply.event(answer(asked, server.called()))
        await reply.end()

    server.acts["tools/call"] = asking
    roots = [t.Root(uri="file:///a")]
    async with server.running(), server.client(roots=roots) as client:
        await client.call_tool("t")
    (response,) = server.of("response")
    assert response.message == {
        "jsonrpc": "2.0",
        "id": "q",
        "result": {"roots": [{"uri": "file:///a"}]},
    }
    assert response.headers["mcp-session-id"] == "s1"


@pytest.mark.requirement("transport.http.post.client-no-responses")
@pytest.mark.requirement("transport.http.post.body-no-response")
async def test_what_a_modern_server_asks_on_a_stream_is_answered_by_nothing() -> None:
    server = Server()

    async def asking(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await reply.event({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        await elapse(0.05)
        await reply.event(answer(asked, server.called()))
        await reply.end()

    server.acts["tools/call"] = asking
    async with server.running(), server.client(roots=[]) as client:
        await client.call_tool("t")
    assert server.whats() == ["server/discover", "tools/call"]


@pytest.mark.requirement("transport.http.stream.responses-batched")
async def test_messages_of_2025_03_26_may_come_in_batches() -> None:
    server = Server("2025-03-26")
    steps: list[float] = []

    async def batched(asked: Asked, reply: Reply) -> None:
        first = progress(asked.message["params"]["_meta"]["progressToken"], 1)
        both = [first, answer(asked, server.called())]
        if len(server.of("tools/call")) == 1:
            await reply.send(200, both)
        else:
            await reply.stream()
            await reply.event(both)
            await reply.end()

    server.acts["tools/call"] = batched
    async with server.running(), server.client() as client:
        for _ in range(2):
            await client.call_tool("t", on_progress=lambda value, *_: steps.append(value))
    assert steps == [1, 1]


@pytest.mark.parametrize("framed", [True, False])
async def test_an_answer_that_is_too_large_is_refused_and_the_client_goes_on(framed: bool) -> None:
    server = Server()
    limits = Limits(answer_bytes=2000)

    async def large(asked: Asked, reply: Reply) -> None:
        if framed:
            await reply.stream()
            await reply.event(answer(asked, server.called("x" * 3000)))
            await reply.end()
        else:
            await reply.send(200, answer(asked, server.called("x" * 3000)))

    async with server.running(), server.client(limits=limits) as client:
        fits = server.acts["tools/call"]
        server.acts["tools/call"] = large
        with pytest.raises(TooMuch, match="more than 2000 bytes"):
            await client.call_tool("t")
        server.acts["tools/call"] = fits
        await client.call_tool("t")


# ---- streams that break


@pytest.mark.parametrize("revision", STREAMABLE)
@pytest.mark.parametrize("politely", [True, False])
async def test_a_stream_without_ids_that_ends_early_fails_its_call_at_once(
    revision: str, politely: bool
) -> None:
    server = Server(revision)

    async def broken(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event(progress("none", 1))
        await (reply.end() if politely else asyncio.sleep(0))
        reply.drop()

    async with server.running(), server.client() as client:
        whole = server.acts["tools/call"]
        server.acts["tools/call"] = broken
        started = now()
        with pytest.raises(Disconnected):
            await client.call_tool("t")
        assert now() - started < 5  # not the deadline of 30 s
        server.acts["tools/call"] = whole
        await client.call_tool("t")


@pytest.mark.requirement("transport.http.stream.reissue")
async def test_a_modern_stream_is_not_taken_up_and_a_new_call_has_a_new_id() -> None:
    server = Server()

    async def broken(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event(progress("none", 1), id="e1", retry=10)
        await reply.end()

    server.acts["tools/call"] = broken
    async with server.running(), server.client() as client:
        for _ in range(2):
            with pytest.raises(Disconnected):
                await client.call_tool("t")
    assert server.of("GET") == []
    first, second = server.of("tools/call")
    assert first.id != second.id


class Resumable(Server):
    """Closes the stream of a call after one event, and ends it on a GET."""

    def __init__(self, revision: str, retry: int | None, fails: int = 0) -> None:
        super().__init__(revision, "s1")
        self.retry = retry
        self.fails = fails
        self.waits: list[float] = []
        self.left = 0.0
        self.open: Asked | None = None
        self.acts |= {"tools/call": self._begin, "GET": self._resume}

    async def _begin(self, asked: Asked, reply: Reply) -> None:
        self.open = asked
        await reply.stream()
        await reply.event(id="e1", retry=self.retry)
        self.left = now()
        await reply.end()

    async def _resume(self, asked: Asked, reply: Reply) -> None:
        if "last-event-id" not in asked.headers:
            await reply.send(405)
            return
        self.waits.append(now() - self.left)
        if self.fails:
            self.fails -= 1
            reply.drop()
            return
        assert self.open is not None
        await reply.stream()
        await reply.event(answer(self.open, self.called()), id="e2")
        await reply.end()


@pytest.mark.requirement("transport.http.resume.after-break", "transport.http.resume.client-gets")
@pytest.mark.requirement("transport.http.resume.get-for-all", "transport.http.stream.poll")
@pytest.mark.requirement("transport.http.stream.hang-up", "transport.http.stream.retry-kept")
@pytest.mark.requirement("transport.http.resume.event-ids", "transport.http.resume.replay")
@pytest.mark.parametrize("revision", RESUMABLE)
async def test_a_stream_with_ids_is_taken_up_after_the_wait_that_was_asked_for(
    revision: str,
) -> None:
    server = Resumable(revision, retry=150)
    async with server.running(), server.client() as client:
        assert (await client.call_tool("t")).content[0] == t.TextContent(text="done")
    resumed = [asked for asked in server.of("GET") if "last-event-id" in asked.headers]
    assert [asked.headers["last-event-id"] for asked in resumed] == ["e1"]
    assert resumed[0].headers["accept"] == "text/event-stream"
    assert resumed[0].headers["mcp-session-id"] == "s1"
    assert server.waits == [pytest.approx(0.15)]
    assert len(server.of("tools/call")) == 1


@pytest.mark.requirement("transport.http.resume.after-break")
@pytest.mark.parametrize("revision", RESUMABLE)
@pytest.mark.parametrize("half", [b"", b"id: e2\ndata: {", b'id: e2\ndata: {"a": 1}\n'])
async def test_a_stream_that_breaks_is_taken_up_after_its_last_whole_event(
    revision: str, half: bytes
) -> None:
    server = Resumable(revision, retry=None)

    async def broken(asked: Asked, reply: Reply) -> None:
        server.open = asked
        await reply.stream()
        await reply.event(id="e1", retry=10)
        if half:
            await reply.raw(half)
        await elapse(0.02)
        reply.drop()

    server.acts["tools/call"] = broken
    async with server.running(), server.client() as client:
        await client.call_tool("t")
        await client.call_tool("t")
    resumed = [asked for asked in server.of("GET") if "last-event-id" in asked.headers]
    assert [asked.headers["last-event-id"] for asked in resumed] == ["e1", "e1"]
    assert len(server.of("tools/call")) == 2


async def test_attempts_to_take_up_a_stream_are_bounded() -> None:
    limits = replace(QUICK, resume_attempts=3)
    server = Resumable("2025-11-25", retry=None, fails=2)
    async with server.running(), server.client(limits=limits) as client:
        await client.call_tool("t")
        assert len(server.waits) == 3
        server.waits.clear()
        server.fails = 100
        with pytest.raises(Disconnected, match="lost after 3 attempts"):
            await client.call_tool("t")
        assert len(server.waits) == 3
        server.fails = 0
        await client.call_tool("t")


@pytest.mark.requirement("transport.http.stream.may-break")
@pytest.mark.parametrize("revision", RESUMABLE)
@pytest.mark.parametrize("own", [True, False])
async def test_a_server_that_is_gone_fails_at_once_the_calls_whose_streams_it_could_resume(
    revision: str, own: bool
) -> None:
    server = Resumable(revision, retry=None)

    async def begin(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event(id="e1")
        await reply.gone.wait()

    serves = server.acts["tools/call"]
    server.acts["tools/call"] = begin
    if own:
        server.acts["GET"] = begin
    async with server.running(), server.client() as client:
        calls = [asyncio.ensure_future(client.call_tool("t")) for _ in range(5)]
        await server.until("tools/call", 5)
        await elapse(0.05)
        started = now()
        await server.kill()
        errors = await asyncio.gather(*calls, return_exceptions=True)
        assert now() - started < 5  # not the deadline of 30 s
        assert {type(each) for each in errors} == {Disconnected}
        assert all(
            str(each).startswith(f"tools/call: GET http://127.0.0.1:{server.port}: no connection")
            for each in errors
        )
        server.sessions.append("s2")
        server.acts |= {"tools/call": serves, "GET": server._resume}
        await server.start()
        await client.call_tool("t")
        await server.kill()


async def test_a_server_that_asked_to_be_polled_and_is_gone_is_given_its_time_and_no_more() -> None:
    server = Resumable("2025-11-25", retry=300)
    async with server.running(), server.client() as client:
        calling = asyncio.ensure_future(client.call_tool("t"))
        await server.until("tools/call")
        await elapse(0.05)
        await server.kill()
        with pytest.raises(Disconnected, match="tools/call: GET"):
            await calling
        assert now() - server.left == pytest.approx(0.3)


async def test_a_server_that_starts_anew_within_the_time_it_asked_for_answers_its_call() -> None:
    server = Resumable("2025-11-25", retry=300)
    async with server.running(), server.client() as client:
        calling = asyncio.ensure_future(client.call_tool("t"))
        await server.until("tools/call")
        await elapse(0.05)
        await server.kill()
        await server.start()
        assert (await calling).content[0] == t.TextContent(text="done")
        assert server.waits == [pytest.approx(0.3)]
        await server.kill()


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_proxy_whose_server_starts_anew_is_asked_again_a_few_times(status: int) -> None:
    server, limits = Resumable("2025-11-25", retry=None), replace(QUICK, resume_attempts=4)
    resumes, refusals = server.acts["GET"], 3

    async def starting(asked: Asked, reply: Reply) -> None:
        nonlocal refusals
        if "last-event-id" in asked.headers and refusals:
            refusals -= 1
            await reply.send(status)
        else:
            await resumes(asked, reply)

    server.acts["GET"] = starting
    async with server.running(), server.client(limits=limits) as client:
        assert (await client.call_tool("t")).content[0] == t.TextContent(text="done")
        refusals = 100
        with pytest.raises(Disconnected, match="lost after 4 attempts"):
            await client.call_tool("t")
    assert refusals == 96


@pytest.mark.parametrize("status", [400, 404, 405])
async def test_a_stream_that_the_server_does_not_go_on_with_is_lost_at_once(status: int) -> None:
    server = Resumable("2025-11-25", retry=0)

    async def refuse(asked: Asked, reply: Reply) -> None:
        await reply.send(status)

    server.acts["GET"] = refuse
    async with server.running(), server.client(limits=QUICK) as client:
        with pytest.raises(Disconnected, match=f"the stream is lost, GET: HTTP {status}"):
            await client.call_tool("t")


async def test_a_server_that_polls_for_ever_is_left_at_the_deadline() -> None:
    server = Resumable("2025-11-25", retry=0)

    async def again(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event(id="e1", retry=0)
        await reply.end()

    server.acts["GET"] = again
    async with server.running(), server.client(limits=QUICK) as client:
        with pytest.raises(TimedOut):
            await client.call_tool("t", timeout=0.5)
        assert len(server.of("GET")) < 12


# ---- the server's own stream


@pytest.mark.requirement("transport.http.get.accept", "transport.http.get.server-messages")
@pytest.mark.requirement("transport.http.get.server-closes", "transport.http.stream.resumable")
@pytest.mark.parametrize("revision", RESUMABLE)
async def test_the_server_has_a_stream_of_its_own_and_it_is_taken_up(revision: str) -> None:
    server = Server(revision, "s1")

    async def own(asked: Asked, reply: Reply) -> None:
        assert server.of("notifications/initialized")
        await reply.stream()
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await reply.event(changed, id=f"e{len(server.of('GET'))}", retry=20)
        if len(server.of("GET")) < 3:
            await reply.end()
        else:
            await reply.gone.wait()

    server.acts["GET"] = own
    async with (
        server.running(),
        server.client() as client,
        client.listen(tools=True) as changes,
    ):
        await server.until("GET", 3)
        assert (await asyncio.wait_for(anext(changes), 1)).what == "tools"
    seen = [asked.headers.get("last-event-id") for asked in server.of("GET")]
    assert seen == [None, "e1", "e2"]
    assert all(asked.headers["accept"] == "text/event-stream" for asked in server.of("GET"))


@pytest.mark.parametrize("status", [400, 404, 405, 501])
async def test_a_server_without_a_stream_of_its_own_is_left_in_peace(status: int) -> None:
    server = Server("2025-11-25", "s1")

    async def refuse(asked: Asked, reply: Reply) -> None:
        await reply.send(status, b"<html>", "text/html")

    server.acts["GET"] = refuse
    async with server.running(), server.client(limits=QUICK) as client:
        await client.call_tool("t")
        await elapse(0.1)
    assert len(server.of("GET")) == 1
    assert len(server.of("initialize")) == 1


async def test_a_stream_that_does_not_open_holds_no_call_back_for_long() -> None:
    server = Server("2025-11-25")
    del server.acts["GET"]
    async with server.running():
        started = now()
        async with server.client(limits=Limits(stream_wait=0.1)) as client:
            await client.call_tool("t")
            assert now() - started < 1


# ---- cancelling


@pytest.mark.requirement("transport.http.cancel.no-message")
@pytest.mark.requirement("transport.http.post.no-client-notifications")
@pytest.mark.parametrize("streamed", [True, False])
async def test_leaving_cancels_a_modern_call(streamed: bool) -> None:
    server = Server()
    left = asyncio.Event()

    async def slow(asked: Asked, reply: Reply) -> None:
        try:
            if streamed:
                await reply.stream()
            await reply.gone.wait()
        finally:
            left.set()

    server.acts["tools/call"] = slow
    async with server.running(), server.client() as client:
        with pytest.raises(TimedOut):
            await client.call_tool("t", timeout=0.1)
        await asyncio.wait_for(left.wait(), 1)
        calling = asyncio.ensure_future(client.call_tool("t"))
        await server.until("tools/call", 2)
        left.clear()
        calling.cancel()
        await asyncio.wait_for(left.wait(), 1)
    assert server.of("notifications/cancelled") == []


@pytest.mark.requirement("transport.http.stream.cancel-by-message")
@pytest.mark.parametrize("revision", RESUMABLE)
async def test_a_message_cancels_a_call_of_a_session(revision: str) -> None:
    server = Server(revision, "s1")
    left = asyncio.Event()

    async def slow(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.gone.wait()
        left.set()

    server.acts["tools/call"] = slow
    async with server.running(), server.client() as client:
        with pytest.raises(TimedOut):
            await client.call_tool("t", timeout=0.1)
        cancelled = await server.until("notifications/cancelled")
        await asyncio.wait_for(left.wait(), 1)
    assert cancelled.message["params"]["requestId"] == server.of("tools/call")[0].id
    assert cancelled.headers["mcp-session-id"] == "s1"


async def test_a_subscription_is_a_long_answer() -> None:
    server = Server()
    left = asyncio.Event()

    async def listen(asked: Asked, reply: Reply) -> None:
        def tagged(method: str, **params: Any) -> dict[str, Any]:
            meta = {"io.modelcontextprotocol/subscriptionId": asked.id}
            return {"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": meta}}

        await reply.stream()
        wanted = asked.message["params"]["notifications"]
        await reply.event(tagged("notifications/subscriptions/acknowledged", notifications=wanted))
        await reply.raw(b":\n\n")
        await reply.event(tagged("notifications/tools/list_changed"))
        await reply.gone.wait()
        left.set()

    server.acts["subscriptions/listen"] = listen
    async with server.running(), server.client(revisions=[NEWEST]) as client:
        async with client.listen(tools=True) as changes:
            assert (await asyncio.wait_for(anext(changes), 1)).what == "tools"
            await client.call_tool("t")
        await asyncio.wait_for(left.wait(), 1)
    assert server.whats() == ["server/discover", "subscriptions/listen", "tools/call"]
