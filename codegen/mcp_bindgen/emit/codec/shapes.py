"""Which classes of a module are msgspec Structs, and which keep the JSON they came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Field,
    Limits,
    Lit,
    LiteralValue,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms, tag
from mcp_bindgen.ir.walk import (
    children,
    holds_struct,
    is_any,
    kinds,
    recursive,
    resolve_aliases,
    strip_bounds,
    struct_of,
)

__all__ = ["Shapes"]

_NO_NAME: Final = re.compile(r"[\x00-\x1f\"\\]")
"""Characters which JSON escapes; msgspec cannot rename a member to such a name."""


class Shapes:
    """The shapes of one schema's structs.

    `unknown` is the treatment of unknown members, `open` the structs which only the codec reads and
    writes, `core` the shapes of the core's types in an extension.
    """

    def __init__(self, schema: Schema, unknown: str) -> None:
        self.schema = schema
        self.unknown = unknown
        self.recursive = recursive(schema)
        self.core: Shapes | None = None
        if schema.extension is not None:
            self.core = Shapes(schema.extension.core, unknown)
        self._tags = dict(self._union_tags())
        bodies = {s.name for m in schema.methods for s in self._structs(m.params, m.result)}
        lent: set[str] = set() if self.core is None else self.core.open & schema.foreign
        own = {s.name for s in schema.own_structs if self._is_open(s, bodies)}
        self.open: set[str] = lent | own

    def keeps(self, struct: Struct) -> bool:
        """Return whether a struct has `extra_`; always if the schema declares it open."""
        return self.unknown == "keep" or struct.open

    def is_native(self, struct: Struct) -> bool:
        """Return whether msgspec knows the class, as a Struct."""
        return struct.name not in self.open

    def is_late(self, struct: Struct) -> bool:
        """Return whether a struct keeps the parsed object, and reads its members on access."""
        return (
            struct.name in self.open
            and struct.index is not None
            and is_any(self.schema, struct.index)
            and not struct.keyed
            and not any(f.required and f.const is None for f in struct.fields)
            and not any(holds_struct(self.schema, f.type) for f in struct.fields)
        )

    # ---- constants

    def tag(self, struct: Struct) -> Field | None:
        """The constant used as the struct's tag in msgspec."""
        if self.core is not None and struct.name in self.schema.foreign:
            return self.core.tag(struct)
        wire = self._tags.get(struct.name)
        return next((f for f in struct.consts if f.wire == wire), None) or self._own_tag(struct)

    def written_consts(self, struct: Struct) -> list[Field]:
        """The constants beside the tag; they are members with one value."""
        tag = self.tag(struct)
        return [f for f in struct.consts if f is not tag]

    def _own_tag(self, struct: Struct) -> Field | None:
        """The first constant unique to the struct, else the first constant."""
        alone = [f for f in struct.consts if self._owners[f.wire, f.const] == 1]
        return next(iter([*alone, *struct.consts]), None)

    @cached_property
    def _owners(self) -> Counter[tuple[str, LiteralValue | None]]:
        """The number of structs with a constant, by its wire name and value."""
        return Counter((f.wire, f.const) for s in self.schema.structs.values() for f in s.consts)

    def _union_tags(self) -> Iterator[tuple[str, str]]:
        """The wire name of the tag of each struct in a tagged union."""
        for union in self.unions():
            leaves = arms(self.schema, union)
            structs = [s.name for leaf in leaves if (s := struct_of(self.schema, leaf))]
            wire = tag(self.schema, tuple(map(Ref, structs)))
            if wire is not None:
                yield from ((name, wire) for name in structs)

    def unions(self) -> Iterator[Uni]:
        """Every union of the schema, named or not."""
        structs = self.schema.structs.values()
        queue: list[Type] = [f.type for s in structs for f in s.fields]
        queue += [type for s in structs for type in s.unlisted]
        queue += [resolve_aliases(self.schema, Ref(name)) for name in self.schema.types]
        while queue:
            type = queue.pop()
            queue += children(type)
            if isinstance(type, Uni):
                yield type

    # ---- what msgspec cannot say

    def _is_open(self, struct: Struct, bodies: set[str]) -> bool:
        """Return whether msgspec lacks a type for a member, or an open object is nested in
        another.
        """
        if not all(_is_tag(f.const) for f in struct.consts):
            return True
        if any(_NO_NAME.search(f.wire) for f in struct.fields):
            return True
        if not all(struct.name in bodies and is_any(self.schema, t) for t in struct.unlisted):
            return True
        return any(self._is_rare(f.type) for f in struct.fields)

    def _is_rare(self, type: Type) -> bool:
        bare = resolve_aliases(self.schema, type)
        match type:
            case Tup():
                return True
            case Lit():
                return not _is_tag(type.value)
            case Bounded():
                alone = len(kinds(self.schema, type.of)) == 1
                return _is_beyond(type.limits) or not alone or self._is_rare(type.of)
            case Ref() if type.name in self.recursive:
                return True
            case Uni(arms=()):
                return True
            case Ref():
                return bare is not type and self._is_rare(bare)
            case _:
                return any(map(self._is_rare, children(type)))

    def is_alone(self, type: Type) -> bool:
        """Return whether msgspec alone, without the codec, decodes exactly the values of a type."""
        opened = strip_bounds(self.schema, type)
        match opened:
            case Ref(name=name):
                return name not in self.open and not self.schema.structs[name].consts
            case Uni():
                return self._is_native_union(arms(self.schema, opened))
            case _:
                return True

    def is_top(self, type: Type) -> bool:
        """Like `is_alone`, for a value which is a whole document: there a single tag counts too."""
        opened = strip_bounds(self.schema, type)
        if isinstance(opened, Ref):
            return opened.name not in self.open
        return self.is_alone(type) and not self._is_rare(type)

    def checked(self) -> tuple[Type, ...]:
        """The unnamed types which msgspec leaves to the codec."""
        return tuple(dict.fromkeys(self._all_checked_types()))

    def _all_checked_types(self) -> Iterator[Type]:
        for struct in self.schema.own_structs:
            if self.is_native(struct):
                for each in struct.fields:
                    yield from self._checked_types(each.type)
        for declared in self.schema.own_types:
            if isinstance(declared, Alias):
                whole = isinstance(declared.type, Arr | Map)
                inside = (declared.type,) if whole else children(declared.type)
                for type in inside:
                    yield from self._checked_types(type)

    def _checked_types(self, type: Type) -> Iterator[Type]:
        if isinstance(type, Ref):
            return
        if not self.is_alone(type):
            yield type
            return
        for child in children(type):
            yield from self._checked_types(child)

    def _is_native_union(self, leaves: tuple[Type, ...]) -> bool:
        opened = [strip_bounds(self.schema, leaf) for leaf in leaves]
        if any(isinstance(o, Prim) and o.name in JSON_PRIMS for o in opened):
            return True
        objects = [o for o in opened if "object" in kinds(self.schema, o)]
        arrays = [o for o in opened if isinstance(o, Arr | Tup)]
        return len(arrays) <= 1 and self._are_told_apart(tuple(objects))

    def _are_told_apart(self, objects: tuple[Type, ...]) -> bool:
        if len(objects) == 1:
            return self.is_alone(objects[0])
        if not objects:
            return True
        structs = [s for o in objects if (s := struct_of(self.schema, o))]
        own = {const.wire for s in structs if (const := self.tag(s))}
        common = tag(self.schema, objects)
        return own == {common} and self.open.isdisjoint(s.name for s in structs)

    def _structs(self, *types: Type | None) -> Iterator[Struct]:
        """The structs named by types, through unions."""
        for type in types:
            opened = None if type is None else strip_bounds(self.schema, type)
            if isinstance(opened, Uni):
                yield from self._structs(*opened.arms)
            elif isinstance(opened, Ref):
                yield self.schema.structs[opened.name]


def _is_beyond(limits: Limits) -> bool:
    """Return whether msgspec cannot state the limits of one kind of value."""
    beyond = limits.multiple_of is not None or limits.unique_items or limits.pattern
    return limits.integer or bool(beyond)


def _is_tag(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
