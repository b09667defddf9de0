"""The first coat: what a schema file says, node by node, each with its byte offset `at`.

Parentheses leave no trace, `Array<T>` stays a reference, and nothing is resolved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Alias",
    "Array",
    "Const",
    "Declaration",
    "Doc",
    "Element",
    "Enum",
    "Index",
    "Indexed",
    "Inline",
    "Interface",
    "Intersection",
    "KeyOf",
    "Keyword",
    "Literal",
    "LiteralValue",
    "Member",
    "Module",
    "Ref",
    "Tag",
    "Tuple",
    "Type",
    "TypeOf",
    "TypeParam",
    "Union",
]

LiteralValue: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Tag:
    """One `@name rest` of a doc comment; `rest` runs to the end of its line, trimmed."""

    name: str
    rest: str


@dataclass(frozen=True, slots=True)
class Doc:
    """A `/** */` comment: its lines as text, the description before the first tag, the tags.

    `prose` is the description without its markup of lines; `deprecated` the text of that tag.
    """

    text: str
    description: str
    tags: tuple[Tag, ...]
    deprecated: str | None = None

    def tag(self, name: str) -> str | None:
        """What follows the first tag of that name, None without one."""
        return next((tag.rest for tag in self.tags if tag.name == name), None)


@dataclass(frozen=True, slots=True)
class Keyword:
    """string, number, boolean, null, undefined, unknown, any, object, never, void, symbol."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Literal:
    value: LiteralValue
    at: int


@dataclass(frozen=True, slots=True)
class Ref:
    name: str
    args: tuple[Type, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Array:
    of: Type
    readonly: bool
    at: int


@dataclass(frozen=True, slots=True)
class Element:
    """A place of a tuple: `T`, `T?` or `...T[]` (then `of` is the array)."""

    of: Type
    optional: bool
    rest: bool


@dataclass(frozen=True, slots=True)
class Tuple:
    of: tuple[Element, ...]
    readonly: bool
    at: int


@dataclass(frozen=True, slots=True)
class Union:
    of: tuple[Type, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Intersection:
    of: tuple[Type, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Inline:
    members: tuple[Member, ...]
    index: tuple[Index, ...]
    at: int


@dataclass(frozen=True, slots=True)
class TypeOf:
    """`typeof CONST`."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class KeyOf:
    of: Type
    at: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """`object[index]`."""

    object: Type
    index: Type
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
)


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    type: Type
    optional: bool
    readonly: bool
    quoted: bool
    doc: Doc | None
    at: int


@dataclass(frozen=True, slots=True)
class Index:
    """`[param: key]: type`."""

    param: str
    key: Type
    type: Type
    readonly: bool
    doc: Doc | None
    at: int


@dataclass(frozen=True, slots=True)
class TypeParam:
    name: str
    constraint: Type | None
    default: Type | None


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    params: tuple[TypeParam, ...]
    extends: tuple[Type, ...]
    members: tuple[Member, ...]
    index: tuple[Index, ...]
    exported: bool
    doc: Doc | None
    at: int


@dataclass(frozen=True, slots=True)
class Alias:
    name: str
    params: tuple[TypeParam, ...]
    type: Type
    exported: bool
    doc: Doc | None
    at: int


@dataclass(frozen=True, slots=True)
class Const:
    name: str
    type: Type | None
    value: LiteralValue
    exported: bool
    doc: Doc | None
    at: int


@dataclass(frozen=True, slots=True)
class Enum:
    """A string enum; each member is its name and its value."""

    name: str
    members: tuple[tuple[str, str], ...]
    exported: bool
    doc: Doc | None
    at: int


Declaration: TypeAlias = Interface | Alias | Const | Enum


@dataclass(frozen=True, slots=True)
class Module:
    """A schema file: its declarations in order; `nodes` counts the syntax tree's named nodes."""

    path: str
    declarations: tuple[Declaration, ...]
    nodes: int
