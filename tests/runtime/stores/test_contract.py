"""Every store passes the public contract, and the contract finds stores that break it."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from mcp_runtime.limits import Limits
from mcp_runtime.stores import Kept, NoSuchEvent, Store, Stored, StoreUnavailable, TooManyTasks
from mcp_runtime.stores.contract import CHECKS, Check, OpenStore
from mcp_runtime.stores.memory import (
    MemoryBus,
    MemoryEvents,
    MemoryLeases,
    MemorySessions,
    MemoryStore,
    MemoryTasks,
)
from mcp_runtime.stores.opening import store_at
from mcp_runtime.stores.sqlite import SQLiteStore
from tests.support.patience import PATIENCE, until
from tests.support.redis_server import RedisServer


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.real_time)])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    if request.param == "memory":
        shared: list[MemoryStore] = []

        def memory(limits: Limits) -> Store:
            shared[:] = shared or [MemoryStore(limits)]
            return shared[0]

        return memory
    if request.param == "sqlite":
        return lambda limits: store_at(f"sqlite:///{tmp_path}/store.db", limits)
    server: RedisServer = request.getfixturevalue("redis")
    return lambda limits: store_at(server.url, limits)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
async def test_every_store_passes_the_contract(check: Check, open_store: OpenStore) -> None:
    await check(open_store)


# ---- the contract finds what is wrong


class ForgetsVersions(MemorySessions):
    async def put(self, session: str, record: bytes, version: int) -> bool:
        kept = await self.get(session)
        return await super().put(session, record, 0 if kept is None else kept.version)


class UndoesDeletes(MemorySessions):
    async def delete(self, session: str) -> None:
        self._kept.pop(session, None)


class KeepsForEver(MemorySessions):
    def _give_up(self, newest: str = "") -> None:
        """Nothing."""


class MixesStreams(MemoryEvents):
    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        await super().append(session, "1", count, events, note)


class StoresTwice(MemoryEvents):
    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        kept = self._sessions.get(session)
        count = len([at for at, _ in kept.events if at == stream]) if kept else count
        await super().append(session, stream, count, events, note)


class KeepsTheFirstNote(MemoryEvents):
    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        kept = self._sessions.get(session)
        note = kept.notes.get(stream, note) if kept else note
        await super().append(session, stream, count, events, note)


class InventsEvents(MemoryEvents):
    async def after(self, session: str, stream: str, number: int) -> Stored:
        if session not in self._sessions:
            return Stored([], b"")
        return await super().after(session, stream, number)


class ReplacesAnyTask(MemoryTasks):
    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        kept = await self.get(owner, task)
        version = 0 if kept is None else kept.version
        return await super().put(owner, task, record, version, seconds)


class MixesOwners(MemoryTasks):
    async def get(self, owner: str, task: str) -> Kept | None:
        return await super().get(min(self._owners, default=owner), task)


class KeepsTasksForEver(MemoryTasks):
    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        return await super().put(owner, task, record, version, 1e9)


class TakesAnyNumber(MemoryTasks):
    def __init__(self, limits: Limits) -> None:
        super().__init__(Limits(tasks=1000))


class NeverLapses(MemoryLeases):
    async def hold(self, name: str, seconds: float) -> None:
        await super().hold(name, 1e9)


class HearsEverything(MemoryBus):
    def publish(self, topic: str, message: bytes) -> None:
        for name, _ in [*self._receivers.values()]:
            super().publish(name, message)


BROKEN = {
    ForgetsVersions: "sessions",
    UndoesDeletes: "sessions",
    KeepsForEver: "sessions",
    MixesStreams: "events",
    StoresTwice: "events",
    KeepsTheFirstNote: "events",
    InventsEvents: "events",
    ReplacesAnyTask: "tasks",
    MixesOwners: "tasks",
    KeepsTasksForEver: "tasks",
    TakesAnyNumber: "tasks",
    NeverLapses: "leases",
    HearsEverything: "bus",
}


@pytest.mark.wide
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
async def test_a_store_that_breaks_the_contract_is_found(broken: type) -> None:
    async def failed(check: Check) -> bool:
        opened: list[MemoryStore] = []

        def store(limits: Limits) -> MemoryStore:
            if not opened:
                opened.append(MemoryStore(limits))
                part = broken(limits) if broken in LIMITED else broken()
                setattr(opened[0], BROKEN[broken], part)
            return opened[0]

        try:
            await check(store)
        except (AssertionError, TimeoutError, NoSuchEvent, TooManyTasks):
            return True
        return False

    assert any([await failed(check) for check in CHECKS.values()])


LIMITED = (ForgetsVersions, UndoesDeletes, KeepsForEver, TakesAnyNumber)


async def test_a_memory_of_tasks_gives_back_what_is_over() -> None:
    now = [0.0]

    tasks = MemoryTasks(Limits(tasks=2), clock=lambda: now[0])
    for owner, seconds in (("a", 1.0), ("a", 3.0), ("b", 1.0)):
        assert await tasks.put(owner, str(seconds), b"", 0, seconds)
    with pytest.raises(TooManyTasks):
        await tasks.put("a", "third", b"", 0, 1)
    assert await tasks.put("b", "1.0", b"", 1, 2)
    for now[0], left in ((0.5, 3), (1.0, 2), (2.0, 1), (3.0, 0)):
        assert len(tasks) == left
    assert not tasks._owners
    assert not tasks._ends


# ---- opening


def test_a_scheme_may_be_written_in_capitals(tmp_path: Path) -> None:
    assert isinstance(store_at(f"SQLITE:///{tmp_path}/store.db"), SQLiteStore)


@pytest.mark.parametrize(
    "url",
    [
        *["", "redis", "postgres://host/db", "file:///a"],
        *["sqlite:", "sqlite:///", "sqlite://host", "sqlite://host/a.db", "sqlite:///a.db?mode=ro"],
    ],
)
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"the URL of a store|names no file"):
        store_at(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgres://user:secret@host/db",
        "redis://user:secret@host:99999/0",
        "redis://user:sec#ret@host/0",
        "redis://user:sec/ret@host/0",
        "redis://user:secret@host/name",
        "redis://user:secret@host/0?socket_timeout=long",
        "redis://user:secret@host/0?protocol=9",
        "rediss://user:secret@host/0?unknown=1",
    ],
)
def test_a_url_that_is_refused_is_not_said_with_its_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL of a store|URL of the store") as caught:
        store_at(url)
    assert "sec" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.real_time
async def test_a_store_that_cannot_be_reached_says_so_at_once(tmp_path: Path) -> None:
    async def main(url: str, place: str) -> None:
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(StoreUnavailable, match=place):
                async with store_at(url, Limits(store_wait=1)):
                    pass

    await main(f"sqlite:///{tmp_path}/no/such/folder/store.db", "unable to open")
    await main("redis://127.0.0.1:1/0", r"Redis: .*127\.0\.0\.1:1\b")


@pytest.mark.real_time
async def test_a_store_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(StoreUnavailable):
                async with store_at(url, Limits(store_wait=0.2)):
                    pass


async def test_a_locked_sqlite_file_is_given_up(tmp_path: Path) -> None:
    store = store_at(f"sqlite:///{tmp_path}/store.db", Limits(store_wait=3))
    async with store:
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("begin exclusive")
            with pytest.raises(StoreUnavailable):
                await store.sessions.put("a", b"", 0)
            other.execute("commit")
        assert await store.sessions.put("b", b"", 0)


async def test_a_sqlite_store_survives_a_restart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    async with store_at(url) as _, store_at(url) as _:
        pass
    store = store_at(url)
    async with store:
        assert await store.sessions.put("a", b"record", 0)
        await store.events.append("a", "1", 0, [b"first"], b"note")
        await store.events.append("a", "1", 1, [b"second"], b"note")
        assert await store.tasks.put("owner", "task", b"record", 0, 60)
    again = store_at(url)
    async with again:
        assert await again.sessions.get("a") == Kept(1, b"record")
        assert await again.tasks.get("owner", "task") == Kept(1, b"record")
        assert await again.events.after("a", "1", 1) == Stored([b"second"], b"note")
    with pytest.raises(StoreUnavailable):
        await again.sessions.get("a")


# ---- outages


async def test_what_sqlite_keeps_is_its_owners_alone(tmp_path: Path) -> None:
    """Sessions and events have what all users of a server were answered."""

    async with store_at(f"sqlite:///{tmp_path}/store.db") as store:
        assert isinstance(store, SQLiteStore)
        await store.sessions.put("id", b"record", 0)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)


async def test_sqlite_in_memory_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with SQLiteStore(":memory:") as store:
        assert await store.sessions.put("id", b"record", 0)
    assert not [*tmp_path.iterdir()]


async def test_a_sqlite_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    path.chmod(0o660)
    async with store_at(f"sqlite:///{path}"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


@pytest.mark.real_time
async def test_a_redis_that_is_away_is_an_error_at_once_and_is_used_again_when_it_is_back(
    redis: RedisServer,
) -> None:
    store, received = store_at(redis.url, Limits(store_wait=1, bus_bytes=1500)), list[bytes]()
    async with store, store.bus.subscribed("all", received.append):
        store.bus.publish("all", b"before")
        await until(lambda: received == [b"before"])
        redis.stop()
        for _ in range(20):
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(StoreUnavailable):
                    await store.sessions.get("a")
                with pytest.raises(StoreUnavailable):
                    await store.events.append("a", "1", 0, [b""], b"")
            store.bus.publish("all", b"0123456789")
        assert store.bus.dropped >= 10
        redis.start()
        assert await store.sessions.put("a", b"record", 0)
        async with asyncio.timeout(PATIENCE):
            while received[-1] != b"after":
                store.bus.publish("all", b"after")
                await asyncio.sleep(0.05)


@pytest.mark.real_time
async def test_databases_of_one_redis_do_not_hear_each_other(redis: RedisServer) -> None:
    url, received = redis.url.removesuffix("/0"), list[bytes]()
    async with store_at(f"{url}/1") as one, store_at(f"{url}/2") as other:
        async with other.bus.subscribed("changes", received.append):
            one.bus.publish("changes", b"of another server")
            async with one.bus.subscribed("changes", lambda _: None):
                other.bus.publish("changes", b"ours")
                await until(lambda: bool(received))
        assert received == [b"ours"]


@pytest.mark.real_time
async def test_keys_of_redis_expire_by_themselves(redis: RedisServer) -> None:
    store = store_at(redis.url, Limits(session_idle=60))
    async with store:
        client = store._server.client
        await client.flushdb()
        assert await store.sessions.put("a", b"record", 0)
        await store.sessions.delete("b")
        await store.events.append("a", "1", 0, [b"data"], b"note")
        await store.leases.hold("process", 60)
        assert await store.tasks.put("owner", "task", b"record", 0, 60)
        left = [await client.pttl(key) for key in await client.keys()]
        assert len(left) == 7
        assert all(0 < milliseconds <= 60_000 for milliseconds in left), left


@pytest.mark.real_time
async def test_events_in_redis_live_as_long_as_their_session_is_used(redis: RedisServer) -> None:
    one, other = (store_at(redis.url, Limits(session_idle=idle)) for idle in (60, 600))
    async with one, other:
        client = one._server.client
        await client.flushdb()
        assert await one.sessions.put("a", b"record", 0)
        for count in range(2):
            await one.events.append("a", "1", count, [b"data"], b"note")
        keys = await client.keys("mcp:{a}:*")
        assert [await client.pttl(key) <= 60_000 for key in keys] == [True] * 3
        await other.sessions.get("a")
        assert [await client.pttl(key) > 60_000 for key in keys] == [True] * 3
