"""A server whose tools become tasks, for tests; as a program it serves over stdio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.errors import RpcError
from mcp_runtime.extensions.tasks import ClientTasks, TaskHandle, Tasks
from mcp_runtime.revisions import latest as t
from tests.support.patience import until

FAST = 0.01


@dataclass
class Name:
    name: str


class Place:
    """A server of tasks, and what happened in its tools."""

    def __init__(
        self,
        limits: Limits | None = None,
        keys: Sequence[bytes] = (b"k" * 32,),
        server: Mapping[str, Any] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        self.tasks = Tasks(**{"poll_interval": FAST, **options})
        self.server = Server(
            "tasks", "1", extensions=[self.tasks], limits=limits or Limits(), keys=keys, **server
        )
        self.go = asyncio.Event()
        self.log: list[str] = []
        self._add_tools()

    def _add_tools(self) -> None:
        tool, tasks = self.server.tool, self.tasks

        @tool(options=[tasks.never])
        async def greet(name: str) -> str:
            return f"Hello, {name}!"

        @tool(options=[tasks.optional])
        async def slow(ctx: Context) -> str:
            await ctx.progress(1, 2, "half")
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.log.append("cancelled")
                raise
            return "done"

        @tool(options=[tasks.optional])
        async def twice(ctx: Context) -> str:
            first = await ctx.elicit("first?", Name)
            second = await ctx.elicit("second?", Name)
            return f"{first.content} {second.content}"

        @tool(options=[tasks.required])
        async def failing(kind: str) -> str:
            if kind == "cancelled":
                raise asyncio.CancelledError
            raise RpcError(-32050, "broken", {"why": 1}) if kind == "error" else ValueError("no")

        async def with_a_name(params: t.CallToolRequestParams, ctx: Context) -> bool:
            return (await ctx.elicit("name?", Name, key="name")).accepted

        @tool(options=[tasks.when(with_a_name)])
        async def named(ctx: Context) -> str:
            answer = await ctx.elicit("name?", Name, key="name")
            return f"{answer.content} in {'a task' if self.tasks.running else 'no task'}"

        @tool(options=[tasks.optional])
        async def large(size: int) -> str:
            return "x" * size

        @tool(options=[tasks.optional])
        def plain(word: str) -> str:
            return word * 2

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncGenerator[tuple[Client, ClientTasks]]:
        tasks = ClientTasks()
        given = {"extensions": [tasks], "on_elicit": self.elicit, **options}
        async with Client(self.server, **given) as client:
            yield client, tasks

    async def elicit(self, params: Any) -> t.ElicitResult:
        self.log.append(params.message)
        return t.ElicitResult(action="accept", content={"name": params.message})

    async def is_idle(self) -> None:
        await until(lambda: self.tasks.running == 0)


async def started(client: Client, tasks: ClientTasks, name: str, **arguments: Any) -> TaskHandle:
    handle = await tasks.start(client, name, arguments)
    assert isinstance(handle, TaskHandle)
    return handle


def text(result: t.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, t.TextContent)
    return block.text


async def working(client: Client, tasks: ClientTasks) -> TaskHandle:
    """A task of the tool `slow` whose handler has begun."""
    handle = await started(client, tasks, "slow")

    async def is_half_done() -> bool:
        return (await handle.state()).status_message == "half"

    await until(is_half_done)
    return handle


if __name__ == "__main__":
    Place().server.run()
