"""The account of bytes: what a process holds for its peers, from its arrival until it is given up.

    the process ← a share for each peer ← a counter for each session, request, stream or task

A peer is a principal, a network address where clients do not authenticate, or the other end of a
stream. It may hold as much as is left for everybody else, so that there is room for a small peer
however many large ones there are. Where that is crossed, the largest peer gives up what it can: at
first what it does not read or is still sending, then what is kept for it, the oldest first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast
from weakref import WeakMethod, WeakValueDictionary, ref

from mcp_runtime.limits import Limits

SMALL: Final = 4096
"""Bytes of a message that is refused only when a reserve is used up as well."""
RESERVE: Final = 4
"""The part of `Limits.process_bytes` that small messages may use beyond it, as a divisor."""
REQUEST_BYTES: Final = 4096
"""What a request that is worked on counts beside its params: a task, a stream, a context."""
EVENT_BYTES: Final = 128
"""What a message that waits counts beside its data."""
SESSION_BYTES: Final = 16 * 1024
"""What a session of HTTP counts beside its messages."""
PARSED: Final = 8
"""How often the bytes of JSON are counted that is kept parsed."""

Rank: TypeAlias = Literal[0, 1]
UNREAD: Final[Rank] = 0
"""What a peer does not read, or is still sending: it is given up first."""
KEPT: Final[Rank] = 1
"""What is kept for a peer in case it comes back for it."""


class Process:
    """What is held for all peers together."""

    __slots__ = ("_shares", "count", "givers")

    def __init__(self) -> None:
        self.count = 0
        self.givers: dict[Share, None] = {}
        """The peers that can give up something."""
        self._shares: WeakValueDictionary[str, Share] = WeakValueDictionary()

    def share_of(self, peer: str) -> Share:
        """The share of a peer by its name, which all servers of the process have in common."""
        share = self._shares.get(peer)
        if share is None:
            share = self._shares[peer] = Share()
        return share

    def give_up(self) -> bool:
        """Has the largest peer that can give up something do so; whether there was one."""
        if not self.givers:
            return False
        max(self.givers, key=_count).give_up()
        return True


class Share:
    """What is held for one peer, and which parts of it can be given up, the oldest first."""

    __slots__ = ("__weakref__", "count", "offers")

    def __init__(self) -> None:
        self.count = 0
        self.offers: tuple[dict[int, ref[Hold]], ...] = ({}, {})
        """The parts that can be given up, by rank and identity."""

    def add(self, rank: Rank, hold: Hold) -> None:
        self.offers[rank][id(hold)] = ref(hold)
        OF_PROCESS.givers[self] = None

    def remove(self, rank: Rank, hold: Hold) -> None:
        self.offers[rank].pop(id(hold), None)
        if not any(self.offers):
            OF_PROCESS.givers.pop(self, None)

    def give_up(self) -> None:
        """Gives up its oldest part of the lowest rank."""
        for offers in self.offers:
            if offers:
                hold = offers[next(iter(offers))]()
                assert hold is not None  # it removes itself when it is gone
                hold.give_up()
                return


def _count(share: Share) -> int:
    return share.count


OF_PROCESS: Final = Process()


class HeldBytes:
    """What is held for one session, request, stream or task of a peer."""

    __slots__ = ("__weakref__", "count", "share")

    def __init__(self, share: Share | None = None) -> None:
        self.count = 0
        self.share = Share() if share is None else share

    def change(self, by: int) -> None:
        self.count += by
        self.share.count += by
        OF_PROCESS.count += by

    def crossed(self, limits: Limits, size: int, more: Callable[[], int] | None = None) -> str:
        """The limit for which `size` bytes cannot be held too, after making room; empty for none.

        `more` counts bytes that wait elsewhere.
        """
        if size > SMALL:
            if self.count + (0 if more is None else more()) > limits.held_bytes:
                return "Limits.held_bytes"
            most = limits.process_bytes
        else:
            most = limits.process_bytes + limits.process_bytes // RESERVE
        share = self.share
        while share.count + size + OF_PROCESS.count > most:
            if not OF_PROCESS.give_up():
                return "Limits.process_bytes"
        return ""

    def __del__(self) -> None:
        if self.count:
            self.change(-self.count)
            cast(
                "Any", self
            ).__class__ = _Closed  # the garbage collector may finalize it before its holds


class _Closed(HeldBytes):
    """A counter whose session is gone, and whose bytes were given back."""

    __slots__ = ()

    def change(self, by: int) -> None:
        """Counts nothing."""


class Hold:
    """Bytes that are held for a peer as long as this object is there."""

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
        """Has `give_up`, a bound method, called where room is needed, once for each offer.

        It must make this smaller. An offer that stands already is left as it is.
        """
        if self._rank is None:
            self._rank, self._give_up = rank, WeakMethod(give_up)
            self._held.share.add(rank, self)

    def keep(self) -> None:
        """Takes the offer back."""
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
