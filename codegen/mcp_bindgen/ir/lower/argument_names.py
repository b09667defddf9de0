"""Names for the arguments of generics: an instance is called by its declaration and its arguments.

An argument without a name of its own, such as `A | B` or `{ x: number }`, is called by its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mcp_bindgen.ir.lower.places import step_of
from mcp_bindgen.ir.names import capitalize
from mcp_bindgen.source import syntax

__all__ = ["argument_name"]

_NameOf: TypeAlias = Callable[[syntax.Ref], str]


def argument_name(type: syntax.Type, name_of: _NameOf) -> str:
    """The name of a resolved argument; `name_of` gives that of a reference."""

    def name(inner: syntax.Type) -> str:
        return argument_name(inner, name_of)

    match type:
        case syntax.Ref():
            return name_of(type)
        case syntax.Keyword():
            return capitalize(type.name)
        case syntax.Literal():
            return capitalize(str(type.value))
        case syntax.Array():
            return f"{name(type.of)}List"
        case syntax.Union():
            return "Or".join(map(name, type.of))
        case syntax.Tuple():
            return "Tuple" + "".join(_place(element) + name(element.of) for element in type.of)
        case syntax.Inline():
            members = (_flag(member) + name(member.type) for member in type.members)
            values = (f"{capitalize(step_of(each.key))}s{name(each.type)}" for each in type.index)
            return "Of" + "".join([*members, *values])
        case syntax.Template():
            return step_of(type).removesuffix("Value") or "Text"
        case _:
            raise AssertionError(f"{type!r} is not resolved")


def _place(element: syntax.Element) -> str:
    return "Rest" if element.rest else "Optional" if element.optional else ""


def _flag(member: syntax.Member) -> str:
    return ("Optional" if member.optional else "") + capitalize(member.name)
