"""Syntax nodes: a schema file as written, each node with its byte offset `at`.

Parentheses are dropped, `Array<T>` stays a reference, and nothing is resolved. Nodes form no
cycles, so the garbage collector need not track them (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple

__all__ = [
    "Alias",
    "Array",
    "Const",
    "Declaration",
    "Doc",
    "Element",
    "Enum",
    "Import",
    "Index",
    "Indexed",
    "Inline",
    "Interface",
    "Intersection",
    "KeyOf",
    "Keyword",
    "Literal",
    "LiteralValue",
    "Mapped",
    "Member",
    "Module",
    "Ref",
    "Tag",
    "Template",
    "Tuple",
    "Type",
    "TypeOf",
    "TypeParam",
    "Union",
    "as_interface",
    "children",
]

LiteralValue: TypeAlias = str | int | float | bool


class Tag(Struct, frozen=True, gc=False):
    """A tag `@name rest` of a doc comment; `rest` runs to the end of its line, trimmed."""

    name: str
    rest: str


class Doc(Struct, frozen=True, gc=False):
    """A `/** */` comment: its lines as text, the description before the first tag, the tags.

    `deprecated` and `described` are the texts of the tags `@deprecated` and `@description`.
    """

    text: str
    description: str
    tags: tuple[Tag, ...]
    deprecated: str | None = None
    described: str | None = None

    @property
    def sentence(self) -> str:
        """The description, from before the tags or from `@description`."""
        return self.description or self.described or ""

    def tag(self, name: str) -> str | None:
        """The text of the first tag with this name, or None."""
        for tag in self.tags:
            if tag.name == name:
                return tag.rest
        return None


class Keyword(Struct, frozen=True, gc=False):
    """string, number, boolean, null, undefined, unknown, any, object, never, void, symbol."""

    name: str
    at: int


class Literal(Struct, frozen=True, gc=False):
    value: LiteralValue
    at: int


class Ref(Struct, frozen=True, gc=False):
    """A named type: `A<T>`, a member `E.A` of an enum, or `import("module").A`."""

    name: str
    args: tuple[Type, ...]
    at: int
    module: str = ""


class Array(Struct, frozen=True, gc=False):
    of: Type
    readonly: bool
    at: int


class Element(Struct, frozen=True, gc=False):
    """A place of a tuple: `T`, `T?` or `...T[]` (then `of` is the array)."""

    of: Type
    optional: bool
    rest: bool


class Tuple(Struct, frozen=True, gc=False):
    of: tuple[Element, ...]
    readonly: bool
    at: int


class Union(Struct, frozen=True, gc=False):
    of: tuple[Type, ...]
    at: int


class Intersection(Struct, frozen=True, gc=False):
    of: tuple[Type, ...]
    at: int


class Inline(Struct, frozen=True, gc=False):
    members: tuple[Member, ...]
    index: tuple[Index, ...]
    at: int


class TypeOf(Struct, frozen=True, gc=False):
    """`typeof CONST`."""

    name: str
    at: int


class KeyOf(Struct, frozen=True, gc=False):
    of: Type
    at: int


class Indexed(Struct, frozen=True, gc=False):
    """`object[index]`."""

    object: Type
    index: Type
    at: int


class Template(Struct, frozen=True, gc=False):
    """A template literal type: its texts and types in order; `text` is it as written."""

    parts: tuple[str | Type, ...]
    text: str
    at: int


class Mapped(Struct, frozen=True, gc=False):
    """`{ [param in keys]: of }`; the flags are None where they stay as they are.

    `text` is it as written.
    """

    param: str
    keys: Type
    of: Type
    optional: bool | None
    readonly: bool | None
    text: str
    at: int


Type: TypeAlias = (
    Keyword
    | Literal
    | Ref
    | Array
    | Tuple
    | Union
    | Intersection
    | Inline
    | TypeOf
    | KeyOf
    | Indexed
    | Template
    | Mapped
)


class Member(Struct, frozen=True, gc=False):
    name: str
    type: Type
    optional: bool
    readonly: bool
    quoted: bool
    doc: Doc | None
    at: int


class Index(Struct, frozen=True, gc=False):
    """`[param: key]: type`; `mapped` means it comes from `Record` or a mapped type."""

    param: str
    key: Type
    type: Type
    readonly: bool
    doc: Doc | None
    at: int
    mapped: bool = False


class TypeParam(Struct, frozen=True, gc=False):
    name: str
    constraint: Type | None
    default: Type | None


class Interface(Struct, frozen=True, gc=False):
    name: str
    params: tuple[TypeParam, ...]
    extends: tuple[Type, ...]
    members: tuple[Member, ...]
    index: tuple[Index, ...]
    exported: bool
    doc: Doc | None
    at: int


class Alias(Struct, frozen=True, gc=False):
    name: str
    params: tuple[TypeParam, ...]
    type: Type
    exported: bool
    doc: Doc | None
    at: int


class Const(Struct, frozen=True, gc=False):
    """`type` is the annotation, `value` the type of the value; `declare const` has no value.

    A value is a literal, an array, a tuple or a braced type.
    """

    name: str
    type: Type | None
    value: Type | None
    exported: bool
    doc: Doc | None
    at: int


class Enum(Struct, frozen=True, gc=False):
    """An enum; each member is its name and its value."""

    name: str
    members: tuple[tuple[str, str | int | float], ...]
    exported: bool
    doc: Doc | None
    at: int


Declaration: TypeAlias = Interface | Alias | Const | Enum


class Import(Struct, frozen=True, gc=False):
    """`import { name as local } from "module"`, name by name; `export * from` has the name `*`."""

    module: str
    names: tuple[tuple[str, str], ...]
    exported: bool
    at: int


class Module(Struct, frozen=True, gc=False):
    """A schema file: its declarations in order; `nodes` counts the syntax tree's named nodes.

    After linking, imported declarations follow the module's own: `names` maps each imported name to
    its name here, `foreign` to its name in its own file.
    """

    path: str
    declarations: tuple[Declaration, ...]
    nodes: int
    imports: tuple[Import, ...] = ()
    names: Mapping[str, str] = {}
    foreign: Mapping[str, str] = {}


def as_interface(declaration: Declaration) -> Interface | None:
    """An interface, or an alias of a braced type as an interface; None for other declarations."""
    if isinstance(declaration, Alias) and isinstance(declaration.type, Inline):
        name, params, braced, *rest = astuple(declaration)
        return Interface(name, params, (), braced.members, braced.index, *rest)
    return declaration if isinstance(declaration, Interface) else None


def children(node: Any) -> Iterator[Any]:
    """The nodes directly inside a node or a tuple of nodes."""
    if isinstance(node, Struct):
        yield from (getattr(node, name) for name in node.__struct_fields__)
    elif node.__class__ is tuple:
        yield from node
