"""Places: where an anonymous shape is written, which gives it its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from mcp_bindgen.ir import names
from mcp_bindgen.source import syntax

__all__ = ["NAMINGS", "Place", "places"]


class Place(Struct, frozen=True):
    """Where a shape is written: the declaration's name, then members and steps below it."""

    root: str
    path: tuple[str, ...] = ()

    def at(self, step: str) -> Place:
        return Place(self.root, (*self.path, step))

    def name(self, root: str) -> str:
        return root + "".join(map(names.capitalized, self.path))


def places(declarations: Iterable[syntax.Declaration]) -> Iterator[tuple[int, Place]]:
    """The place of every member and index signature, by its byte offset."""
    for declaration in declarations:
        place = Place(declaration.name)
        if isinstance(declaration, syntax.Interface):
            yield from _body_places(declaration.members, declaration.index, place)
            for base in declaration.extends:
                yield from _type_places(base, place)
        elif isinstance(declaration, syntax.Alias):
            yield from _type_places(declaration.type, place)


def _body_places(
    members: tuple[syntax.Member, ...], index: tuple[syntax.Index, ...], place: Place
) -> Iterator[tuple[int, Place]]:
    for member in members:
        yield member.at, place
        yield from _type_places(member.type, place.at(member.name))
    for signature in index:
        yield signature.at, place
        yield from _type_places(signature.type, place.at("value"))


def _type_places(type: syntax.Type, place: Place) -> Iterator[tuple[int, Place]]:
    match type:
        case syntax.Inline():
            yield from _body_places(type.members, type.index, place)
        case syntax.Array():
            yield from _type_places(type.of, place.at("item"))
        case syntax.Union() | syntax.Intersection():
            for part in type.of:
                yield from _type_places(part, place)
        case syntax.Mapped():
            yield type.at, place
            yield from _type_places(type.of, place)
        case syntax.Ref():
            if type.args:
                yield type.at, place
            for arg in type.args:
                yield from _type_places(arg, place.at("item") if type.name == "Array" else place)
        case syntax.Tuple():
            for element in type.of:
                yield from _type_places(element.of, place)
        case _:
            return


# ---- what tells one anonymous arm of a union from the others

_Naming: TypeAlias = Callable[[syntax.Inline, Sequence[syntax.Inline]], str]
"""A name of an arm beside others, empty where it has none."""


def _texts(arm: syntax.Inline) -> dict[str, str]:
    """The texts of an arm by the members that have no other value."""
    literals = {m.name: m.type.value for m in arm.members if isinstance(m.type, syntax.Literal)}
    return {name: value for name, value in literals.items() if isinstance(value, str)}


def _by_literal(arm: syntax.Inline, others: Sequence[syntax.Inline]) -> str:
    theirs = {pair for other in others if other is not arm for pair in _texts(other).items()}
    return next((text for name, text in _texts(arm).items() if (name, text) not in theirs), "")


def _by_own_member(arm: syntax.Inline, others: Sequence[syntax.Inline]) -> str:
    theirs = {m.name for other in others if other is not arm for m in other.members}
    return next((m.name for m in arm.members if m.name not in theirs), "")


def _by_members(arm: syntax.Inline, others: Sequence[syntax.Inline]) -> str:
    return "".join(names.capitalized(member.name) for member in arm.members)


def _by_literals(arm: syntax.Inline, others: Sequence[syntax.Inline]) -> str:
    return "".join(map(names.capitalized, _texts(arm).values()))


def _by_types(arm: syntax.Inline, others: Sequence[syntax.Inline]) -> str:
    return "".join(names.capitalized(m.name) + _type_name(m.type) for m in arm.members)


def _type_name(type: syntax.Type) -> str:
    match type:
        case syntax.Keyword() | syntax.Ref():
            return names.capitalized(type.name)
        case syntax.Array():
            return f"{_type_name(type.of)}List"
        case syntax.Literal(value=bool() as value):
            return str(value)
        case _:
            return ""


NAMINGS: Final[tuple[_Naming, ...]] = (
    _by_literal,
    _by_own_member,
    _by_members,
    _by_literals,
    _by_types,
)
"""The ways to name an arm, best first: the one is used that gives it a name of its own."""
