"""`compose` rows: an array of one revision replaces several members of the other.

    path = "CallToolResult.outputs"
    parts = [{items = "content"}, {item = "structured", as = "value", with = {type = "json"}}]

Each part is one of three. `items`: the items of a member stand in the array one by one. `item`: one
object of the array has the member's value under the name `as`, and `with` to recognize it; `value`
stands for a required member where no object has it. `with` alone: a constant object of the array.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias, cast

from mcp_bindgen.convert.model import CARRY, Composed, Decision, Part, Way
from mcp_bindgen.convert.rows import Rows, paths_of
from mcp_bindgen.ir.model import Arr, Field, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.walk import kinds, strip_bounds, struct_of

__all__ = ["compositions", "suggestion"]

_Ways: TypeAlias = Callable[[Type, Type, str], Way | None]
_Table: TypeAlias = dict[str, Any]


def compositions(
    s: Struct, t: Struct, schemas: tuple[Schema, Schema], rows: Rows, direction: str, way: _Ways
) -> Iterator[Composed]:
    """The compositions of a pair of structs, in the source's and the target's schema.

    Raises DecisionError for unworkable rows.
    """
    source, target = schemas
    for whole, parts, sides in ((t, s, (source, target)), (s, t, (target, source))):
        for member in whole.fields:
            if parts.field(member.wire) is None:
                decision = rows.find(direction, paths_of(whole, member), ("compose",))
                if decision is not None:
                    composition = _Composition(rows, decision, whole, parts, sides, way)
                    yield composition.composed(member, built=whole is t)


class _Composition:
    """One row: `whole` has the array, `parts` the members; `schemas` are theirs, the parts'
    first.
    """

    def __init__(
        self,
        rows: Rows,
        decision: Decision,
        whole: Struct,
        parts: Struct,
        schemas: tuple[Schema, Schema],
        way: _Ways,
    ) -> None:
        self.rows = rows
        self.decision = decision
        self.whole = whole
        self.parts = parts
        self.of, self.schema = schemas
        self.way = way

    def composed(self, member: Field, *, built: bool) -> Composed:
        array = strip_bounds(self.schema, member.type)
        if not isinstance(array, Arr) or not member.required:
            self.reject(f"{self.whole.name}.{member.wire} is not a required array")
        given = self.decision.values["parts"]
        tables = cast("list[_Table]", given if isinstance(given, list) else [])
        if not any(set(table) & {"item", "items"} for table in tables):
            self.reject("`parts` names no member")
        if any("items" in table for table in tables[1:]):
            self.reject("`parts` has a part with `items` that is not its first")
        marks = [table.get("with") for table in tables]
        if any(each in marks[:number] for number, each in enumerate(marks)):
            self.reject("two parts have the same `with`")
        parts = [self._part(table, array.of, tables, built=built) for table in tables]
        self._require_all_fill(parts, tables)
        return Composed(member.wire, tuple(parts), built, self.decision)

    def _part(self, table: _Table, item: Type, tables: list[_Table], *, built: bool) -> Part:
        match table:
            case {"items": str(wire)} if len(table) == 1:
                member = self._member(wire)
                array = strip_bounds(self.of, member.type)
                if not isinstance(array, Arr) or not member.required:
                    self.reject(f"{self.parts.name}.{wire} is not a required array")
                rest = item if built else self._others(item, tables)
                return Part(wire, self._way(array.of, rest, wire, built=built))
            case {"item": str(wire), "as": str(name), "with": dict()} if set(table) <= _SINGLE:
                marks = cast("_Table", table["with"])
                value = self._value_of(item, name, marks)
                member = self._member(wire)
                fill = (table["value"],) if "value" in table else ()
                if fill and not accepts(self.of, member.type, fill[0]):
                    self.reject(f"{fill[0]!r} is not a value of {self.parts.name}.{wire}")
                way = self._way(member.type, value, wire, built=built)
                return Part(wire, way, name, marks, fill)
            case {"with": dict()} if len(table) == 1:
                marks = cast("_Table", table["with"])
                if not accepts(self.schema, item, marks):
                    self.reject(f"its items do not take {marks}")
                return Part("", CARRY, "", marks)
            case _:
                self.reject(f"{table} is neither {{items}} nor {{item, as, with}} nor {{with}}")

    def _require_all_fill(self, parts: list[Part], tables: list[_Table]) -> None:
        """Raise DecisionError unless exactly the required members have a `value`, each at its first
        part.
        """
        seen: set[str] = set()
        for part, table in zip(parts, tables, strict=True):
            member = self.parts.field(part.wire)
            if member is not None and "item" in table:
                needed = member.required and part.wire not in seen
                if needed and not part.fill:
                    self.reject(
                        f"{self.parts.name}.{part.wire} is required, and an array may have no"
                        " such item: give `value`"
                    )
                if part.fill and not needed:
                    self.reject(f"{table}: `value` is for the first part of a required member")
            seen.add(part.wire)

    def _member(self, wire: str) -> Field:
        if self.whole.field(wire) is not None:
            self.reject(f"{self.whole.name} has `{wire}` too")
        return self.rows.require_member(self.parts, wire, self.decision)

    def _way(self, part: Type, whole: Type, wire: str, *, built: bool) -> Way:
        source, target = (part, whole) if built else (whole, part)
        place = f"{self.parts.name}.{wire}"
        way = self.way(source, target, place)
        if way is None:
            self.reject(f"not every value of {place} is taken")
        return way

    def _value_of(self, item: Type, name: str, marks: _Table) -> Type:
        """The type of member `name` in the arm which takes `marks` and has no other required
        member.
        """
        for arm in arms(self.schema, item):
            struct = struct_of(self.schema, arm)
            value = struct.field(name) if struct is not None else None
            if struct is not None and value is not None and self._takes(struct, marks):
                needed = {field.wire for field in struct.fields if field.required}
                if needed <= {name, *marks}:
                    return value.type
        self.reject(f"no type of its items has {marks} and `{name}`, and requires no more")

    def _takes(self, struct: Struct, marks: _Table) -> bool:
        """Return whether each mark is a value of a member of the struct."""
        members = ((struct.field(wire), value) for wire, value in marks.items())
        return bool(marks) and all(
            member is not None and accepts(self.schema, member.type, value)
            for member, value in members
        )

    def _others(self, item: Type, tables: list[_Table]) -> Type:
        """The type of the items which stay in `items`; arms moved to a member of their own are left
        out.
        """
        marks = [table["with"] for table in tables if "item" in table and "with" in table]
        rest = tuple(arm for arm in arms(self.schema, item) if not self._is_single(arm, marks))
        if not rest:
            self.reject("nothing is left for `items`")
        return rest[0] if len(rest) == 1 else Uni(rest)

    def _is_single(self, arm: Type, marks: list[_Table]) -> bool:
        struct = struct_of(self.schema, arm)
        return struct is not None and any(_is_marked(struct, each) for each in marks)

    def reject(self, why: str) -> NoReturn:
        self.rows.reject(self.decision, why)


_SINGLE = frozenset(("item", "as", "with", "value"))


def _is_marked(struct: Struct, marks: _Table) -> bool:
    """Return whether each mark is a constant of the struct."""
    consts = {field.wire: field.const for field in struct.consts}
    return bool(marks) and all(
        wire in consts and consts[wire] == value for wire, value in marks.items()
    )


# ---- the row that a question proposes


def suggestion(
    parts: Struct, whole: Struct, member: Field, schemas: tuple[Schema, Schema], way: _Ways
) -> str:
    """The `parts` to propose for an array of `whole`; empty if no arm of it holds a member.

    `parts` is the struct with the members, `schemas` are its schema and that of `whole`.
    """
    of, schema = schemas
    array = strip_bounds(schema, member.type)
    if not isinstance(array, Arr) or not member.required:
        return ""
    gone = [field for field in parts.fields if whole.field(field.wire) is None]
    tables = [table for field in gone if (table := _table(field, array.of, schema, of, way))]
    return f"parts = [{', '.join(tables)}]" if tables else ""


def _table(field: Field, item: Type, schema: Schema, of: Schema, way: _Ways) -> str:
    """The part that holds a member; empty if none does."""
    inner = strip_bounds(of, field.type)
    if isinstance(inner, Arr) and field.required and way(inner.of, item, field.wire) is not None:
        return f"{{items = {json.dumps(field.wire)}}}"
    candidates = [
        (value.wire != field.wire, value, struct)
        for arm in arms(schema, item)
        if (struct := struct_of(schema, arm)) is not None
        for value in struct.fields
        if value.const is None and kinds(schema, value.type) >= kinds(of, field.type)
        if value.wire == field.wire or way(field.type, value.type, field.wire) is not None
    ]
    for _, value, struct in sorted(candidates, key=lambda row: row[0]):
        others = [f for f in struct.fields if f.required and f.wire != value.wire]
        if others and all(_is_mark(schema, each) for each in others):
            marks = ", ".join(f"{f.wire} = {json.dumps(f.const or '...')}" for f in others)
            fill = ", value = ..." if field.required else ""
            names = f"item = {json.dumps(field.wire)}, as = {json.dumps(value.wire)}"
            return f"{{{names}, with = {{{marks}}}{fill}}}"
    return ""


def _is_mark(schema: Schema, field: Field) -> bool:
    """Return whether a member can tell objects apart: a constant, or a text."""
    return field.const is not None or "string" in kinds(schema, field.type)
