"""Writers: each turns values of a class into parsed JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from .faults import EncodeError, path, unending
from .values import Json


def write_array(write: Callable[[Any], Json], x: Iterable[Any]) -> list[Json]:
    """Write the items of an array."""
    # Not `list(map(write, x))`: Python calls a Python function faster than C does.
    written: list[Json] = []
    for item in x:
        written.append(write(item))
    return written


def write_map(write: Callable[[Any], Json], x: Mapping[str, Json]) -> dict[str, Json]:
    return {key: write(item) for key, item in x.items()}


def merge(
    x: dict[str, Json], extra: Mapping[str, Json], known: frozenset[str]
) -> dict[str, Json]:
    """Add unknown members to `x`. Raises EncodeError if a name is in `known`."""
    for key, value in extra.items():
        if key in known:
            raise EncodeError(
                path((None, key)), "a name that is not declared in extra_", key
            )
        x[key] = value
    return x


Writer: TypeAlias = Callable[[Any], Json]
Writers: TypeAlias = dict[type[Any], Writer]
"""The writer of each class; a subclass gets its row with its first instance."""


def write_again(writers: Writers, value: Any, stopped: Exception) -> Json:
    """Write a value again after an error, with writers for the subclasses in it.

    Raises EncodeError for a class without a writer, for endless nesting, and for a value of the
    wrong class for its place.
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
"""The errors with which a writer stops."""


def adopt(writers: Writers, missing: KeyError) -> None:
    """Add a writer for the class which is the missing key: the writer of its base.

    Raises `missing` again if its key is not a class, EncodeError if no base has a writer.
    """
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
    """Return writers of JSON values with instances inside; `write` writes the inner values."""

    def same(value: Json) -> Json:
        return value

    def items(values: Iterable[Any]) -> Json:
        return [write(value) for value in values]

    def members(values: Mapping[str, Any]) -> Json:
        return {key: write(value) for key, value in values.items()}

    leaves: Writers = dict.fromkeys((str, int, float, bool, type(None)), same)
    return {list: items, tuple: items, dict: members, **leaves}
