"""JSON values, the mark of an absent member, and places in a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal, NoReturn, TypeAlias


class Unset(Enum):
    """The type of UNSET: an absent member, neither null nor a value."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET


class Empty(Mapping[str, Any]):
    """The class of EMPTY, a mapping without members."""

    __slots__ = ()

    def __getitem__(self, key: str) -> NoReturn:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __reduce__(self) -> str:
        return "EMPTY"


EMPTY: Final[Mapping[str, Any]] = Empty()
"""The unknown members of a value without any."""

MAX_DEPTH: Final = 128
"""The most levels of arrays and objects."""

MAX_DIGITS: Final = 4300
"""The most digits of an integer."""

Json: TypeAlias = Any
"""A parsed JSON value: dict, list, str, int, float, bool or None."""

At: TypeAlias = "tuple[At, str | int | list[Json]] | None"
"""A place in a document: the place around it, and a name or index there; None for the whole.

While an array is read, its items' place has the list of the items read so far instead of an index:
its length is the index.
"""

GIVEN: Final[At] = (None, "")
"""The whole of a Python value from the caller: unlike parsed text, it may not be JSON."""


def is_number(x: Json) -> bool:
    """Return whether a value is a JSON number: finite, not too long, and no bool."""
    if x.__class__ is int:
        return -LARGEST <= x <= LARGEST
    return x.__class__ is float and x - x == 0


LARGEST: Final = 10**MAX_DIGITS - 1


def is_string(x: Json) -> bool:
    """Return whether a value is a JSON string: text without a lone surrogate."""
    return x.__class__ is str and (x.isascii() or is_text(x))


def is_text(x: str) -> bool:
    try:
        x.encode()
    except UnicodeEncodeError:
        return False
    return True
