"""The places of peers in a server's threads: functions of one that hang leave room for others.

    Places ← those of a server, on one event loop
    Room   ← those of a peer, and of each session of a peer within them

A peer has a place for one function in any case. All further ones share what is not in reserve, and
of the peers that wait for one, each gets it in turn.
"""

from __future__ import annotations

import asyncio
from typing import Final

RESERVE: Final = 4
"""The part of the threads that is for the first function of a peer alone, as a divisor."""


class Places:
    """The places for second and further functions of peers; `most` functions run at one time."""

    def __init__(self, most: int) -> None:
        self.free = most - most // RESERVE
        self._waiting: dict[Room, None] = {}
        """The peers of which functions wait, the next one first."""

    def wait(self, peer: Room) -> None:
        """Have a peer served in its turn."""
        self._waiting.setdefault(peer)

    def pass_on(self, peer: Room) -> None:
        """Give what `peer` has left to those that wait: to itself if it has no place any more."""
        if not peer.count:
            peer.begin_next()
        full: list[Room] = []
        while self.free > 0 and self._waiting:
            each = next(iter(self._waiting))
            del self._waiting[each]
            if each.begin_next():
                self._waiting[each] = None
            elif each.waits:
                full.append(each)
        self._waiting.update(dict.fromkeys(full))


class Room:
    """At most `most` places, of those that `peer` has; without one they are a peer's own."""

    __slots__ = ("__weakref__", "_most", "_peer", "_places", "_rooms", "_waiters", "count")

    def __init__(self, places: Places, most: int, peer: Room | None = None) -> None:
        self._places, self._most = places, most
        self._peer = self if peer is None else peer
        self.count = 0
        """How many are taken."""
        self._waiters: dict[asyncio.Future[None], None] = {}
        self._rooms: dict[Room, None] = {}
        """Of a peer: its rooms in which functions wait, the next one first."""

    def within(self, most: int) -> Room:
        """A room of at most `most` of these places."""
        return Room(self._places, most, self)

    @property
    def waits(self) -> bool:
        """Whether functions of the peer wait."""
        return bool(self._rooms)

    @property
    def _has_place(self) -> bool:
        peer = self._peer
        is_first = not peer.count
        fits = self.count < self._most and peer.count < peer._most
        return fits and (is_first or self._places.free > 0)

    async def enter(self) -> None:
        """Take a place, as soon as there is one."""
        if self._has_place:  # so nothing waits that could have it
            self._take()
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        self._peer._rooms.setdefault(self)
        self._places.wait(self._peer)
        try:
            await waiter
        except asyncio.CancelledError:
            self._waiters.pop(waiter, None)
            if not waiter.cancelled():
                self.leave()
            raise

    def _take(self) -> None:
        self.count += 1
        if self._peer is not self:
            self._peer.count += 1
        if self._peer.count > 1:
            self._places.free -= 1

    def leave(self) -> None:
        """Give a place back."""
        if self._peer.count > 1:
            self._places.free += 1
        self.count -= 1
        if self._peer is not self:
            self._peer.count -= 1
        self._places.pass_on(self._peer)

    def begin_next(self) -> bool:
        """Give a place of the peer to the next function that waits; whether there were both."""
        if self.count >= self._most:
            return False
        stale: list[Room] = []
        begun: Room | None = None
        for room in self._rooms:
            if not room._has_waiter():
                stale.append(room)
            elif room._has_place:
                begun = room
                break
        for room in stale:
            del self._rooms[room]
        if begun is None:
            return False
        waiter = next(iter(begun._waiters))
        del begun._waiters[waiter], self._rooms[begun]
        if begun._waiters:
            self._rooms[begun] = None
        begun._take()
        waiter.set_result(None)
        return True

    def _has_waiter(self) -> bool:
        """Whether a function waits here that was not cancelled."""
        while self._waiters and (first := next(iter(self._waiters))).done():
            del self._waiters[first]
        return bool(self._waiters)
