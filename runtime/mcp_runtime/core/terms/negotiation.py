"""Negotiates a session: name and capabilities of each side, and the choice of a common revision.

Source: 2025-11-25 basic/lifecycle, "Version Negotiation"; 2026-07-28 basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar, Final

from msgspec import Struct, field, json, structs

from mcp_runtime.core.terms.capabilities import declares
from mcp_runtime.core.terms.extension import NO_EXTENSIONS, Extensions
from mcp_runtime.core.terms.role import CLIENT, SERVER, Role
from mcp_runtime.core.terms.tolerances import Tolerances
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


class Offer(Struct, frozen=True, kw_only=True, dict=True):
    """The name, capabilities and revisions of one side; `revisions` may have any order.

    Raises ValueError for an unknown revision, or none.
    """

    role: ClassVar[Role]
    info: latest.Implementation
    capabilities: latest.ServerCapabilities | latest.ClientCapabilities
    revisions: tuple[str, ...] = ALL
    extensions: Extensions = NO_EXTENSIONS
    strict: frozenset[str] = frozenset()
    """The names of the tolerances switched off; see `strictness`."""

    def __post_init__(self) -> None:
        if self.extensions:
            settings = self.extensions.settings(self.role)
            extended = structs.replace(self.capabilities, extensions=settings)
            structs.force_setattr(self, "capabilities", extended)
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
        """Revisions opened by `initialize`, newest first."""
        return self._of("handshake")

    @cached_property
    def per_request(self) -> tuple[str, ...]:
        """Revisions named by each request, newest first."""
        return self._of("per-request")

    @cached_property
    def newest_first(self) -> tuple[str, ...]:
        return self.per_request + self.handshake

    def _add_extensions(
        self, body: dict[str, Any], spoken: str, *, anonymous: bool = False
    ) -> dict[str, Any]:
        """Add the extensions' capabilities in a revision to the body of a handshake."""
        if self.extensions:
            declared = self.extensions.declared(self.role, revision(spoken), anonymous=anonymous)
            body["capabilities"] = {**body["capabilities"], **declared}
        return body

    def _of(self, era: str) -> tuple[str, ...]:
        return tuple(r for r in reversed(ALL) if r in self.revisions and revision(r).era == era)


class ServerOffer(Offer, frozen=True, kw_only=True, dict=True):
    """The declaration of a server.

    `methods` are answered without a capability; `hints` tell clients how long to cache the
    declaration. `can_subscribe` decides whether clients may subscribe to a URI. `filters` have a
    function for each other member of a subscription's filter: it takes the value and the principal,
    and returns the accepted part. `passed` are capabilities of a server behind this one, as parsed
    JSON by its revision: requests that need them, and those of unknown methods, are passed on.
    """

    role = SERVER
    capabilities: latest.ServerCapabilities
    instructions: str | UnsetType = UNSET
    methods: frozenset[str] = frozenset()
    can_subscribe: Callable[[str], bool] = lambda uri: True
    filters: Mapping[str, Callable[[Any, str], Any]] = field(default_factory=dict[str, Any])
    passed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    hints: Mapping[str, Any] = field(
        default_factory=lambda: {"ttl_ms": 0, "cache_scope": "private"}
    )

    @cached_property
    def signature(self) -> Callable[[str], bytes]:
        """A function of the revision; it returns the end of a result's JSON.

        This end has the `_meta` with the server's name, and the closing brace.
        """
        return cache(self._signature)

    def _signature(self, spoken: str) -> bytes:
        step = route(HANDLERS, spoken, "server/discover", "result")
        discovered = step(latest.to_wire(self.discover_result()), Trip(_NOTHING))
        return b'"_meta":%b}' % json.encode(discovered["_meta"])

    def initialize_result(self, spoken: str, *, anonymous: bool) -> dict[str, Any]:
        """Return the result of `initialize` for the chosen revision."""
        result = {
            "protocolVersion": spoken,
            "capabilities": _without_extensions(self.declared),
            "serverInfo": latest.to_wire(self.info),
        }
        if self.instructions is not UNSET:
            result["instructions"] = self.instructions
        body = self._add_extensions(_down("result", result, spoken), spoken, anonymous=anonymous)
        return {**body, "capabilities": {**self.passed.get(spoken, {}), **body["capabilities"]}}

    def discover_result(self) -> latest.DiscoverResult:
        return latest.DiscoverResult(
            supported_versions=list(self.newest_first),
            capabilities=self._with_passed(),
            instructions=self.instructions,
            meta=latest.ResultMetaObject(server_info=self.info),
            result_type="complete",
            **self.hints,
        )

    def _with_passed(self) -> latest.ServerCapabilities:
        more = self.passed.get(self.per_request[0]) if self.passed and self.per_request else None
        if more is None:
            return self.capabilities
        return latest.from_wire(latest.ServerCapabilities, {**more, **self.declared})


