"""Extensions of the protocol: what they add to it where both sides declare them.

Source: 2026-07-28 basic/versioning, "Extension Negotiation".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any, Final, Self

from mcp_runtime.core.meta_names import require_extensions
from mcp_runtime.core.role import Role
from mcp_runtime.revisions import ALL, HANDLERS, UNSET, Method, Position, Revision, revision

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_FILTER: Final = "SubscriptionFilter"


class Extension:
    """An extension, to be given to `Server` or `Client`, or to both.

    `bindings` is the module `calls_msgspec` that was generated from its schema; without messages of
    its own it has an `identifier`, and the `revisions` of the protocol that it extends. `settings`
    are declared to the peer. Over HTTP the header Mcp-Name of a method repeats the member of its
    params that `names` has for it.
    """

    kept: Mapping[str, Sequence[str]] = _NOTHING
    """By method, members of params of older revisions that handlers get in `extra_`."""

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
        self.settings = settings
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
        """What is added to the capabilities that a role declares in a revision.

        A server declares to a client that is `anonymous` only what that one is served.
        """
        if revision.name not in self.revisions:
            return {}
        return {"extensions": {self.identifier: dict(self.settings)}}

    def serves_core(self, revision: Revision) -> bool:
        """Whether it serves methods of the core of a revision that it does not extend."""
        return False

    def accepted(self, wanted: Mapping[str, Any], principal: str) -> Mapping[str, Any]:
        """What is served of the members that a client has put into a subscription's filter."""
        return wanted

    def type_of(self, position: Position, method: str) -> object:
        """The type of a method's params or result; None for one without."""
        return (self._params if position == "params" else self._results).get(method)

    def read(self, position: Position, method: str, raw: bytes) -> Any:
        """The params or the result of a method of this extension. Raises DecodeError."""
        of = self.type_of(position, method)
        if of is None or not (raw or self.methods[method].params_required):
            return UNSET
        return self.bindings.decode(of, raw or b"null")

    def widens(self, method: str) -> bool:
        """Whether a method of the core may be answered by a type of this extension."""
        return method in self._widened

    def read_widened(self, method: str, raw: bytes) -> Any:
        """A result of a type of this extension. Raises DecodeError."""
        return self.bindings.decode(self._results[method], raw)

    def is_own(self, method: str, value: object) -> bool:
        """Whether that result of a method of the core is of a type of this extension."""
        return method in self._widened and isinstance(value, self._widened[method])

    def write(self, position: Position, value: Any) -> bytes:
        """Encodes a model of this extension; each result has a type. Raises EncodeError."""
        encoded: bytes = self.bindings.encode(value)
        if position == "params" or hasattr(value, "result_type"):
            return encoded
        return b'{"resultType":"complete"%b%b' % (b"," if encoded != b"{}" else b"", encoded[1:])

    def read_filter(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a subscription's filter that this extension adds. Raises DecodeError."""
        own = {name: members[name] for name in members if (_FILTER, name) in self.members}
        for name, value in own.items():
            self.bindings.from_wire(self.members[_FILTER, name], value)
        return own


def _is_ours(method: Method) -> bool:
    """Whether a server or a client can receive it; others are between a host and its views, say.

    A server sends no requests in the per-request era.
    """
    if method.direction == "server-to-client":
        return method.kind == "notification"
    return method.direction in ("client-to-server", "both")


class Extensions(tuple[Extension, ...]):
    """All extensions of one side, which speaks `revisions`.

    Raises ValueError for two that cannot be used together, and for one that no revision has.
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
        """What all of them add to the capabilities that a role declares in a revision."""
        declared: dict[str, Any] = {}
        for one in self:
            for name, value in one.declared(role, revision, anonymous=anonymous).items():
                declared[name] = {**declared.get(name, {}), **value}
        return declared

    def settings(self, role: Role) -> Any:
        """The member `extensions` of capabilities as handlers see them; UNSET for none."""
        return self.declared(role, revision(HANDLERS)).get("extensions", UNSET)

    def shared(self, revision: str, theirs: Mapping[str, Any]) -> tuple[Extension, ...]:
        """Those for a revision that the peer has in its capabilities, too."""
        if not isinstance(theirs.get("extensions"), dict):
            return ()
        declared: dict[str, Any] = theirs["extensions"]
        ours = (one for one in self if revision in one.revisions)
        return tuple(one for one in ours if isinstance(declared.get(one.identifier), dict))

    def owner(self, method: str) -> Extension | None:
        """The extension that has a method."""
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
    """The members that extensions add to a subscription's filter, as far as they are served.

    Raises DecodeError.
    """
    more: dict[str, Any] = {}
    for one in extensions:
        own = one.read_filter(wanted)
        more.update(one.accepted(own, principal) if own else {})
    return more


NO_EXTENSIONS: Final = Extensions()
