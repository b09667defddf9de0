"""Runs the handler of a task beside the request that began the task."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.pending import Timeout
from mcp_runtime.core.session.request_state import InputRequests
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import NotOffered, NotOpen, RemoteError, RpcError, TimedOut, TooMuch
from mcp_runtime.extensions.tasks.record import (
    Record,
    add_question,
    add_report,
    end,
    withdraw_question,
)
from mcp_runtime.extensions.tasks.table import TaskTable
from mcp_runtime.revisions import EncodeError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context, answers_so_far
from mcp_runtime.server.peer import Peer
from mcp_runtime.server.rules import Rules, Switch
from mcp_runtime.shared.failures import record_failure
from mcp_runtime.shared.places import Room
from mcp_runtime.shared.runner import ends_the_task
from mcp_runtime.stores import StoreUnavailable

log: Final = logging.getLogger("mcp_runtime.tasks")

Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
_AGAIN: Final = 1.0
"""Seconds until an outcome is stored again after the store refused it."""


class RunningTask:
    """One task this process works on; `work` runs it."""

    def __init__(self, table: TaskTable, owner: str, record: Record, ctx: Context) -> None:
        self._table = table
        self._owner = owner
        self.record: Final = record
        self._inputs = InputRequests(dict(answers_so_far(ctx)))
        reported = -math.inf if record.call is None else record.call.progress
        peer = TaskPeer(ctx.peer, self._report, reported)
        self.ctx: Final = Context(ctx.server, peer, ctx.called, asker=self)

    async def work(self, handler: Handler, params: Any) -> None:
        """Run the handler and store its result or exception, as long as the task is kept."""
        record = self.record
        try:
            async with asyncio.timeout(record.seconds_to_keep(time.time())):
                await self._end(await self._outcome(handler, params))
        except TimeoutError:
            log.info("task %s is over: its time has passed", record.id)

    async def _outcome(self, handler: Handler, params: Any) -> dict[str, Any]:
        try:
            result = t.to_wire(await handler(params, self.ctx))
        except RpcError as error:
            return _failure(error.code, error.message, error.data)
        except NotOffered as error:
            missing = rpc_errors.missing_capability(error)
            return _failure(missing.code, missing.message, missing.data)
        except asyncio.CancelledError as error:
            if ends_the_task(error):
                raise
            why = "Internal error: the handler awaited what was cancelled"
            return _failure(error_codes.INTERNAL_ERROR, why)
        except Exception as error:
            reference = record_failure(log, f"task {self.record.id} failed", error)
            return _failure(error_codes.INTERNAL_ERROR, f"Internal error (reference {reference})")
        return {"status": "completed", "result": result}

    async def _end(self, outcome: dict[str, Any]) -> None:
        while True:
            try:
                await self._change(partial(end, **outcome))
                return
            except StoreUnavailable as error:
                log.warning("the outcome of task %s waits: %s", self.record.id, error)
                await asyncio.sleep(_AGAIN)
            except TooMuch as error:
                outcome = _failure(error_codes.INTERNAL_ERROR, str(error))
            except EncodeError as error:
                outcome = _failure(error_codes.INTERNAL_ERROR, f"Internal error: {error}")

    async def fail(self, why: str) -> None:
        """End the task from outside."""
        await self._change(partial(end, **_failure(error_codes.INTERNAL_ERROR, why)))

    async def _change(self, step: Callable[[Record, float], Record]) -> Record | None:
        return await self._table.change(self._owner, self.record.id, step)

    async def _report(self, message: str, progress: float) -> bool:
        """Return True if the task still goes on."""
        record = await self._change(partial(add_report, message=message, progress=progress))
        return record is not None and not record.is_over

    # ---- questions

    @property
    def answers(self) -> Mapping[str, Any]:
        """The client's answers so far, by key."""
        return self._inputs.answers

    async def ask(self, request: Any, key: str | None, timeout: float | None) -> Any:
        """Return the client's answer to a question, which it finds when it asks how the task
        stands.
        """
        key = self._inputs.key(request, key)
        if (answer := self._inputs.answer(key, request)) is not None:
            return answer
        seconds = self.record.ttl if timeout is None else timeout
        try:
            async with asyncio.timeout(seconds):
                wire = await self._answer_to(key, t.to_wire(request))
        except TimeoutError:
            await self._change(partial(withdraw_question, key=key))
            raise TimedOut(request.method, seconds) from None
        self._inputs.answers[key] = wire
        if (answer := self._inputs.answer(key, request)) is None:
            raise RemoteError(**wire["error"])
        return answer

    async def _answer_to(self, key: str, request: dict[str, Any]) -> Any:
        with self._table.watching(self.record.id) as changed:
            record = await self._change(partial(add_question, key=key, request=request))
            while record is not None and key not in record.answers:
                if record.is_over:
                    break
                await changed()
                record = await self._change(_keep_as_is)
        if record is None or record.is_over:
            raise asyncio.CancelledError
        return record.answers[key]


