"""The pydantic flavour: strict frozen models, their unions in order or told apart by a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.models.rows import (
    Row,
    body_lines,
    member_text,
    module_rows,
    opening,
    sort_fields,
)
from mcp_bindgen.emit.text.annotate import Annotator
from mcp_bindgen.emit.text.layout import (
    STEP,
    Code,
    Group,
    Or,
    as_tuple,
    call,
    docstring,
    flat,
    lay,
    literal,
    member,
)
from mcp_bindgen.emit.text.packages import imports_of, use_core
from mcp_bindgen.ir.model import (
    Alias,
    Bounded,
    Field,
    Lit,
    Ref,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms, plainer_arms, tag
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.ir.walk import struct_of

__all__ = ["EXTRA", "PydanticAnnotator", "pydantic_view", "quote_later"]

_WORDS: Final = re.compile(r"\w+")
_TYPING: Final = ("TYPE_CHECKING", "Any", "Final", "TypeVar", "overload")
_PYDANTIC: Final = ("Model", "read_object", "read_text", "write_object", "write_text")
_TYPES: Final = ("UNSET", "Unset")
_WIRE: Final = ("DecodeError", "EncodeError", "Json")
"""Names used by the template."""
_BOUNDS: Final = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusive_minimum": "exclusiveMinimum",
    "exclusive_maximum": "exclusiveMaximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "multiple_of": "multipleOf",
}
"""A limit's name in JSON Schema, which is what the mark `Bounds` takes."""
_NOT_OURS: Final = 'raise TypeError(f"{T!r} is not a type of this module")'
EXTRA: Final = {"keep": "allow", "drop": "ignore", "reject": "forbid"}
"""pydantic's word for each treatment of unknown members."""


class PydanticAnnotator(Annotator):
    """Annotations that pydantic reads exactly, by marks of the generated `_types_pydantic`."""

    def types(self, name: str) -> str:
        """The code for a name of `_types_pydantic`, which the generated module then imports."""
        return self.imports.use(".._types_pydantic", name)

    def library(self, name: str) -> str:
        """A name of pydantic."""
        return self.imports.use("pydantic", name)

    def declared(self, type: Type) -> Code:
        """A union's arms alone: `name_unions` gets how pydantic reads them."""
        if not isinstance(type, Uni) or not type.arms:
            return self.code(type)
        parts = super().union(arms(self.schema, type))
        numbers = [("int", "float") if part == "Number" else (part,) for part in parts]
        plain = tuple(dict.fromkeys(chain.from_iterable(numbers)))
        return plain[0] if len(plain) == 1 else Or(plain)

    def evaluated(self, name: str, code: str) -> Code:
        """A TypeAliasType, which pydantic can open though the alias names itself."""
        return call(self.imports.use("typing_extensions", "TypeAliasType"), literal(name), code)

    def prim(self, name: str) -> list[Code]:
        return [self.types("Number")] if name == "number" else super().prim(name)

    def literals(self, *types: Lit) -> Code:
        """Marked where Python takes true for 1, or false for 0."""
        code = super().literals(*types)
        if any(type.value in (0, 1) for type in types):
            return self.marked(code, call(self.types("Exact")))
        return code

    def inside(self, type: Type) -> Code:
        code = super().inside(type)
        if not isinstance(type, Tup):
            return code
        required = sum(not element.optional for element in type.of)
        rest = "None" if type.rest is None else self.code(type.rest)
        items = [self.code(element.type) for element in type.of]
        return self.marked(code, call(self.types("Tuple"), str(required), rest, *items))

    def bounded(self, type: Bounded) -> list[Code]:
        limits = {theirs: getattr(type.limits, ours) for ours, theirs in _BOUNDS.items()}
        bounds = [f"{name}={value!r}" for name, value in limits.items() if value is not None]
        if type.limits.unique_items:
            bounds.append("uniqueItems=True")
        if (pattern := type.limits.pattern) is not None:
            texts = {"pattern": pattern, "search": python_pattern(pattern)}
            bounds += [f"{name}={literal(text)}" for name, text in texts.items()]
        mark = self.types("Bounds")
        marks = [call(mark, "multipleOf=1")] if type.limits.integer else []
        marks += [call(mark, *bounds)] if bounds else []
        return [self.marked(self.code(type.of), *marks)]

    def union(self, leaves: tuple[Type, ...]) -> list[Code]:
        if not leaves:
            return [self.types("Nothing")]
        parts = self.group(leaves)
        if len(parts) == 1 or (len(parts) == 2 and "None" in parts):
            return parts
        return [self.marked(Or(tuple(parts)), self.types("ORDERED"))]

    def group(self, leaves: tuple[Type, ...]) -> list[Code]:
        """The parts of a union; structs with a common tag form one part."""
        structs = tuple(leaf for leaf in leaves if struct_of(self.schema, leaf))
        name = self.tag(leaves)
        if not name:
            return super().union(leaves)
        names = Or(tuple(self.code(leaf) for leaf in structs))
        rest = tuple(leaf for leaf in leaves if leaf not in structs)
        mark = call(self.library("Discriminator"), literal(name))
        return [self.marked(names, mark), *(super().union(rest) if rest else [])]

    def tag(self, leaves: tuple[Type, ...]) -> str:
        """The Python name of the member whose value tells the union's structs apart, or ""."""
        structs = [struct for leaf in leaves if (struct := struct_of(self.schema, leaf))]
        wire = tag(self.schema, tuple(leaf for leaf in leaves if struct_of(self.schema, leaf)))
        field = structs[0].field(wire) if wire is not None else None
        return field.name if field is not None else ""


