"""Requests that are open: giving them up, progress on them, and how long one waits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.errors import TimedOut
from mcp_runtime.limits import Limits
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.transports.memory import pair
from tests.support.clock import Clock
from tests.support.json_peers import (
    ALL,
    HANDSHAKE,
    NEWEST,
    RawClient,
    RawServer,
    connected,
    since,
    with_page,
)
from tests.support.virtual_time import elapse

each = pytest.mark.parametrize("revision", ALL)
each_handshake = pytest.mark.parametrize("revision", HANDSHAKE)


class Slow:
    """A server whose tool works until it is told to end, and says how it ended."""

    def __init__(self) -> None:
        self.began, self.may_end = asyncio.Event(), asyncio.Event()
        self.ended: list[str] = []
        self.held: set[str] = set()
        self.server = Server("slow", "1")
        self.server.tool(self.work)
        self.server.tool(self.stubborn)

    async def work(self, ctx: Context) -> str:
        self.held.add("a resource")
        self.began.set()
        try:
            await self.may_end.wait()
            self.ended.append("done")
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        finally:
            self.held.clear()
        return "done"

    async def stubborn(self, ctx: Context) -> str:
        """Goes on when it is cancelled, and talks."""
        self.began.set()
        with contextlib.suppress(asyncio.CancelledError):
            await self.may_end.wait()
        await ctx.progress(1)
        await ctx.log("error", "still here")
        self.ended.append("went on")
        return "done"


LOUD = {"io.modelcontextprotocol/logLevel": "debug", "progressToken": "p"}


@pytest.mark.requirement("cancel.receiver.stops")
@pytest.mark.requirement("cancel.receiver.frees")
@pytest.mark.requirement("cancel.receiver.silent")
@pytest.mark.requirement("transport.stdio.cancel.stop")
@pytest.mark.requirement("cancel.log")
@each
async def test_cancelled_work_ends_and_nothing_answers_it(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    slow = Slow()
    caplog.set_level(logging.INFO, "mcp_runtime")
    async with connected(slow.server, revision) as client:
        id = client.call("tools/call", {"name": "work"})
        await slow.began.wait()
        client.notify("notifications/cancelled", {"requestId": id, "reason": "changed my mind"})
        assert await client.quiet() == []
        assert slow.ended == ["cancelled"]
        assert slow.held == set()
        (connection,) = dispatcher_of(slow.server).connections
        assert not connection.session.running
        assert not connection._tasks
    assert "changed my mind" in caplog.text


@pytest.mark.requirement("transport.stdio.cancel.silence")
async def test_a_tool_that_goes_on_after_its_end_is_not_heard() -> None:
    slow = Slow()
    async with connected(slow.server, NEWEST) as client:
        id = client.call("tools/call", {"name": "stubborn"}, meta=LOUD)
        await slow.began.wait()
        client.notify("notifications/cancelled", {"requestId": id})
        assert await client.quiet() == []
        assert slow.ended == ["went on"]


@pytest.mark.requirement("cancel.race")
@each
async def test_a_cancellation_and_an_answer_may_cross(revision: str) -> None:
    slow = Slow()
    slow.may_end.set()
    async with connected(slow.server, revision) as client:
        for delay in (0, 1, 2, 3, 5, 8):
            id = client.call("tools/call", {"name": "work"})
            for _ in range(delay):
                await asyncio.sleep(0)
            client.notify("notifications/cancelled", {"requestId": id})
            answers = [m for m in await client.quiet() if m.get("id") == id]
            assert len(answers) <= 1
            client.got.clear()
        assert await client.tool("work")
    server = RawServer(revision)
    async with server.client() as ours:
        calling = asyncio.create_task(ours.call_tool("x"))
        asked = await server.line.next("tools/call")
        calling.cancel()
        server.line.answer(asked["id"], with_page({"content": []}, revision))
        with pytest.raises(asyncio.CancelledError):
            await calling
        server.answers["tools/list"] = with_page({"tools": []}, revision)
        assert await ours.list_tools() == []


@pytest.mark.requirement("cancel.invalid-ignored")
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"requestId": None},
        {"requestId": 1.5},
        {"requestId": {}},
        {"requestId": "unknown"},
        {"requestId": "1"},
        {"requestId": 1},
        {"requestId": 1, "reason": 5},
    ],
)
@each
async def test_a_cancellation_of_nothing_changes_nothing(
    revision: str, params: dict[str, Any] | None
) -> None:
    slow = Slow()
    slow.may_end.set()
    async with connected(slow.server, revision) as client:
        await client.tool("work", id=1)
        slow.may_end.clear()
        id = client.call("tools/call", {"name": "work"}, id="open")
        client.notify("notifications/cancelled", params)
        assert await client.quiet() == []
        slow.may_end.set()
        assert "result" in await client.response(id)


@pytest.mark.requirement("cancel.in-progress")
@pytest.mark.requirement("cancel.same-direction")
@pytest.mark.requirement("cancel.client-issued")
@pytest.mark.requirement("cancel.client-signals")
@pytest.mark.requirement("cancel.sender.ignores-late")
@pytest.mark.requirement("transport.stdio.cancel.notify")
@pytest.mark.requirement("cancel.request-id-needed")
@pytest.mark.requirement("cancelled.request-id.required-for-non-task")
@pytest.mark.requirement("cancel.log")
@each
async def test_a_client_that_gives_up_says_which_request_once(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "mcp_runtime")
    server = RawServer(revision, answers={"tools/list": with_page({"tools": []}, revision)})
    async with server.client() as client:
        await client.list_tools()
        calling = asyncio.create_task(client.call_tool("x"))
        asked = await server.line.next("tools/call")
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        cancelled = await server.line.next("notifications/cancelled")
        assert cancelled["params"]["requestId"] == asked["id"]
        assert type(cancelled["params"]["requestId"]) is type(asked["id"])
        ignored = client.connection.ignored
        server.line.answer(asked["id"], with_page({"content": []}, revision))
        await server.line.quiet()
        assert client.connection.ignored == ignored + 1
        assert await client.list_tools() == []
    assert len(server.requests("notifications/cancelled")) == 1
    assert cancelled["params"]["reason"] in caplog.text


@pytest.mark.requirement("cancel.in-progress")
@each
async def test_what_is_answered_is_not_cancelled(revision: str) -> None:
    server = RawServer(revision, answers={"tools/call": with_page({"content": []}, revision)})
    async with server.client() as client:
        for _ in range(3):
            calling = asyncio.create_task(client.call_tool("x"))
            await calling
            calling.cancel()
    assert server.requests("notifications/cancelled") == []


@pytest.mark.requirement("cancel.not-initialize")
@each_handshake
async def test_initialize_is_never_cancelled(revision: str) -> None:
    for give_up in ("deadline", "caller"):
        server = RawServer(revision, answers={"initialize": lambda m: None})
        limits = Limits(deadline=0.03 if give_up == "deadline" else 30)
        opening = asyncio.create_task(server.client(limits=limits).__aenter__())
        while not server.asked:
            await asyncio.sleep(0)
        if give_up == "caller":
            opening.cancel()
        with pytest.raises((TimedOut, asyncio.CancelledError)):
            await opening
        await server.line.quiet()
        assert [m["method"] for m in server.asked] == ["initialize"]


@pytest.mark.requirement("cancel.same-direction")
@pytest.mark.requirement("cancel.request-id-needed")
@pytest.mark.requirement("cancelled.request-id.required-for-non-task")
@each_handshake
async def test_a_server_cancels_what_it_asked_itself(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> str:
        try:
            await ctx.roots(timeout=0.02)
        except TimedOut:
            return "late"
        return "answered"

    async with connected(server, revision, {"roots": {}}) as client:
        calling = client.call("tools/call", {"name": "where"}, id="mine")
        asked = await client.next("roots/list")
        cancelled = await client.next("notifications/cancelled")
        assert cancelled["params"]["requestId"] == asked["id"] != "mine"
        assert (await client.response(calling))["result"]["content"][0]["text"] == "late"
        client.answer(asked["id"], {"roots": []})
        assert await client.quiet() == []


@pytest.mark.requirement("cancel.receiver.stops")
@pytest.mark.requirement("cancel.receiver.silent")
@each_handshake
async def test_a_client_stops_what_a_server_cancels(revision: str) -> None:
    ended: list[str] = []
    began = asyncio.Event()

    async def roots() -> list[Any]:
        began.set()
        try:
            await elapse(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return []

    server = RawServer(revision)
    async with server.client(roots=roots):
        server.line.send({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})
        await began.wait()
        server.line.notify("notifications/cancelled", {"requestId": "r", "reason": "why"})
        server.line.got.clear()
        await server.line.quiet()
        assert [m for m in server.line.got if m.get("id") == "r"] == []
        assert ended == ["cancelled"]


@pytest.mark.requirement("cancel.server.nothing-else")
@pytest.mark.requirement("cancel.server.listen-teardown")
@pytest.mark.requirement("cancel.client-issued")
async def test_a_server_of_the_newest_revision_cancels_subscriptions_only() -> None:
    server = Server("s", "1")

    @server.tool
    async def slow() -> None:
        await elapse(60)

    ours, theirs = pair()
    serving = asyncio.create_task(server.serve(theirs))
    client = RawClient(ours, NEWEST)
    listen = client.call(
        "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="sub"
    )
    await client.next("notifications/subscriptions/acknowledged")
    client.call("tools/call", {"name": "slow"})
    await client.quiet()
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving
    await client.quiet()
    cancelled = [m for m in client.got if m.get("method") == "notifications/cancelled"]
    assert [m["params"]["requestId"] for m in cancelled] == [listen]
    assert any(m.get("id") == listen and "result" in m for m in client.got)


# ---- progress


@pytest.mark.requirement("progress.active-only")
@pytest.mark.requirement("progress.increases")
@pytest.mark.requirement("progress.stops")
@pytest.mark.requirement("progress.token.type")
@pytest.mark.parametrize("token", [1, "1", 0, "", 2**53])
@each
async def test_progress_rises_while_the_work_goes_on(revision: str, token: Any) -> None:
    server = Server("s", "1")
    late: list[Context] = []

    @server.tool
    async def work(ctx: Context) -> str:
        late.append(ctx)
        for value in (1, 1, 0, 2.5, 2, float("nan"), 3):
            await ctx.progress(value)
        return "done"

    async with connected(server, revision) as client:
        id = client.call("tools/call", {"name": "work"}, meta={"progressToken": token})
        await client.response(id)
        await late[0].progress(9)
        reports = [m["params"] for m in await client.quiet()]
        assert [params["progress"] for params in reports] == [1, 2.5, 3]
        assert all(p["progressToken"] == token for p in reports)
        assert {type(p["progressToken"]) for p in reports} == {type(token)}
        client.got.clear()
        await client.tool("work")
        assert await client.quiet() == []


@pytest.mark.requirement("progress.token.unique")
@pytest.mark.requirement("progress.token.type")
@pytest.mark.requirement("progress.track")
@each
async def test_requests_that_are_open_have_tokens_of_their_own(revision: str) -> None:
    server = RawServer(revision)
    progress: dict[int, list[float]] = {n: [] for n in range(5)}
    async with server.client() as client:
        calls = [
            asyncio.create_task(
                client.call_tool("x", on_progress=lambda p, t, m, n=n: progress[n].append(p))
            )
            for n in range(5)
        ]
        asked = [await server.line.next("tools/call") for _ in calls]
        tokens = [m["params"]["_meta"]["progressToken"] for m in asked]
        assert len(set(tokens)) == 5
        assert {type(token) for token in tokens} <= {int, str}
        for n, token in enumerate(tokens):
            server.line.notify(
                "notifications/progress", {"progressToken": token, "progress": n + 1}
            )
        server.line.notify("notifications/progress", {"progressToken": "unknown", "progress": 1})
        await server.line.quiet()
        assert sorted(progress.values()) == [[n + 1] for n in range(5)]
        for m in asked:
            server.line.answer(m["id"], with_page({"content": []}, revision))
        await asyncio.gather(*calls)
        server.line.notify("notifications/progress", {"progressToken": tokens[0], "progress": 99})
        await server.line.quiet()
        assert sum(map(len, progress.values())) == 5
        assert not client.connection.session.pending._tokens


@pytest.mark.requirement("progress.rate-limit")
@each
async def test_progress_does_not_flood(revision: str) -> None:
    server = Server("s", "1", limits=Limits(progress_rate=10))

    @server.tool
    async def work(ctx: Context) -> str:
        for n in range(1, 1001):
            await ctx.progress(n, 1000)
        return "done"

    async with connected(server, revision) as client:
        id = client.call("tools/call", {"name": "work"}, meta={"progressToken": "p"})
        await client.response(id)
        reports = [m["params"]["progress"] for m in await client.quiet()]
    assert len(reports) <= 15
    assert reports[-1] == 1000


# ---- time limits


@pytest.mark.requirement("timeout.every-request")
@pytest.mark.requirement("timeout.per-request")
@pytest.mark.requirement("tools.security.client-timeouts")
@each
async def test_every_request_has_a_time_limit_that_its_caller_may_choose(revision: str) -> None:
    server, clock = RawServer(revision), Clock()
    async with server.client(limits=Limits(deadline=2)) as client:
        for ask in (
            client.list_tools,
            client.list_resources,
            client.list_prompts,
            lambda: client.call_tool("x"),
            lambda: client.read_resource("a://b"),
            lambda: client.get_prompt("x"),
        ):
            asking = asyncio.ensure_future(ask())
            await clock.forward(0)
            await clock.forward(1.5)
            assert not asking.done()
            await clock.forward(0.5)
            with pytest.raises(TimedOut):
                await asking
    async with server.client() as client:
        for ask in (
            lambda: client.call_tool("x", timeout=0.02),
            lambda: client.read_resource("a://b", timeout=0.02),
            lambda: client.get_prompt("x", timeout=0.02),
        ):
            with pytest.raises(TimedOut):
                await ask()


@pytest.mark.requirement("timeout.every-request")
@each_handshake
async def test_the_requests_of_a_server_have_a_time_limit(revision: str) -> None:
    server = Server("s", "1", limits=Limits(deadline=0.02, total=0.02))

    @server.tool
    async def where(ctx: Context) -> str:
        await ctx.roots()
        return "answered"

    async with connected(server, revision, {"roots": {}}) as client:
        result = await client.tool("where")
    assert result["isError"] is True
    assert "roots/list" in result["content"][0]["text"]


@pytest.mark.requirement("timeout.cancel-notification")
@pytest.mark.requirement("timeout.cancel-by-transport")
@pytest.mark.parametrize("revision", since("2025-03-26"))
async def test_what_is_late_is_cancelled_and_waited_for_no_more(revision: str) -> None:
    server = RawServer(revision, answers={"tools/list": with_page({"tools": []}, revision)})
    async with server.client() as client:
        with pytest.raises(TimedOut):
            await client.call_tool("x", timeout=0.02)
        asked = await server.line.next("tools/call")
        cancelled = await server.line.next("notifications/cancelled")
        assert cancelled["params"]["requestId"] == asked["id"]
        server.line.answer(asked["id"], with_page({"content": []}, revision))
        assert await client.list_tools() == []


@pytest.mark.requirement("timeout.maximum")
@pytest.mark.parametrize("revision", since("2025-03-26"))
async def test_no_progress_prolongs_a_wait_beyond_its_maximum(revision: str) -> None:
    server, clock = RawServer(revision), Clock()
    async with server.client(timeout=2, limits=Limits(total=9.5)) as client:
        calling = asyncio.create_task(client.call_tool("x", on_progress=lambda *a: None))
        asked = await server.line.next("tools/call")
        token = asked["params"]["_meta"]["progressToken"]
        for n in range(9):
            await clock.forward(1)
            server.line.notify("notifications/progress", {"progressToken": token, "progress": n})
            await server.line.quiet()
        assert not calling.done()
        await clock.forward(1)
        with pytest.raises(TimedOut):
            await calling
