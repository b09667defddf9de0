"""Annotations: the Python type of each type of the IR, and its name in faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import STEP, Code, Group, Or, call, flat, lay, literal
from mcp_bindgen.emit.text.packages import core_module
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Limits,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import children, is_never, kinds, recursive

__all__ = [
    "Annotator",
    "annotation",
    "bound_arguments",
    "deprecation",
    "doc_of",
    "expected_text",
]

_PRIMS: Final = {
    "string": ("str",),
    "number": ("int", "float"),
    "boolean": ("bool",),
    "null": ("None",),
}


class Annotator:
    """Annotations of one module; the names they use are recorded for its imports.

    `module` is the core's module with the types of the core.
    """

    def __init__(self, schema: Schema, imports: Imports, module: str = "") -> None:
        self.schema = schema
        self.imports = imports
        self.module = module

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The recursive aliases."""
        return recursive(self.schema)

    def declared(self, type: Type) -> Code:
        """The annotation behind an alias."""
        return self.code(type)

    def circular(self, alias: Alias) -> Iterator[str]:
        """The lines of a recursive alias: text for type checkers, and its evaluation."""
        self.imports.use("typing", "TYPE_CHECKING")
        self.imports.use("typing", "TypeAlias")
        code = literal(flat(self.code(alias.type)))
        yield "if TYPE_CHECKING:"
        yield from lay(STEP, f"{alias.name}: TypeAlias = ", code)
        yield "else:"
        yield from lay(STEP, f"{alias.name} = ", self.evaluated(alias.name, code))

    def evaluated(self, name: str, code: str) -> Code:
        """The expression which evaluates a recursive alias in its own module."""
        del name
        return call(self.imports.use("typing", "ForwardRef"), code, "module=__name__")

    def code(self, type: Type) -> Code:
        """The annotation for type checkers; unions in deciding order."""
        parts = self.parts(type)
        if len(parts) > 1:
            parts = list(dict.fromkeys(parts))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def maybe(self, type: Type) -> Code:
        """Like `code`, for an optional member; Any stays itself, since it includes absence."""
        if is_never(self.schema, type):
            return "Unset"
        code = self.code(type)
        if code == "Any":
            return code
        items = code.items if isinstance(code, Or) else (code,)
        return Or((*items, "Unset"))

    def parts(self, type: Type) -> list[Code]:
        match type:
            case Prim():
                return self.prim(type.name)
            case Lit():
                return [self.literals(type)]
            case Ref():
                if self.module and type.name in self.schema.foreign:
                    self.imports.use(core_module(self.schema, self.module), type.name)
                return [type.name]
            case Arr():
                return [Group("list[", (self.code(type.of),), "]")]
            case Map():
                return [_map(self.code(type.of))]
            case Bounded():
                return self.bounded(type)
            case Uni():
                return self.union(arms(self.schema, type))
            case _:
                return [self.inside(type)]

    def prim(self, name: str) -> list[Code]:
        if name in JSON_PRIMS:
            return [self.any()]
        if name == "object":
            return [f"dict[str, {self.any()}]"]
        return [*_PRIMS[name]]

    def any(self) -> str:
        return self.imports.use("typing", "Any")

    def literals(self, *types: Lit) -> Code:
        values = tuple(literal(type.value) for type in types)
        return Group(f"{self.imports.use('typing', 'Literal')}[", values, "]")

    def marked(self, code: Code, *marks: Code) -> Group:
        """`code` with marks for a library."""
        return Group(f"{self.imports.use('typing', 'Annotated as With')}[", (code, *marks), "]")

    def constant(self, type: Type) -> Code:
        """The annotation of a member set by the class."""
        return Group(f"{self.imports.use('typing', 'ClassVar')}[", (self.code(type),), "]")

    def bounded(self, type: Bounded) -> list[Code]:
        return self.parts(type.of)

    def inside(self, type: Type) -> Code:
        """The annotation of an item: a tuple counts as a list of all its items."""
        parts = [*dict.fromkeys(part for child in children(type) for part in self.parts(child))]
        code = (parts[0] if len(parts) == 1 else Or(tuple(parts))) if parts else self.any()
        return Group("list[", (code,), "]") if "array" in kinds(self.schema, type) else _map(code)

    def union(self, leaves: tuple[Type, ...]) -> list[Code]:
        """The arms in order, literals together where the first of them stands."""
        if not leaves:
            return [self.imports.use("typing", "Never")]
        if any(isinstance(leaf, Prim) and leaf.name in JSON_PRIMS for leaf in leaves):
            return [self.any()]
        literals = tuple(leaf for leaf in leaves if isinstance(leaf, Lit))
        parts: list[Code] = [self.literals(*literals)] if literals else []
        for leaf in leaves:
            if not isinstance(leaf, Lit):
                parts += self.parts(leaf)
        return parts


def annotation(schema: Schema, type: Type) -> Code:
    """The annotation of a type where no flavour has a say."""
    return Annotator(schema, Imports()).code(type)


def bound_arguments(limits: Limits) -> list[str]:
    """Bounds as keyword arguments, named as in annotated-types."""
    # ge=0, le=1
    sizes = [(limits.minimum, "ge"), (limits.maximum, "le")]
    sizes += [(limits.exclusive_minimum, "gt"), (limits.exclusive_maximum, "lt")]
    least = limits.min_items if limits.min_items is not None else limits.min_length
    most = limits.max_items if limits.max_items is not None else limits.max_length
    sizes += [(least, "min_length"), (most, "max_length")]
    return [f"{name}={value!r}" for value, name in sizes if value is not None]


def _map(value: Code) -> Code:
    return f"dict[str, {value}]" if isinstance(value, str) else Group("dict[", ("str", value), "]")


def expected_text(schema: Schema, type: Type) -> str:
    """The expected text of a fault: JSON kinds, literals, and the names of a union's arms."""
    match type:
        case Prim() if type.name in JSON_PRIMS:
            return "a value"
        case Prim():
            return type.name
        case Lit():
            return json.dumps(type.value)
        case Ref():
            named = schema.types[type.name]
            return "object" if isinstance(named, Struct) else expected_text(schema, named.type)
        case Bounded():
            return expected_text(schema, type.of)
        case Uni(arms=()):
            return "nothing"
        case Uni():
            return " | ".join(dict.fromkeys(_arm(schema, arm) for arm in arms(schema, type)))
        case _:
            return " | ".join(sorted(kinds(schema, type)))


def _arm(schema: Schema, arm: Type) -> str:
    return arm.name if isinstance(arm, Ref) else expected_text(schema, arm)


def doc_of(declaration: Struct | Alias) -> str:
    """The text of a docstring: the sentence, where the shape stands, and the deprecation."""
    placed = isinstance(declaration, Struct) and declaration.place
    place = f"Value of `{placed}`." if placed else ""
    parts = [declaration.doc or place, deprecation(declaration.deprecated)]
    return " ".join(part for part in parts if part)


def deprecation(text: str | None) -> str:
    """`Since …` becomes `Deprecated since …`."""
    if text is None:
        return ""
    return (
        f"Deprecated {text[0].lower()}{text[1:]}"
        if text.startswith("Since")
        else f"Deprecated. {text}"
    )
