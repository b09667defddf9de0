"""The account of bytes in memory: of messages and state, from their arrival until they are freed.

    the process ← a share for each peer ← a counter for each session, request, stream or task

A peer is a principal, a network address if clients do not authenticate, or the other end of a
stream. Each may hold as many bytes as are left for all others together, so a small peer finds room
beside any number of large peers. At the limit the largest peer frees memory: first messages it does
not read or is still sending, then state kept for its return, each time the oldest first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast
from weakref import WeakMethod, WeakValueDictionary, ref

from mcp_runtime.limits import Limits

SMALL: Final = 4096
"""The size in bytes up to which a message may use the reserve."""
RESERVE: Final = 4
"""Small messages may exceed `Limits.process_bytes` by one part in so many."""
REQUEST_BYTES: Final = 4096
"""The bytes counted for a running request beside its params: a task, a stream, a context."""
EVENT_BYTES: Final = 128
"""The bytes counted for a waiting message beside its data."""
SESSION_BYTES: Final = 16 * 1024
"""The bytes counted for an HTTP session beside its messages."""
PARSED: Final = 8
"""Parsed JSON counts as so many times the bytes of its text."""

Rank: TypeAlias = Literal[0, 1]
UNREAD: Final[Rank] = 0
"""Messages which a peer does not read, or is still sending: they are freed first."""
KEPT: Final[Rank] = 1
"""State kept for a peer in case it returns."""


class Process:
    """The bytes of all peers together."""

    __slots__ = ("_shares", "count", "givers")

    def __init__(self) -> None:
        self.count = 0
        self.givers: dict[Share, None] = {}
        """The peers with memory to free."""
        self._shares: WeakValueDictionary[str, Share] = WeakValueDictionary()

    def share_of(self, peer: str) -> Share:
        """Return the share of a peer by its name; all servers of the process have it in common."""
        share = self._shares.get(peer)
        if share is None:
            share = self._shares[peer] = Share(self)
        return share

    def give_up(self) -> bool:
        """Let the largest peer free some memory; return False if no peer has any to free."""
        if not self.givers:
            return False
        max(self.givers, key=_count).give_up()
        return True


class Share:
    """The bytes of one peer, and the holds it can free."""

    __slots__ = ("__weakref__", "count", "offers", "process")

    def __init__(self, process: Process) -> None:
        self.process: Final = process
        self.count = 0
        self.offers: tuple[dict[int, ref[Hold]], ...] = ({}, {})
        """The holds to free, by rank and identity, the oldest first."""

    def add(self, rank: Rank, hold: Hold) -> None:
        self.offers[rank][id(hold)] = ref(hold)
        self.process.givers[self] = None

    def remove(self, rank: Rank, hold: Hold) -> None:
        self.offers[rank].pop(id(hold), None)
        if not any(self.offers):
            self.process.givers.pop(self, None)

    def give_up(self) -> None:
        """Free the oldest hold of the lowest rank."""
        for offers in self.offers:
            if offers:
                hold = offers[next(iter(offers))]()
                assert hold is not None  # it removes itself when it is gone
                hold.give_up()
                return


def _count(share: Share) -> int:
    return share.count


OF_PROCESS: Final = Process()
"""The account of this Python process, which everything uses that is given no other."""


class HeldBytes:
    """The bytes of one session, request, stream or task of a peer; without a share, of a new peer
    of this process.
    """

    __slots__ = ("__weakref__", "count", "share")

    def __init__(self, share: Share | None = None) -> None:
        self.count = 0
        self.share = Share(OF_PROCESS) if share is None else share

    def change(self, by: int) -> None:
        share = self.share
        self.count += by
        share.count += by
        share.process.count += by

    def make_room(self, limits: Limits, size: int, more: Callable[[], int] | None = None) -> str:
        """Make room for `size` bytes; return the name of the limit they exceed, empty for none.

        `more` returns the number of bytes waiting in the transport.
        """
        if size > SMALL:
            if self.count + (0 if more is None else more()) > limits.held_bytes:
                return "Limits.held_bytes"
            most = limits.process_bytes
        else:
            most = limits.process_bytes + limits.process_bytes // RESERVE
        share, process = self.share, self.share.process
        while share.count + size + process.count > most:
            if not process.give_up():
                return "Limits.process_bytes"
        return ""

    def __del__(self) -> None:
        if self.count:
            self.change(-self.count)
            # In a cycle the garbage collector may finalize this object before its holds, which
            # then give back bytes for a second time. `_Closed` ignores them.
            cast("Any", self).__class__ = _Closed


class _Closed(HeldBytes):
    """A counter whose session is gone and whose bytes are given back."""

    __slots__ = ()

    def change(self, by: int) -> None:
        """Ignore the change."""


class Hold:
    """Bytes in memory for a peer, counted as long as this object lives."""

    __slots__ = ("__weakref__", "_give_up", "_held", "_rank", "size")

    def __init__(self, held: HeldBytes, size: int = 0) -> None:
        self._held, self.size = held, 0
        self._rank: Rank | None = None
        self._give_up: WeakMethod[Callable[[], None]] | None = None
        self.change(size)

    def change(self, by: int) -> None:
        self.size += by
        self._held.change(by)

    def offer(self, rank: Rank, give_up: Callable[[], None]) -> None:
        """Offer this hold to be freed: `give_up` is called once, when room is needed.

        `give_up` is a bound method, which must make the hold smaller. A second offer has no effect.
        """
        if self._rank is None:
            self._rank, self._give_up = rank, WeakMethod(give_up)
            self._held.share.add(rank, self)

    def keep(self) -> None:
        """Withdraw the offer to be freed."""
        if self._rank is not None:
            self._held.share.remove(self._rank, self)
            self._rank = None

    def give_up(self) -> None:
        self.keep()
        if self._give_up is not None and (give_up := self._give_up()) is not None:
            give_up()

    def __del__(self) -> None:
        self.keep()
        self.change(-self.size)
