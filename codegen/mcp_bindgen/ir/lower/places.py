"""Places: where an anonymous shape is written, which gives it its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from mcp_bindgen.ir import names
from mcp_bindgen.source import syntax

__all__ = ["Place", "places", "step_of", "told_apart"]

_WORDS: Final = re.compile(r"[A-Za-z0-9]+")


class Place(Struct, frozen=True):
    """The place of a shape: the declaration's name, then members and steps below it.

    `inside` is the name by the shape around it: longer, and unique.
    """

    root: str
    path: tuple[str, ...] = ()
    inside: str = ""

    def at(self, step: str) -> Place:
        inside = self.inside and self.inside + names.capitalize(step)
        return Place(self.root, (*self.path, step), inside)

    def name(self, root: str) -> str:
        return root + "".join(map(names.capitalize, self.path))


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
        yield from _type_places(signature.type, place.at(step_of(signature.key)))


def step_of(key: syntax.Type) -> str:
    """The step from a shape to the type of an index signature with this key."""
    words = _words(key) if isinstance(key, syntax.Template) else ""
    return f"{words}Value" if words else "value"


def _words(type: syntax.Template) -> str:
    """A template as one name: `x-${string}` is XString."""
    return "".join(map(names.capitalize, _WORDS.findall(type.text)))


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

_Naming: TypeAlias = Callable[[Sequence[syntax.Inline]], list[str]]
"""A name for each arm of a union, empty for an arm without one."""


def _texts(arm: syntax.Inline) -> dict[str, str]:
    """The string constants of an arm, by member."""
    literals = {m.name: m.type.value for m in arm.members if isinstance(m.type, syntax.Literal)}
    return {name: value for name, value in literals.items() if isinstance(value, str)}


def _by_literal(arms: Sequence[syntax.Inline]) -> list[str]:
    texts = [_texts(arm) for arm in arms]
    count = Counter(pair for each in texts for pair in each.items())
    return [
        next((text for pair in each.items() if count[pair] == 1 for text in pair[1:]), "")
        for each in texts
    ]


def _by_own_member(arms: Sequence[syntax.Inline]) -> list[str]:
    count = Counter(member.name for arm in arms for member in arm.members)
    return [next((m.name for m in arm.members if count[m.name] == 1), "") for arm in arms]


def _each(name: Callable[[syntax.Inline], str]) -> _Naming:
    return lambda arms: [name(arm) for arm in arms]


def _by_members(arm: syntax.Inline) -> str:
    return "".join(names.capitalize(member.name) for member in arm.members)


def _required_names(arm: syntax.Inline) -> str:
    """A name made of an arm's required members, for arms such as `{ a; b? } | { a?; b }`."""
    return "".join(names.capitalize(m.name) for m in arm.members if not m.optional)


def _by_literals(arm: syntax.Inline) -> str:
    return "".join(map(names.capitalize, _texts(arm).values()))


def _by_types(arm: syntax.Inline) -> str:
    return "".join(names.capitalize(m.name) + _type_name(m.type) for m in arm.members)


def _in_full(arm: syntax.Inline) -> str:
    """The name of a shape by its whole contents."""
    members = (
        ("Optional" if m.optional else "") + names.capitalize(m.name) + _full_name(m.type)
        for m in arm.members
    )
    values = (f"{step_of(i.key)}s{_full_name(i.type)}" for i in arm.index)
    return "".join([*members, *map(names.capitalize, values)])


def _type_name(type: syntax.Type) -> str:
    match type:
        case syntax.Keyword() | syntax.Ref():
            return names.capitalize(type.name)
        case syntax.Array():
            return f"{_type_name(type.of)}List"
        case syntax.Literal(value=bool() as value):
            return str(value)
        case syntax.Template():
            return _words(type)
        case _:
            return ""


def _full_name(type: syntax.Type) -> str:
    match type:
        case syntax.Ref():
            return names.capitalize(type.name) + "".join(map(_full_name, type.args))
        case syntax.Literal(value=value):
            return names.capitalize(str(value))
        case syntax.Array():
            return f"{_full_name(type.of)}List"
        case syntax.Union():
            return "Or".join(map(_full_name, type.of))
        case syntax.Inline():
            return f"Of{_in_full(type)}"
        case syntax.Tuple():
            return f"Tuple{''.join(_full_name(each.of) for each in type.of)}"
        case _:
            return _type_name(type)


_NAMINGS: Final[tuple[_Naming, ...]] = (
    _by_literal,
    _by_own_member,
    _each(_by_members),
    _each(_required_names),
    _each(_by_literals),
    _each(_by_types),
    _each(_in_full),
)
"""The ways to name an arm, best first; the first unique name is used."""


def told_apart(arms: Sequence[syntax.Inline]) -> list[str]:
    """A name for each of several anonymous arms, by its distinguishing member; empty if none is
    found.
    """
    apart = [""] * len(arms)
    for naming in _NAMINGS:
        if all(apart):
            break
        made = naming(arms)
        count = Counter(made)
        apart = [
            old or (new if count[new] == 1 else "") for old, new in zip(apart, made, strict=True)
        ]
    return apart
