"""Refuse NaN and infinities in the arguments of a Struct: msgspec would write them as null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from ._wire.faults import EncodeError, path
from ._wire.values import At, Json

__all__ = ["HOLDERS", "check_numbers", "finite"]

HOLDERS: Final = frozenset((float, dict, list))
"""The classes of JSON which may be or contain a NaN or an infinity."""
_OTHERS: Final = frozenset((str, int, bool, type(None)))

_pack: Final = msgspec.msgpack.Encoder(enc_hook=lambda unknown: None).encode


def check_numbers(value: Any, at: At) -> None:
    """Raise EncodeError, with the path, for a NaN or an infinity in a member.

    Structs inside it are skipped, since their constructors have checked them; so are classes
    unknown to msgspec, which are checked when they are written.
    """
    try:
        if value.__class__ not in _OTHERS and _is_doubtful(value):
            for place, number in _floats(_as_json(value), at):
                if number - number != 0:
                    raise EncodeError(path(place), "a finite number", str(number))
    except RecursionError:
        raise EncodeError(path(at), "JSON that ends", "deeper nesting") from None


def finite(value: Json) -> Json:
    """Return a JSON value itself. Raises EncodeError for a NaN or an infinity in it."""
    check_numbers(value, None)
    return value


def _is_doubtful(value: Any) -> bool:
    """Return whether a value may hold a NaN or an infinity; True may be wrong, False never is."""
    # MessagePack writes a float as byte 203 and its eight bytes; a NaN or an infinity begins with
    # 0x7f or 0xff, and so do only very large floats. Two searches replace a walk over the value.
    try:
        packed = _pack(value)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
        return True
    except RecursionError:
        return False  # endless: `encode` reports it
    if packed.find(203) < 0:
        return False
    return packed.find(b"\xcb\x7f") >= 0 or packed.find(b"\xcb\xff") >= 0


def _as_json(value: Any) -> Json:
    """Return the value as msgspec writes it: a set as an array, a dataclass as an object."""
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
    """Return the parts of an object or array, each with its name or index."""
    parts: Iterable[tuple[Any, Any]] = ()
    if value.__class__ is dict:
        parts = value.items()
    elif value.__class__ in (list, tuple):
        items: Sequence[Any] = value
        parts = enumerate(items)
    return parts
