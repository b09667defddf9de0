"""Writes a tool's schema anew from its types in the IR, in forms for which Python has a type.

References are resolved, `allOf` is merged and unread keywords are gone, so a schema means the same
to `diff --tools` and to typed handlers. Python tells the arms of a union apart by their JSON kind
alone. A place which needs more becomes any value of its kind, with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TypeAlias

from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Field,
    Limits,
    Lit,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.names import member_name
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.walk import PARTIAL
from mcp_bindgen.tools.json_schema import Reader
from mcp_bindgen.tools.remarks import quoted
from mcp_bindgen.tools.scalar_forms import (
    ARRAYS,
    Untyped,
    bounds,
    indistinct,
    literals,
    scalars,
    whole,
)
from mcp_bindgen.tools.shapes import ANY, NEVER

__all__ = ["ANY_OBJECT", "CLOSED_BASE", "Loose", "Normalized", "normalize"]

CLOSED_BASE: Final = "MCPBClosedStruct"
"""The base that datamodel-code-generator gives to the class of a closed object."""
_CLOSED: Final[dict[str, Any]] = {
    "additionalProperties": False,
    "customBasePath": f"closed.{CLOSED_BASE}",
}
ANY_OBJECT: Final[dict[str, Any]] = {"type": "object", "additionalProperties": {}}

_Node: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Loose:
    """A place of a schema whose type is wider than the schema, and the reason."""

    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Normalized:
    """A schema of an object in the dialect 2020-12, and its places with wider types."""

    schema: Mapping[str, Any]
    loose: tuple[Loose, ...]


def normalize(schema: Schema, reader: Reader, root: Type, place: str, *, open: bool) -> Normalized:
    """Write the type `root` of a tool's arguments or result, which stands at `place`.

    Without listed members it is an object without members, or with any if `open`.
    """
    return _Writer(schema, reader).root(root, place, open=open)


@dataclass(frozen=True, slots=True)
class _Arm:
    """One arm of a flattened union, with the bounds around it."""

    type: Type
    limits: tuple[Limits, ...]


def _is_closed(struct: Struct) -> bool:
    return struct.index in (NEVER, None)


class _Writer:
    def __init__(self, schema: Schema, reader: Reader) -> None:
        self._schema = schema
        self._reader = reader
        self._named: dict[str, _Node] = {}
        self._open: dict[str, str] = {}
        self._recursive: set[str] = set()
        self._loose: dict[str, Loose] = {}

    def root(self, type: Type, place: str, *, open: bool) -> Normalized:
        arms = [*self._arms(type, ())]
        struct = self._schema.types[arms[0].type.name] if isinstance(arms[0].type, Ref) else None
        if len(arms) == 1 and isinstance(struct, Struct):
            made = self._root_struct(struct, place, open=open)
        else:
            made = self._widen(place, indistinct("object"), ANY_OBJECT)
        defs = {"$defs": self._named} if self._named else {}
        return Normalized({**made, **defs}, tuple(self._loose.values()))

    def _root_struct(self, struct: Struct, place: str, *, open: bool) -> _Node:
        if not struct.fields and struct.index == ANY and not open:
            return {"type": "object"}
        self._open[struct.name] = "#"
        try:
            return self._struct(struct, place)
        except Untyped as error:
            return self._widen(place, str(error), ANY_OBJECT)

    def _widen(self, place: str, why: str, node: _Node) -> _Node:
        """Record a place with a wider type. Nothing below it is typed any more."""
        below = tuple(f"{place}{step}" for step in (".", "[", "{"))
        for inner in [key for key in self._loose if key.startswith(below)]:
            del self._loose[inner]
        self._loose[place] = Loose(place, why)
        return node

    # ---- a place

    def _write(self, type: Type, place: str) -> _Node:
        """The schema of a place."""
        try:
            arms = [*self._arms(type, ())]
        except Untyped as error:
            return self._widen(place, str(error), {})
        if not arms:
            return self._widen(place, "no value satisfies its schema", {})
        if anything := [arm for arm in arms if arm.type == ANY]:
            if all(arm.limits for arm in anything):
                return self._widen(place, "its bounds hold for one kind, and it may be any", {})
            return {}
        kinds: dict[str, list[_Arm]] = {}
        for arm in arms:
            kinds.setdefault(_kind(arm.type), []).append(arm)
        nodes = [node for kind in kinds for node in self._of_kind(kind, kinds[kind], place)]
        nodes.sort(key=lambda node: node.get("type") == "null")
        return nodes[0] if len(nodes) == 1 else {"anyOf": nodes}

    def _arms(self, type: Type, limits: tuple[Limits, ...]) -> Iterator[_Arm]:
        """Flatten unions, aliases and bounds; a recursive alias stands for its object."""
        match type:
            case Bounded():
                yield from self._arms(type.of, (*limits, type.limits))
            case Uni():
                for arm in type.arms:
                    yield from self._arms(arm, limits)
            case Ref() if isinstance(alias := self._schema.types[type.name], Alias):
                if type.name.endswith("#") and not self._is_object(alias.type):
                    raise Untyped("it contains itself, and is not only an object")
                self._require_resolved(type)
                yield from self._arms(alias.type, limits)
            case _:
                yield _Arm(type, limits)

    def _is_object(self, type: Type) -> bool:
        match type:
            case Ref():
                declared = self._schema.types[type.name]
                return isinstance(declared, Struct) or self._is_object(declared.type)
            case _:
                return False

    def _require_resolved(self, alias: Ref) -> None:
        """Raise Untyped for a place with a reference out of its schema."""
        unread = self._reader.unread.get((alias.name.removesuffix(PARTIAL), "$ref"))
        if unread is not None and json.loads(unread.value) not in self._reader.seen:
            raise Untyped(f"refers to {unread.value[:80]}, which is not in the schema")

    # ---- the arms of one JSON kind, the only thing by which Python tells arms apart

    def _of_kind(self, kind: str, arms: Sequence[_Arm], place: str) -> Sequence[_Node]:
        """Write arms as one node (or an integer and a number), or as any value of their kind."""
        plain = list(dict.fromkeys(arm for arm in arms if not isinstance(arm.type, Lit)))
        if kind in _SCALARS:
            return self._scalars(kind, arms, plain, place)
        try:
            if len(plain) > 1:
                raise Untyped(indistinct(kind))
            return [self._container(plain[0], place)]
        except Untyped as error:
            return [self._widen(place, str(error), _WHOLE[kind])]

    def _scalars(
        self, kind: str, arms: Sequence[_Arm], plain: Sequence[_Arm], place: str
    ) -> Sequence[_Node]:
        """Write scalars. A literal is left out beside an arm that accepts it."""
        values = [arm.type.value for arm in arms if isinstance(arm.type, Lit)]
        limits = [arm.limits for arm in plain]
        try:
            if not plain:
                return [literals(values)]
            if not all(any(self._accepts(arm, value) for arm in plain) for value in values):
                raise Untyped(indistinct(kind))
            return scalars(kind, limits)
        except Untyped as error:
            return [self._widen(place, str(error), whole(kind, limits, values))]

    def _accepts(self, arm: _Arm, value: object) -> bool:
        bounded = (Bounded(arm.type, each) for each in arm.limits or (Limits(),))
        return all(accepts(self._schema, each, value) for each in bounded)

    def _container(self, arm: _Arm, place: str) -> _Node:
        match arm.type:
            case Ref(name=name):
                return self._object(self._schema.structs[name], place)
            case Arr(of=of):
                items = self._write(of, f"{place}[]")
                return {"type": "array", "items": items, **bounds(arm.limits, ARRAYS)}
            case Tup():
                return self._tuple(arm.type, place)
            case _:
                return ANY_OBJECT

    def _tuple(self, type: Tup, place: str) -> _Node:
        """An array with a type for each place: Python's tuple has a fixed length."""
        if type.rest is not None or any(element.optional for element in type.of):
            raise Untyped("its items have types by place, and its length varies")
        places = [self._write(e.type, f"{place}[{n}]") for n, e in enumerate(type.of)]
        size = len(places)
        return {"type": "array", "prefixItems": places, "minItems": size, "maxItems": size}

    # ---- objects

    def _object(self, struct: Struct, place: str) -> _Node:
        """Write an object in its place, or in `$defs` if it has a definition or contains itself."""
        if struct.name in self._open:
            self._recursive.add(struct.name)
            return {"$ref": self._open[struct.name]}
        defined = self._reader.names.get(struct.name)
        for name in _numbered(defined or _last(place)):
            self._open[struct.name] = f"#/$defs/{name}"
            try:
                made = self._struct(struct, place)
            finally:
                del self._open[struct.name]
            is_empty = not struct.fields and _is_closed(struct)  # in a union a dict of anything
            if defined is None and not is_empty and struct.name not in self._recursive:
                return made
            if self._named.setdefault(name, made) == made:
                return {"$ref": f"#/$defs/{name}"}
        raise AssertionError("names end")

    def _struct(self, struct: Struct, place: str) -> _Node:
        if not struct.fields and struct.index is not None and not _is_closed(struct):
            inner = self._write(struct.index, f"{place}{{}}")
            return {"type": "object", "additionalProperties": inner}
        for field in struct.fields:
            if member_name(field.wire) is None or not _MEMBER.match(field.wire):
                raise Untyped(f"no Python name can be made of the member {field.wire!r}")
        required = [field.wire for field in struct.fields if field.required]
        if not _is_closed(struct) and struct.index != ANY:
            self._loose[f"{place}{{}}"] = Loose(
                f"{place}{{}}", "a class has no type for the members that it does not name"
            )
        closed = _CLOSED if _is_closed(struct) else {}
        return {
            "type": "object",
            "properties": {f.wire: self._member(struct, f, place) for f in struct.fields},
            **({"required": required} if required else {}),
            **closed,
        }

    def _member(self, struct: Struct, field: Field, place: str) -> _Node:
        node = dict(self._write(field.type, f"{place}.{field.wire}"))
        text = self._reader.texts.get((f"{struct.name}.{quoted(field.wire)}", "description"))
        if text is not None:
            node["description"] = json.JSONDecoder().raw_decode(text.value)[0]
        # A generator of types would follow a `$ref` inside a default.
        if field.default is not None and '"$ref":' not in field.default:
            default = json.loads(field.default)
            if accepts(self._schema, field.type, default):
                node["default"] = default
        return node


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}{number}" for number in count(2))


def _last(place: str) -> str:
    """The last member of a place."""
    return _STEPS.split(place)[-1] or "Item"


_STEPS: Final = re.compile(r"\.|\[\d*\]|\{\}")
_MEMBER: Final = re.compile(r'[^"\\\x00-\x1f]*\Z')
"""The names which msgspec takes."""


# ---- values of one kind

_WHOLE: Final[Mapping[str, _Node]] = {
    "object": ANY_OBJECT,
    "array": {"type": "array", "items": {}},
}
"""Every value of a kind; that of scalars is in `scalar_forms`."""
_SCALARS: Final = frozenset(("string", "number", "boolean", "null"))


def _kind(type: Type) -> str:
    match type:
        case Prim(name=name):
            return name
        case Lit(value=bool()):
            return "boolean"
        case Lit(value=str()):
            return "string"
        case Lit():
            return "number"
        case Arr() | Tup():
            return "array"
        case _:
            return "object"
