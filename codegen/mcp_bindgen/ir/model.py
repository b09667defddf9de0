"""The IR: the meaning of a schema, as structs with flattened fields, aliases, constants and
methods.

Every anonymous shape has a name by its place, every type parameter a value, and each reference
names a Struct or an Alias of the same schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

__all__ = [
    "JSON_PRIMS",
    "Alias",
    "Arr",
    "Bounded",
    "Const",
    "Conventions",
    "Declaration",
    "Element",
    "Extension",
    "Fault",
    "Field",
    "Keyed",
    "Kind",
    "Limits",
    "Lit",
    "LiteralValue",
    "Map",
    "Member",
    "Method",
    "Prim",
    "Ref",
    "Role",
    "Schema",
    "Struct",
    "Tolerance",
    "Tup",
    "Type",
    "Uni",
]

LiteralValue: TypeAlias = str | int | float | bool
Role: TypeAlias = Literal["client", "server"]
Fault: TypeAlias = Literal["absent", "negative", "item", "every item"]
Kind: TypeAlias = Literal["object", "array", "string", "number", "boolean", "null"]

JSON_PRIMS: Final = frozenset({"unknown", "any", "json"})
"""Primitive names which accept any JSON value; `object` accepts any JSON object."""


@dataclass(frozen=True, slots=True)
class Prim:
    """string, number, boolean, null, object, unknown, any; json is an alias of all JSON."""

    name: str


@dataclass(frozen=True, slots=True)
class Lit:
    value: LiteralValue

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Lit)
            and self.value == other.value
            and type(self.value) is type(other.value)
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Ref:
    """A Struct or an Alias of the same schema, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Arr:
    of: Type


@dataclass(frozen=True, slots=True)
class Map:
    """A JSON object whose every member has type `of`."""

    of: Type


@dataclass(frozen=True, slots=True)
class Element:
    type: Type
    optional: bool


@dataclass(frozen=True, slots=True)
class Tup:
    """An array with a type for each place, optional ones last, then any number of `rest`."""

    of: tuple[Element, ...]
    rest: Type | None


