"""Clients of the revision whose core has tasks are served by the same handlers, in its messages.

Source: 2025-11-25 basic/utilities/tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.extensions import ToolOption
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.stores.memory import MemoryStore, MemoryTasks
from tests.runtime.auth.test_ownership import known
from tests.support.raw_peer import RawPeer, connected
from tests.support.session_pair import answered, cancelled, initialize, notification, request
from tests.support.task_server import Place, text

CORE = "2025-11-25"
RELATED = "io.modelcontextprotocol/related-task"


@asynccontextmanager
async def peer_of(place: Place, spoken: str = CORE) -> AsyncGenerator[tuple[RawPeer, Any]]:
    """A client that can be asked for forms, and what the server has declared to it."""
    params = {**initialize(spoken), "capabilities": {"elicitation": {}}}
    async with connected(place.server, None) as peer:
        welcome = await peer.asks("opens", "initialize", params)
        peer.say(notification("notifications/initialized"))
        yield peer, welcome["result"]["capabilities"]
        await place.tasks.close()


async def called(peer: RawPeer, id: str, name: str, task: Any = None, **arguments: Any) -> Any:
    params = {"name": name, "arguments": arguments} | ({} if task is None else {"task": task})
    return await peer.asks(id, "tools/call", params)


def _asks(message: str, frame: Any) -> bool:
    return "params" in frame and frame["params"].get("message") == message


async def begun(peer: RawPeer, id: str, name: str, task: Any = None, **arguments: Any) -> str:
    """The id of a new task."""
    answer = await called(peer, id, name, {} if task is None else task, **arguments)
    task_id: str = answer["result"]["task"]["taskId"]
    return task_id


@pytest.mark.requirement(
    "tasks.capability.declare",
    "tasks.security.no-list",
)
async def test_the_server_declares_tasks_and_tools_say_what_they_support() -> None:
    place = Place()
    async with peer_of(place) as (peer, declared):
        assert declared["tasks"] == {"cancel": {}, "requests": {"tools": {"call": {}}}}
        listed = await peer.asks("list", "tools/list")
        support = {tool["name"]: tool["execution"] for tool in listed["result"]["tools"]}
        assert support["greet"] == {"taskSupport": "forbidden"}
        assert support["slow"] == {"taskSupport": "optional"}
        assert support["failing"] == {"taskSupport": "required"}
        refused = await peer.asks("all", "tasks/list")
        assert refused["error"]["code"] == -32601
    async with peer_of(place, "2025-06-18") as (peer, declared):
        assert "tasks" not in declared
        listed = await peer.asks("list", "tools/list")
        assert not any("execution" in tool for tool in listed["result"]["tools"])
        for method in ("tasks/get", "tasks/result", "tasks/cancel", "tasks/list"):
            refused = await peer.asks(method, method, {"taskId": "x"})
            assert refused["error"]["code"] == -32601


async def test_a_server_of_that_revision_alone_has_its_tasks() -> None:
    place = Place(server={"revisions": [CORE]})
    place.go.set()
    async with peer_of(place) as (peer, declared):
        assert declared["tasks"]
        assert "extensions" not in declared
        task = await begun(peer, "1", "slow")
        result = (await peer.asks("2", "tasks/result", {"taskId": task}))["result"]
        assert result["content"] == [{"type": "text", "text": "done"}]


@pytest.mark.parametrize("spoken", [["2025-06-18"], ["2024-11-05", "2025-03-26"]])
def test_a_server_of_revisions_without_tasks_cannot_have_them(spoken: list[str]) -> None:
    with pytest.raises(ValueError, match=f"spoken here: {', '.join(spoken)}"):
        Place(server={"revisions": spoken})


@pytest.mark.requirement(
    "tasks.create.result",
    "tasks.id.from-receiver",
    "tasks.id.string",
    "tasks.status.initial",
    "tasks.ttl.actual",
    "tasks.times.created",
    "tasks.times.updated",
    "tasks.result.terminal",
    "tasks.result.exact",
    "tasks.related.result-has",
    "tasks.related.results-omit",
    "tasks.related.param-decides",
    "tasks.related.receiver-ignores",
    "cancel.tasks-not-by-notification",
)
async def test_a_task_is_polled_and_its_result_is_that_of_the_call() -> None:
    place = Place()
    async with peer_of(place) as (peer, _):
        answer = await called(peer, "1", "slow", {"ttl": 5000})
        task = answer["result"]["task"]
        assert (task["status"], task["ttl"]) == ("working", 5000)
        peer.say(cancelled("1"))
        asked = {"taskId": task["taskId"], "_meta": {RELATED: {"taskId": "another"}}}
        state = (await peer.asks("2", "tasks/get", asked))["result"]
        assert state["status"] == "working"
        for time in (state["createdAt"], state["lastUpdatedAt"]):
            assert datetime.fromisoformat(time).tzinfo is not None
        assert state.keys() >= {"taskId", "status", "createdAt", "lastUpdatedAt", "ttl"}
        place.go.set()
        result = (await peer.asks("3", "tasks/result", {"taskId": task["taskId"]}))["result"]
        assert result["content"] == [{"type": "text", "text": "done"}]
        assert result["_meta"][RELATED] == {"taskId": task["taskId"]}
        state = (await peer.asks("4", "tasks/get", {"taskId": task["taskId"]}))["result"]
        assert (state["status"], RELATED in state.get("_meta", {})) == ("completed", False)
        plain = await called(peer, "5", "slow")
        assert plain["result"]["content"] == [{"type": "text", "text": "done"}]


@pytest.mark.requirement(
    "tasks.tool.forbidden-error",
    "tasks.tool.required-error",
)
async def test_a_tool_that_forbids_or_requires_tasks_refuses_the_other_call() -> None:
    place = Place()
    async with peer_of(place) as (peer, _):
        for id, name, wish in (("1", "greet", {}), ("2", "failing", None)):
            refused = await called(peer, id, name, wish, kind="value")
            assert refused["error"]["code"] == -32601
        malformed: list[Any] = [
            {"ttl": 0},
            {"ttl": "1"},
            {"ttl": 10**400},
            {"ttl": -(10**400)},
            [],
        ]
        for id, task in zip("34567", malformed, strict=True):
            refused = await called(peer, id, "slow", task)
            assert refused["error"]["code"] == -32602


@pytest.mark.requirement("tasks.tool.forbidden-error")
async def test_a_tool_without_an_option_is_not_called_as_a_task() -> None:
    place = Place()
    place.server.tool(name="ordinary")(_ordinary)
    place.server.tool(options=[ToolOption()], name="dressed")(_ordinary)
    async with peer_of(place) as (peer, _):
        listed = (await peer.asks("list", "tools/list"))["result"]["tools"]
        for name in ("ordinary", "dressed"):
            assert ["execution" in tool for tool in listed if tool["name"] == name] == [False]
            refused = (await called(peer, f"{name} as a task", name, {}))["error"]
            assert refused["code"] == -32601
            assert refused["message"] == f"the tool {name} is not called as a task"
            plain = (await called(peer, name, name))["result"]
            assert plain["content"] == [{"type": "text", "text": "ordinary"}]
        unknown = await called(peer, "unknown", "unknown", {})
        assert unknown["error"]["code"] == -32602
    async with peer_of(place, "2025-06-18") as (peer, _):
        assert "result" in await called(peer, "1", "ordinary", {})
    more: Any = {"extra_": {"task": {}}}
    async with Client(place.server) as client:
        params = t.CallToolRequestParams(name="ordinary", meta=client.meta(), **more)
        assert text(await client.request("tools/call", params)) == "ordinary"


async def _ordinary() -> str:
    return "ordinary"


@pytest.mark.requirement(
    "tasks.result.success-passed-on",
    "tasks.result.error-passed-on",
    "tasks.status.failed-meaning",
    "tasks.status.failed-message",
)
async def test_failures_of_a_tool_and_of_the_protocol_are_failed_tasks() -> None:
    place = Place()
    async with peer_of(place) as (peer, _):
        task = await begun(peer, "1", "failing", kind="value")
        result = await peer.asks("2", "tasks/result", {"taskId": task})
        assert result["result"]["isError"] is True
        state = (await peer.asks("3", "tasks/get", {"taskId": task}))["result"]
        assert state["status"] == "failed"
        assert state["statusMessage"]
        task = await begun(peer, "4", "failing", kind="error")
        result = await peer.asks("5", "tasks/result", {"taskId": task})
        assert (result["error"]["code"], result["error"]["data"]) == (-32050, {"why": 1})


@pytest.mark.requirement(
    "tasks.result.blocks",
    "tasks.related.nested",
    "tasks.related.everywhere",
    "tasks.input.related",
    "tasks.input.status",
)
async def test_a_task_asks_while_its_result_is_waited_for() -> None:
    place = Place()
    async with peer_of(place) as (peer, _):
        task = await begun(peer, "1", "twice")
        async with asyncio.timeout(10):
            state = {"status": "working"}
            while state["status"] != "input_required":
                state = (await peer.asks("2", "tasks/get", {"taskId": task}))["result"]
        waiting = asyncio.create_task(peer.asks("3", "tasks/result", {"taskId": task}))
        for message in ("first?", "second?"):
            question = await peer.hears(partial(_asks, message))
            assert question["params"]["_meta"][RELATED] == {"taskId": task}
            peer.say(answered(question["id"], {"action": "accept", "content": {"name": "Bo"}}))
        result = await waiting
        expected = "Name(name='Bo') Name(name='Bo')"
        assert result["result"]["content"][0]["text"] == expected


@pytest.mark.requirement(
    "tasks.cancel.before-response",
    "tasks.cancel.ended",
    "tasks.cancel.final",
    "tasks.cancel.stops",
)
@pytest.mark.parametrize("waits", [False, True])
async def test_a_cancelled_task_is_cancelled_at_once_and_only_once(waits: bool) -> None:
    place = Place()
    async with peer_of(place) as (peer, _):
        task = await begun(peer, "1", "twice" if waits else "slow")
        result = asyncio.create_task(peer.asks("2", "tasks/result", {"taskId": task}))
        if waits:
            await peer.hears(lambda frame: frame.get("method") == "elicitation/create")
        state = (await peer.asks("3", "tasks/cancel", {"taskId": task}))["result"]
        assert state["status"] == "cancelled"
        assert (await result)["error"]["message"] == "the task was cancelled"
        again = await peer.asks("4", "tasks/cancel", {"taskId": task})
        assert again["error"]["code"] == -32602
        await place.is_idle()


@pytest.mark.requirement(
    "tasks.error.unknown-id",
    "tasks.error.telling",
)
async def test_an_unknown_task_is_an_error() -> None:
    place = Place()
    async with peer_of(place) as (peer, _):
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            refused = await peer.asks(method, method, {"taskId": "x" * 43})
            assert refused["error"]["code"] == -32602
            assert "Unknown task" in refused["error"]["message"]


@pytest.mark.requirement(
    "tasks.list.complete",
    "tasks.list.next-cursor",
    "tasks.list.pages",
    "tasks.error.cursor",
    "tasks.id.unique",
    "tasks.security.strong-ids",
)
async def test_a_server_that_knows_its_clients_lists_their_tasks_in_pages() -> None:
    place = Place(Limits(page_size=2), server={"auth": known()})
    async with peer_of(place) as (peer, declared):
        assert declared["tasks"]["list"] == {}
        ids = {await begun(peer, f"begin {number}", "slow") for number in range(5)}
        assert {len(id) >= 22 for id in ids} == {True}
        listed, params = list[str](), dict[str, Any]()
        for sizes in (2, 2, 1):
            page = (await peer.asks("list", "tasks/list", params))["result"]
            assert len(page["tasks"]) == sizes
            listed += [task["taskId"] for task in page["tasks"]]
            params = {"cursor": page.get("nextCursor")}
        assert (params, sorted(listed)) == ({"cursor": None}, sorted(ids))
        refused = await peer.asks("bad", "tasks/list", {"cursor": "unknown"})
        assert refused["error"]["code"] == -32602


async def test_a_page_of_tasks_has_a_hundred_at_most() -> None:
    async with peer_of(Place(server={"auth": known()})) as (peer, _):
        for number in range(101):
            await begun(peer, f"begin {number}", "slow")
        page = (await peer.asks("list", "tasks/list", {}))["result"]
        assert len(page["tasks"]) == 100


@pytest.mark.requirement(
    "progress.task.same-token", "progress.task.token-lives-on", "progress.task.stops"
)
async def test_progress_of_a_task_has_the_token_of_its_call() -> None:
    async def main() -> None:
        place, reported = Place(), asyncio.Event()

        @place.server.tool(options=[place.tasks.optional])
        async def talkative(ctx: Context) -> str:
            await ctx.progress(1)
            try:
                await asyncio.Event().wait()
            finally:
                await ctx.progress(2)
                reported.set()
            return "never"

        async with peer_of(place) as (peer, _):
            params = {"name": "talkative", "task": {}, "_meta": {"progressToken": "its own"}}
            answer = await peer.asks("1", "tools/call", params)
            said = await peer.hears(lambda frame: frame.get("method") == "notifications/progress")
            assert said["params"]["progressToken"] == "its own"
            task = answer["result"]["task"]["taskId"]
            await peer.asks("2", "tasks/cancel", {"taskId": task})
            await place.is_idle()
            assert reported.is_set()
            await peer.settles()
            assert not [each for each in peer.came if "progress" in each.get("method", "")]

    await main()


class SlowTasks(MemoryTasks):
    """Keeps nothing until it may."""

    def __init__(self) -> None:
        super().__init__(Limits())
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def put(self, *args: Any) -> bool:
        self.asked.set()
        await self.may.wait()
        return await super().put(*args)


async def test_a_call_that_is_cancelled_while_its_task_is_stored_leaves_none_that_works() -> None:
    place, store, tasks = Place(server={"auth": known()}), MemoryStore(), SlowTasks()
    store.tasks = tasks
    async with dispatcher_of(place.server).sharing(store), peer_of(place) as (peer, _):
        peer.say(request("1", "tools/call", {"name": "slow", "arguments": {}, "task": {}}))
        await tasks.asked.wait()
        peer.say(cancelled("1"))
        await peer.settles()
        tasks.may.set()
        statuses = list[str]()
        async with asyncio.timeout(10):
            while statuses != ["cancelled"]:
                listed = (await peer.asks("2", "tasks/list"))["result"]["tasks"]
                statuses = [task["status"] for task in listed]
        assert (place.tasks.running, place.log) == (0, [])


@pytest.mark.requirement("tasks.receiver.undeclared-plain")
async def test_a_server_without_tasks_answers_in_the_ordinary_way() -> None:
    async def main() -> None:
        server = Server("plain", "1")

        @server.tool
        async def word() -> str:
            return "word"

        async with connected(server, CORE) as peer:
            answer = await called(peer, "1", "word", {})
            assert answer["result"]["content"] == [{"type": "text", "text": "word"}]

    await main()
