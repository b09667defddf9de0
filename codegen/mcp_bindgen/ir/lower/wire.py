"""Gives messages their form on the wire, where a schema declares a data model apart from it.

The rows say where the members of a message stand. Its metadata moves into the declaration that the
payloads extend; a message whose metadata is of another type gives it to its own payload.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
from mcp_bindgen.ir.lower import wire_rows
from mcp_bindgen.ir.lower.pairs import Pair
from mcp_bindgen.ir.lower.wire_rows import METADATA, PAYLOAD, place, python_name, table
from mcp_bindgen.ir.model import (
    Alias,
    Declaration,
    Field,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.names import capitalize
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import references, resolve_aliases, struct_of
from mcp_bindgen.source import syntax

__all__ = ["with_wire"]

_UNION: Final = "JSONRPCMessage"


def with_wire(
    schema: Schema,
    listed: Sequence[Pair],
    resolver: Resolver,
    decisions: Decisions | None,
    python: Mapping[str, str],
) -> Schema:
    """Return `schema` with its messages as they travel; unchanged without a data model or rows.

    `listed` are the methods, `python` has the name in `schema` of each declaration. Raises
    DecisionError for a row that does not fit, and at once for missing ones: what they say decides
    all later questions.
    """
    if decisions is None:
        return schema
    kinds = wire_rows.kinds(resolver, [pair.type for pair in listed])
    rows: dict[str, Row] = {}
    for kind, shape in kinds.items():
        if (row := wire_rows.ask(schema, resolver, decisions, kind, shape)) is not None:
            rows[kind] = row
    if len(rows) < len(kinds):
        decisions.settle()
    others = [path for path in decisions.paths("wire", schema.revision) if path not in kinds]
    added = [row for path in others if (row := wire_rows.ask_member(schema, decisions, path))]
    if not kinds:
        return schema
    wire = _Wire(schema, resolver, python)
    for kind, row in rows.items():
        _Kind(wire, kind, kinds[kind], row).place()
    for row in added:
        wire.widen(row.path, list(wire_rows.added(schema, row).values()))
    return wire.made()


class _Wire:
    """The declarations of a schema while its messages get the form of the wire.

    `gone` has the types of metadata, `envelopes` the structs that the rows name.
    """

    def __init__(self, schema: Schema, resolver: Resolver, python: Mapping[str, str]) -> None:
        self.schema = schema
        self.resolver = resolver
        self.types: dict[str, Declaration] = {d.name: d for d in schema.declarations}
        self.gone: set[str] = set()
        self.envelopes: list[Struct] = []
        self._python = python
        self._declared = {name: declared for declared, name in python.items()}

    def above(self, name: str) -> set[str]:
        """The names of all declarations that a declaration extends."""
        above = wire_rows.above(self.resolver, self._declared.get(name, name))
        return {self._python.get(each, each) for each in above}

    def root(self, name: str) -> str:
        """The struct that a payload extends first of all, or the payload itself."""
        above = {each for each in self.above(name) if each in self.schema.structs}
        return min((each for each in above if not self.above(each) & above), default=name)

    def widen(self, owner: str, new: Collection[Field], *, anew: bool = False) -> None:
        """Add members to a struct and to all that extend it; with `anew` they replace others."""
        wires, at = {field.wire for field in new}, self.types[owner].at
        for name, struct in list(self.types.items()):
            if isinstance(struct, Struct) and (name == owner or owner in self.above(name)):
                kept = [f for f in struct.fields if not (anew and f.wire in wires)]
                known = {field.wire for field in kept}
                added = [replace(f, origin=owner, at=at) for f in new if f.wire not in known]
                self.types[name] = replace(struct, fields=(*added, *kept))

    def add_envelope(self, struct: Struct) -> None:
        """Add an envelope. Raises DecisionError if its name is taken."""
        if struct.name in {*self.types, *(each.name for each in self.envelopes)}:
            raise DecisionError(
                f"[[wire]] of {self.schema.revision}: two shapes are called `{struct.name}`",
                remedy="Give the envelope a name of its own in `as`.",
            )
        self.envelopes.append(struct)

    def object_of(self, owner: str, holder: Field) -> str:
        """Return the name of the struct that a member is; make one of a map."""
        bare = resolve_aliases(self.schema, holder.type)
        if isinstance(bare, Ref):
            return bare.name
        name = f"{owner}{capitalize(holder.wire)}"
        if name not in self.types:
            index = bare.of if isinstance(bare, Map) else Prim("unknown")
            self.types[name] = Struct(name, (), index, place=f"{owner}.{holder.wire}", at=holder.at)
            self.widen(owner, [replace(holder, type=Ref(name))], anew=True)
        return name

    def made(self) -> Schema:
        """The schema with all changes, and without the types of metadata that nothing names now."""
        union = Alias(_UNION, Uni(tuple(Ref(each.name) for each in self.envelopes)))
        unions = [] if _UNION in self.types else [union]
        made = [*self.envelopes, *unions, *self.types.values()]
        return replace(self.schema, declarations=tuple(_without(made, self.gone)))


class _Kind:
    """One kind of messages, with its row."""

    def __init__(self, wire: _Wire, kind: str, shape: syntax.Inline, row: Row) -> None:
        self.wire = wire
        self.schema = wire.schema
        self.kind = kind
        self.shape = shape
        self.envelope = str(row.values["as"])
        self.places = {name: place(text) for name, text in table(row, "places").items()}
        self.added = {place(name): f for name, f in wire_rows.added(self.schema, row).items()}
        self.messages = [s for s in self.schema.structs.values() if kind in wire.above(s.name)]

    def place(self) -> None:
        """Rewrite the messages, move their metadata into the payloads, and add the envelope."""
        for struct in self.messages:
            self.wire.types[struct.name] = self.message(struct)
        for path, names in self.places.items():
            if len(names) == 2:
                self.move(path.partition(".")[2], names[1])
        for path, names in self.places.items():
            fields = [field for s in self.messages if (field := s.field(path)) is not None]
            if len(names) == 3 and fields:
                self.put_inside(names, fields[0])
        for names, field in self.added.items():
            if len(names) == 3:
                self.put_inside(names, field)
        self.wire.add_envelope(self.made_envelope())

    def fixed(self, at: int) -> list[Field]:
        """The members of the transport that stand in the message itself."""
        own = [field for names, field in self.added.items() if len(names) == 1]
        return [replace(field, origin=self.envelope, at=at) for field in own]

    def message(self, struct: Struct) -> Struct:
        fields = self.fixed(struct.at)
        for field in struct.fields:
            names = self.places.get(field.wire, ())
            if len(names) == 1:
                fields.append(replace(field, wire=names[0], name=python_name(names[0])))
            if field.wire == METADATA:
                self.wire.gone.update(references(field.type))
        return replace(struct, fields=tuple(fields), bases=(self.envelope,))

    def made_envelope(self) -> Struct:
        """The envelope. Its payload is its bound, or any object, if it has any."""
        at = self.wire.resolver.declared[self.kind].at
        fields = self.fixed(at)
        for member in self.shape.members:
            names = self.places.get(member.name, ())
            if len(names) == 1:
                type = self.type(member.type)
                is_any = type == Prim("unknown")
                head = (names[0], python_name(names[0]), Map(type) if is_any else type)
                fields.append(Field(*head, required=not is_any, origin=self.envelope, at=at))
        return Struct(self.envelope, tuple(fields), None, at=at)

    def type(self, written: syntax.Type) -> Type:
        resolved = self.wire.resolver.bare(written)
        for each in (resolved, written):
            if isinstance(each, syntax.Ref) and each.name in self.wire.types:
                return Ref(each.name)
        return Prim(resolved.name if isinstance(resolved, syntax.Keyword) else "unknown")

    # ---- metadata

    def move(self, inner: str, wire: str) -> None:
        """Move a member of the metadata into the payloads."""
        members = {s.name: field for s in self.messages if (field := self.metadata(s, inner))}
        counts = Counter((field.type, field.required) for field in members.values())
        usual = max(counts, key=counts.__getitem__, default=None)
        for own in (False, True):
            for struct in self.messages:
                field = members.get(struct.name)
                if field is not None and ((field.type, field.required) != usual) == own:
                    moved = replace(field, wire=wire, name=python_name(wire))
                    for payload in self.payloads(struct):
                        owner = payload if own else self.wire.root(payload)
                        self.wire.widen(owner, [moved], anew=own)

    def metadata(self, message: Struct, inner: str) -> Field | None:
        field = message.field(METADATA)
        struct = struct_of(self.schema, field.type) if field else None
        return struct.field(inner) if struct else None

    def payloads(self, message: Struct) -> Iterator[str]:
        """The names of the structs which a message may have as its payload."""
        field = message.field(PAYLOAD)
        for arm in arms(self.schema, field.type) if field else ():
            if (struct := struct_of(self.schema, arm)) is not None:
                yield struct.name

    def put_inside(self, names: tuple[str, ...], member: Field) -> None:
        """Add a member to the object that stands at the first two names of a place."""
        _, outer, wire = names
        bare = wire.removesuffix("?")
        required = member.required and bare == wire
        inside = replace(member, wire=bare, name=python_name(bare), required=required)
        payloads = (payload for struct in self.messages for payload in self.payloads(struct))
        for owner in dict.fromkeys(map(self.wire.root, payloads)):
            struct = self.wire.types[owner]
            holder = struct.field(outer) if isinstance(struct, Struct) else None
            if holder is not None:
                self.wire.widen(self.wire.object_of(owner, holder), [inside])


# ---- declarations that are gone


def _without(made: list[Declaration], gone: set[str]) -> list[Declaration]:
    """The declarations without those of `gone`, and without unions of them, that nothing names."""
    while True:
        used = {name for each in made for name in _named(each)}
        kept = [d for d in made if d.name in used or not (d.name in gone or _is_of(d, gone))]
        if len(kept) == len(made):
            return kept
        made = kept


def _is_of(declaration: Declaration, names: set[str]) -> bool:
    """Return whether an alias is made of these declarations alone."""
    inside = set(_named(declaration)) if isinstance(declaration, Alias) else set[str]()
    return bool(inside) and inside <= names


def _named(declaration: Declaration) -> Iterator[str]:
    match declaration:
        case Struct():
            for type in (*(f.type for f in declaration.fields), *declaration.unlisted):
                yield from references(type)
        case Alias():
            yield from references(declaration.type)
        case _:
            return
