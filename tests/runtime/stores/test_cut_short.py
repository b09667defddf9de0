"""An operation that is cut short is done whole or not at all, and those after it are exact."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import pytest

from mcp_runtime.limits import Limits
from mcp_runtime.stores import Kept, Store, StoreUnavailable
from mcp_runtime.stores.memory import MemoryStore
from mcp_runtime.stores.opening import store_at
from tests.support.lossy_proxy import lossy_proxy
from tests.support.seeds import seed

_LENGTH: Final = 8
"""Operations of one schedule."""
_SCHEDULES: Final = 6
_BEGUN: Final = Kept(1, b"begun")


@dataclass(frozen=True)
class Model:
    """What is kept of one session, and of its only stream after the first event."""

    kept: Kept | None = _BEGUN
    events: tuple[bytes, ...] = ()
    note: bytes = b"note"


@dataclass(frozen=True)
class Operation:
    """One operation, and what it does to the model."""

    run: Callable[[Store, str, Model], Awaitable[object]]
    """`model` is the state before it."""
    then: Callable[[Model], tuple[Model, object]]
    """The model after it, and what it returns; None is not compared."""
    repeats: bool = False
    """Whether it may be repeated when nobody knows if it was done."""


def put(version: int, record: bytes) -> Operation:
    def then(model: Model) -> tuple[Model, object]:
        if model.kept is None or model.kept.version != version:
            return model, False
        return replace(model, kept=Kept(version + 1, record)), True

    return Operation(lambda store, name, _: store.sessions.put(name, record, version), then)


def append(data: bytes, note: bytes) -> Operation:
    return Operation(
        lambda store, name, model: store.events.append(
            name, "1", 1 + len(model.events), [data, b""], note
        ),
        lambda model: (replace(model, events=(*model.events, data, b""), note=note), None),
        repeats=True,
    )


GET: Final = Operation(
    lambda store, name, _: store.sessions.get(name),
    lambda model: (model, model.kept),
)
DELETE: Final = Operation(
    lambda store, name, _: store.sessions.delete(name),
    lambda model: (replace(model, kept=None), None),
)


def schedule(random: Random) -> list[Operation]:
    """Versions are drawn from those that may be there by then."""
    return [
        random.choice(
            (
                put(random.randint(1, 2 + number // 3), random.randbytes(4)),
                append(random.randbytes(8), random.choice((b"", b"more"))),
                append(random.randbytes(8), b"note"),
                GET,
                *([DELETE] if number > _LENGTH // 2 else []),
            )
        )
        for number in range(_LENGTH)
    ]


async def observed(store: Store, name: str) -> Model:
    kept = await store.sessions.get(name)
    stored = await store.events.after(name, "1", 1)
    return Model(kept, tuple(stored.events), stored.note)


# ---- faults

Fault: TypeAlias = Callable[[Store, Random], AbstractAsyncContextManager[object]]
"""While entered, operations of the store may fail. Raises nothing."""


@asynccontextmanager
async def cancelled(store: Store, random: Random) -> AsyncGenerator[None]:
    """The task that waits for the operation is cancelled after some turns of the loop."""
    task, turns = asyncio.current_task(), random.randrange(6)
    assert task is not None

    async def cancel() -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()

    cancelling = asyncio.create_task(cancel())
    try:
        yield
        await cancelling
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        task.uncancel()


@asynccontextmanager
async def interrupted(store: Any, random: Random) -> AsyncGenerator[None]:
    """SQLite gives up after some of its steps, anywhere in the transaction."""
    database, left = store._database, random.randrange(1, 120)

    def step() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    async def watch(handler: Callable[[], bool] | None) -> None:
        await database._in_thread(lambda: database._live.set_progress_handler(handler, 1))

    await watch(step)
    with suppress(StoreUnavailable):
        yield
    await watch(None)


@asynccontextmanager
async def disconnected(store: Any, random: Random) -> AsyncGenerator[None]:
    """Redis closes the connections that wait for work."""
    command = ("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
    await store._server.client.execute_command(*command)
    yield


@asynccontextmanager
async def committed(store: Any, random: Random) -> AsyncGenerator[None]:
    """SQLite has done the operation, and fails then."""
    database = store._database
    transaction = database._transaction

    def fail(works: Sequence[Any]) -> None:
        transaction(works)
        raise sqlite3.OperationalError("committed, then failed")

    database._transaction = fail
    with suppress(StoreUnavailable):
        yield
    database._transaction = transaction


@asynccontextmanager
async def unanswered(store: Any, random: Random) -> AsyncGenerator[None]:
    """Redis does the operation, and the connection breaks before its reply: once or twice."""
    store.proxy.losses = random.randint(1, 2)
    with suppress(StoreUnavailable):
        yield
    assert store.proxy.losses == 0


FAULTS: Final = {
    "memory": (cancelled,),
    "sqlite": (cancelled, interrupted, committed),
    "redis": (cancelled, disconnected, unanswered),
}


# ---- tests


@asynccontextmanager
async def opened(
    engine: str, folder: Path, request: pytest.FixtureRequest
) -> AsyncGenerator[tuple[Any, Any]]:
    """Two stores as two processes have them; on Redis the first is behind a proxy."""
    limits = Limits(store_wait=30)
    if engine == "memory":
        yield (shared := MemoryStore()), shared
        return
    url = f"sqlite:///{folder}/store.db"
    async with AsyncExitStack() as stack:
        if engine == "redis":
            server = request.getfixturevalue("redis")
            proxy = await stack.enter_async_context(lossy_proxy(server.port))
            url = server.url
            one: Any = store_at(url.replace(str(server.port), str(proxy.port)), limits)
            one.proxy = proxy
        else:
            one = store_at(url, limits)
        other = store_at(url, limits)
        await stack.enter_async_context(one)
        await stack.enter_async_context(other)
        yield one, other


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("engine", "fault"),
    [
        pytest.param(engine, fault, marks=[pytest.mark.real_time] if engine == "redis" else [])
        for engine, faults in FAULTS.items()
        for fault in faults
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
async def test_whichever_operation_is_cut_short_all_others_are_exact(
    engine: str, fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    random = Random(seed(f"schedules {engine} {fault.__name__}"))
    async with AsyncExitStack() as stack:
        one, other = await stack.enter_async_context(opened(engine, tmp_path, request))
        for _ in range(_SCHEDULES):
            operations = schedule(random)
            for at in range(_LENGTH):
                await _check(one, other, operations, at, fault, random)


async def _check(
    store: Store,
    other: Store,
    operations: Sequence[Operation],
    at: int,
    fault: Fault,
    random: Random,
) -> None:
    """Does the operations one after the other; that at `at` meets the fault."""
    name = secrets.token_urlsafe(8)
    assert await store.sessions.put(name, _BEGUN.record, 0)
    await store.events.append(name, "1", 0, [b""], b"note")
    model = Model()
    for number, operation in enumerate(operations):
        then, result = operation.then(model)
        if number == at:
            async with fault(store, random):
                await operation.run(store, name, model)
            now = await observed(store, name)
            assert now in (model, then), (number, operation)
            if operation.repeats:
                await operation.run(store, name, model)
                now = then
            model = now
        else:
            assert result in (None, await operation.run(store, name, model)), (number, operation)
            model = then
        assert await observed(store, name) == model, (number, operation)
    assert await observed(other, name) == model
