"""Generates readers of unions: a branch for each JSON kind, by a tag or by trying the arms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from mcp_bindgen.emit.codec.checks import Checks
from mcp_bindgen.emit.codec.conditions import KINDS
from mcp_bindgen.emit.codec.functions import PLACE, Line, at_member, deeper
from mcp_bindgen.emit.text.annotate import expected_text
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import Code, Or, call, literal
from mcp_bindgen.ir.model import Kind, Prim, Schema, Type, Uni
from mcp_bindgen.ir.unions import arms, plainer_arms, tag
from mcp_bindgen.ir.walk import kinds, resolve_aliases, struct_of

__all__ = ["UnionReaders"]


class UnionReaders(Checks):
    """Lines of the functions which read unions; `tables` are their tables of readers by tag."""

    def __init__(self, schema: Schema, imports: Imports) -> None:
        super().__init__(schema, imports)
        self.tables: dict[str, dict[str, str]] = {}

    def union(self, type: Uni, place: str) -> Iterator[Line]:
        # if x.__class__ is dict:
        #     tag = x.get("type")
        groups = self._groups(type)
        wanted = expected_text(self.schema, type)
        if any(self._is_tried(group) for group in groups.values()):
            yield Line(0, "faults: tuple[DecodeError, ...] = ()")
            self.use("DecodeError")
        plain: list[Kind] = [
            k for k, group in groups.items() if any(self._is_whole(g, k) for g in group)
        ]
        yield from self._as_they_are(plain)
        for kind, group in groups.items():
            if kind not in plain:
                yield Line(0, f"if {self.conditions.of_kind(kind, 'x')}:")
                yield from deeper(self._branch(kind, group, type, place, wanted))
        yield Line(0, "raise ", call(self.use("wrong"), PLACE, literal(wanted), "x"))

    def _groups(self, type: Uni) -> dict[Kind, list[Type]]:
        """The arms of a union by the JSON kind of their values."""
        groups: dict[Kind, list[Type]] = {}
        for leaf in arms(self.schema, type):
            for kind in filter(kinds(self.schema, leaf).__contains__, KINDS):
                groups.setdefault(kind, []).append(leaf)
        return groups

    def _as_they_are(self, plain: Sequence[Kind]) -> Iterator[Line]:
        # if is_string(x) or is_number(x):
        #     return x
        if plain:
            taken = " or ".join(self.conditions.of_kind(kind, "x") for kind in plain)
            yield Line(0, f"if {taken}:")
            yield Line(1, "return x")

    def _is_whole(self, leaf: Type, kind: Kind) -> bool:
        """Return whether an arm takes every value of a kind unread; never for arrays and
        objects.
        """
        return isinstance(resolve_aliases(self.schema, leaf), Prim) and kind not in {
            "array",
            "object",
        }

    def _is_tried(self, group: list[Type]) -> bool:
        """Return whether the arms of one JSON kind can be told apart only by trying them."""
        return len(group) > 1 and tag(self.schema, tuple(group)) is None

    def _branch(
        self, kind: Kind, group: list[Type], type: Uni, place: str, wanted: str
    ) -> Iterator[Line]:
        # return _read_ToolUseContent(x, at)
        wire = tag(self.schema, tuple(group))
        if len(group) == 1:
            yield Line(0, "return ", call(self.reader(group[0], f"{place}_{kind}"), "x", PLACE))
        elif wire is not None:
            yield from self._by_tag(wire, group, type, place)
        else:
            yield from self._try_arms(group, place, wanted)

    def tags(self, type: Uni, place: str) -> str | None:
        """Return the name of a union's table of readers by tag; None if its structs are tried."""
        structs = tuple(leaf for leaf in arms(self.schema, type) if struct_of(self.schema, leaf))
        objects = [leaf for leaf in arms(self.schema, type) if "object" in kinds(self.schema, leaf)]
        wire = tag(self.schema, structs)
        if wire is None or len(objects) != len(structs):
            return None
        table: dict[str, str] = {}
        for leaf in self._in_order(structs):
            const = self.struct(leaf).field(wire)
            assert const is not None
            table[literal(const.const)] = self.reader(leaf)
        name = next((n for n, known in self.tables.items() if known == table), f"_{place}_tags")
        self.tables[name] = table
        return name

    def _by_tag(self, wire: str, group: list[Type], type: Uni, place: str) -> Iterator[Line]:
        # tag = x.get("type")
        # if tag.__class__ is str and tag in _ContentBlock_tags:
        #     return _ContentBlock_tags[tag](x, at)
        table = self.tags(type, place)
        consts = [self.struct(leaf).field(wire) for leaf in self._in_order(group)]
        values = [expected_text(self.schema, const.type) for const in consts if const]
        yield Line(0, "tag = ", call("x.get", literal(wire)))
        known = Or(("tag.__class__ is str", f"tag in {table}"), "and")
        yield Line(0, "if ", known, ":")
        yield Line(1, f"return {table}[tag](x, {PLACE})")
        value = call("x.get", literal(wire), self.use("UNSET"))
        fault = call(self.use("wrong"), at_member(wire), literal(" | ".join(values)), value)
        yield Line(0, "raise ", fault)

    def _in_order(self, structs: Iterable[Type]) -> list[Type]:
        """Return the structs in the order of their declarations, which is that of the table."""
        return sorted(structs, key=lambda leaf: self.struct(leaf).at)

    def _try_arms(self, group: list[Type], place: str, wanted: str) -> Iterator[Line]:
        """Try the arms in order, skipping those whose required member or constant is missing.

        If only one arm was tried its fault is reported, else the fault is the union's.
        """
        # if "message" in x and "requestedSchema" in x:
        #     try:
        #         return _read_ElicitRequestFormParams(x, at)
        #     except DecodeError as fault:
        #         faults += (fault,)
        # if len(faults) == 1:
        #     raise faults[0]
        own = defaultdict[Type, list[tuple[str, ...]]](list)
        for leaf, _, names in plainer_arms(self.schema, group):
            own[leaf].append(names)
        for number, leaf in enumerate(group):
            guard = self._guard(leaf, own[leaf])
            if guard is not None:
                yield Line(0, "if ", guard, ":")
            yield from deeper(self._try(leaf, f"{place}_{number}"), int(guard is not None))
        fault = call(self.use("wrong"), PLACE, literal(wanted), "x")
        yield Line(0, "if len(faults) == 1:")
        yield Line(1, "raise faults[0]")
        yield Line(0, "raise ", fault)

    def _guard(self, leaf: Type, own: Sequence[tuple[str, ...]]) -> Code | None:
        """The condition under which a struct can accept and no plainer later arm is meant; or
        None.
        """
        # x.get("type") == "string" and "enum" in x and "enumNames" in x
        struct = struct_of(self.schema, leaf)
        parts = tuple(
            f"x.get({literal(f.wire)}) == {literal(f.const)}"
            if isinstance(f.const, str)
            else f"{literal(f.wire)} in x"
            for f in (struct.fields if struct is not None else ())
            if f.required
        )
        for names in own:
            there = [f"{literal(name)} in x" for name in names]
            parts += (there[0],) if len(there) == 1 else (f"({' or '.join(there)})",)
        return (parts[0] if len(parts) == 1 else Or(parts, "and")) if parts else None

    def _try(self, leaf: Type, place: str) -> Iterator[Line]:
        # try:
        #     return _read_StringSchema(x, at)
        # except DecodeError as fault:
        #     faults += (fault,)
        read: Code = call(self.reader(leaf, place), "x", PLACE)
        yield Line(0, "try:")
        yield Line(1, "return ", read)
        yield Line(0, "except DecodeError as fault:")
        yield Line(1, "faults += (fault,)")
