"""Generates the table for checking constructor arguments: the accepted values of each member."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mcp_bindgen.emit.codec.readers import Readers
from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.text.layout import STEP, Code, Group, after_head, as_tuple, call, lay, literal
from mcp_bindgen.ir.model import Alias, Arr, Map, Prim, Ref, Struct, Tup, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.ir.walk import alias_of, holds_struct, is_any, resolve_aliases, strip_bounds

__all__ = ["Takes"]

_PLAIN: Final = ("string", "number", "boolean", "null", "object")


class Takes:
    """Rows of the table; a value which cannot hold a model is checked by the readers of JSON."""

    def __init__(self, shapes: Shapes, readers: Readers) -> None:
        self.schema = shapes.schema
        self.shapes = shapes
        self.readers = readers
        self.use = readers.use
        self.borrowed: set[str] = set()

    def rows(self, struct: Struct) -> Iterator[str]:
        # Root: {
        #     "uri": STRING,
        #     "name": STRING,
        #     "meta": OBJECT,
        #     "extra_": others(_Root_members),
        # },
        members = [
            after_head(f"{literal(f.name)}: ", self.take(f.type, f"{struct.name}_{f.name}"))
            for f in struct.fields
            if f.const is None
        ]
        if self.shapes.keeps(struct):
            members.append(after_head('"extra_": ', self._others(struct)))
        yield from lay(STEP * 2, f"{struct.name}: ", Group("{", tuple(members), "}"), ",")

    def _others(self, struct: Struct) -> Code:
        # others(_Root_members)
        members = f"_{struct.name}_members"
        of: Code = ""
        if struct.index is not None and not is_any(self.schema, struct.index):
            of = self.take(struct.index, f"{struct.name}_extra")
        if struct.keyed:
            keyed = as_tuple(self._keyed_rows(struct))
            return call(self.use("others"), members, of or "None", keyed)
        return call(self.use("others"), members, *([of] if of else []))

    def _keyed_rows(self, struct: Struct) -> Iterator[Code]:
        # ("^x\\-", None, like(_read_Root_extra_1))
        for number, keyed in enumerate(struct.keyed, 1):
            of = self.take(keyed.type, f"{struct.name}_extra_{number}")
            yield as_tuple([literal(python_pattern(keyed.pattern)), str(keyed.longest), of])

    def take(self, type: Type, place: str) -> Code:
        # STRING
        # model(ToolInputSchema)
        # each(model(Icon))
        # like(_read_Annotations_priority)
        if alias := alias_of(self.schema, type):
            return self._of_alias(alias)
        if plain := self._plain(type):
            return self.use(plain)
        if holds_struct(self.schema, type):
            return self._of_models(strip_bounds(self.schema, type), place)
        return call(self.use("like"), self.readers.reader(type, place))

    def _of_alias(self, alias: Alias) -> Code:
        """A recursive type is checked as JSON, or not at all if it may hold models."""
        # like(_read_Tree)
        if alias.name not in self.shapes.recursive:
            return self.take(alias.type, alias.name)
        if holds_struct(self.schema, alias.type):
            return self.use("ANY")
        return call(self.use("like"), self.readers.reader(Ref(alias.name)))

    def _plain(self, type: Type) -> str:
        """The name of the check for any JSON, or for one JSON kind; empty for other types."""
        # STRING
        if is_any(self.schema, type):
            return "ANY"
        if isinstance(type, Map) and is_any(self.schema, type.of):
            return "OBJECT"
        simple = self.readers.conditions.simple(type)
        if isinstance(simple, Prim) and simple.name in _PLAIN:
            return simple.name.upper()
        return ""

    def _of_models(self, type: Type, place: str) -> Code:
        # each(model(TextContent, ImageContent))
        # each_value(model(Root))
        match type:
            case Ref(name=name):
                return self._models([name])
            case Arr():
                return call(self.use("each"), self.take(type.of, f"{place}_item"))
            case Map():
                return call(self.use("each_value"), self.take(type.of, f"{place}_value"))
            case Tup():
                return self._places(type, place)
            case Uni():
                return self._union(type, place)
            case _:
                return self.use("ANY")

    def _places(self, type: Tup, place: str) -> Code:
        takes = tuple(self.take(e.type, f"{place}_{i}") for i, e in enumerate(type.of))
        rest = "None" if type.rest is None else self.take(type.rest, f"{place}_rest")
        needed = sum(not element.optional for element in type.of)
        return call(self.use("places"), str(needed), as_tuple(takes), rest)

    def _union(self, type: Uni, place: str) -> Code:
        # model(TextResourceContents, BlobResourceContents)
        # either(model(Root), NULL)
        leaves = [resolve_aliases(self.schema, leaf) for leaf in arms(self.schema, type)]
        names = [leaf.name for leaf in leaves if isinstance(leaf, Ref)]
        rest = [leaf for leaf in leaves if not isinstance(leaf, Ref)]
        models = self._models(names)
        if not rest:
            return models
        others = [self.take(leaf, f"{place}_{number}") for number, leaf in enumerate(rest)]
        return call(self.use("either"), *((models, *others) if names else others))

    def _models(self, names: Sequence[str]) -> Code:
        # model(TextContent, ImageContent)
        self.borrowed |= self.schema.foreign.intersection(names)
        return call(self.use("model"), *names)
