"""Protocols of what outlives a request, so that one process or many can serve the same sessions.

`mcp_runtime.stores.memory` keeps everything in this process, `sqlite` in a file that the processes
of one machine share, `redis` on a server of Redis or Valkey. `mcp_runtime.stores.opening` opens one
of them by URL. An adapter for another engine proves itself with `mcp_runtime.stores.contract`.

Every method raises StoreUnavailable, soon, if the engine cannot be reached; nothing hangs. What was
asked may still be done later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol

from mcp_runtime.core.request_state import StateSealer

__all__ = [
    "DELETED",
    "EVENT_OVERHEAD",
    "Bus",
    "EventStore",
    "Kept",
    "Leases",
    "NoSuchEvent",
    "SessionStore",
    "StateSealer",
    "Store",
    "StoreUnavailable",
    "Stored",
    "TaskStore",
    "TooManyTasks",
    "kept",
]


DELETED: Final = -1
"""The version that an engine may keep of a deleted session."""
EVENT_OVERHEAD: Final = 128
"""What an event counts in `Limits.event_bytes` beside its data."""


class StoreUnavailable(Exception):
    """The engine of a store cannot be reached now."""


class NoSuchEvent(Exception):
    """An event that was never stored, or is no longer kept."""


class TooManyTasks(Exception):
    """An owner has as many tasks as `Limits.tasks` allows."""


class Stored(NamedTuple):
    """The events of a stream after a certain one."""

    events: Sequence[bytes]
    note: bytes
    """What was stored with the stream's last event; empty once the stream is over."""


class EventStore(Protocol):
    """The events of streams, so that a stream can be resumed. A session has its streams alone.

    The events of a stream are numbered from 1, by whoever appends them.
    """

    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        """Stores events that follow the first `count` of a stream, all of them or none.

        An event whose number the stream has already is not stored again, so an append that failed
        can be repeated. The note replaces the stream's, if an event is new; an empty one says that
        the stream is over.
        """

    async def after(self, session: str, stream: str, number: int) -> Stored:
        """What came after an event on its stream. Raises NoSuchEvent."""
        ...

    async def forget(self, session: str) -> None:
        """Deletes everything of a session."""


class Kept(NamedTuple):
    """The record of a session or a task. Each `put` makes the version one higher."""

    version: int
    record: bytes


def kept(version: object, record: object) -> Kept | None:
    """What an engine has read; None for what no process of ours has written, or that is deleted."""
    if not isinstance(version, int) or version < 1 or not isinstance(record, bytes):
        return None
    return Kept(version, record)


class SessionStore(Protocol):
    """What was agreed in sessions, so that a process can go on with one that another has begun.

    It gives up sessions that nobody has put or got for `Limits.session_idle` seconds. One that has
    a table of them gives up the idlest when there are more than `Limits.sessions`.
    """

    async def put(self, session: str, record: bytes, version: int) -> bool:
        """Keeps a record in place of the one of that version; version 0 stands for none.

        Returns False, and keeps nothing, if another version is kept, or the session was deleted.
        """
        ...

    async def get(self, session: str) -> Kept | None:
        """What was put last; None if nothing is kept, or the session was deleted."""
        ...

    async def delete(self, session: str) -> None:
        """Ends a session. It stays deleted until its age is over: `put` is refused till then."""


class TaskStore(Protocol):
    """The records of tasks. A task belongs to an owner; for another owner it does not exist."""

    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        """Keeps a record in place of the one of that version, for so long from now.

        Version 0 stands for none. Returns False, and keeps nothing, if another version is kept.
        With 0 seconds the task is forgotten. Raises TooManyTasks for a new task of an owner who has
        `Limits.tasks`, and where there is no room in the memory.
        """
        ...

    async def get(self, owner: str, task: str) -> Kept | None:
        """What was put last; None if nothing is kept, or its time is over."""
        ...

    async def ids(self, owner: str) -> Sequence[str]:
        """The tasks of an owner, in the order of their ids."""
        ...


class Leases(Protocol):
    """Names that are held for a time: by them each process knows which others live."""

    async def hold(self, name: str, seconds: float) -> None:
        """Holds a name from now on for so long; holding it again begins the time anew."""

    async def is_held(self, name: str) -> bool: ...

    async def release(self, name: str) -> None: ...


class Bus(Protocol):
    """Brings messages from one process to all that are subscribed to their topic."""

    def publish(self, topic: str, message: bytes) -> None:
        """Never waits, never raises; a message that cannot be sent now may be lost."""

    def subscribed(
        self, topic: str, receive: Callable[[bytes], None]
    ) -> AbstractAsyncContextManager[object]:
        """While entered, `receive` gets each message of the topic, on the running event loop.

        Those of one process come in the order in which it published them. What this
        process publishes comes back to it as well.
        """
        ...


class Store(Protocol):
    """One engine for everything that several processes share; entered before it is used."""

    @property
    def events(self) -> EventStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def tasks(self) -> TaskStore: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def bus(self) -> Bus: ...

    async def __aenter__(self) -> object:
        """Raises StoreUnavailable."""
        ...

    async def __aexit__(self, *raised: object) -> None: ...
