"""Writers: values as parsed JSON, each by the function of its class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from .faults import EncodeError, path, unending
from .values import Json


def write_array(write: Callable[[Any], Json], x: Iterable[Any]) -> list[Json]:
    """Like `list(map(write, x))`; Python is called sooner by Python than by C."""
    written: list[Json] = []
    for item in x:
        written.append(write(item))
    return written


def write_map(write: Callable[[Any], Json], x: Mapping[str, Json]) -> dict[str, Json]:
    return {key: write(item) for key, item in x.items()}


def merge(
    x: dict[str, Json], extra: Mapping[str, Json], known: frozenset[str]
) -> dict[str, Json]:
    """Add unknown members. Raises EncodeError where one has the name of a declared member."""
    for key, value in extra.items():
        if key in known:
            raise EncodeError(
                path((None, key)), "a name that is not declared in extra_", key
            )
        x[key] = value
    return x


Writer: TypeAlias = Callable[[Any], Json]
Writers: TypeAlias = dict[type[Any], Writer]
"""What writes an instance, by its class; a subclass is not there until one is met."""


def write_again(writers: Writers, value: Any, stopped: Exception) -> Json:
    """Write a value of which writing has stopped at a class that has no writer.

    Raises EncodeError where that is not a subclass of one that has, for nesting without end, and
    for what stands where its class cannot.
    """
    while isinstance(stopped, KeyError):
        adopt(writers, stopped)
        try:
            return writers[value.__class__](value)
        except STOPS as again:
            stopped = again
    if isinstance(stopped, RecursionError):
        raise unending() from None
    raise EncodeError(
        "$", "members of their declared types", str(stopped)[:80]
    ) from None


STOPS: Final = (KeyError, RecursionError, AttributeError, TypeError)
"""What may stop writing."""


def adopt(writers: Writers, missing: KeyError) -> None:
    """Has the class that is missing written as its base; raises `missing` if it is another key."""
    cls = missing.args[0] if missing.args else None
    if not isinstance(cls, type) or cls in writers:
        raise missing
    for base in cls.__mro__:
        if base in writers:
            writers[cls] = writers[base]
            return
    raise EncodeError(
        "$", "a value of a generated type or JSON", cls.__name__
    ) from None


def plain_writers(write: Callable[[Any], Json]) -> Writers:
    """What writes JSON values that may hold instances."""

    def same(value: Json) -> Json:
        return value

    def items(values: Iterable[Any]) -> Json:
        return [write(value) for value in values]

    def members(values: Mapping[str, Any]) -> Json:
        return {key: write(value) for key, value in values.items()}

    leaves: Writers = dict.fromkeys((str, int, float, bool, type(None)), same)
    return {list: items, tuple: items, dict: members, **leaves}
