"""This process among the processes on one store: it forwards messages, and knows which processes
live.

Each process has a random number, which stands in the ids of its requests to clients and in the
names of its streams; so any other process knows the owner of an answer or a stream.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from functools import partial
from itertools import count
from typing import Any, Final

import msgspec

from mcp_runtime.core.wire import jsonrpc, peek
from mcp_runtime.core.wire.jsonrpc import Batch, ErrorResponse, Frame, Id, Notification, Response
from mcp_runtime.limits import Limits
from mcp_runtime.server.lifespan import Lifespan
from mcp_runtime.stores import Store, StoreUnavailable

log: Final = logging.getLogger("mcp_runtime.http")

_NUMBER_BITS: Final = 20
"""How many requests and streams a process can number in one session."""
_PROCESS_BITS: Final = 32
"""The random part of such numbers. Both parts together are exact in JSON."""
_DIGITS: Final = 20
"""Both parts together have fewer."""
_EVERYBODY: Final = "processes"
_RENEWALS: Final = 3
"""How often a lease is renewed within its time."""
_TEXT_CHARS: Final = 1000
"""Characters that are passed on of a reason, or of a message about progress."""
_HEARD: Final = 4096
"""How many pairs of a topic and a process we know the last message of; the oldest is forgotten."""


class Forwarded(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message from one process to another that serves the same session."""

    sender: int
    session: str
    number: int = 0
    """The number of the message, by which the receiver drops a repeated message: its reply may have
    been lost.
    """
    body: str = ""
    """A message of the client; a request only on HTTP+SSE, where all answers leave on one
    stream.
    """
    principal: str = ""
    token: str = ""
    """The content of the request's token, as JSON; empty without authorization."""
    resumed: str = ""
    """The name of a stream that the client now reads from the sender."""
    changed: bool = False
    """True if the record of the session was changed."""
    ended: bool = False
    """True if the session was deleted."""


