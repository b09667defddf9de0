"""What each side declares about itself in each revision, and which revision both agree on.

Source: 2025-11-25 basic/lifecycle, "Version Negotiation"; 2026-07-28 basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Final

from msgspec import json, structs

from mcp_runtime.core.capabilities import declares
from mcp_runtime.core.extension import NO_EXTENSIONS, Extensions
from mcp_runtime.core.role import CLIENT, SERVER, Role
from mcp_runtime.core.tolerances import Tolerances
from mcp_runtime.revisions import (
    ALL,
    HANDLERS,
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


@dataclass(frozen=True, kw_only=True)
class Offer:
    """`revisions` are those that the side speaks, in any order."""

    role: ClassVar[Role]
    info: latest.Implementation
    capabilities: latest.ServerCapabilities | latest.ClientCapabilities
    revisions: tuple[str, ...] = ALL
    extensions: Extensions = NO_EXTENSIONS
    strict: frozenset[str] = frozenset()
    """The tolerances that are off; see `strictness`."""

    def __post_init__(self) -> None:
        if self.extensions:
            settings = self.extensions.settings(self.role)
            extended = structs.replace(self.capabilities, extensions=settings)
            object.__setattr__(self, "capabilities", extended)
        unknown = sorted(set(self.revisions) - set(ALL))
        if unknown or not self.revisions:
            known = ", ".join(ALL)
            raise ValueError(
                f"no such revision: {', '.join(unknown) or 'none given'}; known: {known}"
            )

    @cached_property
    def declared(self) -> Mapping[str, Any]:
        """The capabilities as parsed JSON."""
        capabilities: Mapping[str, Any] = latest.to_wire(self.capabilities)
        return capabilities

    @cached_property
    def handshake(self) -> tuple[str, ...]:
        """Revisions that begin with `initialize`, newest first."""
        return self._of("handshake")

    @cached_property
    def per_request(self) -> tuple[str, ...]:
        """Revisions whose requests each name theirs, newest first."""
        return self._of("per-request")

    @cached_property
    def newest_first(self) -> tuple[str, ...]:
        return self.per_request + self.handshake

    def _extended(
        self, body: dict[str, Any], spoken: str, *, anonymous: bool = False
    ) -> dict[str, Any]:
        """The body of a handshake, with what extensions declare in that revision."""
        if self.extensions:
            declared = self.extensions.declared(self.role, revision(spoken), anonymous=anonymous)
            body["capabilities"] = {**body["capabilities"], **declared}
        return body

    def _of(self, era: str) -> tuple[str, ...]:
        return tuple(r for r in reversed(ALL) if r in self.revisions and revision(r).era == era)


@dataclass(frozen=True, kw_only=True)
class ServerOffer(Offer):
    """`methods` are those it answers without a capability; `hints` are for caches.

    `can_subscribe` says whether clients may subscribe to a URI.
    """

    role = SERVER
    capabilities: latest.ServerCapabilities
    instructions: str | UnsetType = UNSET
    methods: frozenset[str] = frozenset()
    can_subscribe: Callable[[str], bool] = lambda uri: True
    hints: Mapping[str, Any] = field(
        default_factory=lambda: {"ttl_ms": 0, "cache_scope": "private"}
    )

    @cached_property
    def signature(self) -> Callable[[str], bytes]:
        """The end of a result's JSON that names the server, in a revision."""
        return cache(self._signature)

    def _signature(self, spoken: str) -> bytes:
        step = route(HANDLERS, spoken, "server/discover", "result")
        discovered = step(latest.to_wire(self.discovered()), Trip(_NOTHING))
        return b'"_meta":%b}' % json.encode(discovered["_meta"])

    def initialized(self, spoken: str, *, anonymous: bool) -> dict[str, Any]:
        """The result of `initialize` in the revision that is spoken from then on."""
        result = {
            "protocolVersion": spoken,
            "capabilities": _without_extensions(self.declared),
            "serverInfo": latest.to_wire(self.info),
        }
        if self.instructions is not UNSET:
            result["instructions"] = self.instructions
        return self._extended(_down("result", result, spoken), spoken, anonymous=anonymous)

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
    """`roots_change` says that the client notifies changes of its roots, where a revision can."""

    role = CLIENT
    capabilities: latest.ClientCapabilities
    roots_change: bool = False

    def offered(self, spoken: str) -> dict[str, Any]:
        """The params of `initialize` that propose a revision."""
        capabilities = _without_extensions(self.declared)
        if self.roots_change and declares(capabilities, "roots"):
            capabilities["roots"] = {"listChanged": True}
        params = {
            "protocolVersion": spoken,
            "capabilities": capabilities,
            "clientInfo": latest.to_wire(self.info),
        }
        return self._extended(_down("params", params, spoken), spoken)


def initialize_params(raw: bytes, spoken: str, tolerances: Tolerances) -> dict[str, Any]:
    """The params of `initialize`, without what the revision that is spoken does not have.

    A client may propose a newer one, and declare what that has.
    """
    try:
        raw, _ = tolerances.decode(revision(_NEWEST_HANDSHAKE), "params", "initialize", raw)
    except DecodeError:
        params: dict[str, Any] = parse(raw)
        return params
    return _down("params", parse(raw), spoken)


def initialize_result(raw: bytes, tolerances: Tolerances) -> dict[str, Any]:
    """The result of `initialize`, which an older revision takes with members of newer ones.

    What is null of those says nothing, and newer types have no null there.
    """
    newest = revision(_NEWEST_HANDSHAKE).type_of("result", "initialize")
    result: dict[str, Any] = parse(tolerances.without_nulls(newest, raw) or raw)
    return result


def common_revision(ours: Offer, theirs: Sequence[str]) -> Revision | None:
    """The newest revision that both speak."""
    return next((revision(name) for name in ours.newest_first if name in theirs), None)


def _without_extensions(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in declared.items() if name != "extensions"}


def _down(position: str, body: Mapping[str, Any], spoken: str) -> dict[str, Any]:
    """What the newest handshake revision says, in an older one."""
    step = route(_NEWEST_HANDSHAKE, spoken, "initialize", position)
    older: dict[str, Any] = step(body, Trip(_NOTHING))
    return {**older, "protocolVersion": spoken}


# The newest itself where the bindings have no revision with a handshake.
_NEWEST_HANDSHAKE: Final = next(
    (r for r in reversed(ALL) if "initialize" in revision(r).methods), ALL[-1]
)
_NOTHING: Final = Context()
