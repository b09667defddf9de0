"""`compose` rows: an array of one revision replaces several members of the other.

    path = "CallToolResult.outputs"
    parts = [{items = "content"}, {item = "structured", as = "value", with = {type = "json"}}]

The items of an `items` part stand in the array one by one; an `item` part is one object in it, with
the member's value under the name `as`, and `with` to recognize it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias, cast

from mcp_bindgen.convert.model import Composed, Decision, Part, Way
from mcp_bindgen.convert.rows import Rows, paths_of
from mcp_bindgen.ir.model import Arr, Field, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import stripped, struct_of

__all__ = ["compositions"]

_Ways: TypeAlias = Callable[[Type, Type, str], Way | None]


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
        array = stripped(self.schema, member.type)
        if not isinstance(array, Arr) or not member.required:
            self.reject(f"{self.whole.name}.{member.wire} is not a required array")
        given = self.decision.values["parts"]
        tables = cast("list[dict[str, Any]]", given if isinstance(given, list) else [])
        singles = [table for table in tables if "item" in table]
        if len(tables) - len(singles) != 1 or "items" not in tables[0]:
            self.reject("`parts` is not one part with `items`, and then parts with `item`")
        parts = tuple(self._part(table, array.of, singles, built=built) for table in tables)
        return Composed(member.wire, parts, built, self.decision)

    def _part(
        self, table: dict[str, Any], item: Type, singles: list[dict[str, Any]], *, built: bool
    ) -> Part:
        match table:
            case {"items": str(wire)} if len(table) == 1:
                member = self._member(wire)
                array = stripped(self.of, member.type)
                if not isinstance(array, Arr) or not member.required:
                    self.reject(f"{self.parts.name}.{wire} is not a required array")
                rest = item if built else self._others(item, singles)
                return Part(wire, self._way(array.of, rest, wire, built=built))
            case {"item": str(wire), "as": str(name), "with": dict()} if len(table) == 3:
                marks = cast("dict[str, Any]", table["with"])
                value = self._arm(item, name, marks)
                member = self._member(wire)
                if member.required:
                    self.reject(f"{self.parts.name}.{wire} is required, and may be absent there")
                return Part(wire, self._way(member.type, value, wire, built=built), name, marks)
            case _:
                self.reject(f"{table} is neither {{items}} nor {{item, as, with}}")

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

    def _arm(self, item: Type, name: str, marks: dict[str, Any]) -> Type:
        """The type of member `name` in the arm with the constants `marks` and no other required
        member.
        """
        for arm in arms(self.schema, item):
            struct = struct_of(self.schema, arm)
            if struct is not None and _is_marked(struct, marks):
                value = struct.field(name)
                needed = {field.wire for field in struct.fields if field.required}
                if value is not None and value.required and needed <= {name, *marks}:
                    return value.type
        self.reject(f"no type of its items has {marks} and `{name}`, and requires no more")

    def _others(self, item: Type, singles: list[dict[str, Any]]) -> Type:
        """The type of the items which stay in `items`; arms moved to a member of their own are left
        out.
        """
        rest = tuple(arm for arm in arms(self.schema, item) if not self._is_single(arm, singles))
        if not rest:
            self.reject("nothing is left for `items`")
        return rest[0] if len(rest) == 1 else Uni(rest)

    def _is_single(self, arm: Type, singles: list[dict[str, Any]]) -> bool:
        struct = struct_of(self.schema, arm)
        return struct is not None and any(_is_marked(struct, each["with"]) for each in singles)

    def reject(self, why: str) -> NoReturn:
        self.rows.reject(self.decision, why)


def _is_marked(struct: Struct, marks: dict[str, Any]) -> bool:
    """Return whether each mark is a constant of the struct."""
    consts = {field.wire: field.const for field in struct.consts}
    return bool(marks) and all(
        wire in consts and consts[wire] == value for wire, value in marks.items()
    )
