"""The pydantic flavour: strict frozen models, their unions in order or told apart by a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from mcp_bindgen.emit.models.rows import Row, body_lines, module_rows, opening, told
from mcp_bindgen.emit.options import Options
from mcp_bindgen.emit.text.annotate import Annotator
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import (
    STEP,
    Code,
    Group,
    Or,
    call,
    docstring,
    flat,
    lay,
    literal,
    member,
)
from mcp_bindgen.ir.model import (
    Alias,
    Bounded,
    Field,
    Lit,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import tag
from mcp_bindgen.ir.walk import alias_of, children, kinds, struct_of

__all__ = ["pydantic_view"]

_WORDS: Final = re.compile(r"\w+")
_TYPING: Final = ("Any", "Final", "TypeVar", "overload")
_PYDANTIC: Final = ("Model", "read_object", "read_text", "write_object", "write_text")
_WIRE: Final = ("UNSET", "DecodeError", "Json", "Unset")
"""What the template names."""
_EXTRA: Final = {"keep": "allow", "drop": "ignore", "reject": "forbid"}


class _Annotator(Annotator):
    prims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Annotator.prims,
        "number": ("Number",),
    }

    def shared(self, name: str) -> str:
        """A name of the flavour's shared module."""
        return self.imports.use(".._pydantic", name)

    def library(self, name: str) -> str:
        """A name of pydantic."""
        return self.imports.use("pydantic", name)

    def parts(self, type: Type) -> list[Code]:
        if type == Prim("number"):
            self.shared("Number")
        return super().parts(type)

    def circular(self, alias: Alias) -> Iterator[str]:
        """An alias that pydantic can open: under its name it finds itself."""
        self.imports.use("typing_extensions", "TypeAliasType")
        code = literal(flat(self.code(alias.type)))
        yield from lay("", f"{alias.name} = ", call("TypeAliasType", literal(alias.name), code))

    def bounded(self, type: Bounded) -> list[Code]:
        if is_inexact(self.schema, type):
            return [self.code(type.of)]
        limits = type.limits
        sizes = [(limits.minimum, "ge"), (limits.maximum, "le")]
        sizes += [(limits.exclusive_minimum, "gt"), (limits.exclusive_maximum, "lt")]
        least = limits.min_items if limits.min_items is not None else limits.min_length
        most = limits.max_items if limits.max_items is not None else limits.max_length
        sizes += [(least, "min_length"), (most, "max_length")]
        bounds = [f"{name}={value!r}" for value, name in sizes if value is not None]
        if limits.integer:
            bounds.append("multiple_of=1")
        return [self.marked(self.code(type.of), call(self.library("Field"), *bounds))]

    def union(self, leaves: tuple[Type, ...]) -> list[Code]:
        if not leaves:
            return [self.shared("Nothing")]
        parts = self.grouped(leaves)
        if len(parts) == 1 or (len(parts) == 2 and "None" in parts):
            return parts
        return [self.marked(Or(tuple(parts)), self.shared("ORDERED"))]

    def grouped(self, leaves: tuple[Type, ...]) -> list[Code]:
        """As usual, but for structs that a tag tells apart: those are one part."""
        structs = tuple(leaf for leaf in leaves if struct_of(self.schema, leaf))
        wire = tag(self.schema, structs)
        if wire is None:
            return super().union(leaves)
        names = Or(tuple(self.code(leaf) for leaf in structs))
        rest = tuple(leaf for leaf in leaves if leaf not in structs)
        mark = call(self.library("Discriminator"), literal(self.python(structs[0], wire)))
        return [self.marked(names, mark), *(super().union(rest) if rest else [])]

    def python(self, leaf: Type, wire: str) -> str:
        struct = struct_of(self.schema, leaf)
        field = struct.field(wire) if struct is not None else None
        assert field is not None
        return field.name


def is_inexact(schema: Schema, type: Type) -> bool:
    """Whether pydantic takes more than the schema: then the dataclass flavour's readers decide.

    A struct inside decides for itself.
    """
    struct = struct_of(schema, type)
    if struct is not None:
        parts = [field.type for field in struct.fields]
        return any(_is_inexact(schema, part, set()) for part in [*parts, struct.index] if part)
    return _is_inexact(schema, type, set())


