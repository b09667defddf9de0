"""The stores as tables of one SQLite file, which the processes of a machine share.

What they hold survives a restart.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, TypeAlias, TypeVar

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import (
    DELETED,
    EVENT_OVERHEAD,
    Kept,
    NoSuchEvent,
    Stored,
    StoreUnavailable,
    TooManyTasks,
    kept,
)
from mcp_runtime.stores.batches import Batches
from mcp_runtime.stores.queued_bus import Message, QueuedBus, size_of

_T = TypeVar("_T")
_Work: TypeAlias = Callable[[sqlite3.Connection], Any]

_LOOK_EVERY: Final = 0.02
"""Seconds between two reads of the bus."""
_MESSAGE_AGE: Final = 60.0
"""Seconds until a message is deleted; every process has read it by then."""
_APPEND: Final = """
    insert or ignore into events (session, stream, number, data, note, total) values (?, ?, ?, ?, ?,
        ? + coalesce((select max(total) from events where session = ?), 0))
    returning total
"""
"""`total` is the sum of bytes of the session's events up to this event."""
_SPARE: Final = 256
"""Free pages left in the file, so that it does not grow and shrink by turns."""
_JOURNAL_BYTES: Final = 4 * 1024 * 1024
"""The size to which SQLite truncates the journal after writing it to the file."""
_SCHEMA: Final = f"""
    pragma auto_vacuum = incremental;
    pragma journal_mode = wal;
    pragma journal_size_limit = {_JOURNAL_BYTES};
    pragma synchronous = normal;
    create table if not exists sessions
        (id text primary key, version integer, record blob, used real) without rowid;
    create index if not exists sessions_used on sessions (used);
    create table if not exists events
        (session text, stream text, number integer, data blob, note blob, total integer,
        primary key (session, stream, number)) without rowid;
    create index if not exists events_total on events (session, total);
    create table if not exists tasks
        (owner text, id text, version integer, record blob, until real, primary key (owner, id))
        without rowid;
    create index if not exists tasks_until on tasks (until);
    create table if not exists leases (name text primary key, until real) without rowid;
    drop table if exists messages;
    create table if not exists bus
        (id integer primary key autoincrement, at real, topic text, data blob, total integer);
"""
"""`bus` replaces an older table whose rows had no `total`: the bytes of the bus up to a row."""