class ClientOffer(Offer, frozen=True, kw_only=True, dict=True):
    """The declaration of a client.

    With `roots_change` it notifies changes of its roots, if the revision allows it.
    """

    role = CLIENT
    capabilities: latest.ClientCapabilities
    roots_change: bool = False

    def with_capability(self, path: str, settings: Mapping[str, Any]) -> ClientOffer:
        """Return the offer with one more capability, a dotted path.

        Without `settings` it is an empty object, or true where the handlers' revision wants that.
        Raises DecodeError for a capability that no client has.
        """
        *outer, last = path.split(".")
        whole: dict[str, Any] = latest.to_wire(self.capabilities)
        inner = whole
        for name in outer:
            inner = inner.setdefault(name, {})
        inner[last] = {**inner.get(last, {}), **settings}
        try:
            declared = latest.from_wire(latest.ClientCapabilities, whole)
        except DecodeError:
            inner[last] = True
            declared = latest.from_wire(latest.ClientCapabilities, whole)
        return structs.replace(self, capabilities=declared)

    def propose(self, spoken: str) -> dict[str, Any]:
        """Return the params of `initialize` that propose the revision `spoken`."""
        capabilities = _without_extensions(self.declared)
        if self.roots_change and declares(capabilities, "roots"):
            capabilities["roots"] = {"listChanged": True}
        params = {
            "protocolVersion": spoken,
            "capabilities": capabilities,
            "clientInfo": latest.to_wire(self.info),
        }
        return self._add_extensions(_down("params", params, spoken), spoken)


def initialize_params(raw: bytes, spoken: str, tolerances: Tolerances) -> dict[str, Any]:
    """Return the params of `initialize`, reduced to members of the chosen revision.

    A client may propose a newer revision, and then declare capabilities of that revision.
    """
    try:
        raw, _ = tolerances.decode(revision(_NEWEST_HANDSHAKE), "params", "initialize", raw)
    except DecodeError:
        params: dict[str, Any] = parse(raw)
        return params
    return _down("params", parse(raw), spoken)


def initialize_result(raw: bytes, tolerances: Tolerances) -> dict[str, Any]:
    """Return the result of `initialize`, without nulls in members of newer revisions.

    An older revision accepts unknown members; the types of newer revisions allow no null in them.
    """
    newest = revision(_NEWEST_HANDSHAKE).type_of("result", "initialize")
    result: dict[str, Any] = parse(tolerances.without_nulls(newest, raw) or raw)
    return result


def common_revision(ours: Offer, theirs: Sequence[str]) -> Revision | None:
    """Return the newest revision of both sides; None if they have none in common."""
    return next((revision(name) for name in ours.newest_first if name in theirs), None)


def _without_extensions(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in declared.items() if name != "extensions"}


def _down(position: str, body: Mapping[str, Any], spoken: str) -> dict[str, Any]:
    """Convert a body of the newest handshake revision to an older revision."""
    step = route(_NEWEST_HANDSHAKE, spoken, "initialize", position)
    older: dict[str, Any] = step(body, Trip(_NOTHING))
    return {**older, "protocolVersion": spoken}


# The newest revision of all if the bindings have none with a handshake.
_NEWEST_HANDSHAKE: Final = next(
    (r for r in reversed(ALL) if "initialize" in revision(r).methods), ALL[-1]
)
_NOTHING: Final = Context()
