"""Protocols of stores, with which many processes can serve the same sessions and tasks.

`mcp_runtime.stores.memory` keeps everything in this process, `sqlite` in a file shared by the
processes of one machine, `redis` on a server of Redis or Valkey. `mcp_runtime.stores.opening` opens
a store by its URL. Test an adapter for another engine with `mcp_runtime.stores.contract`.

Every method raises StoreUnavailable, soon, if the engine cannot be reached; none hangs. The engine
may still carry out the operation later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol

from mcp_runtime.core.session.request_state import StateSealer

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
"""A version with which an engine may mark a deleted session."""
EVENT_OVERHEAD: Final = 128
"""The bytes counted for an event in `Limits.event_bytes`, beside its data."""


class StoreUnavailable(Exception):
    """The engine of a store cannot be reached now."""


class NoSuchEvent(Exception):
    """The event was never stored, or is no longer stored."""


class TooManyTasks(Exception):
    """The owner has `Limits.tasks` tasks, or memory is used up."""


class Stored(NamedTuple):
    """The events of a stream after a given event."""

    events: Sequence[bytes]
    note: bytes
    """The note of the stream's last event; empty once the stream is over."""


class EventStore(Protocol):
    """The events of streams, with which clients resume. A stream belongs to one session.

    The events of a stream are numbered from 1, by the process which appends them.
    """

    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        """Store events after the first `count` of a stream, all of them or none.

        An event whose number is taken is not stored again, so a failed append can be repeated. If
        an event is new, `note` replaces the stream's note; an empty note means that the stream is
        over.
        """

    async def after(self, session: str, stream: str, number: int) -> Stored:
        """Return the events of a stream after event `number`. Raises NoSuchEvent."""
        ...

    async def forget(self, session: str) -> None:
        """Delete all events of a session."""


class Kept(NamedTuple):
    """The record of a session or a task. Each `put` adds one to the version."""

    version: int
    record: bytes


def kept(version: object, record: object) -> Kept | None:
    """Return the record read by an engine; None if it is deleted, or not written by us."""
    if not isinstance(version, int) or version < 1 or not isinstance(record, bytes):
        return None
    return Kept(version, record)


class SessionStore(Protocol):
    """The terms of sessions, with which any process can continue a session of another process.

    A session is dropped `Limits.session_idle` seconds after its last `put` or `get`. A store with a
    table of sessions drops the idlest if there are more than `Limits.sessions`.
    """

    async def put(self, session: str, record: bytes, version: int) -> bool:
        """Replace the record of the given version; version 0 means no record.

        Return False, and store nothing, if the version differs or the session was deleted.
        """
        ...

    async def get(self, session: str) -> Kept | None:
        """Return the last record; None if there is none, or the session was deleted."""
        ...

    async def delete(self, session: str) -> None:
        """Delete a session, and refuse any `put` to it for `Limits.session_idle` seconds."""


class TaskStore(Protocol):
    """The records of tasks. A task is visible to its owner only."""

    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        """Replace the record of the given version, and keep it for `seconds` from now.

        Version 0 means no record. Return False, and store nothing, if the version differs. With 0
        seconds the task is deleted. Raises TooManyTasks for a new task of an owner with
        `Limits.tasks` tasks, and if memory is used up.
        """
        ...

    async def get(self, owner: str, task: str) -> Kept | None:
        """Return the last record; None if there is none, or its time is over."""
        ...

    async def ids(self, owner: str) -> Sequence[str]:
        """Return the ids of an owner's tasks, sorted."""
        ...


class Leases(Protocol):
    """Names held for a time, by which processes know each other to be alive."""

    async def hold(self, name: str, seconds: float) -> None:
        """Hold a name for `seconds` from now, even if it is held already."""

    async def is_held(self, name: str) -> bool: ...

    async def release(self, name: str) -> None: ...


class Bus(Protocol):
    """Delivers messages from one process to all subscribers of a topic."""

    def publish(self, topic: str, message: bytes) -> None:
        """Publish a message; never wait and never raise.

        A message may be lost if it cannot be sent now.
        """

    def subscribed(
        self, topic: str, receive: Callable[[bytes], None]
    ) -> AbstractAsyncContextManager[object]:
        """Call `receive` with each message of the topic, inside the block, on the running loop.

        Messages of one process arrive in the order in which it published them. Messages of this
        process arrive here too.
        """
        ...


class Store(Protocol):
    """One engine for all state shared by several processes; enter it before use."""

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
        """Connect to the engine. Raises StoreUnavailable."""
        ...

    async def __aexit__(self, *raised: object) -> None: ...