@dataclass(frozen=True, slots=True)
class Uni:
    """One of the arms, in the schema's order; nested unions stay references.

    Without arms it is `never`, which no value satisfies. `ordered`: by a row, this order decides
    the class of a value.
    """

    arms: tuple[Type, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of machine tags; each applies to values of its kind only, as in JSON Schema.

    `pattern` is a regular expression as JSON Schema writes them, found anywhere in a string.
    """

    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | float | None = None
    exclusive_maximum: int | float | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    integer: bool = False
    multiple_of: int | float | None = None
    unique_items: bool = False
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Bounded:
    of: Type
    limits: Limits


Type: TypeAlias = Prim | Lit | Ref | Arr | Map | Tup | Uni | Bounded


@dataclass(frozen=True, slots=True)
class Field:
    """A member: `wire` is its JSON name, `name` its Python name, `origin` its declaring type.

    `required`: it must be present; whether it may be null is in the type. `format` and `default`
    are informative. `at` is the byte offset in the schema file.
    """

    wire: str
    name: str
    type: Type
    required: bool
    doc: str = ""
    deprecated: str | None = None
    format: str | None = None
    default: str | None = None
    origin: str = ""
    at: int = 0

    @property
    def const(self) -> LiteralValue | None:
        """The only value of a required member; None for other members."""
        return self.type.value if self.required and isinstance(self.type, Lit) else None


@dataclass(frozen=True, slots=True)
class Keyed:
    """The type of unlisted members by their name: `` [key: `x-${string}`]: T ``.

    It holds for each name that `pattern` matches, a regular expression as JSON Schema writes them;
    a name has at most `longest` characters, if that is not None. `key` is as TypeScript writes it.
    """

    key: str
    pattern: str
    longest: int | None
    type: Type


@dataclass(frozen=True)
class Struct:
    """An object with members. `index` is the type of unlisted members, None if not declared.

    Those whose name matches one of `keyed` have the types of all that it matches instead.
    `place` is the path at which an anonymous shape is written, empty for declared ones. `bases` are
    the declarations it extends, as written.
    """

    name: str
    fields: tuple[Field, ...]
    index: Type | None
    doc: str = ""
    deprecated: str | None = None
    place: str = ""
    bases: tuple[str, ...] = ()
    internal: bool = False
    category: str = ""
    at: int = 0
    keyed: tuple[Keyed, ...] = ()

    def field(self, wire: str) -> Field | None:
        return next((f for f in self.fields if f.wire == wire), None)

    @cached_property
    def consts(self) -> tuple[Field, ...]:
        return tuple(f for f in self.fields if f.const is not None)

    @property
    def open(self) -> bool:
        """Return whether the schema itself allows members which it does not list."""
        return bool(self.unlisted)

    def keyed_twins(self, other: Struct) -> Iterator[tuple[Keyed, Keyed]]:
        """The index signatures of this struct and of another which are for the same names, in
        pairs.
        """
        theirs = {keyed.pattern: keyed for keyed in other.keyed}
        for keyed in self.keyed:
            if keyed.pattern in theirs:
                yield keyed, theirs[keyed.pattern]

    @property
    def unlisted(self) -> tuple[Type, ...]:
        """The possible types of unlisted members; none if the schema declares none."""
        types = tuple(keyed.type for keyed in self.keyed)
        return types if self.index is None else (self.index, *types)


@dataclass(frozen=True, slots=True)
class Alias:
    name: str
    type: Type
    doc: str = ""
    deprecated: str | None = None
    internal: bool = False
    category: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Const:
    name: str
    value: LiteralValue
    doc: str = ""
    deprecated: str | None = None
    at: int = 0


Declaration: TypeAlias = Struct | Alias | Const


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol.

    `direction` is client-to-server, server-to-client, both, input-request or none; `kind` is
    request or notification; `type` is the message's declaration. `params` is None if there are
    none, `result` is None for notifications. `capability` is the path of the required capability
    (`tools.listChanged`), empty if none is required.
    """

    name: str
    type: str
    kind: str
    direction: str
    params: Type | None
    params_optional: bool
    result: Type | None
    capability: str = ""
    doc: str = ""
    deprecated: str | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A fault of peers: in a body received by `reader`, `member` is replaced by `value`.

    If it forgives "item", `member` is an array, and its invalid items are removed; all of them only
    with "every item". Such a row has no value.
    """

    reader: Role
    position: str
    member: str
    value: Any
    forgives: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Conventions:
    """Conventions of a revision's peers, from its pages and not its schema.

    `version_header`: a client repeats the agreed revision in a header of each HTTP request;
    `primed_streams`: an HTTP stream begins with an event with an id and no data.
    """

    version_header: bool = False
    primed_streams: bool = False
    tolerances: tuple[Tolerance, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A member `name` of type `type` added by an extension to a type of the core, below `path`."""

    owner: str
    path: tuple[str, ...]
    name: str
    type: Type


@dataclass(frozen=True)
class Extension:
    """The name and the roles of an extension, and its effect on its core.

    `cores` are the supported revisions, `core` has its types, `wire` is mcp_wire in its bindings.
    `widened` has more results of core methods, `added` their names; `stage` may be empty.
    """

    identifier: str
    roles: tuple[str, ...]
    cores: tuple[str, ...]
    core: Schema
    widened: tuple[Method, ...] = ()
    added: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    members: tuple[Member, ...] = ()
    wire: str = "...."
    stage: str = ""
    settings_revision: str = ""


@dataclass(frozen=True)
class Schema:
    """One revision, or one unpinned file. `digest` is its structure digest, `slips` the fault of a
    tag that a lenient reading left unbound, and its byte offset, by declaration.
    An extension's schema includes the core types it refers to, without owning them.
    """

    revision: str
    path: str
    digest: str
    declarations: tuple[Declaration, ...]
    methods: tuple[Method, ...] = field(default=())
    conventions: Conventions = Conventions()
    extension: Extension | None = None
    foreign: frozenset[str] = frozenset()
    slips: Mapping[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])

    @cached_property
    def own(self) -> tuple[Declaration, ...]:
        """The declarations in this schema's own bindings; the rest is imported."""
        return tuple(d for d in self.declarations if d.name not in self.foreign)

    @cached_property
    def own_structs(self) -> tuple[Struct, ...]:
        return tuple(d for d in self.own if isinstance(d, Struct))

    @cached_property
    def own_types(self) -> tuple[Struct | Alias, ...]:
        return tuple(d for d in self.own if not isinstance(d, Const))

    @cached_property
    def types(self) -> dict[str, Struct | Alias]:
        return {d.name: d for d in self.declarations if not isinstance(d, Const)}

    @cached_property
    def structs(self) -> dict[str, Struct]:
        return {d.name: d for d in self.declarations if isinstance(d, Struct)}

    @cached_property
    def fields(self) -> dict[str, dict[str, Field]]:
        """The members of each struct by their wire names."""
        return {name: {f.wire: f for f in struct.fields} for name, struct in self.structs.items()}

    @cached_property
    def consts(self) -> dict[str, Const]:
        return {d.name: d for d in self.declarations if isinstance(d, Const)}

    @cached_property
    def arms(self) -> dict[Type, tuple[Type, ...]]:
        """The ordered arms of each union, a cache of ir.unions."""
        return {}

    @property
    def era(self) -> str:
        """`handshake` where a session begins with `initialize`, else `per-request`."""
        if self.extension is not None:
            return self.extension.core.era
        return "handshake" if any(m.name == "initialize" for m in self.methods) else "per-request"
