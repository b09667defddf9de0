"""Tasks kept by a bridge: for clients of both eras, over HTTP, and in front of several servers.

A task of a client is the bridge's own, with an id of its own, and belongs to the principal that
began it. Behind it runs a call, or a task of the server, whose id no client learns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Unpack

from msgspec import structs

from mcp_runtime.bridge.ongoing import Ongoing
from mcp_runtime.client.client import Client
from mcp_runtime.client.options import RequestOptions
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.errors import SessionError
from mcp_runtime.extensions.tasks.client import ClientTasks, TaskHandle
from mcp_runtime.extensions.tasks.messages import with_extra
from mcp_runtime.extensions.tasks.server import Tasks, has_core_tasks
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import latest_calls
from mcp_runtime.server.context import Context
from mcp_runtime.server.methods import Handler


class KeptTasks:
    """The tasks which a bridge keeps for its clients by `tasks`, its extension in front."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks: Final = tasks
        self._behind: Final = ClientTasks()
        self.client_extensions: Final = (self._behind,)
        """Declared to each server behind, whose tasks the bridge polls."""

    async def begin(self, params: Any, ctx: Context, handler: Handler) -> Any:
        """Run a call as a task; return the answer to the call, in the client's era."""
        return await self._tasks.run_as_task(params, ctx, handler)

    def are_taken(self, ctx: Context) -> bool:
        """Return True if a client of the extension takes a task for the result of a call."""
        return self._tasks.identifier in ctx.extensions

    def is_own(self, method: str, result: Any) -> bool:
        """Return True if a server answered a request with a task."""
        return self._behind.is_own(method, result)

    async def follow(self, client: Client, ongoing: Ongoing, result: Any) -> t.CallToolResult:
        """Wait for the outcome of a server's task; cancel it if nobody waits for it any more.

        Raises as `TaskHandle.result` does.
        """
        handle = TaskHandle(_View(client, ongoing), result.task_id)
        try:
            return await handle.result(ongoing.report)
        except asyncio.CancelledError:
            with suppress(SessionError):
                await asyncio.shield(handle.cancel())
            raise

    # ---- the core's tasks

    def is_wanted(self, params: Any, ctx: Context) -> bool:
        """Return True for a call which a client of the core's tasks makes a task."""
        return "task" in params.extra_ and has_core_tasks(ctx)

    def without_wish(self, params: Any) -> Any:
        """Return the params of a call without the member that makes it a task of the core."""
        members = {name: each for name, each in t.to_wire(params).items() if name != "task"}
        return t.from_wire(t.CallToolRequestParams, members)

    def show_support(self, method: str, result: Any, ctx: Context) -> Any:
        """Return a page of tools which says to clients of the core's tasks that each may be one.

        Other results stay as they are.
        """
        if method != "tools/list" or not has_core_tasks(ctx):
            return result
        support = {"execution": {"taskSupport": "optional"}}
        return structs.replace(result, tools=[with_extra(tool, support) for tool in result.tools])


class _View:
    """A client of a server, whose questions go to the client of one request."""

    def __init__(self, client: Client, ongoing: Ongoing) -> None:
        self._client = client
        self._ongoing = ongoing

    @property
    def limits(self) -> Limits:
        return self._client.limits

    @property
    def calls(self) -> latest_calls.ClientCalls:
        return self._client.calls

    def meta(self) -> t.RequestMetaObject:
        return self._client.meta()

    async def request(self, method: str, params: Any, **options: Unpack[RequestOptions]) -> Any:
        return await self._client.request(method, params, **options)

    async def responses(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        return await self._ongoing.ask_each(requests, self._client.limits)

    def listen(
        self, *, more: Mapping[str, Sequence[str] | bool] | None = None
    ) -> AbstractAsyncContextManager[Subscription]:
        return self._client.listen(more=more)
