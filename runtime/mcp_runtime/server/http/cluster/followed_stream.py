"""A stream of another process, which a client resumes here: its events come from the store.

Source: 2025-11-25 basic/transports, "Resumability and Redelivery".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from mcp_runtime.core.session.held import HeldBytes
from mcp_runtime.core.wire import error_codes, jsonrpc, sse
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.limits import Limits
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.stream_note import Rerun, read_note
from mcp_runtime.server.http.cluster.cluster import Cluster
from mcp_runtime.stores import NoSuchEvent, Stored, StoreUnavailable

_DIGITS: Final = 15
"""The number of an event has fewer."""
_LOOKS: Final = 3
"""How often within the time of a lease this process looks for missed news, and for the owner's
lease.
"""

TakeOver: TypeAlias = Callable[[str, Rerun, int], bool]
"""Begins to run the requests of a stream again, by its name, its note and the number of its last
event; whether that may be done here."""


def news_topic(session: str, stream: str) -> str:
    """Return the topic for the news that the owner of a stream has stored an event."""
    return f"stream:{session}:{stream}"


def place(id: str) -> tuple[str, int]:
    """Return the stream of an event, and its number there, by its id. Raises NoSuchEvent."""
    name, _, number = id.rpartition(".")
    if not (number.isascii() and number.isdigit() and len(number) < _DIGITS):
        raise NoSuchEvent(id)
    return name, int(number)


def encode_events(name: str, count: int, messages: Sequence[bytes]) -> bytes:
    """Return the events of a stream that follow its first `count`, with their ids."""
    return b"".join(
        sse.encode(sse.Event(id=f"{name}.{number}", data=data))
        for number, data in enumerate(messages, count + 1)
    )


class FollowedStream:
    """Puts stored events into an outbox as they come; ends with the stream.

    If the owner dies, its unanswered requests are run again, or answered with an error if they may
    not run again. Of several followers only one does so.
    """

    def __init__(
        self,
        cluster: Cluster,
        limits: Limits,
        session: str,
        stream: str,
        owner: int,
        last: int,
        take_over: TakeOver,
        held: HeldBytes,
    ) -> None:
        self.outbox: Final = Outbox(stream, limits, held)
        self._cluster: Final = cluster
        self._session: Final = session
        self._owner = owner
        self._take_over = take_over
        self._wait: Final = limits.lease / _LOOKS
        self._last = last
        self._news: Final = asyncio.Event()
        self._task: Final = asyncio.create_task(self._follow())

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        """Return the messages as they are: they are whole events, and stored already."""
        return b"".join(messages)

    def on_response_end(self, stream: Outbox) -> None:
        self._task.cancel()

    async def _follow(self) -> None:
        topic = news_topic(self._session, self.outbox.name)
        bus = self._cluster.store.bus
        try:
            async with bus.subscribed(topic, lambda _: self._news.set()):
                self._follow_process(self._owner)
                while await self._look():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._wait):
                            await self._news.wait()
        except (NoSuchEvent, StoreUnavailable, *jsonrpc.UNREADABLE):
            pass  # the response ends, and the client asks again
        finally:
            self.outbox.finish()

    def _follow_process(self, number: int) -> None:
        """Tell the stream's owner that the client reads the stream here."""
        self._owner = number
        self._cluster.resume(number, self._session, self.outbox.name)

    async def _look(self) -> bool:
        """Pass on new events; return True if more may follow."""
        self._news.clear()
        lives = await self._cluster.lives(self._owner)
        stored = await self._pass_on()
        if stored.note and not lives:
            stored = await self._replace_owner(stored)
        return bool(stored.note)

    async def _replace_owner(self, stored: Stored) -> Stored:
        """Find another process to run the unanswered requests of the stream, or answer with
        errors.
        """
        match read_note(stored.note):
            case Rerun() as note if note.process != self._owner:
                self._follow_process(note.process)
            case Rerun() as note if self._take_over(self.outbox.name, note, self._last):
                pass
            case Rerun(owed=owed) | owed:
                await self._answer_for_owner(owed)
                return await self._pass_on()
        return stored

    async def _pass_on(self) -> Stored:
        name = self.outbox.name
        stored = await self._cluster.store.events.after(self._session, name, self._last)
        for data in stored.events:
            if data:
                self.outbox.put(encode_events(name, self._last, [data]))
            self._last += 1
        await self.outbox.drain()
        return stored

    async def _answer_for_owner(self, owed: Sequence[Id]) -> None:
        """Answer the unanswered requests with errors. Their events get the next numbers, which only
        one process can store.
        """
        answers = [
            jsonrpc.error_response(id, error_codes.INTERNAL_ERROR, _WHY, _LOST) for id in owed
        ]
        events = self._cluster.store.events
        await events.append(self._session, self.outbox.name, self._last, answers, b"")


_WHY: Final = "Internal error: the process that worked on this request has ended"
_LOST: Final = b'{"reason":"process-ended"}'
