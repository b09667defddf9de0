"""The server's part of the extension Tasks, and the tasks of core revisions.

Source: the Tasks extension; 2025-11-25 basic/utilities/tasks.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from secrets import token_urlsafe
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

from msgspec import UNSET
from msgspec.structs import replace

import mcp_runtime.extensions.tasks.messages as messages
from mcp_runtime.auth.server.current import run_with_token, written_token
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.pending import Timeout
from mcp_runtime.core.terms.durations import in_seconds
from mcp_runtime.core.terms.role import SERVER, Role
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import RemoteError, RpcError, SessionError
from mcp_runtime.extensions.tasks.record import NAMES, Call, Record, add_answers, cancel, run_again
from mcp_runtime.extensions.tasks.running import Handler, RunningTask, TaskPeer
from mcp_runtime.extensions.tasks.table import TaskTable, fail_as_lost
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import Position, Revision, parse
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context, answers_so_far
from mcp_runtime.server.decorators import Decorators, dispatcher_of
from mcp_runtime.server.extension import ServerExtension
from mcp_runtime.server.registry import Features
from mcp_runtime.server.tool_option import ToolOption
from mcp_runtime.stores import Store, StoreUnavailable
from mcp_wire.ext.tasks.handlers_msgspec import calls
from mcp_wire.ext.tasks.handlers_msgspec import models as m

log: Final = logging.getLogger("mcp_runtime.tasks")

Decide: TypeAlias = Callable[[t.CallToolRequestParams, Context], Awaitable[bool]]
Support: TypeAlias = Literal["forbidden", "optional", "required"]
_MAX_TASKS_ON_PAGE: Final = 100
"""Each is read whole from its store."""
_ID_BYTES: Final = 24


class TaskOption(ToolOption):
    """True if the calls of a tool become tasks."""

    def __init__(self, tasks: Tasks, support: Support, decide: Decide | None = None) -> None:
        self._tasks = tasks
        self._support: Support = support
        self._decide = decide

    def show(self, tool: t.Tool, ctx: Context) -> t.Tool | None:
        if not has_core_tasks(ctx):
            return tool
        models = ctx.called.terms.translation.revision.models
        execution = models.to_wire(models.ToolExecution(task_support=self._support))
        return messages.with_extra(tool, {"execution": execution})

    async def call(self, params: t.CallToolRequestParams, ctx: Context, handler: Handler) -> Any:
        if isinstance(ctx.peer, TaskPeer):  # a task that is run again
            return await handler(params, ctx)
        if ctx.era == "handshake":
            return await self._call_of_core(params, ctx, handler)
        if self._support == "required":
            ctx.require_extension(self._tasks.identifier)
        is_task = self._support != "forbidden" and self._tasks.identifier in ctx.extensions
        if not is_task or (self._decide is not None and not await self._decide(params, ctx)):
            return await handler(params, ctx)
        return await self._tasks.run_as_task(params, ctx, handler)

    async def _call_of_core(
        self, params: t.CallToolRequestParams, ctx: Context, handler: Handler
    ) -> Any:
        wish = params.extra_.get("task", UNSET)
        is_task, can_be = wish is not UNSET and has_core_tasks(ctx), self._support
        if can_be == ("forbidden" if is_task else "required"):
            raise _misuse_error(params.name, "not" if is_task else "only")
        if not is_task:
            return await handler(params, ctx)
        return await self._tasks.run_as_task(params, ctx, handler)


class Reruns:
    """Which tasks may be run again, by the tools of this process."""

    def __init__(self, features: Features, limits: Limits, table: TaskTable) -> None:
        self._features: Final = features
        self._limits: Final = limits
        self._table: Final = table

    def call_of(self, params: t.CallToolRequestParams, ctx: Context) -> Call | None:
        """Return the data another process needs to run a call again; None if it may not."""
        if params.name not in self._features.reruns or not self._table.is_shared:
            return None
        if len(t.encode(params)) > self._limits.rerun_bytes:
            return None
        return Call(t.to_wire(params), written_token(), ctx.called.terms.token)

    def may_run(self, record: Record) -> bool:
        """Return True if a process with the tools of this one may run the task once more."""
        call = record.call
        if call is None or call.count >= self._limits.reruns:
            return False
        return call.params["name"] in self._features.reruns

    def recover(self, record: Record, now: float) -> Record:
        """Take over a task whose process died, if it may run again; otherwise mark it failed."""
        if not self.may_run(record):
            return fail_as_lost(record, now)
        return run_again(record, now, self._table.process)


def context_of(call: Call, ctx: Context) -> Context:
    """Return the context for running a call again; `ctx` is the context of the request for its
    task.
    """
    terms = replace(ctx.called.terms, token=call.progress_token)
    return Context(ctx.server, ctx.peer, Called(ctx.request_id, "tools/call", b"", terms))


class Tasks(ServerExtension):
    """Calls of tools that go on after their answer. Clients poll them.

        tasks = Tasks()
        server = Server("reports", "1.0.0", extensions=[tasks])

        @server.tool(options=[tasks.optional])
        async def report(year: int, ctx: Context) -> str: ...

    A task is kept for `ttl` seconds, and clients are asked to poll every `poll_interval` seconds.
    With `server.asgi(store=...)` tasks are in this store, else in the memory of the process.
    """

    kept: Mapping[str, Sequence[str]] = MappingProxyType({"tools/call": ("task",)})

    def __init__(self, *, ttl: float = 3600.0, poll_interval: float = 1.0) -> None:
        super().__init__(calls, names=NAMES)
        if not (ttl > 0 and poll_interval > 0):
            raise ValueError("ttl and poll_interval are numbers of seconds, more than 0")
        self.ttl: Final = ttl
        self.poll_interval: Final = poll_interval
        self.never: Final = TaskOption(self, "forbidden")
        self.optional: Final = TaskOption(self, "optional")
        self.required: Final = TaskOption(self, "required")
        self._running: dict[str, tuple[RunningTask, asyncio.Task[None]]] = {}
        self._lists = False

    def when(self, decide: Decide) -> TaskOption:
        """Return an option for a tool: the async `decide(params, ctx)` says if a call becomes a
        task.

        It may ask the client first. Clients of 2025-11-25 decide by themselves.
        """
        return TaskOption(self, "optional", decide)

    @property
    def running(self) -> int:
        """The number of tasks this process works on."""
        return len(self._running)

    # ---- what the server calls

    def attach(self, server: Decorators) -> None:
        self._dispatcher = dispatcher = dispatcher_of(server)
        self._lists = dispatcher.knows_clients
        self._table = TaskTable(
            dispatcher.limits,
            dispatcher.sealer,
            self._notify_subscribers,
            self._look_for_cancellation,
            self._running.__contains__,
        )
        self._reruns = Reruns(dispatcher.features, dispatcher.limits, self._table)
        handlers = {
            "tasks/get": self._get,
            "tasks/update": self._update,
            "tasks/cancel": self._cancel,
            "tasks/result": self._result,
            "tasks/list": self._list,
        }
        for method, handler in handlers.items():
            server.on(method)(handler)
        server.middleware(self._refuse_without_option)

    def serves_core(self, revision: Revision) -> bool:
        return _has_tasks(revision)

    def declared(
        self, role: Role, revision: Revision, *, anonymous: bool = False
    ) -> Mapping[str, Any]:
        if role != SERVER or not self.serves_core(revision):
            return super().declared(role, revision)
        lists: Mapping[str, Any] = {"list": {}} if self._lists and not anonymous else {}
        return {"tasks": {**lists, "cancel": {}, "requests": {"tools": {"call": {}}}}}

    def read(self, position: Position, method: str, raw: bytes) -> Any:
        is_update = (position, method) == ("params", "tasks/update")
        return messages.read_update(raw) if is_update else super().read(position, method, raw)

    @asynccontextmanager
    async def sharing(self, store: Store) -> AsyncGenerator[None]:
        async with self._table.sharing(store):
            try:
                yield
            finally:
                await self.close()

    async def close(self) -> None:
        """Cancel the tasks running here; they have failed, or another process runs them."""
        running = [*self._running.values()]
        for _, work in running:
            work.cancel()
        if running:
            await asyncio.wait(
                [work for _, work in running], timeout=self._dispatcher.limits.drain_wait
            )
        for task in (task for task, _ in running if not self._reruns.may_run(task.record)):
            with suppress(StoreUnavailable):
                await task.fail("the server has ended")

    def _notify_subscribers(self, owner: str, record: Record) -> None:
        """Notify the clients subscribed to the task."""
        params = messages.notice(record, self.poll_interval)
        log.info("task %s of %r: %s", record.id, owner, record.status)
        dispatcher = self._dispatcher
        dispatcher.publish("notifications/tasks", params, "taskIds", record.id, owner)

    def _look_for_cancellation(self, owner: str, id: str) -> None:
        """Look whether a task running here was cancelled."""
        if (running := self._running.get(id)) is not None:
            running[0].ctx.peer.spawn(self._stop_if_over(owner, id))

    async def _stop_if_over(self, owner: str, id: str) -> None:
        record = await self._table.find(owner, id)
        if record.status == "cancelled" and id in self._running:
            self._running[id][1].cancel()

    # ---- the life of a task

    async def run_as_task(self, params: Any, ctx: Context, handler: Handler) -> Any:
        """Run a call of a tool as a task; return the answer to the call, in the client's era."""
        if ctx.era == "per-request":
            record = await self.begin(params, ctx, handler, None)
            return messages.create_result(record, self.poll_interval)
        record = await self.begin(params, ctx, handler, _parse_wish(params.extra_.get("task")))
        task = messages.core_task(record, self.poll_interval)
        return _core(ctx, "CreateTaskResult", {"task": task})

    async def begin(
        self, params: Any, ctx: Context, handler: Handler, wish: float | None
    ) -> Record:
        """Store a new task and run it; `wish` is how long the client wants it kept."""
        now, most = time.time(), self._dispatcher.limits.task_ttl
        ttl = min(self.ttl if wish is None else wish, most)
        record = Record(token_urlsafe(_ID_BYTES), self._table.process, now, now, ttl)
        if (call := self._reruns.call_of(params, ctx)) is not None:
            record = replace(record, call=call, answers=dict(answers_so_far(ctx)))
        await self._table.add(ctx.principal, record)
        self._run(record, ctx, handler, params)
        return record

    def _run(self, record: Record, ctx: Context, handler: Handler, params: Any) -> None:
        task = RunningTask(self._table, ctx.principal, record, ctx)
        work = asyncio.create_task(task.work(handler, params), name=f"task {record.id}")
        self._running[record.id] = task, work
        work.add_done_callback(lambda _: self._running.pop(record.id, None))

    async def _find(self, params: Any, ctx: Context) -> Record:
        """Return a task. If its process died, this process takes it over, if the task may run
        again.
        """
        record = await self._table.find(ctx.principal, params.task_id, self._reruns.recover)
        is_ours = record.process == self._table.process and record.id not in self._running
        if is_ours and record.call is not None and record.call.count:
            run_with_token(record.call.token, partial(self._run_again, record, record.call, ctx))
        return record

    def _run_again(self, record: Record, call: Call, ctx: Context) -> None:
        params = t.from_wire(t.CallToolRequestParams, call.params)
        handler = partial(self._dispatcher.handle, "tools/call")
        self._run(record, context_of(call, ctx), handler, params)

    async def _refuse_without_option(
        self, method: str, params: Any, ctx: Context, handler: Handler
    ) -> Any:
        """A middleware: a tool without an option of tasks is not called as a task of the core."""
        is_task = method == "tools/call" and "task" in params.extra_ and has_core_tasks(ctx)
        if is_task and self._lacks_option(params.name):
            raise _misuse_error(params.name, "not")
        return await handler(params, ctx)

    def _lacks_option(self, tool: str) -> bool:
        features = self._dispatcher.features
        options = features.options.get(tool, ())
        return features.tools.get(tool) is not None and not any(
            isinstance(option, TaskOption) for option in options
        )

    # ---- methods

    async def _get(self, params: Any, ctx: Context) -> Any:
        self._require(ctx)
        record = await self._find(params, ctx)
        if ctx.era == "handshake":
            return _core(ctx, "GetTaskResult", messages.core_task(record, self.poll_interval))
        return messages.get_result(record, self.poll_interval)

    async def _update(self, params: messages.Update, ctx: Context) -> m.UpdateTaskResult:
        record, responses = await self._find(params, ctx), params.responses
        for key in responses.keys() & record.requests.keys():
            messages.require_answer(record.requests[key]["method"], responses[key])
        await self._table.apply(ctx.principal, record.id, partial(add_answers, responses=responses))
        return m.UpdateTaskResult()

    async def _cancel(self, params: Any, ctx: Context) -> Any:
        self._require(ctx)
        record = await self._table.find(ctx.principal, params.task_id)
        is_core = ctx.era == "handshake"
        if is_core and record.is_over:
            raise RpcError(error_codes.INVALID_PARAMS, f"the task is {record.status} already")
        record = await self._table.apply(ctx.principal, record.id, cancel)
        if is_core:
            return _core(ctx, "CancelTaskResult", messages.core_task(record, self.poll_interval))
        return m.CancelTaskResult()

    async def _list(self, params: Any, ctx: Context) -> Any:
        _require_core(ctx)
        if not self._lists or ctx.peer.is_anonymous:
            why = "Method not found: tasks/list needs clients that authenticate"
            raise RpcError(error_codes.METHOD_NOT_FOUND, why)
        cursor = UNSET if params is UNSET else params.cursor
        after = None if cursor is UNSET else cursor
        size = min(self._dispatcher.limits.page_size, _MAX_TASKS_ON_PAGE)
        page, more = await self._table.page(ctx.principal, after, size)
        body: dict[str, Any] = {
            "tasks": [messages.core_task(record, self.poll_interval) for record in page]
        }
        return _core(ctx, "ListTasksResult", body | ({"nextCursor": more} if more else {}))

    async def _result(self, params: Any, ctx: Context) -> Any:
        """Wait until a task of the core is over, and ask the client meanwhile."""
        _require_core(ctx)
        questions: dict[str, asyncio.Task[None]] = {}
        try:
            with self._table.watching(params.task_id) as changed:
                while not (record := await self._find(params, ctx)).is_over:
                    for key in record.requests.keys() - questions.keys():
                        asking = self._ask(ctx, record.id, key, record.requests[key])
                        questions[key] = asyncio.create_task(asking)
                    await changed()
        finally:
            for question in questions.values():
                question.cancel()
        return self._outcome(record, ctx)

    def _outcome(self, record: Record, ctx: Context) -> Any:
        if record.result is None:
            error = record.error or {
                "code": error_codes.INTERNAL_ERROR,
                "message": "the task was cancelled",
            }
            raise RpcError(error["code"], error["message"], error.get("data"))
        translation = ctx.called.terms.translation
        raw = translation.write(
            "result", "tools/call", t.from_wire(t.CallToolResult, record.result)
        )
        body = messages.name_task(parse(raw), record.id)
        return _core(ctx, "GetTaskPayloadResult", body)

    async def _ask(self, ctx: Context, id: str, key: str, wire: Mapping[str, Any]) -> None:
        """Ask the client of a task of the core a question of the handler."""
        request, timeout = messages.request_of(wire, id), Timeout(self._dispatcher.limits.total)
        try:
            answer = await ctx.peer.request(
                request.method, request.params, timeout=timeout, about=ctx.request_id
            )
            response = t.to_wire(answer)
        except RemoteError as error:
            response = {"error": {"code": error.code, "message": error.message}}
        except SessionError as error:
            response = {"error": {"code": error_codes.INTERNAL_ERROR, "message": str(error)}}
        await self._table.apply(ctx.principal, id, partial(add_answers, responses={key: response}))

    def _require(self, ctx: Context) -> None:
        if ctx.era == "handshake":
            _require_core(ctx)


