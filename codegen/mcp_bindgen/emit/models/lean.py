"""Lean models: one module of plain pydantic models, without a codec or other support modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.models.pydantic import EXTRA, PydanticAnnotator, quote_later
from mcp_bindgen.emit.models.rows import (
    Row,
    body_lines,
    member_text,
    module_rows,
    opening,
    sort_fields,
)
from mcp_bindgen.emit.text.annotate import Annotator, bound_arguments
from mcp_bindgen.emit.text.layout import STEP, Code, Group, Or, call, docstring, literal, member
from mcp_bindgen.emit.text.packages import imports_of
from mcp_bindgen.ir.model import Bounded, Field, Kind, Lit, Struct, Type
from mcp_bindgen.ir.walk import is_never, kinds

__all__ = ["lean_view"]

_PYDANTIC: Final = ("BaseModel", "ConfigDict")
_TYPING: Final = ("TYPE_CHECKING", "Any", "ClassVar")
"""Names used by the template."""
_ABSENT: Final = {"missing": "MISSING", "none": "None"}
_BOUNDED_KINDS: Final[tuple[frozenset[Kind], ...]] = (
    frozenset({"number"}),
    frozenset({"string"}),
    frozenset({"array"}),
)
"""Kinds of JSON whose limits pydantic checks; it cannot check limits of a union of kinds."""


class _Annotator(PydanticAnnotator):
    """Annotations of pydantic's own types; `absent` is the value of an absent member."""

    def __init__(self, shapes: Shapes, absent: str) -> None:
        super().__init__(shapes.schema, imports_of(shapes.schema))
        self.absent = _ABSENT[absent]

    def declared(self, type: Type) -> Code:
        return self.code(type)

    def prim(self, name: str) -> list[Code]:
        return Annotator.prim(self, name)

    def literals(self, *types: Lit) -> Code:
        return Annotator.literals(self, *types)

    def inside(self, type: Type) -> Code:
        return Annotator.inside(self, type)

    def bounded(self, type: Bounded) -> list[Code]:
        bounds = bound_arguments(type.limits)
        if not bounds or kinds(self.schema, type.of) not in _BOUNDED_KINDS:
            return self.parts(type.of)
        return [self.marked(self.code(type.of), call(self.library("Field"), *bounds))]

    def union(self, leaves: tuple[Type, ...]) -> list[Code]:
        if not leaves:
            return Annotator.union(self, leaves)
        parts = self.group(leaves)
        if len(parts) == 1 or (len(parts) == 2 and "None" in parts):
            return parts
        first = call(self.library("Field"), 'union_mode="left_to_right"')
        return [self.marked(Or(tuple(parts)), first)]

    def maybe(self, type: Type) -> Code:
        """The annotation of an optional member."""
        code = self.code(type)
        items = code.items if isinstance(code, Or) else (code,)
        if is_never(self.schema, type):
            items = ()
        if code == "Any" or self.absent in items:
            return code
        if self.absent != "None":
            self.library(self.absent)
        return Or((*items, self.absent)) if items else self.absent


def lean_view(shapes: Shapes, absent: str) -> dict[str, Any]:
    """The values for models_lean.py.jinja; `absent` is `missing` or `none`."""
    schema = shapes.schema
    used = _Annotator(shapes, absent)
    later = {d.name for d in schema.own_types}
    structs: list[Row] = []
    for struct in schema.own_structs:
        structs.append(Row(struct.name, tuple(_class(used, struct, later))))
        later.remove(struct.name)
    rows = module_rows(schema, used, structs, ("Model",), functions=False)
    used.imports.add("typing", (*_TYPING, *(["Final"] if rows["consts"] else [])))
    used.imports.add("pydantic", _PYDANTIC)
    used.imports.use("collections.abc", "Mapping")
    return rows | {
        "imports": used.imports.lines,
        "extra": literal(EXTRA[shapes.unknown]),
        "absent": used.absent,
        "least": {"None": "2.11", "MISSING": "2.14"}[used.absent],
    }


def _class(used: _Annotator, struct: Struct, later: set[str]) -> Iterator[str]:
    """The lines of a class; `later` has the names defined below it, and its own."""
    unknown = later | {field.name for field in struct.fields}
    yield f"class {struct.name}(Model):"
    body = opening(struct)
    pairs = tuple(f"{literal(f.name)}: {literal(f.const)}" for f in struct.consts)
    if pairs:
        body += member(STEP, "const_", "ClassVar[Mapping[str, object]]", Group("{", pairs, "}"))
    for field in sort_fields(struct):
        body += [*_field(used, field, unknown), *docstring(STEP, member_text(field))]
    yield from body_lines(body)


def _field(used: _Annotator, field: Field, unknown: set[str]) -> Iterator[str]:
    settings: list[Code] = []
    if field.const is not None:
        settings.append("init=False")
    elif not field.required:
        settings.append(f"default={used.absent}")
    if field.wire != _wire_name(field.name):
        settings += [f"{kind}_alias={literal(field.wire)}" for kind in _ALIASES]
    code = used.code(field.type) if field.required else used.maybe(field.type)
    default: Code = ""
    if settings == [f"default={used.absent}"]:
        default = used.absent
    elif settings:
        default = call(used.library("Field"), *settings)
    yield from member(STEP, field.name, quote_later(code, unknown), default)


_ALIASES: Final = ("validation", "serialization")


def _wire_name(name: str) -> str:
    """The wire name that the module gives to a member by itself: `is_error` is `isError`."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
