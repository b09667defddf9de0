"""Places in a server's threads, shared fairly: hanging functions of one peer do not block others.

    Places ← the places of a server, on one event loop
    Room   ← the places of a peer, and of each session of the peer within them

A peer always has a place for one function. Further functions share the places outside the reserve,
and waiting peers get such a place in turn.
"""

from __future__ import annotations

import asyncio
from typing import Final

RESERVE: Final = 4
"""One thread in so many is reserved for the first functions of peers."""


class Places:
    """The places for second and further functions of peers; `most` functions run at one time."""

    def __init__(self, most: int) -> None:
        self.free = most - most // RESERVE
        self._waiting: dict[Room, None] = {}
        """The peers with waiting functions, the next peer first."""

    def wait(self, peer: Room) -> None:
        """Add a peer to the end of the queue, unless it is in the queue."""
        self._waiting.setdefault(peer)

    def pass_on(self, peer: Room) -> None:
        """Give free places to waiting peers: first to `peer` itself if it has no place left."""
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
    """At most `most` places within those of `peer`, or the places of a peer itself."""

    __slots__ = ("__weakref__", "_most", "_peer", "_places", "_rooms", "_waiters", "count")

    def __init__(self, places: Places, most: int, peer: Room | None = None) -> None:
        self._places, self._most = places, most
        self._peer = self if peer is None else peer
        self.count = 0
        """The number of places taken."""
        self._waiters: dict[asyncio.Future[None], None] = {}
        self._rooms: dict[Room, None] = {}
        """For a peer: its rooms with waiting functions, the next room first."""

    def within(self, most: int) -> Room:
        """Make a room for at most `most` of these places."""
        return Room(self._places, most, self)

    @property
    def waits(self) -> bool:
        """True if functions of the peer wait."""
        return bool(self._rooms)

    @property
    def _has_place(self) -> bool:
        peer = self._peer
        is_first = not peer.count
        fits = self.count < self._most and peer.count < peer._most
        return fits and (is_first or self._places.free > 0)

    async def enter(self) -> None:
        """Take a place; wait until one is free."""
        if self._has_place:  # then no waiting function could take it: `leave` has woken them all
            self._take()
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        self._peer._rooms.setdefault(self)
        self._places.wait(self._peer)
        try:
            await waiter
        except asyncio.CancelledError:
            # A waiter with a result has its place already, though this task never ran again.
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
        """Give a place back, and pass it on."""
        if self._peer.count > 1:
            self._places.free += 1
        self.count -= 1
        if self._peer is not self:
            self._peer.count -= 1
        self._places.pass_on(self._peer)

    def begin_next(self) -> bool:
        """Give a place of the peer to its next waiting function; return False if there was none."""
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
        """Drop cancelled waiters; return True if a function still waits here."""
        while self._waiters and (first := next(iter(self._waiters))).done():
            del self._waiters[first]
        return bool(self._waiters)
