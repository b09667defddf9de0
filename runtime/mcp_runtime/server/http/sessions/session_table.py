"""The sessions of an application: begins them, finds them and ends idle ones.

Source: 2025-11-25 basic/transports, "Session Management".
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from heapq import nsmallest
from http import HTTPStatus
from itertools import islice
from typing import Final, Generic, TypeVar

from mcp_runtime.core.session.held import HeldBytes, Share
from mcp_runtime.server.http.asgi.request import HttpError
from mcp_runtime.server.http.asgi.service import AT_ONCE, HttpService, new_session_id
from mcp_runtime.server.http.cluster.followed_stream import FollowedStream
from mcp_runtime.server.http.sessions.http_session import HttpSession
from mcp_runtime.stores import EventStore
from mcp_runtime.stores.memory import MemoryEvents

_S = TypeVar("_S", bound=HttpSession)

_SWEEP_EVERY: Final = 60.0
"""Seconds between two searches for idle sessions."""


class SessionTable(Generic[_S]):
    """The sessions that `make` makes of an id, a principal and its share in the account of bytes.

    They end with this process. A new one takes the place of an idle one.
    """

    is_shared = False
    """True if other processes have these sessions too."""

    def __init__(
        self,
        service: HttpService,
        events: EventStore,
        make: Callable[[str, str, Share | None], _S],
    ) -> None:
        self.open: Final[dict[str, _S]] = {}
        """The sessions in this process, by id."""
        self.events: Final = events
        self._service = service
        self._make = make
        service.count(self.open)
        self._sweeper: asyncio.TimerHandle | None = None

    def new(self, principal: str, share: Share | None = None) -> _S:
        """A session that `find` does not know before `begin`. Raises HttpError."""
        self.make_room(principal, share)
        return self._make(new_session_id(), principal, share)

    def make_room(self, principal: str, share: Share | None = None) -> None:
        """Close idle sessions if there is no room: of the peer with most, never used ones first.

        A peer with more sessions than all others together loses sessions with an open response
        before others lose any. A principal that has used up its own share loses sessions of its
        own. Raises HttpError if no session may be closed for this peer.
        """
        try:
            self._service.require_room(principal)
        except HttpError as error:
            of_own = error.status == HTTPStatus.TOO_MANY_REQUESTS
            if not self._close_some(principal if of_own else None, share):
                raise
            self._service.require_room(principal)

    def _close_some(self, owner: str | None, share: Share | None) -> bool:
        """Close sessions, of `owner` alone if one is given; False if none may be closed."""
        counts = Counter(each.session.held.share for each in self._service.sessions)
        largest, most = counts.most_common(1)[0] if counts else (share, 0)
        own = 0 if share is None else counts[share]
        idle = [
            session
            for session in self.open.values()
            if session.can_leave
            and counts[session.session.held.share] >= own
            and owner in (None, session.principal)
        ]
        theirs = [each for each in idle if each.session.held.share is largest]
        may_cut = owner is None and most > own + 1
        if may_cut and largest and (not idle or (not theirs and 2 * most > counts.total())):
            self._close_oldest(largest, 1 + most // AT_ONCE)
            return True
        victims = theirs or idle
        for session in nsmallest(1 + len(victims) // AT_ONCE, victims, key=_use):
            self._give_up(session)
        return bool(victims)

    def _close_oldest(self, share: Share, count: int) -> None:
        """Close the oldest sessions of a peer: of this transport, or else of another."""
        here = [each for each in self.open.values() if each.session.held.share is share]
        for session in here[:count]:
            self._give_up(session)
        if not here:
            theirs = (each for each in self._service.sessions if each.session.held.share is share)
            for other in [*islice(theirs, count)]:
                other.close()

    def _give_up(self, session: _S) -> None:
        self._remove(session)
        session.spawn(self.events.forget(session.id))

    async def begin(self, session: _S, body: bytes) -> None:
        """Make a session known to `find`; `body` is the client's `initialize`."""
        self._add(session)

    def _add(self, session: _S) -> None:
        self.open[session.id] = session
        self._service.server.connections.add(session)
        self._sweep_later()

    async def find(self, id: str, share: Share | None = None) -> _S | None:
        """Return the session with this id; None if there is none. Raises HttpError."""
        return self.open.get(id)

    async def end(self, session: _S) -> None:
        self._remove(session)
        await self.events.forget(session.id)

    def _remove(self, session: _S) -> None:
        self.open.pop(session.id, None)
        session.close()

    # ---- what only processes do that share a store

    async def keep(self, session: _S) -> None:
        """Store the changes by the client's last message. Raises HttpError."""

    async def catch_up(self, session: _S) -> None:
        """Announce the changes made while the session was not open here."""

    def follow(self, session: _S, name: str, last: int) -> FollowedStream | None:
        """Return a stream whose requests run in another process, from the event `last` on; None if
        there is none.
        """
        return None

    # ---- idle sessions, and shutdown

    async def release(self) -> None:
        """Close all sessions here, on shutdown."""
        self.stop_sweeping()
        for session in [*self.open.values()]:
            await self._release(session)

    async def _release(self, session: _S) -> None:
        await self.end(session)

    def stop_sweeping(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            wait = min(_SWEEP_EVERY, self._service.limits.session_idle / 4)
            self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _sweep(self) -> None:
        """Close sessions that have been idle for too long."""
        self._sweeper = None
        since = asyncio.get_running_loop().time() - self._service.limits.session_idle
        for session in [*self.open.values()]:
            if not session.responses and session.used <= since:
                del self.open[session.id]
                session.spawn(self._release(session))
        if self.open:
            self._sweep_later()


def _use(session: HttpSession) -> tuple[bool, float]:
    """Sort sessions by whether they were used after `notifications/initialized`, and when."""
    return session.uses > 1, session.used


def own_sessions(service: HttpService) -> SessionTable[HttpSession]:
    """Return the sessions of a process without a store."""
    events = MemoryEvents(service.limits)
    table = SessionTable(service, events, partial(HttpSession, service, events=events))
    events.held_by = lambda id: table.open[id].session.held if id in table.open else HeldBytes()
    return table
