"""Generates readers of structs: required members first, then the others if there are any."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_bindgen.emit.codec.functions import PLACE, Line, at_member, deeper, local
from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.codec.unions import UnionReaders
from mcp_bindgen.emit.text.annotate import expected_text
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import Code, as_tuple, call, literal
from mcp_bindgen.ir.model import Field, Struct, Type
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.ir.walk import is_any, is_never, kinds

__all__ = ["StructReaders"]


class StructReaders(UnionReaders):
    """Lines of the functions which read structs."""

    def __init__(self, shapes: Shapes, imports: Imports) -> None:
        super().__init__(shapes.schema, imports)
        self.shapes = shapes

    def object(self, struct: Struct) -> Iterator[Line]:
        # if o.__class__ is not dict:
        #     raise wrong(at, "object", o)
        yield from self.refuse("o.__class__ is not dict", PLACE, "object", "o")
        if self.shapes.is_late(struct):
            yield from self._late(struct)
        else:
            yield from self._fill(struct)

    def _fill(self, struct: Struct) -> Iterator[Line]:
        """Lines which set the present members of a new value.

        They are set one by one, so instances share the keys of their dicts: this is faster, and
        takes half the memory. A library's constructor gets all of them at once.
        """
        # made = new(Implementation) if fills else None
        # held: Json = made.__dict__ if made is not None else {}
        # held["name"] = name
        required = [f for f in struct.fields if f.required]
        for field in required:
            yield from self._require(struct, field)
        yield from self._begin(struct)
        for field in required:
            if field.const is None:
                yield Line(0, f"held[{literal(field.name)}] = {local(field.name)}")
        rest = [*self._optional(struct), *self._extras(struct)]
        if rest:
            yield Line(0, f"if len(o) != {len(required)}:")
            yield from deeper(rest)
        yield self._make(struct)

    def _begin(self, struct: Struct) -> Iterator[Line]:
        # made = new(Implementation) if fills else None
        # held: Json = made.__dict__ if made is not None else {}
        new = f"{self.use('new')}({struct.name})"
        if self.shapes.is_native(struct):
            yield Line(0, f"made = {new} if {self.use('fills')} else None")
            yield Line(0, "held: Json = made.__dict__ if made is not None else {}")
        else:
            yield Line(0, f"made = {new}")
            yield Line(0, "held = made.__dict__")

    def _make(self, struct: Struct) -> Line:
        # return made or make(PingRequest, jsonrpc="2.0", **held)
        if not self.shapes.is_native(struct):
            return Line(0, "return made")
        consts = [f"{f.name}={literal(f.const)}" for f in self.shapes.written_consts(struct)]
        made = call(self.use("make"), struct.name, *consts, "**held")
        return Line(0, "return made or ", made)

    def _late(self, struct: Struct) -> Iterator[Line]:
        """Lines which check the members, and make a value holding the parsed object itself."""
        # made = new(RequestParamsMeta)
        # keep(made, o)
        # return made
        for field in sorted(struct.fields, key=lambda f: not f.required):
            if field.required:
                yield from self._require(struct, field)
            else:
                yield from self._present(struct, field)
        if self.shapes.keeps(struct):
            rest = call(self.use("extras"), "o", f"_{struct.name}_members", PLACE)
            yield Line(0, f"if at is not None and {self.use('is_given')}(at):")
            yield Line(1, "", rest)
        yield Line(0, "made = ", call(self.use("new"), struct.name))
        yield Line(0, "", call(self.use("keep"), "made", "o"))
        yield Line(0, "return made")

    def _present(self, struct: Struct, field: Field) -> Iterator[Line]:
        """Lines which check a member if it is present, and leave its value in its variable."""
        # if "title" in o:
        #     title = o["title"]
        var, wire = local(field.name), literal(field.wire)
        yield Line(0, f"if {wire} in o:")
        yield Line(1, f"{var} = o[{wire}]")
        place = f"{struct.name}_{field.name}"
        yield from deeper(self.check(field.type, var, at_member(field.wire), place))

    def _require(self, struct: Struct, field: Field) -> Iterator[Line]:
        """Lines which check a required member; null stands for an absent one if null is refused.

        `x.get(name)` is twice as fast as the look-up with a default.
        """
        # if o.get("method") != "ping":
        #     raise wrong((at, "method"), '"ping"', o.get("method", UNSET))
        # name = o.get("name")
        # data = o.get("data", UNSET)
        var, wire = local(field.name), literal(field.wire)
        at, place = at_member(field.wire), f"{struct.name}_{field.name}"
        get = call("o.get", wire, self.use("UNSET"))
        if isinstance(field.const, str):
            condition = f"o.get({wire}) != {literal(field.const)}"
            yield from self.refuse(condition, at, expected_text(self.schema, field.type), get)
        elif (refusal := self._refuses_null(field.type, var)) is not None:
            yield Line(0, f"{var} = ", call("o.get", wire))
            yield from self.refuse(refusal, at, expected_text(self.schema, field.type), get)
        else:
            yield Line(0, f"{var} = ", get)
            yield from self.check(field.type, var, at, place)

    def _refuses_null(self, type: Type, var: str) -> Code | None:
        """Like `conditions.refuses`, for a type without null; None for other types."""
        if "null" in kinds(self.schema, type):
            return None
        return self.conditions.refuses(type, var)

    def _optional(self, struct: Struct) -> Iterator[Line]:
        # held["title"] = title
        for field in struct.fields:
            if not field.required:
                yield from self._present(struct, field)
                if not is_never(self.schema, field.type):
                    yield Line(1, f"held[{literal(field.name)}] = {local(field.name)}")

    def _extras(self, struct: Struct) -> Iterator[Line]:
        """Lines that keep or refuse undeclared members; an object without any skips them."""
        # if len(o) != len(held):
        #     held[EXTRA] = hold(extras(o, _Implementation_members, at))
        optional = any(not f.required for f in struct.fields)
        if optional:
            consts = f" + {len(struct.consts)}" if struct.consts else ""
            yield Line(0, f"if len(o) != len(held){consts}:")
        yield from deeper(self._unknown(struct), int(optional))

    def _unknown(self, struct: Struct) -> Iterator[Line]:
        # held[EXTRA] = hold(extras(o, _Implementation_members, at))
        keys = f"_{struct.name}_members"
        if not self.shapes.keeps(struct):
            look = "no_extras" if self.shapes.unknown == "reject" else "extras"
            yield Line(0, "", call(self.use(look), "o", keys, PLACE))
            return
        extra: Code = call(self.use("extras"), "o", keys, PLACE)
        read: str | None = None
        if struct.index is not None and not is_any(self.schema, struct.index):
            read = self.reader(struct.index, f"{struct.name}_extra")
        if struct.keyed:
            keyed = as_tuple(self._keyed_rows(struct))
            extra = call(self.use("read_keyed"), keyed, read or "None", extra, PLACE)
        elif read is not None:
            extra = call(self.use("read_map"), read, extra, PLACE)
        if self.shapes.is_native(struct):
            yield Line(0, f"held[{self.use('EXTRA')}] = ", call(self.use("hold"), extra))
        else:
            yield Line(0, 'held["extra_"] = ', extra)

    def _keyed_rows(self, struct: Struct) -> Iterator[Code]:
        # ("^x\\-", None, _read_Root_extra_1)
        for number, keyed in enumerate(struct.keyed, 1):
            read = self.reader(keyed.type, f"{struct.name}_extra_{number}")
            yield as_tuple([literal(python_pattern(keyed.pattern)), str(keyed.longest), read])
