"""The bus of a file: bounded in bytes, and deaf to nothing that stands in its rows."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime.limits import Limits
from mcp_runtime.stores import EVENT_OVERHEAD, Kept, NoSuchEvent
from mcp_runtime.stores.memory import MemoryStore
from mcp_runtime.stores.queued_bus import QueuedBus
from mcp_runtime.stores.sqlite import SQLiteStore
from tests.support.patience import until

MIB: Final = 1024 * 1024


def size_of_files(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


async def test_a_flood_of_messages_does_not_fill_the_disk(tmp_path: Path) -> None:
    async def main() -> int:
        path, heard = str(tmp_path / "store.db"), list[int]()
        limits = Limits(bus_bytes=2 * MIB)
        async with SQLiteStore(path, limits) as one, SQLiteStore(path, limits) as other:
            async with other.bus.subscribed("t", lambda data: heard.append(len(data))):
                for number in range(100):
                    one.bus.publish("t", bytes(MIB // 2))
                    await until(lambda: len(heard) > number)  # noqa: B023
            rows = await one._database.run(
                lambda db: db.execute("select count(*), max(total) from bus").fetchone()
            )
            assert rows == (4, 100 * (MIB // 2 + 1 + EVENT_OVERHEAD))
        return size_of_files(tmp_path)

    assert await main() < 8 * MIB


async def test_a_file_shrinks_when_its_sessions_are_forgotten(tmp_path: Path) -> None:
    async with SQLiteStore(str(tmp_path / "store.db"), Limits(event_bytes=32 * MIB)) as store:
        for number in range(10):
            await store.events.append("a", "1", number, [bytes(2 * MIB)], b"")
        pages = await _pages(store)
        await store.events.forget("a")
        assert await _pages(store) < pages / 8


async def test_a_file_of_an_older_version_shrinks_too(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as old:
        old.execute(
            "create table messages (id integer primary key, at real, topic text, data blob)"
        )
        old.execute("insert into messages values (1, 0, 't', ?)", (bytes(20 * MIB),))
    old.close()

    async def main() -> int:
        async with SQLiteStore(str(path)) as store:
            return await _pages(store)

    assert await main() < 100


async def _pages(store: SQLiteStore) -> int:
    pages: int = await store._database.run(lambda db: db.execute("pragma page_count").fetchone()[0])
    return pages


async def test_many_small_messages_that_wait_are_bounded_too() -> None:
    class Away(QueuedBus):
        async def _send(self, messages: Any) -> None: ...
        async def _receive(self) -> None: ...
        async def _adapt_to_topics(self) -> None: ...

    bus = Away(Limits(bus_bytes=10 * (EVENT_OVERHEAD + 1)))
    for _ in range(15):
        bus.publish("t", b"")
    assert (len(bus._waiting), bus.dropped) == (10, 5)


ODD_ROWS: Final = [
    (None, b"data"),
    ("t", None),
    (None, None),
    ("t", "text"),
    ("t", 5),
    (b"t", b"data"),
    (7, b"data"),
]


@pytest.mark.parametrize("row", ODD_ROWS, ids=repr)
async def test_a_row_of_odd_form_is_ignored_and_the_next_is_heard(
    row: tuple[object, object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        heard = list[bytes]()
        store = SQLiteStore(str(tmp_path / "store.db"))
        async with store, store.bus.subscribed("t", heard.append):
            sql = "insert into bus (at, topic, data, total) values (1e12, ?, ?, 'x')"
            await store._database.run(lambda db: db.execute(sql, row))
            store.bus.publish("t", b"after")
            await until(lambda: heard == [b"after"])

    with caplog.at_level(logging.WARNING, "mcp_runtime.stores"):
        await main()
    assert "ignored a message of another process" in caplog.text or row[0] == 7


@pytest.mark.parametrize("error", [ValueError, KeyError, RecursionError, OSError])
async def test_a_receiver_that_fails_does_not_end_the_bus(
    error: type[Exception], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = list[bytes]()

    def receive(data: bytes) -> None:
        if data == b"bad":
            raise error("poison")
        heard.append(data)

    store = SQLiteStore(str(tmp_path / "store.db"))
    async with store, store.bus.subscribed("t", receive):
        for data in (b"bad", b"good"):
            store.bus.publish("t", data)
        await until(lambda: heard == [b"good"])
    assert "a message of another process cannot be handled: b'bad'" in caplog.text


async def test_a_message_that_cannot_be_sent_does_not_end_the_bus(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = list[bytes]()
    store = SQLiteStore(str(tmp_path / "store.db"))
    async with store, store.bus.subscribed("t", heard.append):
        store.bus.publish("\ud800", b"poison")
        await until(lambda: not store.bus._waiting)
        store.bus.publish("t", b"after")
        await until(lambda: heard == [b"after"])
    assert "1 message to other processes cannot be sent" in caplog.text


async def test_the_receiver_begins_again_after_any_exception(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        heard = list[bytes]()
        async with SQLiteStore(str(tmp_path / "store.db")) as store:
            look, faults = store._database.look, [OverflowError("x"), sqlite3.Warning("x")]

            async def faulty(work: Any) -> Any:
                if faults:
                    raise faults.pop()
                return await look(work)

            monkeypatch.setattr(store._database, "look", faulty)
            async with store.bus.subscribed("t", heard.append):
                await until(lambda: not faults)
                store.bus.publish("t", b"after")
                await until(lambda: heard == [b"after"])

    await main()
    assert caplog.text.count("the bus is interrupted, and begins again") == 2


@pytest.mark.parametrize(
    ("version", "record"),
    [
        ("abc", b"{}"),
        (None, b"{}"),
        (1.5, b"{}"),
        (1, None),
        (1, "text"),
        (b"1", b"{}"),
        (0, b"{}"),
    ],
)
async def test_a_record_of_odd_form_is_none(
    version: object, record: object, tmp_path: Path
) -> None:
    async with SQLiteStore(str(tmp_path / "store.db")) as store:

        def spoil(db: sqlite3.Connection) -> None:
            db.execute("insert into sessions values ('a', ?, ?, 1e12)", (version, record))
            row = (version, record)
            db.execute("insert into tasks values ('o', 'a', ?, ?, 1e12)", row)
            row = ("a", "1", 1, record)
            db.execute("insert into events values (?, ?, ?, ?, x'', 0)", row)

        await store._database.run(spoil)
        assert await store.sessions.get("a") is None
        assert await store.tasks.get("o", "a") is None
        if not isinstance(record, bytes):
            with pytest.raises(NoSuchEvent):
                await store.events.after("a", "1", 1)
        assert await store.sessions.put("b", b"record", 0)
        assert await store.sessions.get("b") == Kept(1, b"record")


@pytest.mark.real_time
@pytest.mark.parametrize("engine", ["memory", "sqlite"])
async def test_a_full_table_of_sessions_forgets_the_idlest_and_never_used_ones_first(
    engine: str, tmp_path: Path
) -> None:
    limits = Limits(sessions=4)
    path = str(tmp_path / "store.db")
    store = MemoryStore(limits) if engine == "memory" else SQLiteStore(path, limits)
    async with store:
        for name in ("old", "used"):
            assert await store.sessions.put(name, b"begun", 0)
            assert await store.sessions.put(name, b"open", 1)
        for number in range(50):
            assert await store.sessions.put(f"flood {number}", b"begun", 0)
            assert await store.sessions.get(f"flood {number}") is not None
        for name in ("old", "used"):
            assert await store.sessions.get(name) == Kept(2, b"open")
        assert await store.sessions.get("flood 0") is None
        for name in ("a", "b", "c"):
            assert await store.sessions.put(name, b"begun", 0)
            assert await store.sessions.put(name, b"open", 1)
        kept = [name for name in ("old", "used", "a", "b", "c") if await store.sessions.get(name)]
        assert kept == ["used", "a", "b", "c"]