def quote_later(code: Code, unknown: set[str]) -> Code:
    """An annotation Python can evaluate: parts with unknown names become text."""
    match code:
        case str():
            return literal(code) if _names(code, unknown) else code
        case Group(head="Literal["):
            return code
        case Group(head="With[", items=(of, *marks)):
            return replace(code, items=(quote_later(of, unknown), *_quoted_marks(marks, unknown)))
        case Or() if any(isinstance(x, str) and _names(x, unknown) for x in code.items):
            return literal(flat(code))
        case Group() | Or():
            return replace(code, items=tuple(quote_later(item, unknown) for item in code.items))


def _quoted_marks(marks: Iterable[Code], unknown: set[str]) -> Iterator[Code]:
    """The marks of an annotation: the types of a tuple's places are annotations, too."""
    for mark in marks:
        is_tuple = isinstance(mark, Group) and mark.head == "Tuple("
        yield quote_later(mark, unknown) if is_tuple else mark


def _names(code: str, unknown: set[str]) -> bool:
    return not unknown.isdisjoint(_WORDS.findall(code))


def pydantic_view(shapes: Shapes) -> dict[str, Any]:
    """The values for models_pydantic.py.jinja."""
    schema = shapes.schema
    used = PydanticAnnotator(schema, imports_of(schema), "models_pydantic")
    later = {d.name for d in schema.own_types}
    structs: list[Row] = []
    for struct in schema.own_structs:
        structs.append(Row(struct.name, tuple(_class(used, shapes, struct, later))))
        later.remove(struct.name)
    rows = module_rows(schema, used, structs)
    used.imports.add("typing", _TYPING)
    used.imports.add(".._pydantic", _PYDANTIC)
    used.imports.add(".._types_pydantic", _TYPES)
    used.imports.add(".._wire", _WIRE)
    core = use_core(schema, used.imports, "models_pydantic")
    plainer = [*_plainer(used, shapes)]
    if plainer:
        used.types("plainer")
    unions = [*_unions(used)]
    if unions:
        used.types("name_unions")
    return rows | {
        "imports": used.imports.lines,
        "plainer": plainer,
        "unions": unions,
        "decode_other": "return core.decode(T, data)" if core else _NOT_OURS,
        "read_other": "return core.from_wire(T, obj)" if core else _NOT_OURS,
        "named": [f"{STEP}{name}: {literal(name)}," for name in (d.name for d in schema.own_types)],
    }


def _plainer(used: PydanticAnnotator, shapes: Shapes) -> Iterator[str]:
    """Calls for pairs of arms: the first arm is meant only if one of its own members is present."""
    schema = used.schema
    pairs: dict[tuple[Ref, Ref], tuple[str, ...]] = {}
    for union in shapes.unions():
        leaves = [leaf for leaf in arms(schema, union) if isinstance(leaf, Ref)]
        for leaf, other, names in plainer_arms(schema, leaves):
            pairs[leaf, other] = names
    for both, names in pairs.items():
        if not {each.name for each in both} <= schema.foreign:  # the core says that itself
            models = tuple(used.code(each) for each in both)
            yield from lay("", "", Group("plainer(", (*models, *map(literal, names)), ")"), "")


