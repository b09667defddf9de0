"""Collects the functions of a generated module, in the order in which they are first used, and the
imports of their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import msgspec

from mcp_bindgen.emit.text.imports import Imports, homes
from mcp_bindgen.emit.text.layout import STEP, Code, Group, lay, literal
from mcp_bindgen.ir.model import Schema

__all__ = ["PLACE", "Functions", "Line", "at_member", "deeper", "local"]

PLACE: Final = "at"
"""The parameter of a reader with the place of the value."""


_TAKEN: Final = frozenset(("o", "x", "at", "held", "made", "tag"))
"""Names used by the functions beside those of `_wire`; a member with such a name is renamed."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """A statement, or the head of a block: its depth in the function, and its code."""

    depth: int
    prefix: str
    code: Code = ""
    suffix: str = ""


def deeper(lines: Iterable[Line], by: int = 1) -> Iterator[Line]:
    for line in lines:
        yield Line(line.depth + by, line.prefix, line.code, line.suffix)


class Functions:
    """Functions by name; `use` notes a name of `_wire` for the imports."""

    def __init__(self, schema: Schema, imports: Imports) -> None:
        self.schema = schema
        self.use: Callable[[str], str] = partial(imports.use, ".._wire")
        self.texts: dict[str, list[str]] = {}
        self.borrowed: set[str] = set()

    def name_of(self, prefix: str, struct: str) -> str:
        """Return the name of a struct's function; record it if it comes from the core."""
        # _read_Icon
        name = f"_{prefix}_{struct}"
        if struct in self.schema.foreign:
            self.borrowed.add(name)
        return name

    def define(self, name: str, signature: str, body: Iterable[Line]) -> None:
        # def _read_Role(x: Json, at: At) -> Json:
        head, _, result = signature.rpartition(") -> ")
        group = Group(f"def {name}(", tuple(head.split(", ")), ")")
        lines = self.texts[name] = lay("", "", group, f" -> {result}:")
        for line in body:
            lines += lay(STEP * (line.depth + 1), line.prefix, line.code, line.suffix)


def at_member(wire: str) -> Code:
    # (at, "name")
    return Group("(", (PLACE, literal(wire)), ")")


def local(name: str) -> str:
    """The local variable for a member."""
    # schema_
    return f"{name}_" if name in _TAKEN or name in homes() else name
