"""Readers of parsed JSON: each takes a value and its place, and returns it checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, NoReturn, TypeAlias

from .bounds import matches
from .faults import KINDS, too_deep, wrong
from .values import GIVEN, MAX_DEPTH, At, Json, is_number, is_string


def read_string(x: Json, at: At) -> Json:
    if not is_string(x):
        raise wrong(at, "string", x)
    return x


def read_number(x: Json, at: At) -> Json:
    if not is_number(x):
        raise wrong(at, "number", x)
    return x


def read_boolean(x: Json, at: At) -> Json:
    if x.__class__ is not bool:
        raise wrong(at, "boolean", x)
    return x


def read_null(x: Json, at: At) -> Json:
    if x is not None:
        raise wrong(at, "null", x)
    return x


def read_object(x: Json, at: At) -> Json:
    """An object of any JSON."""
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    if x:
        check_given(x, at)
    return x


def read_json(x: Json, at: At) -> Json:
    """Any JSON."""
    if x.__class__ is not str or not x.isascii():
        if x.__class__ is not dict and KINDS.get(x.__class__) == "nothing":
            raise wrong(at, "a value", x)
        check_given(x, at)
    return x


def read_array(read: Callable[[Json, At], Json], x: Json, at: At) -> Json:
    if x.__class__ is not list:
        raise wrong(at, "array", x)
    made: list[Json] = []
    inside = (at, made)
    for item in x:
        made.append(read(item, inside))
    return made


def read_tagged(
    tags: Mapping[str, Callable[[Json, At], Json]],
    wire: str,
    read: Callable[[Json, At], Json],
    x: Json,
    at: At,
) -> Json:
    """As read_array, for a union whose structs a tag tells apart: most items skip `read`."""
    if x.__class__ is not list:
        raise wrong(at, "array", x)
    made: list[Json] = []
    inside = (at, made)
    for item in x:
        try:
            made.append(tags[item[wire]](item, inside))
        except (KeyError, TypeError):
            made.append(read(item, inside))
    return made


def read_strings(x: Json, at: At) -> Json:
    if x.__class__ is not list:
        raise wrong(at, "array", x)
    for i, item in enumerate(x):
        if item.__class__ is not str or not (item.isascii() or is_string(item)):
            raise wrong((at, i), "string", item)
    return x


def read_literals(literals: tuple[str, ...], x: Json, at: At) -> Json:
    if x.__class__ is not list:
        raise wrong(at, "array", x)
    for item in x:
        if item not in literals:
            wanted = " | ".join(map(json.dumps, literals))
            raise wrong((at, x.index(item)), wanted, item)
    return x


def read_map(read: Callable[[Json, At], Json], x: Json, at: At) -> Json:
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    return {_name(key, at): read(item, (at, key)) for key, item in x.items()}


def check_array(read: Callable[[Json, At], Json], x: Json, at: At) -> Json:
    """As read_array, for items that are JSON already: the array itself."""
    if x.__class__ is not list:
        raise wrong(at, "array", x)
    for i, item in enumerate(x):
        read(item, (at, i))
    return x


def check_map(read: Callable[[Json, At], Json], x: Json, at: At) -> Json:
    """As read_map, for values that are JSON already: the object itself."""
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    for key, item in x.items():
        read(item, (at, _name(key, at)))
    return x


def check_objects(x: Json, at: At) -> Json:
    """An object of objects of any JSON."""
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    for key, item in x.items():
        if item.__class__ is not dict:
            raise wrong((at, _name(key, at)), "object", item)
    if x:
        check_given(x, at)
    return x


Named: TypeAlias = tuple[str, int | None, Callable[[Json, At], Json]]
"""The pattern that names match, as Python writes it, how long they are, and the reader."""


def read_keyed(
    keyed: tuple[Named, ...],
    rest: Callable[[Json, At], Json] | None,
    x: Json,
    at: At,
) -> Json:
    """Members by their names: a value is what the first pattern's reader makes, and all take it."""
    made: dict[str, Json] = {}
    for key, item in x.items():
        values = [
            read(item, (at, key))
            for pattern, longest, read in keyed
            if is_name(pattern, longest, key, at)
        ]
        if not values:
            values = [item if rest is None else rest(item, (at, key))]
        made[key] = values[0]
    return made


def is_name(pattern: str, longest: int | None, key: str, at: At) -> bool:
    """Whether a name matches. Raises DecodeError for one that is too long to try."""
    if longest is not None and len(key) > longest:
        raise wrong(at, f"names of at most {longest} characters", key)
    return matches(pattern, key)


def read_tuple(
    reads: tuple[Callable[[Json, At], Json], ...],
    rest: Callable[[Json, At], Json] | None,
    x: Json,
    at: At,
) -> Json:
    """A reader for each place, then `rest` for all others."""
    return [
        (reads[i] if i < len(reads) else rest or read_json)(item, (at, i))
        for i, item in enumerate(x)
    ]


def extras(x: Mapping[str, Json], known: frozenset[str], at: At) -> dict[str, Json]:
    """The members that a type does not declare."""
    members = {key: x[key] for key in x if key not in known}
    check_given(members, at)
    return members


def no_extras(x: Mapping[str, Json], known: frozenset[str], at: At) -> NoReturn:
    """Refuse the first member that a type does not declare."""
    for key, value in x.items():
        if key not in known:
            raise wrong((at, _name(key, at)), "no such member", value)
    raise AssertionError("a member was counted that is not there")


def _name(key: Json, at: At) -> str:
    if not is_string(key):
        raise wrong(at, "a name that is text", key)
    return str(key)


_WORDS: Final = frozenset((bool, type(None)))
_MOST: Final = 2**30 - 1
_LEAST: Final = -_MOST
"""No integer between them is too long; Python compares these sooner than longer ones."""


def is_given(at: At) -> bool:
    """Return whether a place is in JSON that was given, not parsed from text."""
    while at is not None and at is not GIVEN:
        at = at[0]
    return at is GIVEN


def check_given(x: Json, at: At) -> None:
    """Raise DecodeError for what is not JSON; what was parsed from text is not looked at."""
    around, room = at, MAX_DEPTH
    while around is not None:
        if around is GIVEN:
            check_json(x, at, room)
            return
        around, room = around[0], room - 1


def check_json(x: Json, at: At, room: int = MAX_DEPTH) -> None:
    """Raise DecodeError for what is not JSON, or has more than `room` levels.

    Most items are passed without a call; as they are of many types, `type(item)` is found sooner
    than `item.__class__`.
    """
    if not room and (x.__class__ is dict or x.__class__ is list):
        raise too_deep()
    if x.__class__ is dict:
        for key, item in x.items():
            if key.__class__ is not str or not (key.isascii() or is_string(key)):
                raise wrong(at, "a name that is text", key)
            if (
                (type(item) is not str or not item.isascii())
                and (type(item) is not int or item > _MOST or item < _LEAST)
                and type(item) not in _WORDS
            ):
                check_json(item, (at, key), room - 1)
    elif x.__class__ is list:
        for item in x:
            if (
                (type(item) is not str or not item.isascii())
                and (type(item) is not int or item > _MOST or item < _LEAST)
                and type(item) not in _WORDS
            ):
                break
        else:
            return
        for i, item in enumerate(x):
            check_json(item, (at, i), room - 1)
    elif x.__class__ not in _WORDS and not (is_number(x) or is_string(x)):
        raise wrong(at, "a JSON value", x)