class _Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The params of `notifications/progress`."""

    token: Id = msgspec.field(name="progressToken")
    progress: int | float
    total: int | float | None = None
    message: str = ""

    def shorten(self) -> _Progress:
        return msgspec.structs.replace(self, message=self.message[:_TEXT_CHARS])


_progress: Final = msgspec.json.Decoder(_Progress)
_forwarded: Final = msgspec.json.Decoder(Forwarded)


def owner(id: Id | None) -> int | None:
    """Return the number of the process that chose this id of a request, or this name of a
    stream.
    """
    if isinstance(id, str):
        id = int(id) if id.isdecimal() and len(id) < _DIGITS else None
    return None if id is None else id >> _NUMBER_BITS


class Cluster:
    """The processes of one application with a store; `receive` gets forwarded messages."""

    def __init__(self, store: Store, limits: Limits, receive: Callable[[Forwarded], None]) -> None:
        self.number = -1
        """The number of this process, chosen when it joins: a process may fork after it made the
        application.
        """
        self.store: Final = store
        self._lease: Final = limits.lease
        self._id_chars: Final = limits.id_chars
        self._receive = receive
        self._numbers = count(1)
        self._last: dict[tuple[str, int], int] = {}
        """The last message of each topic and process; a bus may bring one topic before another.

        Those that were heard of last stand at the end."""

    @property
    def first_id(self) -> int:
        """Return the first number for requests and streams of a session in this process."""
        return self.number << _NUMBER_BITS

    def lifespan(self, sharing: Callable[[Store], AbstractAsyncContextManager[object]]) -> Lifespan:
        """Return the lifespan in which the store is open, this process has joined, and `sharing` is
        entered. All three are left at its end, or at the end of the event loop.
        """

        @asynccontextmanager
        async def share() -> AsyncGenerator[None]:
            async with self.store, self.join(), sharing(self.store):
                yield

        return Lifespan(share)

    @asynccontextmanager
    async def join(self) -> AsyncGenerator[None]:
        """Join the processes on the store while the context is entered. The others see that this
        process lives, and can send messages to it.
        """
        self.number = 1 << (_PROCESS_BITS - 1) | secrets.randbits(_PROCESS_BITS - 1)
        name, bus = _topic(self.number), self.store.bus
        async with AsyncExitStack() as stack:
            for topic in (name, _EVERYBODY):
                receive = partial(self._on_message, topic)
                await stack.enter_async_context(bus.subscribed(topic, receive))
            await self.store.leases.hold(name, self._lease)
            renewal = asyncio.create_task(self._renew(name))
            try:
                yield
            finally:
                renewal.cancel()
                await asyncio.wait({renewal})
                await self._release(name)

    async def _renew(self, name: str) -> None:
        while True:
            await asyncio.sleep(self._lease / _RENEWALS)
            try:
                await self.store.leases.hold(name, self._lease)
            except StoreUnavailable as error:
                log.warning("this process cannot say that it lives: %s", error)

    async def _release(self, name: str) -> None:
        try:
            await self.store.leases.release(name)
        except StoreUnavailable as error:
            log.warning("the lease of this process lapses by itself: %s", error)

    async def lives(self, number: int) -> bool:
        """Return True if the process with this number holds its lease."""
        return number == self.number or await self.store.leases.is_held(_topic(number))

    # ---- forwarding

    def forward(self, session: str, frame: Frame) -> None:
        """Forward a message if another process can use it: a response to a request of that process,
        or one of the notifications in `_forward_notification`.
        """
        if isinstance(frame, Batch):
            for each in frame.frames:
                self.forward(session, each)
        elif isinstance(frame, Notification):
            with suppress(*jsonrpc.UNREADABLE):
                self._forward_notification(session, frame)
        elif isinstance(frame, Response | ErrorResponse):
            number = owner(frame.id)
            if number is not None and number != self.number:
                self.send(number, session, _write_frame(frame))

    def _forward_notification(self, session: str, frame: Notification) -> None:
        """Forward a notification, written anew to bound its size. Raises UNREADABLE."""
        match frame.method:
            case "notifications/initialized" | "notifications/roots/list_changed":
                body = jsonrpc.notification(frame.method)
            case "notifications/cancelled":
                said = peek.cancellation(frame.params)
                if isinstance(said.request_id, str) and len(said.request_id) > self._id_chars:
                    return
                body = jsonrpc.cancellation(said.request_id, said.reason[:_TEXT_CHARS])
            case "notifications/progress":
                progress = _progress.decode(frame.params)
                number = owner(progress.token)
                if number is not None and number != self.number:
                    data = msgspec.json.encode(progress.shorten())
                    self.send(number, session, jsonrpc.notification(frame.method, data))
                return
            case _:
                return
        self._publish(_EVERYBODY, session, body=body.decode())

    def send(
        self, number: int, session: str, body: bytes, principal: str = "", token: str = ""
    ) -> None:
        self._publish(_topic(number), session, body=body.decode(), principal=principal, token=token)

    def resume(self, number: int, session: str, stream: str) -> None:
        """Tell the owner of a stream that the client now reads it here."""
        self._publish(_topic(number), session, resumed=stream)

    def changed(self, session: str) -> None:
        """Tell the other processes to read the record of a session again, if they have it open."""
        self._publish(_EVERYBODY, session, changed=True)

    def ended(self, session: str) -> None:
        self._publish(_EVERYBODY, session, ended=True)

    def _publish(self, topic: str, session: str, **what: Any) -> None:
        message = Forwarded(self.number, session, next(self._numbers), **what)
        self.store.bus.publish(topic, msgspec.json.encode(message))

    def _on_message(self, topic: str, data: bytes) -> None:
        try:
            message = _forwarded.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            log.warning("ignored a message of another process that cannot be read: %r", data[:80])
            return
        if message.sender != self.number and self._is_new(topic, message):
            self._receive(message)

    def _is_new(self, topic: str, message: Forwarded) -> bool:
        source = topic, message.sender
        last = self._last.pop(source, 0)
        self._last[source] = max(last, message.number)
        if len(self._last) > _HEARD:
            del self._last[next(iter(self._last))]
        return message.number > last


def _write_frame(frame: Response | ErrorResponse) -> bytes:
    if isinstance(frame, Response):
        return jsonrpc.response(frame.id, frame.result)
    return jsonrpc.error_response(frame.id, frame.code, frame.message, frame.data)


def _topic(number: int) -> str:
    return f"process:{number}"