class TaskPeer:
    """The client of a task whose request was answered: messages about the request are dropped."""

    roots: list[t.Root] | None = None
    root_changes = 0

    def __init__(
        self, peer: Peer, report: Callable[[str, float], Awaitable[bool]], progress: float
    ) -> None:
        self.loop: AbstractEventLoop = peer.loop
        self.principal, self.is_anonymous = peer.principal, peer.is_anonymous
        self._peer = peer
        self._report = report
        self._progress = progress

    @property
    def rules(self) -> Rules:
        return self._peer.rules

    @property
    def thread_room(self) -> Room:
        return self._peer.thread_room

    async def log(self, called: Called, level: str, data: Any, logger: str | None) -> None:
        """Send nothing: log messages belong to a request, and the task's request was answered."""

    def log_at_once(self, called: Called, level: str, data: Any, logger: str | None) -> bool:
        """Send nothing, as `log`."""
        return False

    async def report(
        self, called: Called, progress: float, total: float | None, message: str | None
    ) -> None:
        """Make progress the task's message; in the handshake era notifies the client, too."""
        if not progress > self._progress:
            return
        self._progress = progress
        text, terms = message or _percent(progress, total), called.terms
        goes_on = await self._report(text, progress)
        if goes_on and terms.token is not None and terms.translation.revision.era == "handshake":
            params = t.ProgressNotificationParams(
                progress_token=terms.token,
                progress=progress,
                total=UNSET if total is None else total,
                message=UNSET if message is None else message,
            )
            with suppress(NotOpen):  # the task goes on without its session
                await self.notify("notifications/progress", params)

    async def notify(self, method: str, params: Any) -> None:
        await self._peer.notify(method, params)

    async def notify_about(self, called: Called, method: str, params: Any) -> None:
        """Send a notification about the task's request, which was answered long ago."""
        await self.notify(method, params)

    async def request(self, method: str, params: Any, *, timeout: Timeout, about: Id | None) -> Any:
        return await self._peer.request(method, params, timeout=timeout, about=None)

    async def switch(self, switch: Switch) -> None:
        await self._peer.switch(switch)

    def forgives(self, name: str) -> bool:
        return self._peer.forgives(name)

    def forgive(self, name: str, what: str) -> None:
        self._peer.forgive(name, what)

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        self._peer.spawn(work)

    def on_end(self, callback: Callable[[], object]) -> None:
        self._peer.on_end(callback)

    def interrupt(self, id: Id, retry: int) -> None:
        """Do nothing: the response was sent already."""


def _percent(progress: float, total: float | None) -> str:
    return f"{progress:g}" if total is None else f"{progress:g} of {total:g}"


def _keep_as_is(record: Record, now: float) -> Record:
    return record


def _failure(code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"status": "failed", "message": message, "error": error}
