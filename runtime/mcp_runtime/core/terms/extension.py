"""Protocol extensions: methods, results and members added where both sides declare them.

Source: 2026-07-28 basic/versioning, "Extension Negotiation".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any, Final, Self, cast

from mcp_runtime.core.terms.meta_names import require_extensions
from mcp_runtime.core.terms.role import Role
from mcp_runtime.revisions import ALL, HANDLERS, UNSET, Method, Position, Revision, revision

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_FILTER: Final = "SubscriptionFilter"


class Extension:
    """An extension of the protocol, for `Server`, `Client` or both.

    `bindings` is the module `calls_msgspec` generated from the extension's schema. An extension
    without messages has an `identifier` and the protocol `revisions` it extends. `settings` are
    declared to the peer; two sides that declare another `revision` in them do without the
    extension, as its changes may break (SEP-3392, a draft). `names` maps a method to a member of
    its params, which HTTP clients repeat in the header Mcp-Name.
    """

    kept: Mapping[str, Sequence[str]] = _NOTHING
    """By method, members of older revisions' params; handlers find them in `extra_`."""

    def __init__(
        self,
        bindings: ModuleType | None = None,
        *,
        identifier: str = "",
        revisions: Sequence[str] = (),
        settings: Mapping[str, Any] = _NOTHING,
        names: Mapping[str, str] = _NOTHING,
    ) -> None:
        self.bindings: Any = bindings
        self.identifier = identifier or getattr(bindings, "IDENTIFIER", "")
        self.revisions = frozenset(revisions or getattr(bindings, "CORE", ()))
        own = getattr(bindings, "SETTINGS_REVISION", "")
        self.settings = {"revision": own, **settings} if own else settings
        self.names = names
        methods: Mapping[str, Method] = getattr(bindings, "METHODS", {})
        self.methods = {name: one for name, one in methods.items() if _is_ours(one)}
        self._params: Mapping[str, object] = getattr(bindings, "PARAMS", {})
        self._results: Mapping[str, object] = getattr(bindings, "RESULTS", {})
        self._widened: Mapping[str, Any] = getattr(bindings, "WIDENED", {})
        self.members: Mapping[tuple[str, ...], object] = getattr(bindings, "MEMBERS", {})

    def declared(
        self, role: Role, revision: Revision, *, anonymous: bool = False
    ) -> Mapping[str, Any]:
        """Return the extension's part of a role's capabilities in a revision.

        A server declares only the parts served without authentication if the client is `anonymous`.
        """
        if revision.name not in self.revisions:
            return {}
        return {"extensions": {self.identifier: dict(self.settings)}}

    def understands(self, theirs: Any) -> bool:
        """Return True if these settings of the peer are there, and of the same revision."""
        if not isinstance(theirs, dict):
            return False
        settings = cast("dict[str, Any]", theirs)
        return bool(settings.get("revision", "") == self.settings.get("revision", ""))

    def serves_core(self, revision: Revision) -> bool:
        """True if it serves core methods of a revision outside of its own `revisions`."""
        return False

    def accepted(self, wanted: Mapping[str, Any], principal: str) -> Mapping[str, Any]:
        """Return the members of a subscription's filter which the server will serve."""
        return wanted

    def type_of(self, position: Position, method: str) -> object:
        """Return the type of a method's params or result; None if it has none."""
        return (self._params if position == "params" else self._results).get(method)

    def read(self, position: Position, method: str, raw: bytes) -> Any:
        """Decode the params or the result of a method of this extension. Raises DecodeError."""
        of = self.type_of(position, method)
        if of is None or not (raw or self.methods[method].params_required):
            return UNSET
        return self.bindings.decode(of, raw or b"null")

    def widens(self, method: str) -> bool:
        """True if a result of this extension may answer a core method."""
        return method in self._widened

    def read_widened(self, method: str, raw: bytes) -> Any:
        """Decode a result of this extension for a core method. Raises DecodeError."""
        return self.bindings.decode(self._results[method], raw)

    def is_own(self, method: str, value: object) -> bool:
        """True if `value`, a result of a core method, is of a type of this extension."""
        return method in self._widened and isinstance(value, self._widened[method])

    def write(self, position: Position, value: Any) -> bytes:
        """Encode a model of this extension, a result always with a type. Raises EncodeError."""
        encoded: bytes = self.bindings.encode(value)
        if position == "params" or hasattr(value, "result_type"):
            return encoded
        return b'{"resultType":"complete"%b%b' % (b"," if encoded != b"{}" else b"", encoded[1:])

    def read_filter(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return and check the extension's members of a subscription filter. Raises DecodeError."""
        own = {name: members[name] for name in members if (_FILTER, name) in self.members}
        for name, value in own.items():
            self.bindings.from_wire(self.members[_FILTER, name], value)
        return own


def _is_ours(method: Method) -> bool:
    """True if a server or a client can receive the method.

    Other methods are, for example, between a host and its views. A server sends no requests in the
    per-request era.
    """
    if method.direction == "server-to-client":
        return method.kind == "notification"
    return method.direction in ("client-to-server", "both")


class Extensions(tuple[Extension, ...]):
    """All extensions of one side, whose revisions are `spoken`.

    Raises ValueError for two extensions with a common name, and for an extension of other
    revisions.
    """

    names: Mapping[str, str]
    kept: Mapping[str, Sequence[str]]

    def __new__(cls, extensions: Iterable[Extension] = (), spoken: Iterable[str] = ()) -> Self:
        self = super().__new__(cls, extensions)
        self.names = {name: at for one in self for name, at in one.names.items()}
        self.kept = {name: kept for one in self for name, kept in one.kept.items()}
        self._require_unique("the identifier", [[one.identifier] for one in self])
        self._require_unique("the method", [one.methods for one in self])
        self._require_unique("the member", [map(".".join, one.members) for one in self])
        require_extensions(one.identifier for one in self)
        for one in self:
            _require_fit(one, frozenset(spoken))
        return self

    def _require_unique(self, what: str, names: Sequence[Iterable[str]]) -> None:
        owners: dict[str, str] = {}
        for one, own in zip(self, names, strict=True):
            for name in own:
                if name in owners:
                    raise ValueError(
                        f"two extensions have {what} {name!r}: {owners[name]}, {one.identifier}"
                    )
                owners[name] = one.identifier

    def declared(
        self, role: Role, revision: Revision, *, anonymous: bool = False
    ) -> dict[str, Any]:
        """Return the extensions' parts of a role's capabilities in a revision."""
        declared: dict[str, Any] = {}
        for one in self:
            for name, value in one.declared(role, revision, anonymous=anonymous).items():
                declared[name] = {**declared.get(name, {}), **value}
        return declared

    def settings(self, role: Role) -> Any:
        """Return `capabilities.extensions` in the handlers' revision; UNSET if there is none."""
        return self.declared(role, revision(HANDLERS)).get("extensions", UNSET)

    def shared(self, revision: str, theirs: Mapping[str, Any]) -> tuple[Extension, ...]:
        """Return the extensions for a revision which the peer declares too."""
        if not isinstance(theirs.get("extensions"), dict):
            return ()
        declared: dict[str, Any] = theirs["extensions"]
        ours = (one for one in self if revision in one.revisions)
        return tuple(one for one in ours if one.understands(declared.get(one.identifier)))

    def owner(self, method: str) -> Extension | None:
        """Return the extension of a method, if any."""
        return next((one for one in self if method in one.methods), None)


def _require_fit(extension: Extension, spoken: frozenset[str]) -> None:
    name = extension.identifier
    core = (each for each in spoken & frozenset(ALL) if extension.serves_core(revision(each)))
    if not extension.revisions & spoken and not any(core):
        needed = ", ".join(sorted(extension.revisions)) or "none: name its revisions"
        ours = ", ".join(sorted(spoken))
        raise ValueError(f"{name} extends the revisions {needed}; spoken here: {ours}")
    for each in extension.revisions & spoken:
        if both := sorted(extension.methods.keys() & revision(each).methods.keys()):
            raise ValueError(f"{name}: the revision {each} has the method {both[0]} itself")


def accepted(
    extensions: Iterable[Extension], wanted: Mapping[str, Any], principal: str
) -> dict[str, Any]:
    """Return the members which `extensions` add to a subscription's filter and serve.

    Raises DecodeError.
    """
    more: dict[str, Any] = {}
    for one in extensions:
        own = one.read_filter(wanted)
        more.update(one.accepted(own, principal) if own else {})
    return more


NO_EXTENSIONS: Final = Extensions()