def has_core_tasks(ctx: Context) -> bool:
    """Return True if the client's revision has tasks of its own."""
    return _has_tasks(ctx.called.terms.translation.revision)


def _has_tasks(revision: Revision) -> bool:
    return "tasks/list" in revision.methods


def _misuse_error(tool: str, rule: Literal["not", "only"]) -> RpcError:
    """Return the error for a tool which must not, or must only, be called as a task.

    Source: 2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation".
    """
    why = f"the tool {tool[:200]} is {rule} called as a task"
    return RpcError(error_codes.METHOD_NOT_FOUND, why)


def _require_core(ctx: Context) -> None:
    if not has_core_tasks(ctx):
        raise rpc_errors.method_not_found(ctx.method)


def _core(ctx: Context, name: str, body: dict[str, Any]) -> Any:
    """A model of the client's own revision."""
    models: Any = ctx.called.terms.translation.revision.models
    return models.from_wire(getattr(models, name), body)


def _parse_wish(wish: Any) -> float | None:
    """Seconds. Raises RpcError."""
    ttl = cast("dict[str, Any]", wish).get("ttl", UNSET) if isinstance(wish, dict) else None
    if ttl is UNSET:
        return None
    if (seconds := in_seconds(ttl)) is None or not seconds > 0:
        raise rpc_errors.invalid_params("`task.ttl` is a number of milliseconds, more than 0")
    return seconds
