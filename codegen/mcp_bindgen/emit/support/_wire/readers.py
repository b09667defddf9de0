"""Readers of parsed JSON. Each takes a value and its place, and returns the checked value.

All raise DecodeError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, NoReturn, TypeAlias

from .bounds import is_name
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
    """Read an object with any JSON inside."""
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    if x:
        check_given(x, at)
    return x


def read_json(x: Json, at: At) -> Json:
    """Read any JSON."""
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
    """Read an array of a union with a tag.

    The reader of an item comes from `tags`; only an item without a known tag goes to `read`.
    """
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
    """Check each item of an array of plain JSON, and return the array itself."""
    if x.__class__ is not list:
        raise wrong(at, "array", x)
    for i, item in enumerate(x):
        read(item, (at, i))
    return x


def check_map(read: Callable[[Json, At], Json], x: Json, at: At) -> Json:
    """Check each value of an object of plain JSON, and return the object itself."""
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    for key, item in x.items():
        read(item, (at, _name(key, at)))
    return x


def check_objects(x: Json, at: At) -> Json:
    """Read an object of objects with any JSON inside."""
    if x.__class__ is not dict:
        raise wrong(at, "object", x)
    for key, item in x.items():
        if item.__class__ is not dict:
            raise wrong((at, _name(key, at)), "object", item)
    if x:
        check_given(x, at)
    return x


Named: TypeAlias = tuple[str, int | None, Callable[[Json, At], Json]]
"""A pattern of names in Python's syntax, the longest name to try, and the reader of values."""


def read_keyed(
    keyed: tuple[Named, ...],
    rest: Callable[[Json, At], Json] | None,
    x: Json,
    at: At,
) -> Json:
    """Read members by patterns of their names.

    All readers of matching patterns must accept a value; the first makes the result. `rest` reads a
    member if no pattern matches.
    """
    made: dict[str, Json] = {}
    for key, item in x.items():
        values = [
            read(item, (at, key))
            for pattern, longest, read in keyed
            if _matches_name(pattern, longest, key, at)
        ]
        if not values:
            values = [item if rest is None else rest(item, (at, key))]
        made[key] = values[0]
    return made


def _matches_name(pattern: str, longest: int | None, key: str, at: At) -> bool:
    return is_name(pattern, longest, key, lambda words: wrong(at, words, key))


def read_tuple(
    reads: tuple[Callable[[Json, At], Json], ...],
    rest: Callable[[Json, At], Json] | None,
    x: Json,
    at: At,
) -> Json:
    """Read an array with a reader for each place, and `rest` for the places after them."""
    return [
        (reads[i] if i < len(reads) else rest or read_json)(item, (at, i))
        for i, item in enumerate(x)
    ]


def extras(x: Mapping[str, Json], known: frozenset[str], at: At) -> dict[str, Json]:
    """Return the members which are not in `known`."""
    members = {key: x[key] for key in x if key not in known}
    check_given(members, at)
    return members


def no_extras(x: Mapping[str, Json], known: frozenset[str], at: At) -> NoReturn:
    """Raise DecodeError for the first member which is not in `known`."""
    for key, value in x.items():
        if key not in known:
            raise wrong((at, _name(key, at)), "no such member", value)
    raise AssertionError("called without an unknown member")


def _name(key: Json, at: At) -> str:
    if not is_string(key):
        raise wrong(at, "a name that is text", key)
    return str(key)


_WORDS: Final = frozenset((bool, type(None)))
_MOST: Final = 2**30 - 1
_LEAST: Final = -_MOST
"""Integers in this range are short enough, and CPython compares them fastest: they have one digit
inside."""


def is_given(at: At) -> bool:
    """Return whether a place is in a Python value from the caller, rather than in parsed text."""
    while at is not None and at is not GIVEN:
        at = at[0]
    return at is GIVEN


def check_given(x: Json, at: At) -> None:
    """Raise DecodeError if a value from the caller is not JSON. Parsed text is JSON already."""
    around, room = at, MAX_DEPTH
    while around is not None:
        if around is GIVEN:
            check_json(x, at, room)
            return
        around, room = around[0], room - 1


def check_json(x: Json, at: At, room: int = MAX_DEPTH) -> None:
    """Raise DecodeError if `x` is not JSON or has more than `room` levels."""
    # Most items pass without a call. `type(item)` is faster than `item.__class__` here, because
    # items are of many types and the attribute cache of CPython misses.
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
