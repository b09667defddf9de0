"""Requests the bridge does not know, and tasks, are passed on between sides of one revision."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.bridge import Access, Bridge
from mcp_runtime.errors import NotOffered, RemoteError
from mcp_runtime.extensions.tasks.client import ClientTasks
from mcp_runtime.extensions.tasks.server import Tasks
from mcp_runtime.revisions import latest as t

REVISIONS: Final = ("2025-11-25", "2026-07-28")


def upstream(revision: str) -> Server:
    tasks = Tasks(poll_interval=0.1)
    server = Server("upstream", "1", revisions=[revision], extensions=[tasks])

    @server.tool(options=[tasks.optional])
    async def report(year: int, ctx: Context) -> str:
        return f"of {year}"

    @server.on("acme/do")
    async def do(params: Any, ctx: Context) -> Any:
        return {"done": params["what"]}

    return server


async def ask(client: Client, method: str, **params: Any) -> Any:
    """Send a request as JSON, and return the parsed result."""
    if client.revision == REVISIONS[1]:
        params["_meta"] = t.to_wire(client.meta())
    answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    client.connection.carry(method, json.dumps(params).encode(), answer)
    return json.loads(await answer)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_method_of_nobody_and_other_capabilities_are_passed_on(revision: str) -> None:
    bridge, direct = Bridge(upstream(revision)), Client(upstream(revision))
    async with Client(bridge.server, revisions=[revision]) as client, direct:
        others = {"tasks", "extensions"} & direct.server_capabilities.keys()
        assert others
        for name in others:
            assert client.server_capabilities[name] == direct.server_capabilities[name]
        assert (await ask(client, "acme/do", what=2.5))["done"] == 2.5
        with pytest.raises(RemoteError, match="Method not found: acme/none"):
            await ask(client, "acme/none")


async def test_a_task_of_the_handshake_era_is_begun_and_read_through_a_bridge() -> None:
    async with Client(Bridge(upstream(REVISIONS[0])).server, revisions=REVISIONS[:1]) as client:
        call = {"name": "report", "arguments": {"year": 1999}, "task": {"ttl": 60_000}}
        task = (await ask(client, "tools/call", **call))["task"]
        result = await ask(client, "tasks/result", taskId=task["taskId"])
        assert [block["text"] for block in result["content"]] == ["of 1999"]
        assert (await ask(client, "tasks/get", taskId=task["taskId"]))["status"] == "completed"
        with pytest.raises(RemoteError):
            await ask(client, "tasks/get", taskId="another")


async def test_a_task_of_the_extension_is_begun_and_read_through_a_bridge() -> None:
    received = list[bytes]()
    client = Client(
        Bridge(upstream(REVISIONS[1])).server,
        extensions=[ClientTasks()],
        trace=lambda _, data: received.append(data),
    )
    async with client:
        assert (await client.call_tool("report", {"year": 1999})).text == "of 1999"
    assert any(b'"resultType":"task"' in each for each in received)


async def test_nothing_is_passed_on_that_a_hook_or_another_revision_keeps_back() -> None:
    def allow(access: Access) -> bool:
        return access.kind == "tool"

    same = Bridge(upstream(REVISIONS[0]), allow=allow)
    several = Bridge({"a": upstream(REVISIONS[0]), "b": upstream(REVISIONS[0])})
    other = Bridge(upstream(REVISIONS[1]))
    for bridge in (same, several, other):
        async with Client(bridge.server, revisions=REVISIONS[:1]) as client:
            for method in ("acme/do", "tasks/list"):
                with pytest.raises((RemoteError, NotOffered), match=r"-32601|does not offer"):
                    await ask(client, method, what=1)
    async with Client(other.server, revisions=REVISIONS[:1]) as client:
        assert "tasks" not in client.server_capabilities
