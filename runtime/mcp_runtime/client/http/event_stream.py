"""A stream of the server's events, to its end or its break, and from there on over another GET.

Source: 2025-11-25 basic/transports, "Resumability and Redelivery"; 2024-11-05 basic/transports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final, TypeAlias

from mcp_runtime.client.http.backoff import Backoff
from mcp_runtime.client.http.http import HttpResponse
from mcp_runtime.core.http_rules import EVENT_STREAM
from mcp_runtime.core.sse import Events
from mcp_runtime.errors import BadStatus, Disconnected, NotReached
from mcp_runtime.limits import Limits

__all__ = ["ANY_ERA", "STREAM", "EventStream", "Get", "Take", "require_stream"]

Get: TypeAlias = Callable[[Mapping[str, str]], AbstractAsyncContextManager[HttpResponse]]
"""A GET request with these headers beside those that every one has."""
STREAM: Final = {"Accept": EVENT_STREAM, "Cache-Control": "no-store"}
"""The headers of a GET."""
Take: TypeAlias = Callable[[bytes], Awaitable[None]]
"""What is done with a message; the next one waits for it."""
ANY_ERA: Final = frozenset({401, 403, 407, 408, 421, 425, 429, 502, 503, 504})
"""Statuses that say nothing of what the server speaks, nor of a stream."""
_LATER: Final = ANY_ERA | {500}
"""Statuses of a server that may go on with a stream when it is asked again."""


class EventStream:
    """One stream, over as many connections as it takes; `take` has its messages.

    `draw` gives numbers from 0 to 1, to spread what is repeated.
    """

    def __init__(
        self,
        get: Get,
        take: Take,
        limits: Limits,
        draw: Callable[[], float],
    ) -> None:
        self.is_open = asyncio.Event()
        """Set once a GET has opened it."""
        self._get = get
        self._take = take
        self._limits = limits
        self._backoff = Backoff("a stream", limits, draw)
        self._id = ""
        self._retry: int | None = None

    async def follow(
        self, answer: HttpResponse, is_answered: Callable[[], bool], *, resumes: bool
    ) -> None:
        """From the answer to a request, until that is answered; `resumes` is where that may be.

        Its caller waits: once the server cannot be reached any more, the answer is lost. One that
        can be reached, but not yet asked, such as behind a proxy, is given time to come back.
        Raises Disconnected, TooMuch.
        """
        await self._drink(answer, is_answered)
        while not is_answered():
            if not (resumes and self._id):
                raise Disconnected("the stream has ended before the answer")
            await self._pause(soon=not self.is_open.is_set())
            try:
                await self._take_up(is_answered)
            except BadStatus as error:
                raise Disconnected(f"the stream is lost, {error}") from error

    async def listen(self) -> None:
        """As long as it can be taken up. Raises BadStatus, Disconnected, TooMuch."""
        now = asyncio.get_running_loop().time
        while True:
            started = now()
            await self._take_up()
            self._backoff.outlived(now() - started)
            await self._pause()

    async def _pause(self, *, soon: bool = False) -> None:
        """Before it is taken up, as the server has named a time for. Raises as a Backoff does."""
        named = self._retry is not None
        await self._backoff.pause(least=(self._retry or 0) / 1000, soon=soon or named)

    async def _take_up(self, is_answered: Callable[[], bool] | None = None) -> None:
        """One connection, to its end, where that can be made.

        Raises BadStatus for a server that has no such stream, and NotReached while an answer is
        waited for.
        """
        after = {"Last-Event-ID": self._id} if self._id else {}
        try:
            async with self._get(after) as answer:
                if answer.status in _LATER and self._backoff.failures:
                    return
                require_stream(answer)
                self.is_open.set()
                if is_answered is not None:
                    self._backoff.failures = 0
                await self._drink(answer, is_answered)
        except NotReached:
            if is_answered is not None:
                raise
        except Disconnected:
            pass

    async def _drink(self, answer: HttpResponse, is_answered: Callable[[], bool] | None) -> None:
        """Takes the messages, to the end or the break of a connection.

        When the request is answered, what else comes has little time. Raises TooMuch.
        """
        events, now = Events(self._limits.line_bytes), asyncio.get_running_loop().time
        with suppress(Disconnected, TimeoutError):
            async with asyncio.timeout(None) as bound:
                async for chunk in answer.chunks():
                    for event in events.feed(chunk):
                        self._backoff.failures = 0
                        if event.name == "message" and event.data:
                            await self._take(event.data)
                    self._id = events.id or self._id
                    self._retry = self._retry if events.retry is None else events.retry
                    if is_answered is not None and is_answered() and bound.when() is None:
                        bound.reschedule(now() + self._limits.close_wait)


def require_stream(answer: HttpResponse) -> None:
    """Raises BadStatus for the answer to a GET that is no stream of events."""
    if not answer.ok or answer.kind != EVENT_STREAM:
        raise answer.error("GET")
