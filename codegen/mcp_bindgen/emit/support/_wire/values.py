"""What values are made of: JSON, what is absent, and where in a document one is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal, NoReturn, TypeAlias


class Unset(Enum):
    """The type of UNSET: a member that is not there, neither null nor a value."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET


class Empty(Mapping[str, Any]):
    """A mapping without members, of which there is one."""

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
"""The unknown members of a value that has none."""

MAX_DEPTH: Final = 128
"""How deep JSON may nest."""

MAX_DIGITS: Final = 4300
"""How long an integer may be."""

Json: TypeAlias = Any
"""A parsed JSON value: dict, list, str, int, float, bool or None."""

At: TypeAlias = "tuple[At, str | int | list[Json]] | None"
"""A place in a document: the place around it, and a name or an index there; None for the whole.

The place of an item that is being read has instead of its index the list of those read before it.
"""

GIVEN: Final[At] = (None, "")
"""The whole of what came as Python values: unlike what is parsed from text, it may be no JSON."""


def is_number(x: Json) -> bool:
    """Return whether a value is a JSON number: finite, not too long, and neither true nor false."""
    if x.__class__ is int:
        return -LARGEST <= x <= LARGEST
    return x.__class__ is float and x - x == 0


LARGEST: Final = 10**MAX_DIGITS - 1


def is_string(x: Json) -> bool:
    """Return whether a value is a JSON string: text without half a character."""
    return x.__class__ is str and (x.isascii() or is_text(x))


def is_text(x: str) -> bool:
    try:
        x.encode()
    except UnicodeEncodeError:
        return False
    return True
