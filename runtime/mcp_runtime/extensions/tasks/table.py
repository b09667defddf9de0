"""The tasks of a server, in a store shared by its processes."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from heapq import nsmallest
from typing import Final

import msgspec

from mcp_runtime.core.session.request_state import StateSealer
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import RpcError, TooMuch
from mcp_runtime.extensions.tasks.record import Record, cancel, end
from mcp_runtime.limits import Limits
from mcp_runtime.stores import Leases, Store, StoreUnavailable, TaskStore, TooManyTasks
from mcp_runtime.stores.memory import MemoryTasks

log: Final = logging.getLogger("mcp_runtime.tasks")

_TOPIC: Final = "tasks"
_TRIES: Final = 16
"""How often a change is tried anew because another process was faster."""
_AT_ONCE: Final = 8
"""The part of an owner's ended tasks that makes room at one time, as a divisor: finding the oldest
takes reading all."""
_RENEWALS: Final = 3
"""How often within its time a lease is renewed, and how often a watched task is read again in case
no change was reported.
"""
_ID_CHARS: Final = 64
"""A longer id is not one of ours."""
_LOST: Final = "the process that ran the task is gone"
_record: Final = msgspec.json.Decoder(Record)


def fail_as_lost(record: Record, now: float) -> Record:
    """Return the record of a task whose process died: the task has failed."""
    error = {"code": error_codes.INTERNAL_ERROR, "message": _LOST}
    return end(record, now, "failed", message=_LOST, error=error)


class TaskTable:
    """The tasks of one server, by owner and id.

    `changed` is called in the process that has changed a task, `touched` in every process. `runs`
    says if this process works on a task.
    """

    def __init__(
        self,
        limits: Limits,
        sealer: StateSealer,
        changed: Callable[[str, Record], None],
        touched: Callable[[str, str], None],
        runs: Callable[[str], bool],
    ) -> None:
        self.process = ""
        """The name of this process among the processes sharing tasks; chosen late, since a process
        may fork.
        """
        self.limits: Final = limits
        self._sealer = sealer
        self._changed = changed
        self._touched = touched
        self._runs = runs
        self._stores: list[Store] = []
        """The stores of the server's applications that share the tasks."""
        self._own_tasks = MemoryTasks(limits)
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._cancelling: set[asyncio.Task[None]] = set()

    @property
    def is_shared(self) -> bool:
        return self._shared_store is not None

    @property
    def _shared_store(self) -> Store | None:
        return self._stores[-1] if self._stores else None

    @property
    def _tasks(self) -> TaskStore:
        return self._own_tasks if self._shared_store is None else self._shared_store.tasks

    # ---- reading

    async def find(
        self, owner: str, id: str, if_lost: Callable[[Record, float], Record] = fail_as_lost
    ) -> Record:
        """Return a task of an owner. Raises RpcError if it does not exist, or the store cannot be
        reached.

        `if_lost` changes a task whose process died; by default the task has failed.
        """
        with _reaching():
            record = await self._read(owner, id)
            if record is None:
                raise unknown_task(id)
            if record.is_over or await self._lives(record):
                return record
            log.warning("the process that ran task %s is gone", id)
            step = partial(_step_unless_elsewhere, run=record.run, step=if_lost)
            after = await self.change(owner, id, step)
            return record if after is None else after

    async def page(
        self, owner: str, after: str | None, most: int
    ) -> tuple[list[Record], str | None]:
        """One page of an owner's tasks, and the cursor of the next. Raises RpcError."""
        with _reaching():
            ids = list(await self._tasks.ids(owner))
            if after is not None and after not in ids:
                raise rpc_errors.invalid_params("unknown cursor")
            start = 0 if after is None else ids.index(after) + 1
            page = ids[start : start + most]
            records = await asyncio.gather(*(self._read(owner, id) for id in page))
        next = page[-1] if start + most < len(ids) else None
        return [record for record in records if record is not None], next

    async def _read(self, owner: str, id: str) -> Record | None:
        kept = await self._tasks.get(owner, id) if len(id) <= _ID_CHARS else None
        return None if kept is None else self._open_record(owner, id, kept.record)

    async def _lives(self, record: Record) -> bool:
        """Return True if a process works on the task. One of ours was lost if we never heard of
        it.
        """
        if self._shared_store is None:
            return True
        if record.process == self.process:
            return record.call is None or self._runs(record.id)
        return await self._shared_store.leases.is_held(_lease(record.process))

    # ---- writing

    async def add(self, owner: str, record: Record) -> None:
        """Raise RpcError if the owner has too many, or the store cannot be reached.

        If the caller is cancelled meanwhile, so is the task.
        """
        adding = asyncio.create_task(self._add(owner, record))
        try:
            with _reaching():
                await asyncio.shield(adding)
        except asyncio.CancelledError:
            work = asyncio.create_task(self._cancel_added(owner, record.id, adding))
            self._cancelling.add(work)
            work.add_done_callback(self._cancelling.discard)
            raise
        except TooManyTasks:
            why = f"busy: {self.limits.tasks} tasks are not over yet (Limits.tasks)"
            raise RpcError(error_codes.BUSY, why) from None

    async def _add(self, owner: str, record: Record) -> bool:
        """Add a task to the store; a task that is over makes room for it."""
        try:
            return await self._put(owner, record, 0)
        except TooManyTasks:
            if not await self._forget_ended(owner):
                raise
            return await self._put(owner, record, 0)

    async def _forget_ended(self, owner: str) -> bool:
        """Forget the oldest ended tasks; return True if there were any."""
        over: list[tuple[float, str, int]] = []
        for id in await self._tasks.ids(owner):
            kept = await self._tasks.get(owner, id)
            record = None if kept is None else self._open_record(owner, id, kept.record)
            if kept is not None and record is not None and record.is_over:
                over.append((record.updated, id, kept.version))
        for _, id, version in nsmallest(1 + len(over) // _AT_ONCE, over):
            await self._tasks.put(owner, id, b"", version, 0)
        return bool(over)

    async def _cancel_added(self, owner: str, id: str, adding: asyncio.Task[bool]) -> None:
        with suppress(TooManyTasks, TooMuch, StoreUnavailable):
            await adding
            await self.change(owner, id, cancel)

    async def apply(self, owner: str, id: str, step: Callable[[Record, float], Record]) -> Record:
        """Change a task by `step`, for a request, as `change` does. Raises RpcError."""
        with _reaching():
            record = await self.change(owner, id, step)
        if record is None:
            raise unknown_task(id)
        return record

    async def change(
        self, owner: str, id: str, step: Callable[[Record, float], Record]
    ) -> Record | None:
        """Change a task by `step` and return it; None if the store has forgotten the task.

        Raises TooMuch if it has become too large, StoreUnavailable.
        """
        for _ in range(_TRIES):
            if (kept := await self._tasks.get(owner, id)) is None:
                return None
            before = self._open_record(owner, id, kept.record)
            if before is None or (after := step(before, time.time())) == before:
                return before
            if await self._put(owner, after, kept.version):
                self._announce(owner, after)
                return after
        raise StoreUnavailable(f"task {id} is changed by too many requests at once")

    async def _put(self, owner: str, record: Record, version: int) -> bool:
        data = msgspec.json.encode(record)
        if len(data) > (most := self.limits.task_bytes):
            raise TooMuch(f"a task has over {most} bytes (Limits.task_bytes)")
        bound, expires = _binding_of(owner, record.id), record.created + record.ttl + 1
        sealed = self._sealer.seal(data, bound, expires).encode()
        if (left := record.seconds_to_keep(time.time())) <= 0:
            return False
        try:
            is_put = await self._tasks.put(owner, record.id, sealed, version, left)
        except TooManyTasks:
            if not version:
                raise
            raise TooMuch("busy: there is no room for the result (Limits.process_bytes)") from None
        if record.is_over:
            self._own_tasks.offer(owner, record.id)
        return is_put

    def _open_record(self, owner: str, id: str, sealed: bytes) -> Record | None:
        """Read a record; None if it was sealed by other keys."""
        try:
            bound, now = _binding_of(owner, id), time.time()
            return _record.decode(self._sealer.open(sealed.decode(), bound, now))
        except (RpcError, msgspec.DecodeError, UnicodeDecodeError):
            log.warning("task %s cannot be read: it was sealed with other keys, or is over", id)
            return None

    # ---- waiting

    def _announce(self, owner: str, record: Record) -> None:
        self._wake(owner, record.id)
        self._changed(owner, record)
        if self._shared_store is not None:
            self._shared_store.bus.publish(_TOPIC, msgspec.json.encode((owner, record.id)))

    def _receive(self, message: bytes) -> None:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            self._wake(*msgspec.json.decode(message, type=tuple[str, str]))

    def _wake(self, owner: str, id: str) -> None:
        for event in self._watchers.get(id, ()):
            event.set()
        self._touched(owner, id)

    @contextmanager
    def watching(self, id: str) -> Generator[Callable[[], Awaitable[None]]]:
        """Yield, while entered, a function that waits until the task may have changed."""
        event, interval = asyncio.Event(), self.limits.lease / _RENEWALS
        self._watchers.setdefault(id, set()).add(event)

        async def wait() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(interval):  # a message on the bus may be lost
                    await event.wait()
            event.clear()

        try:
            yield wait
        finally:
            self._watchers[id].discard(event)
            if not self._watchers[id]:
                del self._watchers[id]

    # ---- sharing

    @asynccontextmanager
    async def sharing(self, store: Store) -> AsyncGenerator[None]:
        """Share the tasks of this process with others on this store, as long as the context is
        entered.
        """
        if self._shared_store is None:  # another application of the server may share them already
            self.process = secrets.token_hex(8)
        async with store.bus.subscribed(_TOPIC, self._receive):
            await store.leases.hold(_lease(self.process), self.limits.lease)
            self._stores.append(store)
            renewal = asyncio.create_task(self._renew(store.leases))
            try:
                yield
            finally:
                self._stores.remove(store)
                renewal.cancel()
                await asyncio.wait({renewal})
                if not self.is_shared:
                    with suppress(StoreUnavailable):
                        await store.leases.release(_lease(self.process))

    async def _renew(self, leases: Leases) -> None:
        while True:
            await asyncio.sleep(self.limits.lease / _RENEWALS)
            try:
                await leases.hold(_lease(self.process), self.limits.lease)
            except StoreUnavailable as error:
                log.warning("the tasks of this process may be taken for lost: %s", error)


def unknown_task(id: str) -> RpcError:
    """Return the error for a task that does not exist, or has another owner."""
    return RpcError(error_codes.INVALID_PARAMS, f"Unknown task: {id[:_ID_CHARS]}")


@contextmanager
def _reaching() -> Generator[None]:
    try:
        yield
    except TooMuch as error:
        raise RpcError(error_codes.INVALID_PARAMS, str(error)) from None
    except StoreUnavailable as error:
        log.warning("the store of tasks cannot be reached: %s", error)
        why = "the store of tasks cannot be reached; try again later"
        raise RpcError(error_codes.INTERNAL_ERROR, why) from None


def _step_unless_elsewhere(
    record: Record, now: float, *, run: tuple[str, int], step: Callable[[Record, float], Record]
) -> Record:
    """`step`, unless another process runs the task by now."""
    return step(record, now) if record.run == run else record


def _lease(process: str) -> str:
    return f"tasks:{process}"


def _binding_of(owner: str, id: str) -> bytes:
    return f"task\0{id}\0{owner}".encode()
