"""Generates the readers: one for each struct, and for each other type in need of a function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from mcp_bindgen.emit.codec.functions import PLACE, Line
from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.codec.structs import StructReaders
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import as_tuple, call
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Arr,
    Bounded,
    Lit,
    Map,
    Prim,
    Ref,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import alias_of, is_any, references

__all__ = ["Readers"]

_SHARED: Final = {
    name: f"read_{name}" for name in ("string", "number", "boolean", "null", "object")
}


class Readers(StructReaders):
    """Readers by type; each is named before its body is made, so types may recur."""

    def __init__(self, shapes: Shapes, imports: Imports) -> None:
        super().__init__(shapes, imports)
        self._named: dict[Type, str] = {}
        self._lent: dict[Type, str] = {}
        if shapes.core is not None and self.schema.foreign:
            self._lent = Readers(shapes.core, Imports())._named
        for struct in self.schema.own_structs:
            self._named[Ref(struct.name)] = f"_read_{struct.name}"
        for struct in self.schema.own_structs:
            signature = f"o: Json, at: At) -> {struct.name}"
            self.define(f"_read_{struct.name}", signature, self.object(struct))

    def reader(self, type: Type, place: str = "") -> str:
        # _read_Icon
        # read_strings
        match type:
            case Ref() if alias := alias_of(self.schema, type):
                return self.reader(alias.type, alias.name)
            case Prim() if type.name in JSON_PRIMS:
                return self.use("read_json")
            case Prim():
                return self.use(_SHARED[type.name])
            case Map() if is_any(self.schema, type.of):
                return self.use("read_object")
            case Arr(of=Prim(name="string")):
                return self.use("read_strings")
            case _:
                return self._named.get(type) or self._borrow(type) or self._new(type, place)

    def _borrow(self, type: Type) -> str | None:
        """Import the core's reader of a type, if the type names types of the core only."""
        # _read_Icon
        name = self._lent.get(type)
        if name is None or not self.schema.foreign.issuperset(references(type)):
            return None
        self.borrowed.add(name)
        return name

    def _new(self, type: Type, place: str) -> str:
        # def _read_ProgressToken(x: Json, at: At) -> Json:
        name = f"_read_{place}"
        taken = {*self.texts, *self._lent.values()}
        while name in taken or name.removeprefix("_read_") in self.schema.structs:
            name += "_"
        self._named[type] = name
        self.texts[name] = []
        self.define(name, "x: Json, at: At) -> Json", self._body(type, place))
        return name

    def _body(self, type: Type, place: str) -> Iterator[Line]:
        # return read_array(_read_Icon, x, at)
        match type:
            case Arr() | Map():
                yield Line(0, "return ", self.read(type, "x", PLACE, place))
            case Tup():
                yield from self._tuple(type, place)
            case Uni() if self.conditions.refuses(type, "x") is None:
                yield from self.union(type, place)
            case Prim() | Lit() | Ref() | Uni() | Bounded():
                yield from self.check(type, "x", PLACE, place)
                yield Line(0, "return x")
            case _:
                assert_never(type)

    def _tuple(self, type: Tup, place: str) -> Iterator[Line]:
        needed = sum(not element.optional for element in type.of)
        yield from self.refuse("x.__class__ is not list", PLACE, "array", "x")
        if needed:
            yield from self.refuse(f"len(x) < {needed}", PLACE, f"at least {needed} items", "x")
        if type.rest is None:
            most = len(type.of)
            yield from self.refuse(f"len(x) > {most}", PLACE, f"at most {most} items", "x")
        reads = [self.reader(element.type, f"{place}_{i}") for i, element in enumerate(type.of)]
        rest = self.reader(type.rest, f"{place}_rest") if type.rest is not None else "None"
        yield Line(0, "return ", call(self.use("read_tuple"), as_tuple(reads), rest, "x", PLACE))