class _Database:
    """One connection in a thread of its own, so that the event loop never waits for the file.

    Simultaneous operations are one transaction. Only the owner of the process may read a new file.
    """

    def __init__(self, path: str, limits: Limits) -> None:
        self.limits: Final = limits
        self._path: Final = path
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None
        self._batches = Batches(self._send, limits.store_wait)

    async def open(self) -> None:
        """Open the file. Raises StoreUnavailable."""
        self._thread = ThreadPoolExecutor(1, "sqlite-store")
        await self._in_thread(self._open)

    def _open(self) -> None:
        if self._path != ":memory:":
            # Made here for its mode, which SQLite gives to the journal too. SQLite reports errors.
            with suppress(OSError):
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        wait = self.limits.store_wait / 2  # for a lock: the next batch waits for it too
        self._connection = sqlite3.connect(self._path, timeout=wait, isolation_level=None)
        end = time.monotonic() + wait
        while True:  # if two processes open at once, SQLite does not wait for the journal's lock
            try:
                self._connection.executescript(_SCHEMA)
                _make_shrinkable(self._connection)
                return
            except sqlite3.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(_LOOK_EVERY)

    async def close(self) -> None:
        if self._thread is not None:
            if self._connection is not None:
                await self._in_thread(self._connection.close)
            self._thread.shutdown(wait=False)
            self._thread = self._connection = None

    async def run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in a transaction; return its result.

        Raises StoreUnavailable, NoSuchEvent or TooManyTasks.
        """
        result: _T = await self._batches.run(work)
        return result

    async def look(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work`, which only reads, without the lock for writers."""
        return await self._in_thread(lambda: work(self._live))

    async def _send(self, works: Sequence[_Work]) -> Sequence[Any]:
        return await self._in_thread(lambda: self._transaction(works))

    @property
    def _live(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreUnavailable("the SQLite store is not open")
        return self._connection

    def _transaction(self, works: Sequence[_Work]) -> Sequence[Any]:
        connection = self._live
        with connection:  # rolls back on any error
            connection.execute("begin immediate")
            results = [_finish(work, connection) for work in works]
        _shrink_file(connection)
        return results

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        if self._thread is None:
            raise StoreUnavailable("the SQLite store is not open")
        try:
            done = asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as error:  # the interpreter or the event loop ends
            raise StoreUnavailable(f"SQLite, {self._path}: {error}") from None
        try:
            return await done
        except sqlite3.Error as error:
            raise StoreUnavailable(f"SQLite, {self._path}: {error!r}") from None


def _make_shrinkable(db: sqlite3.Connection) -> None:
    """Rewrite an old file made without `auto_vacuum`, which is fixed at its creation."""
    if not db.execute("pragma auto_vacuum").fetchone()[0]:
        db.execute("vacuum")


def _shrink_file(db: sqlite3.Connection) -> None:
    """Return free pages of the file to the file system, unless another process holds its lock.

    `execute` would return only one page: it does not step through a pragma without columns.
    """
    (free,) = db.execute("pragma freelist_count").fetchone()
    if free > 2 * _SPARE:
        with suppress(sqlite3.OperationalError):
            db.executescript(f"pragma incremental_vacuum({free - _SPARE})")


def _finish(work: _Work, connection: sqlite3.Connection) -> Any:
    """Return the result, or an error that stores may raise; others undo the transaction."""
    try:
        return work(connection)
    except (NoSuchEvent, TooManyTasks) as error:
        return error


class _Tables:
    """A part of the store: some tables of the database."""

    def __init__(self, database: _Database) -> None:
        self._database = database


class SQLiteEvents(_Tables):
    """An event store with `Limits.event_bytes` for each session."""

    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        most = self._database.limits.event_bytes

        def work(db: sqlite3.Connection) -> None:
            totals = [0]
            for number, data in enumerate(events, count + 1):
                row = session, stream, number, data, note, len(data) + EVENT_OVERHEAD, session
                totals += [total for (total,) in db.execute(_APPEND, row).fetchall()]
            if totals[-1] > most:
                _shrink(db, session, totals[-1], most)

        await self._database.run(work)

    async def after(self, session: str, stream: str, number: int) -> Stored:
        def work(db: sqlite3.Connection) -> Stored:
            sql = """select number, data, note from events
                where session = ? and stream = ? and number >= ? order by number"""
            rows = db.execute(sql, (session, stream, number)).fetchall()
            is_whole = all(isinstance(part, bytes) for row in rows for part in row[1:])
            if not rows or rows[0][0] != number or not is_whole:
                raise NoSuchEvent(stream, number)
            return Stored([data for _, data, _ in rows[1:]], rows[-1][2])

        return await self._database.run(work)

    async def forget(self, session: str) -> None:
        await self._database.run(lambda db: _forget(db, session))


def _shrink(db: sqlite3.Connection, session: str, total: int, most: int) -> None:
    """Delete the oldest events of a session until at most `most` bytes are left."""
    sql = "select min(total) from events where session = ? and total >= ?"
    ((last,),) = db.execute(sql, (session, total - most)).fetchall()
    db.execute("delete from events where session = ? and total <= ?", (session, last))


def _forget(db: sqlite3.Connection, session: str) -> None:
    db.execute("delete from events where session = ?", (session,))


class SQLiteSessions(_Tables):
    """A store for `Limits.sessions` sessions, each for `Limits.session_idle` seconds after use.

    Above the limit a new session replaces the idlest session, first among those never used after
    `initialize`. The events of a dropped session are deleted with it.
    """

    async def put(self, session: str, record: bytes, version: int) -> bool:
        now = time.time()

        def work(db: sqlite3.Connection) -> bool:
            self._give_up(db, now)
            if version == 0:
                sql = "insert or ignore into sessions values (?, 1, ?, ?)"
                is_new = db.execute(sql, (session, record, now)).rowcount == 1
                self._make_room(db, session)
                return is_new
            sql = """update sessions set version = version + 1, record = ?, used = ?
                where id = ? and version = ?"""
            return db.execute(sql, (record, now, session, version)).rowcount == 1

        return await self._database.run(work)

    async def get(self, session: str) -> Kept | None:
        now = time.time()

        def work(db: sqlite3.Connection) -> Kept | None:
            sql = """update sessions set used = ? where id = ? and version > 0 and used > ?
                returning version, record"""
            oldest = now - self._database.limits.session_idle
            rows = db.execute(sql, (now, session, oldest)).fetchall()
            return kept(*rows[0]) if rows else None

        return await self._database.run(work)

    async def delete(self, session: str) -> None:
        now = time.time()
        sql = "insert or replace into sessions values (?, ?, ?, ?)"
        row = (session, DELETED, b"", now)
        await self._database.run(lambda db: db.execute(sql, row))

    def _give_up(self, db: sqlite3.Connection, now: float) -> None:
        oldest = now - self._database.limits.session_idle
        sql = "delete from sessions where used <= ? returning id"
        for (id,) in db.execute(sql, (oldest,)).fetchall():
            _forget(db, id)

    def _make_room(self, db: sqlite3.Connection, session: str) -> None:
        (count,) = db.execute("select count(*) from sessions").fetchone()
        if (more := count - self._database.limits.sessions) <= 0:
            return
        idlest = "select id from sessions where id <> ? order by version > 1, used limit ?"
        sql = f"delete from sessions where id in ({idlest}) returning id"
        for (id,) in db.execute(sql, (session, more)).fetchall():
            _forget(db, id)


class SQLiteTasks(_Tables):
    """A store for `Limits.tasks` tasks of each owner."""

    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        now = time.time()

        def work(db: sqlite3.Connection) -> bool:
            db.execute("delete from tasks where until <= ?", (now,))
            if version == 0:
                return self._add(db, owner, task, record, now + seconds)
            sql = """update tasks set version = version + 1, record = ?, until = ?
                where owner = ? and id = ? and version = ?"""
            return db.execute(sql, (record, now + seconds, owner, task, version)).rowcount == 1

        return await self._database.run(work)

    def _add(
        self, db: sqlite3.Connection, owner: str, task: str, record: bytes, until: float
    ) -> bool:
        sql = "insert or ignore into tasks values (?, ?, 1, ?, ?)"
        if db.execute(sql, (owner, task, record, until)).rowcount != 1:
            return False
        sql = "select count(*) from tasks where owner = ?"
        if db.execute(sql, (owner,)).fetchone()[0] > self._database.limits.tasks:
            db.execute("delete from tasks where owner = ? and id = ?", (owner, task))
            raise TooManyTasks(owner)
        return True

    async def get(self, owner: str, task: str) -> Kept | None:
        row = owner, task, time.time()
        sql = "select version, record from tasks where owner = ? and id = ? and until > ?"
        stored = await self._database.run(lambda db: db.execute(sql, row).fetchone())
        return None if stored is None else kept(*stored)

    async def ids(self, owner: str) -> list[str]:
        row = owner, time.time()
        sql = "select id from tasks where owner = ? and until > ? order by id"
        stored = await self._database.run(lambda db: db.execute(sql, row).fetchall())
        return [id for (id,) in stored if isinstance(id, str)]


class SQLiteLeases(_Tables):
    """Leases among the processes with one file."""

    async def hold(self, name: str, seconds: float) -> None:
        now = time.time()

        def work(db: sqlite3.Connection) -> None:
            db.execute("delete from leases where until <= ?", (now,))
            db.execute("insert or replace into leases values (?, ?)", (name, now + seconds))

        await self._database.run(work)

    async def is_held(self, name: str) -> bool:
        row = name, time.time()
        sql = "select 1 from leases where name = ? and until > ?"
        return await self._database.run(lambda db: db.execute(sql, row).fetchone() is not None)

    async def release(self, name: str) -> None:
        sql = "delete from leases where name = ?"
        await self._database.run(lambda db: db.execute(sql, (name,)))


class SQLiteBus(QueuedBus):
    """A bus whose messages are rows of a table, read by every process as they come."""

    def __init__(self, database: _Database) -> None:
        super().__init__(database.limits)
        self._database = database
        self._last: int | None = None

    async def begin(self) -> None:
        """Skip earlier messages. Raises StoreUnavailable."""
        sql = "select coalesce(max(id), 0) from bus"
        self._last = await self._database.run(lambda db: int(db.execute(sql).fetchone()[0]))

    async def _send(self, messages: Sequence[Message]) -> None:
        now, most = time.time(), self._database.limits.bus_bytes

        def work(db: sqlite3.Connection) -> None:
            sql = "select total from bus order by id desc limit 1"
            total = next((last for (last,) in db.execute(sql) if isinstance(last, int)), 0)
            rows: list[tuple[float, str, bytes, int]] = []
            for topic, data in messages:
                total += size_of(topic, data)
                rows.append((now, topic, data, total))
            db.executemany("insert into bus (at, topic, data, total) values (?, ?, ?, ?)", rows)
            first_kept = "select id from bus where at >= ? and total > ? order by id limit 1"
            sql = f"delete from bus where id < ({first_kept})"
            db.execute(sql, (now - _MESSAGE_AGE, total - most))

        await self._database.run(work)

    async def _adapt_to_topics(self) -> None:
        """Do nothing: all topics are rows of one table."""

    async def _receive(self) -> None:
        sql = "select id, topic, data from bus where id > ? order by id"
        while True:
            rows: list[Any] = await self._database.look(
                lambda db: db.execute(sql, (self._last,)).fetchall()
            )
            for id, topic, data in rows:
                self._last = id
                self._deliver(topic, data)
            await asyncio.sleep(_LOOK_EVERY)


class SQLiteStore:
    """All stores in one file. Entering raises StoreUnavailable if the file cannot be used."""

    def __init__(self, path: str, limits: Limits = DEFAULT) -> None:
        self._database = _Database(path, limits)
        self.events: Final = SQLiteEvents(self._database)
        self.sessions: Final = SQLiteSessions(self._database)
        self.tasks: Final = SQLiteTasks(self._database)
        self.leases: Final = SQLiteLeases(self._database)
        self.bus: Final = SQLiteBus(self._database)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> SQLiteStore:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._database.close)
            await self._database.open()
            await self.bus.begin()
            await stack.enter_async_context(self.bus.running())
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()
