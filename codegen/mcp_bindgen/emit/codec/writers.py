"""Generates the writers: one for each struct, which returns it as parsed JSON."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from mcp_bindgen.emit.codec.functions import Functions, Line, deeper, local
from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import Code, Group, after_head, call, literal
from mcp_bindgen.ir.model import Arr, Field, Map, Prim, Ref, Struct, Type, Uni
from mcp_bindgen.ir.walk import holds_struct, strip_bounds

__all__ = ["Writers"]


class Writers(Functions):
    """Writers by struct; each writes the members present in a value's dict."""

    def __init__(self, shapes: Shapes, imports: Imports) -> None:
        super().__init__(shapes.schema, imports)
        self.shapes = shapes
        for struct in self.schema.own_structs:
            self.define(f"_write_{struct.name}", f"x: {struct.name}) -> Json", self._struct(struct))

    def writer(self, type: Type) -> str | None:
        """The name of the function which writes `type`; None if its values are JSON already."""
        # _write_Icon
        opened = strip_bounds(self.schema, type)
        if isinstance(opened, Ref):
            return self.name_of("write", opened.name)
        return "write" if holds_struct(self.schema, opened) else None

    def _struct(self, struct: Struct) -> Iterator[Line]:
        # held = x.__dict__
        # o: Json = {"uri": held["uri"]}
        # if len(held) != 1:
        #     if "name" in held:
        required = [f for f in struct.fields if f.required]
        needed = sum(f.const is None for f in required)
        rest = [*self._optional(struct)]
        if self.shapes.is_late(struct):
            yield from self._late()
        if rest or needed:
            yield Line(0, "held = x.__dict__")
        values: list[Code] = []
        for field in required:
            value = yield from self._value(field)
            values.append(after_head(f"{literal(field.wire)}: ", value))
        yield Line(0, "o: Json = ", Group("{", tuple(values), "}"))
        if rest:
            yield Line(0, f"if len(held) != {needed}:" if needed else "if held:")
            yield from deeper(rest)
        yield Line(0, "return o")

    def _late(self) -> Iterator[Line]:
        # if (wire := x.wire_) is not None:
        #     return wire
        yield Line(0, "if (wire := x.wire_) is not None:")
        yield Line(1, "return wire")

    def _optional(self, struct: Struct) -> Iterator[Line]:
        """Lines which write the optional members if present."""
        # if "name" in held:
        #     o["name"] = held["name"]
        # if "extra_" in held:
        #     merge(o, held["extra_"], _Root_members)
        for field in struct.fields:
            if not field.required:
                yield Line(0, f"if {literal(field.name)} in held:")
                yield from deeper(self._assign(field))
        if self.shapes.keeps(struct):
            members = f"_{struct.name}_members"
            values = Map(Uni(struct.unlisted) if struct.open else Prim("unknown"))
            extra = self._write(values, 'held["extra_"]')
            yield Line(0, 'if "extra_" in held:')
            yield Line(1, "", call(self.use("merge"), "o", extra, members))

    def _assign(self, field: Field) -> Iterator[Line]:
        # o["name"] = held["name"]
        value = yield from self._value(field)
        yield Line(0, f"o[{literal(field.wire)}] = ", value)

    def _value(self, field: Field) -> Generator[Line, None, Code]:
        """The expression for a member's JSON; it first yields the lines it needs."""
        # write_array(_write_Icon, held["icons"])
        # error = held["error"]
        # _WRITERS[type(error)](error)
        # content_items: list[Json] = []
        # for item in held["content"]:
        #     content_items.append(_WRITERS[type(item)](item))
        if field.const is not None:
            return literal(field.const)
        held = f"held[{literal(field.name)}]"
        opened = strip_bounds(self.schema, field.type)
        if self.writer(opened) == "write" and isinstance(opened, Uni):
            var = local(field.name)
            yield Line(0, f"{var} = {held}")
            return call(f"_WRITERS[type({var})]", var)
        if isinstance(opened, Arr) and self.writer(opened.of) == "write":
            items = f"{field.name}_items"
            yield Line(0, f"{items}: list[Json] = []")
            yield Line(0, f"for item in {held}:")
            yield Line(1, f"{items}.append(_WRITERS[type(item)](item))")
            return items
        return self._write(opened, held)

    def _write(self, type: Type, code: str) -> Code:
        # _write_Annotations(held["annotations"])
        # write_map(_write_ListRootsResult, held["requests"])
        opened = strip_bounds(self.schema, type)
        writer = self.writer(opened)
        if writer is None:
            return code
        if isinstance(opened, Arr | Map) and (inner := self.writer(opened.of)) is not None:
            how = "write_array" if isinstance(opened, Arr) else "write_map"
            return call(self.use(how), inner, code)
        return call(writer, code)
