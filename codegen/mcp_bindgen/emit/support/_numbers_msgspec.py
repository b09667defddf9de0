"""Refuses NaN and the infinities where a Struct is made, for msgspec would write them as null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from ._wire.faults import EncodeError, path
from ._wire.values import At, Json

__all__ = ["HOLDERS", "check_numbers", "finite"]

HOLDERS: Final = frozenset((float, dict, list))
"""The classes of JSON whose values may be, or hold, a number that is not finite."""
_OTHERS: Final = frozenset((str, int, bool, type(None)))

_pack: Final = msgspec.msgpack.Encoder(enc_hook=lambda unknown: None).encode


def check_numbers(value: Any, at: At) -> None:
    """Raise EncodeError, with the path, for a NaN or an infinity in a member.

    Structs in it were checked when they were made, and what msgspec does not know is checked when
    it is written.
    """
    try:
        if value.__class__ not in _OTHERS and _is_doubtful(value):
            for place, number in _floats(_as_json(value), at):
                if number - number != 0:
                    raise EncodeError(path(place), "a finite number", str(number))
    except RecursionError:
        raise EncodeError(path(at), "JSON that ends", "deeper nesting") from None


def finite(value: Json) -> Json:
    """A JSON value as it is. Raises EncodeError for a NaN or an infinity in it."""
    check_numbers(value, None)
    return value


def _is_doubtful(value: Any) -> bool:
    """Return whether a value may hold a NaN or an infinity.

    MessagePack writes such numbers as they are: a float is the byte 203, and its exponent, all
    ones, is that of no other but the very large.
    """
    try:
        packed = _pack(value)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
        return True
    except RecursionError:
        return False  # it has no end: `encode` says so
    if packed.find(203) < 0:
        return False
    return packed.find(b"\xcb\x7f") >= 0 or packed.find(b"\xcb\xff") >= 0


def _as_json(value: Any) -> Json:
    """With an array for a set, and an object for a dataclass, as msgspec writes them."""
    try:
        return msgspec.to_builtins(value, enc_hook=lambda unknown: None)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
        return value


def _floats(value: Json, at: At) -> Iterator[tuple[At, float]]:
    if isinstance(value, float):
        yield at, value
    for step, item in _inside(value):
        yield from _floats(item, (at, step))


def _inside(value: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of an object or an array, each with its name or index."""
    parts: Iterable[tuple[Any, Any]] = ()
    if value.__class__ is dict:
        parts = value.items()
    elif value.__class__ in (list, tuple):
        items: Sequence[Any] = value
        parts = enumerate(items)
    return parts
