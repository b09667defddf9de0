"""Removes functions without effect from a plan, and the calls to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from mcp_bindgen.convert.model import (
    CARRY,
    Call,
    Carry,
    Composed,
    Decision,
    Each,
    Errors,
    Function,
    Kept,
    Lost,
    Member,
    New,
    Stamp,
    StructStep,
    UnionStep,
    Values,
    Way,
    Whole,
)

__all__ = ["prune"]

_Ways: TypeAlias = Mapping[tuple[str, str], Way]
_Acting: TypeAlias = Mapping[str, Way]


def prune(
    functions: Mapping[str, Function | None], ways: _Ways
) -> tuple[dict[str, Function], dict[tuple[str, str], Way]]:
    """The functions which have an effect and are called; and the ways, which no longer call any
    other.
    """
    known = {name: f for name, f in functions.items() if f is not None}
    acting = {name: _through(known, name) for name in _acting(known)}
    kept = {name: _trim(f, acting) for name, f in known.items() if name in acting}
    trimmed = {key: _way(way, acting) for key, way in ways.items()}
    reached = _reach(kept, trimmed.values())
    return {name: f for name, f in kept.items() if name in reached}, trimmed


def _acting(functions: Mapping[str, Function]) -> Mapping[str, Way]:
    """The functions which have an effect of their own, or call a function with an effect."""
    acting: dict[str, Way] = {}
    grown = True
    while grown:
        more = {n: Call(n) for n, f in functions.items() if n not in acting and _acts(f, acting)}
        acting.update(more)
        grown = bool(more)
    return acting


def _through(functions: Mapping[str, Function], name: str) -> Way:
    """A call of the function; a union of one arm is replaced by the call of its arm."""
    function = functions[name]
    if isinstance(function, UnionStep) and len(function.arms) == 1:
        way = function.arms[0].way
        return way if isinstance(way, Call) and way.name != name else Call(name)
    return Call(name)


def _acts(function: Function, acting: _Acting) -> bool:
    match function:
        case StructStep():
            rest = _way(function.rest, acting) != CARRY
            return rest or any(_changes(m, acting) for m in function.members)
        case UnionStep():
            return any(isinstance(w, Decision) or _way(w, acting) != CARRY for w in _arms(function))
        case Whole():
            return function.mode == "fill" or _way(function.way, acting) != CARRY
        case Errors():
            return bool(function.codes) or _way(function.way, acting) != CARRY


def _arms(function: UnionStep) -> Iterator[Way | Decision]:
    return (arm.way for arm in function.arms)


def _changes(member: Member, acting: _Acting) -> bool:
    if isinstance(member, Lost | New | Stamp | Composed):
        return True
    needed = member.required and member.optional and member.decision is not None
    return needed or member.wire != member.to or _way(member.way, acting) != CARRY


def _way(way: Way, acting: _Acting) -> Way:
    match way:
        case Call(name):
            return acting.get(name, CARRY)
        case Each() | Values():
            inner = _way(way.way, acting)
            return CARRY if inner == CARRY else replace(way, way=inner)
        case Carry():
            return CARRY


def _trim(function: Function, acting: _Acting) -> Function:
    match function:
        case StructStep():
            members = tuple(_member(m, acting) for m in function.members if _changes(m, acting))
            return replace(function, members=members, rest=_way(function.rest, acting))
        case UnionStep():
            arms = tuple(
                a if isinstance(a.way, Decision) else replace(a, way=_way(a.way, acting))
                for a in function.arms
            )
            return replace(function, arms=arms)
        case Whole() | Errors():
            return replace(function, way=_way(function.way, acting))


def _member(member: Member, acting: _Acting) -> Member:
    match member:
        case Kept():
            return replace(member, way=_way(member.way, acting))
        case Composed():
            parts = (replace(part, way=_way(part.way, acting)) for part in member.parts)
            return replace(member, parts=tuple(parts))
        case _:
            return member


def _reach(functions: Mapping[str, Function], roots: Iterable[Way]) -> set[str]:
    queue = [name for way in roots for name in _calls(way)]
    reached: set[str] = set()
    while queue:
        name = queue.pop()
        if name not in reached:
            reached.add(name)
            queue += [n for way in _ways(functions[name]) for n in _calls(way)]
    return reached


def _ways(function: Function) -> Iterator[Way]:
    match function:
        case StructStep():
            for member in function.members:
                if isinstance(member, Kept):
                    yield member.way
                elif isinstance(member, Composed):
                    yield from (part.way for part in member.parts)
            yield function.rest
        case UnionStep():
            yield from (a.way for a in function.arms if not isinstance(a.way, Decision))
        case Whole() | Errors():
            yield function.way


def _calls(way: Way) -> Iterator[str]:
    match way:
        case Call(name):
            yield name
        case Each() | Values():
            yield from _calls(way.way)
        case Carry():
            return
