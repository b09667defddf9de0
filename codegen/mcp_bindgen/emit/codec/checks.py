"""Generates the lines of a reader which check one value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from mcp_bindgen.emit.codec.conditions import Conditions, choices
from mcp_bindgen.emit.codec.functions import Functions, Line, deeper
from mcp_bindgen.emit.text.annotate import expected_text
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import Code, as_tuple, call, literal
from mcp_bindgen.ir.model import Arr, Bounded, Map, Prim, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms, tag
from mcp_bindgen.ir.walk import (
    alias_of,
    holds_struct,
    is_any,
    is_never,
    kinds,
    resolve_aliases,
    struct_of,
)

__all__ = ["Checks"]


class Checks(Functions, ABC):
    """The lines of a reader which check one value, or the call of a function which does."""

    def __init__(self, schema: Schema, imports: Imports) -> None:
        super().__init__(schema, imports)
        self.conditions = Conditions(schema, self.use, text=True)

    @abstractmethod
    def reader(self, type: Type, place: str = "") -> str:
        """The name of the function which reads `type`; a new function is named after `place`."""

    @abstractmethod
    def tags(self, type: Uni, place: str) -> str | None:
        """The generated name of a dict from tag to reader, for a union whose structs have a tag."""

    def refuse(self, condition: Code, at: Code, wanted: str, refused: Code) -> Iterator[Line]:
        # if x.__class__ is not list:
        #     raise wrong(at, "array", x)
        yield Line(0, "if ", condition, ":")
        yield Line(1, "raise ", call(self.use("wrong"), at, literal(wanted), refused))

    def check(self, type: Type, var: str, at: Code, place: str) -> Iterator[Line]:
        """Lines which check a value and leave it in `var`; `at` is the code for its place."""
        # priority = _read_Annotations_priority(priority, (at, "priority"))
        if isinstance(type, Bounded):
            yield from self.check(type.of, var, at, place)
            yield from self._limits(type, var, at)
        elif alias := alias_of(self.schema, type):
            yield from self.check(alias.type, var, at, alias.name)
        elif (refusal := self.conditions.refuses(type, var)) is not None:
            yield from self.refuse(refusal, at, expected_text(self.schema, type), var)
        elif is_never(self.schema, type):
            yield Line(0, "raise ", call(self.use("wrong"), at, literal("nothing"), var))
        else:
            yield Line(0, f"{var} = ", self.read(type, var, at, place))

    def read(self, type: Type, var: str, at: Code, place: str) -> Code:
        """The call for reading a value."""
        # read_array(_read_Icon, icons, (at, "icons"))
        opens = isinstance(type, Map) and is_any(self.schema, type.of)
        if isinstance(type, Arr | Map) and type != Arr(Prim("string")) and not opens:
            return self._all(type, var, at, place)
        return call(self.reader(type, place), var, at)

    def _all(self, type: Arr | Map, var: str, at: Code, place: str) -> Code:
        """The call for reading every item or value."""
        # read_literals(("user", "assistant"), audience, (at, "audience"))
        # read_tagged(_ContentBlock_tags, "type", _read_ContentBlock, content, (at, "content"))
        # check_objects(requests, (at, "requests"))
        if type == Map(Prim("object")):
            return call(self.use("check_objects"), var, at)
        if isinstance(type, Arr) and (names := choices(self.schema, type.of)):
            return call(self.use("read_literals"), as_tuple(names), var, at)
        step = "item" if isinstance(type, Arr) else "value"
        read = self.reader(type.of, f"{place}_{step}")
        if isinstance(type, Arr) and (tagged := self._read_tagged(type, place)):
            return call(self.use("read_tagged"), *tagged, read, var, at)
        how = "read" if holds_struct(self.schema, type) else "check"
        what = "array" if isinstance(type, Arr) else "map"
        return call(self.use(f"{how}_{what}"), read, var, at)

    def _read_tagged(self, type: Arr, place: str) -> tuple[str, str] | None:
        """The table of a tagged union, and the tag."""
        # _ContentBlock_tags, "type"
        alias, bare = alias_of(self.schema, type.of), resolve_aliases(self.schema, type.of)
        if not isinstance(bare, Uni):
            return None
        table = self.tags(bare, alias.name if alias else f"{place}_item")
        structs = tuple(leaf for leaf in arms(self.schema, bare) if struct_of(self.schema, leaf))
        wire = tag(self.schema, structs)
        return (table, literal(wire)) if table and wire else None

    def _limits(self, type: Bounded, var: str, at: Code) -> Iterator[Line]:
        """Lines which refuse values beyond a bound, for each JSON kind of the type."""
        # if priority < 0:
        #     raise wrong((at, "priority"), "at least 0", priority)
        alone = len(kinds(self.schema, type.of)) == 1
        for kind, bounds in self.conditions.beyond(type, var):
            if not alone:
                yield Line(0, "if ", self.conditions.of_kind(kind, var), ":")
            for condition, wanted in bounds:
                yield from deeper(self.refuse(condition, at, wanted, var), 0 if alone else 1)

    def struct(self, leaf: Type) -> Struct:
        struct = struct_of(self.schema, leaf)
        assert struct is not None
        return struct
