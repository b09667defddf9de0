"""Subscriptions to changes: streams of the per-request era, resource URIs of the handshake era.

Source: 2026-07-28 basic/patterns/subscriptions; 2025-11-25 server/resources, "Subscriptions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import UNSET, Struct, structs

from mcp_runtime.core.session.held import EVENT_BYTES, HeldBytes, Hold
from mcp_runtime.core.terms.capabilities import declares
from mcp_runtime.core.terms.negotiation import ServerOffer
from mcp_runtime.core.wire import error_codes
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import RpcError
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest

LISTS: Final[Mapping[str, str]] = {
    list_: f"{list_}_list_changed" for list_ in ("tools", "prompts", "resources")
}
"""The member of a subscription filter for each list."""


class Notice(Struct, frozen=True):
    """A notification for subscribers with `value` in `member` of their filter, or with this switch.

    `params` is parsed JSON, of an extension or of the handlers' revision.
    """

    method: str
    params: dict[str, Any]
    member: str
    value: str | bool


class Change(Struct, omit_defaults=True):
    """A changed list by its name, a changed resource by its URI, or an extension's notice.

    Only clients of `principal` are notified; None: all clients.
    """

    list: str = ""
    uri: str = ""
    notice: Notice | None = None
    principal: str | None = None
    sender: str = ""
    """The process of the change."""


class Subscriptions:
    """The subscriptions of one client: at most `Limits.subscriptions` streams and URIs together.

    URIs of the session are counted in `held`, those of a stream with its request.
    """

    def __init__(self, limits: Limits, held: HeldBytes) -> None:
        self.watched: frozenset[str] = frozenset()
        """The URIs subscribed in the session."""
        self._limits = limits
        self._held = held
        self._hold = Hold(held)
        self._streams: dict[Id, latest.SubscriptionFilter] = {}
        self._added: dict[Id, Mapping[str, list[Any]]] = {}
        self._uris = 0

    @property
    def open(self) -> set[Id]:
        return set(self._streams)

    def watch(self, uri: str) -> None:
        """Subscribe to a URI. Raises RpcError if the limit is reached."""
        if uri not in self.watched:
            self._require_room(1)
            if crossed := self._held.make_room(self._limits, _cost(uri)):
                raise RpcError(error_codes.BUSY, f"busy: too much is held for you ({crossed})")
            self.watch_only(self.watched | {uri})

    def unwatch(self, uri: str) -> None:
        self.watch_only(self.watched - {uri})

    def watch_only(self, uris: Iterable[str]) -> None:
        """Replace the URIs subscribed in the session by these."""
        self.watched = frozenset(uris)
        self._hold.change(sum(map(_cost, self.watched)) - self._hold.size)

    def listen(
        self,
        id: Id,
        wanted: latest.SubscriptionFilter,
        offer: ServerOffer,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> latest.SubscriptionFilter:
        """Subscribe a stream to the offered part of `wanted`; return this part.

        `more` are the members that handlers or extensions accept. Raises RpcError if the limit is
        reached.
        """
        kept = _narrow_filter(wanted, offer, more)
        added = _lists_of_handlers(kept)
        self._require_room(1 + _size(kept, added))
        self._streams[id], self._added[id] = kept, added
        self._uris += _size(kept, added)
        return kept

    def end(self, id: Id) -> None:
        if (ended := self._streams.pop(id, None)) is not None:
            self._uris -= _size(ended, self._added.pop(id))

    def of_list(self, what: str) -> list[Id]:
        member = LISTS[what]
        return [id for id, kept in self._streams.items() if getattr(kept, member) is True]

    def of_uri(self, uri: str) -> list[Id]:
        return [id for id, kept in self._streams.items() if uri in _uris(kept)]

    def of_member(self, member: str, value: object) -> list[Id]:
        """Return the streams with `value` in another member of their filter."""
        return [id for id, added in self._added.items() if value in added.get(member, ())]

    def _require_room(self, more: int) -> None:
        most = self._limits.subscriptions
        if len(self.watched) + len(self._streams) + self._uris + more > most:
            why = f"no more than {most} subscriptions and URIs (Limits.subscriptions)"
            raise RpcError(error_codes.BUSY, why)


def _cost(uri: str) -> int:
    """Return the bytes counted for a URI: Python keeps up to four bytes of each character."""
    return 4 * len(uri) + EVENT_BYTES


def _narrow_filter(
    wanted: latest.SubscriptionFilter, offer: ServerOffer, more: Mapping[str, Any]
) -> latest.SubscriptionFilter:
    declared = offer.declared
    lists: dict[str, Any] = {
        member: True
        for what, member in LISTS.items()
        if getattr(wanted, member) is True and declares(declared, f"{what}.listChanged")
    }
    uris = _uris(wanted) if declares(declared, "resources.subscribe") else []
    unique = [uri for uri in dict.fromkeys(uris) if offer.can_subscribe(uri)]
    known = latest.SubscriptionFilter(**lists, resource_subscriptions=unique or UNSET)
    if not more:
        return known
    return latest.from_wire(latest.SubscriptionFilter, {**more, **latest.to_wire(known)})


def _uris(kept: latest.SubscriptionFilter) -> list[str]:
    return [] if kept.resource_subscriptions is UNSET else kept.resource_subscriptions


def _size(kept: latest.SubscriptionFilter, added: Mapping[str, list[Any]]) -> int:
    return len(_uris(kept)) + sum(map(len, added.values()))


def other_members(wanted: latest.SubscriptionFilter) -> dict[str, Any]:
    """Return the members of a filter beside the lists and the URIs, as JSON."""
    whole: dict[str, Any] = latest.to_wire(wanted)
    return {name: value for name, value in whole.items() if name not in SERVED_MEMBERS}


SERVED_MEMBERS: Final = frozenset(
    each.encode_name
    for each in structs.fields(latest.SubscriptionFilter)
    if each.name in {*LISTS.values(), "resource_subscriptions"}
)
"""The members of a filter served without a function of the application, by their wire names."""


def _lists_of_handlers(kept: latest.SubscriptionFilter) -> dict[str, list[Any]]:
    """Return the lists in a filter beside the URIs; a switch that is on is a list of True."""
    others = other_members(kept).items()
    return {
        k: value if isinstance(value, list) else [value]
        for k, value in others
        if isinstance(value, list) or value is True
    }
