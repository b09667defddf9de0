"""The client's part of the extension Tasks: waits for the outcome of a call that became a task.

Source: the Tasks extension, "Polling" and "Input Required".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Unpack

from msgspec import UNSET

from mcp_runtime.client.extension import ClientExtension, ClientView
from mcp_runtime.client.options import RequestOptions
from mcp_runtime.client.progress import ProgressCalls
from mcp_runtime.core.terms.durations import in_seconds
from mcp_runtime.errors import BadAnswer, PeerError, RemoteError, SessionError, TimedOut
from mcp_runtime.extensions.tasks.record import NAMES
from mcp_runtime.revisions import DecodeError
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import OnProgress
from mcp_wire.ext.tasks.handlers_msgspec import calls
from mcp_wire.ext.tasks.handlers_msgspec import models as m

_FIRST_POLL: Final = 0.05
"""Seconds to the first poll where the server names no interval; it doubles with each."""
_SHORTEST: Final = 0.01
_LONGEST: Final = 30.0
"""Bounds of the interval between polls, in seconds, whatever the server names."""


class TaskCancelled(PeerError):
    """The task was cancelled before it had a result."""


class TaskHandle:
    """A task a server works on. `id` is a secret: whoever has it can read the task."""

    def __init__(self, client: ClientView, id: str) -> None:
        self.id: Final = id
        self._client = client
        self._polls = 0
        self._answered: set[str] = set()

    async def state(self) -> m.GetTaskResult:
        """Return the present state of the task. Raises RemoteError for a task the server does not
        know.
        """
        params = m.GetTaskRequestParams(task_id=self.id, meta=self._client.meta())
        state: m.GetTaskResult = await self._client.request("tasks/get", params)
        return state

    async def result(self, on_progress: OnProgress | None = None) -> t.CallToolResult:
        """Return the result of the tool; the client's callbacks answer the questions of the task.

        `on_progress` gets the number of polls, and the task's status message. Raises RemoteError
        for the error the task ended in, TaskCancelled.
        """
        if on_progress is None:
            return await self._poll(None)
        async with ProgressCalls(on_progress, self._client.limits) as called:
            return await self._poll(called)

    async def _poll(self, on_progress: OnProgress | None) -> t.CallToolResult:
        while True:
            state = await self.state()
            self._polls += 1
            if on_progress is not None and isinstance(state.status_message, str):
                on_progress(self._polls, None, state.status_message)
            if isinstance(state, m.GetTaskResultCompleted):
                return _result(state.result)
            if isinstance(state, m.GetTaskResultFailed):
                error = state.error
                raise RemoteError(int(error.code), error.message, _data(error.data))
            if isinstance(state, m.GetTaskResultCancelled):
                raise TaskCancelled(f"task {self.id} was cancelled")
            if not (isinstance(state, m.GetTaskResultInputRequired) and await self._answer(state)):
                await asyncio.sleep(self._pause(state.poll_interval_ms))

    async def _answer(self, state: m.GetTaskResultInputRequired) -> bool:
        """Answer each question once; return True if there was a new one."""
        requests = state.input_requests
        new = {key: requests[key] for key in requests if key not in self._answered}
        if new:
            self._answered |= new.keys()
            await self.update(await self._client.responses(new))
        return bool(new)

    async def update(self, responses: Mapping[str, Any]) -> None:
        """Answer the questions of the task, by the keys of `state().input_requests`."""
        params = m.UpdateTaskRequestParams(
            task_id=self.id, input_responses=dict(responses), meta=self._client.meta()
        )
        await self._client.request("tasks/update", params)

    async def cancel(self) -> None:
        """Ask the server to stop the task; an ended task stays as it is."""
        params = m.CancelTaskRequestParams(task_id=self.id, meta=self._client.meta())
        await self._client.request("tasks/cancel", params)

    def _pause(self, interval: object) -> float:
        """Return the seconds to wait for the next poll; `interval` is the server's wish, in
        milliseconds.
        """
        if (seconds := in_seconds(interval)) is not None:
            return min(max(seconds, _SHORTEST), _LONGEST)
        doubled: float = _FIRST_POLL * 2 ** min(self._polls, 16)
        return min(doubled, _LONGEST)


class ClientTasks(ClientExtension):
    """Makes `Client.call_tool` return the result of a tool whether or not it became a task.

        client = Client(server, extensions=[ClientTasks()])

    The task is cancelled when its caller is cancelled, or when the call's timeout is over.
    """

    def __init__(self) -> None:
        super().__init__(calls, names=NAMES)

    async def start(
        self, client: ClientView, name: str, arguments: Mapping[str, Any] | None = None
    ) -> TaskHandle | t.CallToolResult:
        """Call a tool, and return a handle if the call has become a task, else the result.

        Raises as `Client.request` does.
        """
        params = t.CallToolRequestParams(
            name=name, arguments=dict(arguments or {}), meta=client.meta()
        )
        result = await client.request("tools/call", params)
        if isinstance(result, m.CreateTaskResult):
            return TaskHandle(client, result.task_id)
        final: t.CallToolResult = result
        return final

    async def finish(
        self,
        client: ClientView,
        params: t.CallToolRequestParams,
        result: Any,
        **options: Unpack[RequestOptions],
    ) -> t.CallToolResult:
        timeout = options.get("timeout")
        handle = TaskHandle(client, result.task_id)
        try:
            async with asyncio.timeout(timeout):
                return await handle.result(options.get("on_progress"))
        except (RemoteError, TaskCancelled):
            raise
        except TimeoutError:
            await _cancel(handle)
            raise TimedOut("tools/call", timeout or 0.0) from None
        except BaseException:
            await asyncio.shield(_cancel(handle))
            raise


async def _cancel(handle: TaskHandle) -> None:
    with suppress(SessionError):
        await handle.cancel()


def _result(wire: Mapping[str, Any]) -> t.CallToolResult:
    try:
        return t.from_wire(t.CallToolResult, wire)
    except DecodeError as error:
        raise BadAnswer(f"tasks/get: the result of the tool: {error}") from None


def _data(data: object) -> object:
    return None if data is UNSET else data