def _unions(used: PydanticAnnotator) -> Iterator[str]:
    """Each alias of a union, with the tag of its models."""
    for alias in used.schema.own_types:
        if not isinstance(alias, Alias) or alias.name in used.recursive:
            continue
        if isinstance(used.declared(alias.type), Or):
            leaves = arms(used.schema, alias.type)
            yield f"{literal(alias.name)}: {literal(used.tag(leaves))}"


def _class(
    used: PydanticAnnotator, shapes: Shapes, struct: Struct, later: set[str]
) -> Iterator[str]:
    """The lines of a class; `later` has the names defined below it, and its own."""
    unknown = later | {field.name for field in struct.fields}
    base = used.imports.use(".._pydantic", "KeyedModel") if struct.keyed else "Model"
    yield from lay("", "", Group(f"class {struct.name}(", (base, "frozen=True"), ")"), ":")
    body = [*opening(struct), *_config(used, shapes, struct, unknown)]
    body += [line for field in sort_fields(struct) for line in _field(used, field, unknown)]
    yield from body_lines(body)


def _config(
    used: PydanticAnnotator, shapes: Shapes, struct: Struct, unknown: set[str]
) -> Iterator[str]:
    extra = "allow" if struct.open else EXTRA[shapes.unknown]
    if extra != "allow":
        yield f"{STEP}model_config = {used.library('ConfigDict')}(extra={literal(extra)})"
    index = None if struct.keyed else struct.index
    if struct.keyed:
        yield from _keyed_rows(used, struct)
    if extra == "allow" and index is not None and used.code(index) != "Any":
        value = quote_later(Group("dict[", ("str", used.code(index)), "]"), unknown)
        init = call(used.library("Field"), "init=False")
        yield f"{STEP}if not TYPE_CHECKING:  # to type checkers it is invariant"
        yield from member(STEP * 2, "__pydantic_extra__", value, init)
        yield ""
    pairs = tuple(f"{literal(f.wire)}: {literal(f.const)}" for f in struct.consts)
    if pairs:
        used.imports.use("collections.abc", "Mapping")
        used.imports.use("typing", "ClassVar")
        yield from member(STEP, "const_", "ClassVar[Mapping[str, object]]", Group("{", pairs, "}"))


def _keyed_rows(used: PydanticAnnotator, struct: Struct) -> Iterator[str]:
    """The types of unknown members, by what their names match; the last of all others."""
    rows: list[Code] = []
    for keyed in struct.keyed:
        patterns = map(literal, (keyed.pattern, python_pattern(keyed.pattern)))
        rows.append(as_tuple([*patterns, str(keyed.longest), used.code(keyed.type)]))
    rest = used.any() if struct.index is None else used.code(struct.index)
    rows.append(as_tuple(["None", "None", "None", rest]))
    yield f"{STEP}@classmethod"
    yield f"{STEP}def keyed_(cls) -> {used.imports.use('.._pydantic', 'KeyedRows')}:"
    yield from lay(STEP * 2, "return ", Group("(", tuple(rows), ")"), "")
    yield ""


def _field(used: PydanticAnnotator, field: Field, unknown: set[str]) -> Iterator[str]:
    settings: list[Code] = []
    if field.const is not None:
        settings.append("init=False")
    elif not field.required:
        settings.append(f"default={used.types('ABSENT')}")
    if field.wire != field.name:
        settings += [
            f"{kind}_alias={literal(field.wire)}" for kind in ("validation", "serialization")
        ]
    code = used.code(field.type)
    if not field.required:
        code = Group(f"{used.types('Maybe')}[", (code,), "]")
    code = quote_later(code, unknown)
    default: Code = ""
    if settings:
        plain = settings == ["default=ABSENT"]
        default = "ABSENT" if plain else call(used.library("Field"), *settings)
    yield from member(STEP, field.name, code, default)
    yield from docstring(STEP, member_text(field))