def _is_inexact(schema: Schema, type: Type, seen: set[str]) -> bool:
    match type:
        case Tup() | Uni(arms=()):
            return True
        case Lit():
            return type.value in (0, 1)  # one of them is a truth value to pydantic
        case Bounded():
            limits = type.limits
            beyond = limits.multiple_of is not None or limits.unique_items or limits.pattern
            alone = len(kinds(schema, type.of)) == 1
            return bool(beyond) or not alone or _is_inexact(schema, type.of, seen)
        case Ref() if (alias := alias_of(schema, type)) and type.name not in seen:
            return _is_inexact(schema, alias.type, seen | {type.name})
        case _:
            return any(_is_inexact(schema, child, seen) for child in children(type))


def _quoted(code: Code, unknown: frozenset[str]) -> Code:
    """An annotation that Python evaluates at once, but for the parts that name what is unknown."""
    match code:
        case Group(head="Literal["):
            return code
        case Group(head="With[", items=(of, *marks)):
            return replace(code, items=(_quoted(of, unknown), *marks))
        case Group():
            return replace(code, items=tuple(_quoted(item, unknown) for item in code.items))
        case Or() if not any(isinstance(x, str) and _names(x, unknown) for x in code.items):
            return replace(code, items=tuple(_quoted(item, unknown) for item in code.items))
        case _:
            return literal(flat(code)) if _names(code, unknown) else code


def _names(code: Code, unknown: frozenset[str]) -> bool:
    return not unknown.isdisjoint(_WORDS.findall(flat(code)))


def pydantic_view(schema: Schema, options: Options) -> dict[str, Any]:
    """What models_pydantic.py.jinja places."""
    used = _Annotator(schema, Imports())
    later = set(schema.types)
    structs: list[Row] = []
    for struct in schema.structs.values():
        structs.append(Row(struct.name, tuple(_class(used, options, struct, frozenset(later)))))
        later.remove(struct.name)
    rows = module_rows(schema, used, structs)
    used.imports.add("typing", _TYPING)
    used.imports.add(".._pydantic", _PYDANTIC)
    used.imports.add(".._wire", _WIRE)
    inexact = [n for n in schema.types if n not in schema.structs and is_inexact(schema, Ref(n))]
    if inexact:
        used.imports.use(".._wire", "parse")
    return rows | {
        "imports": used.imports.lines,
        "named": [f"{name}: {literal(name)}" for name in schema.types],
        "inexact": inexact,
    }


def _class(
    used: _Annotator, options: Options, struct: Struct, later: frozenset[str]
) -> Iterator[str]:
    """The lines of a class; `later` has the names that stand for nothing yet while it is made."""
    unknown = later | {field.name for field in struct.fields}
    base = used.shared("Exact") if is_inexact(used.schema, Ref(struct.name)) else "Model"
    yield from lay("", "", Group(f"class {struct.name}(", (base, "frozen=True"), ")"), ":")
    body = [*opening(struct), *_config(used, options, struct)]
    body += [line for field in struct.fields for line in _field(used, field, unknown)]
    yield from body_lines(body)


def _config(used: _Annotator, options: Options, struct: Struct) -> Iterator[str]:
    extra = "allow" if struct.open else _EXTRA[options.unknown]
    if extra != "allow":
        yield f"{STEP}model_config = {used.library('ConfigDict')}(extra={literal(extra)})"
    index = struct.index
    if extra == "allow" and index is not None and used.code(index) != "Any":
        value = Group("dict[", ("str", used.code(index)), "]")
        init = call(used.library("Field"), "init=False")
        yield from member(STEP, "__pydantic_extra__", value, init)
    pairs = tuple(f"{literal(f.wire)}: {literal(f.const)}" for f in struct.consts)
    if pairs:
        used.imports.use("collections.abc", "Mapping")
        used.imports.use("typing", "ClassVar")
        yield from member(STEP, "const_", "ClassVar[Mapping[str, object]]", Group("{", pairs, "}"))


def _field(used: _Annotator, field: Field, unknown: frozenset[str]) -> Iterator[str]:
    settings: list[Code] = []
    if field.const is not None:
        settings.append("init=False")
    elif not field.required:
        settings.append("default=UNSET")
    if field.wire != field.name:
        settings += [
            f"{kind}_alias={literal(field.wire)}" for kind in ("validation", "serialization")
        ]
    code = used.code(field.type)
    if not field.required:
        code = Group(f"{used.shared('Maybe')}[", (code,), "]")
    code = _quoted(code, unknown)
    default: Code = ""
    if settings:
        plain = settings == ["default=UNSET"]
        default = "UNSET" if plain else call(used.library("Field"), *settings)
    yield from member(STEP, field.name, code, default)
    yield from docstring(STEP, told(field))
