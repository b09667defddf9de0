"""What a side says of itself, as each revision has it, and which revision two sides agree on.

Source: 2025-11-25 basic/lifecycle, "Version Negotiation"; 2026-07-28 basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from mcp_runtime.core.capabilities import declares
from mcp_runtime.revisions import (
    ALL,
    UNSET,
    Context,
    DecodeError,
    Revision,
    Trip,
    UnsetType,
    latest,
    parse,
    revision,
    route,
)

__all__ = ["ClientOffer", "Offer", "ServerOffer", "agreed", "heard"]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """`revisions` are those that are spoken, in any order."""

    info: latest.Implementation
    revisions: tuple[str, ...] = ALL

    def __post_init__(self) -> None:
        unknown = sorted(set(self.revisions) - set(ALL))
        if unknown or not self.revisions:
            known = ", ".join(ALL)
            raise ValueError(
                f"no such revision: {', '.join(unknown) or 'none given'}; known: {known}"
            )

    @cached_property
    def handshake(self) -> tuple[str, ...]:
        """Revisions that begin with `initialize`, newest first."""
        return self._of("handshake")

    @cached_property
    def per_request(self) -> tuple[str, ...]:
        """Revisions of which each request tells its own, newest first."""
        return self._of("per-request")

    @cached_property
    def newest_first(self) -> tuple[str, ...]:
        return self.per_request + self.handshake

    def _of(self, era: str) -> tuple[str, ...]:
        return tuple(r for r in reversed(ALL) if r in self.revisions and revision(r).era == era)


@dataclass(frozen=True, kw_only=True)
class ServerOffer(Offer):
    """`methods` are those beyond its capabilities that it answers; `hints` are for caches.

    `watchable` says of a URI whether its changes may be asked for.
    """

    capabilities: latest.ServerCapabilities
    instructions: str | UnsetType = UNSET
    methods: frozenset[str] = frozenset()
    watchable: Callable[[str], bool] = lambda uri: True
    hints: Mapping[str, Any] = field(
        default_factory=lambda: {"ttl_ms": 0, "cache_scope": "private"}
    )

    @cached_property
    def declared(self) -> Mapping[str, Any]:
        """The capabilities as parsed JSON."""
        found: Mapping[str, Any] = latest.to_wire(self.capabilities)
        return found

    def has(self, capability: str) -> bool:
        """Whether a capability is declared."""
        if capability not in self._has:
            self._has[capability] = declares(self.declared, capability)
        return self._has[capability]

    @cached_property
    def _has(self) -> dict[str, bool]:
        return {}

    @cached_property
    def signature(self) -> bytes:
        """The end of a result's JSON that names the server."""
        info = latest.encode(self.info)
        return b'"_meta":{"io.modelcontextprotocol/serverInfo":%b}}' % info

    def initialized(self, spoken: str) -> dict[str, Any]:
        """The result of `initialize` in the revision that is spoken from then on."""
        told = {
            "protocolVersion": spoken,
            "capabilities": _without(self.declared, "extensions"),
            "serverInfo": latest.to_wire(self.info),
        }
        if self.instructions is not UNSET:
            told["instructions"] = self.instructions
        return _down("result", told, spoken)

    def discovered(self) -> latest.DiscoverResult:
        return latest.DiscoverResult(
            supported_versions=list(self.newest_first),
            capabilities=self.capabilities,
            instructions=self.instructions,
            meta=latest.ResultMetaObject(server_info=self.info),
            result_type="complete",
            **self.hints,
        )


@dataclass(frozen=True, kw_only=True)
class ClientOffer(Offer):
    """`roots_change` declares that changes of the roots are told, where the revision has that."""

    capabilities: latest.ClientCapabilities
    roots_change: bool = False

    @cached_property
    def declared(self) -> Mapping[str, Any]:
        """The capabilities as parsed JSON."""
        found: Mapping[str, Any] = latest.to_wire(self.capabilities)
        return found

    def offered(self, spoken: str) -> dict[str, Any]:
        """The params of `initialize` that offer a revision."""
        capabilities = _without(self.declared, "extensions")
        if self.roots_change and declares(capabilities, "roots"):
            capabilities["roots"] = {"listChanged": True}
        told = {
            "protocolVersion": spoken,
            "capabilities": capabilities,
            "clientInfo": latest.to_wire(self.info),
        }
        return _down("params", told, spoken)


def heard(asked: bytes, spoken: str) -> dict[str, Any]:
    """The params of `initialize`, as far as they mean something in the revision that is spoken.

    A client may offer a newer one, and declare what that has.
    """
    try:
        revision(_SHAKEN).decode("params", "initialize", asked)
    except DecodeError:
        found: dict[str, Any] = parse(asked)
        return found
    return _down("params", parse(asked), spoken)


def agreed(ours: Offer, theirs: Sequence[str]) -> Revision | None:
    """The newest revision that both speak."""
    return next((revision(name) for name in ours.newest_first if name in theirs), None)


def _without(o: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in o.items() if key != name}


def _down(position: str, told: Mapping[str, Any], spoken: str) -> dict[str, Any]:
    """What the newest revision with a handshake says, as an older one does."""
    found: dict[str, Any] = route(_SHAKEN, spoken, "initialize", position)(told, Trip(_NOTHING))
    return {**found, "protocolVersion": spoken}


# The newest itself where the bindings have no revision with a handshake.
_SHAKEN: Final = next((r for r in reversed(ALL) if "initialize" in revision(r).methods), ALL[-1])
_NOTHING: Final = Context()
