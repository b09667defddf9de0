"""A bridge that keeps tasks: between eras, over HTTP, for several servers and principals."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.bridge import Bridge, Crossing
from mcp_runtime.errors import RemoteError, ToolError
from mcp_runtime.extensions.tasks import ClientTasks, Tasks
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from tests.runtime.bridge.test_passed_on import ask
from tests.support import asgi_client
from tests.support.asgi_client import serving
from tests.support.virtual_time import elapse

CORE, EXTENSION = "2025-11-25", "2026-07-28"
IDENTIFIER: Final = "io.modelcontextprotocol/tasks"
SERVERS: Final = [
    (ALL[0], False),
    (CORE, False),
    (CORE, True),
    (EXTENSION, False),
    (EXTENSION, True),
]
"""The revision of the server behind, and whether it has tasks."""


class Origin:
    """A server with tools that take their time; `cancelled` is set when one is cancelled."""

    def __init__(self, revision: str, *, has_tasks: bool = False) -> None:
        self.cancelled = asyncio.Event()
        tasks = Tasks(poll_interval=0.1)
        extensions = [tasks] if has_tasks else []
        self.server = Server("origin", "1", revisions=[revision], extensions=extensions)
        options = [tasks.optional] if has_tasks else []

        @self.server.tool(options=options)
        async def report(year: int, ctx: Context) -> str:
            await ctx.progress(1, 2, "half")
            await elapse(1.0)
            return f"of {year}"

        @self.server.tool(options=options)
        async def book(ctx: Context) -> str:
            answer = await ctx.elicit("Sure?", bool)
            return f"{answer.content}"

        @self.server.tool(options=options)
        async def fail() -> str:
            raise ToolError("no luck")

        @self.server.tool(options=options)
        async def wait() -> str:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
            return ""


async def agree(question: Any) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={"value": True})


@pytest.mark.parametrize(("revision", "has_tasks"), SERVERS)
async def test_a_client_of_the_cores_tasks_has_them_in_front_of_any_server(
    revision: str, has_tasks: bool
) -> None:
    origin = Origin(revision, has_tasks=has_tasks)
    servers, seen = {"a": origin.server, "b": Server("b", "1")}, list[Crossing]()
    bridge = Bridge(servers, tasks=Tasks(poll_interval=0.1), observe=seen.append)
    async with Client(bridge.server, revisions=[CORE], on_elicit=agree) as client:

        async def outcome(tool: str, **arguments: Any) -> tuple[str, Any]:
            call = {"name": f"a_{tool}", "arguments": arguments, "task": {"ttl": 60_000}}
            task = (await ask(client, "tools/call", **call))["task"]
            result = await ask(client, "tasks/result", taskId=task["taskId"])
            state = await ask(client, "tasks/get", taskId=task["taskId"])
            return state["status"], result["content"][0]["text"]

        assert client.server_capabilities["tasks"]["requests"] == {"tools": {"call": {}}}
        tools = (await ask(client, "tools/list"))["tools"]
        assert {tool["execution"]["taskSupport"] for tool in tools} == {"optional"}
        assert await outcome("report", year=1999) == ("completed", "of 1999")
        assert await outcome("fail") == ("failed", "no luck")
        if revision not in (ALL[0],):
            assert await outcome("book") == ("completed", "True")
        calls = [each for each in seen if each.method == "tools/call"]
        assert {loss.path for each in calls for loss in each.losses} == {"$.task"}
        assert (await client.call_tool("a_report", {"year": 2000})).text == "of 2000"
        call: dict[str, Any] = {"name": "a_wait", "arguments": {}, "task": {}}
        task = (await ask(client, "tools/call", **call))["task"]
        await elapse(1.0)
        await ask(client, "tasks/cancel", taskId=task["taskId"])
        await origin.cancelled.wait()


@pytest.mark.parametrize(("revision", "has_tasks"), SERVERS)
async def test_a_client_of_the_extension_has_the_tasks_of_a_server_that_makes_them(
    revision: str, has_tasks: bool
) -> None:
    origin, received = Origin(revision, has_tasks=has_tasks), list[bytes]()
    bridge = Bridge({"a": origin.server, "b": Server("b", "1")}, tasks=Tasks(poll_interval=0.1))
    client = Client(
        bridge.server,
        extensions=[ClientTasks()],
        on_elicit=agree,
        trace=lambda _, data: received.append(data),
    )
    async with client:
        assert (await client.call_tool("a_report", {"year": 1999})).text == "of 1999"
        assert (await client.call_tool("a_fail")).is_error
        if revision != ALL[0]:
            assert (await client.call_tool("a_book")).text == "True"
        waiting = asyncio.create_task(client.call_tool("a_wait"))
        await elapse(1.0)
        waiting.cancel()
        await origin.cancelled.wait()
    is_task = any(b'"resultType":"task"' in each for each in received)
    assert is_task == (revision == EXTENSION and has_tasks)


async def test_a_client_without_tasks_waits_for_those_of_a_server() -> None:
    origin = Origin(EXTENSION, has_tasks=True)
    for spoken in (ALL[0], EXTENSION):
        bridge = Bridge(origin.server, tasks=Tasks())
        async with Client(bridge.server, revisions=[spoken]) as client:
            assert (await client.call_tool("report", {"year": 1999})).text == "of 1999"


async def test_over_http_a_task_belongs_to_the_principal_that_began_it() -> None:
    origins = {name: Origin(EXTENSION, has_tasks=True).server for name in ("a", "b")}
    bridge = Bridge(origins, tasks=Tasks(poll_interval=0.1))
    declared: dict[str, Any] = {"extensions": {IDENTIFIER: {}}}

    def principal(scope: Any) -> str:
        return str(dict(scope["headers"])[b"x-user"])

    async with serving(bridge.server, principal=principal) as client:

        async def tell(method: str, user: str, **params: Any) -> Any:
            said = asgi_client.request(method, params, capabilities=declared)
            name = str(params.get("taskId", params.get("name")))
            headers = {**asgi_client.mirrors(said), "Mcp-Name": name, "X-User": user}
            return (await client.post(said, headers).until_over()).json

        ids = dict[str, str]()
        for name in origins:
            call = {"name": f"{name}_report", "arguments": {"year": 1999}}
            begun = (await tell("tools/call", "ada", **call))["result"]
            assert begun["resultType"] == "task"
            ids[name] = begun["taskId"]
        assert len(set(ids.values())) == 2
        for id in ids.values():
            for method in ("tasks/get", "tasks/cancel"):
                refusal = (await tell(method, "bob", taskId=id))["error"]
                assert refusal["message"] == f"Unknown task: {id}"
        await elapse(2.0)
        for id in ids.values():
            state = (await tell("tasks/get", "ada", taskId=id))["result"]
            assert state["status"] == "completed"
            assert state["result"]["content"][0]["text"] == "of 1999"


async def test_tasks_that_are_kept_are_not_passed_on_to_a_server_that_has_others() -> None:
    origin = Origin(CORE, has_tasks=True)
    direct, bridge = Client(origin.server), Bridge(origin.server, tasks=Tasks())
    call = {"name": "report", "arguments": {"year": 1999}, "task": {}}
    async with direct, Client(bridge.server, revisions=[CORE]) as client:
        of_another = (await ask(direct, "tools/call", **call))["task"]["taskId"]
        with pytest.raises(RemoteError, match="Unknown task"):
            await ask(client, "tasks/get", taskId=of_another)
        ours = (await ask(client, "tools/call", **call))["task"]["taskId"]
        with pytest.raises(RemoteError, match="Unknown task"):
            await ask(direct, "tasks/get", taskId=ours)


async def test_a_tool_that_must_be_called_as_a_task_of_the_core_is_refused() -> None:
    """A loss told by docs/BRIDGE.md: a server of that revision gets plain calls."""
    for revision, outcome in ((CORE, "is only called as a task"), (EXTENSION, "done")):
        tasks = Tasks(poll_interval=0.1)
        server = Server("origin", "1", revisions=[revision], extensions=[tasks])
        server.tool(name="must", options=[tasks.required])(lambda: "done")
        bridge = Bridge(server, tasks=Tasks(poll_interval=0.1))
        async with Client(bridge.server, revisions=[CORE]) as client:
            try:
                result = (await client.call_tool("must")).text
            except RemoteError as error:
                result = str(error)
            assert outcome in result
