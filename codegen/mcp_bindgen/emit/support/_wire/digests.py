"""Canonical JSON (RFC 8785), and the digests of definitions and of lists of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from .values import MAX_DEPTH, Json

__all__ = ["canonical_json", "definition_digest", "list_digest"]

_EXACT: Final = 2**53 - 1
"""Up to here every integer is a double of its own."""
_PLACES: Final = 21
"""Numbers of up to so many digits before the point are written without an exponent."""


def definition_digest(definition: Mapping[str, Json]) -> str:
    """Return the digest of a definition as a list has it: parsed JSON, without its `_meta`.

    It is `sha256:` and 64 hex digits, and changes with any other member. Raises ValueError as
    `canonical_json` does.
    """
    rest = {name: value for name, value in definition.items() if name != "_meta"}
    return _digest(rest)


def list_digest(definitions: Iterable[Mapping[str, Json]]) -> str:
    """Return the digest of a whole list, in whatever order: parsed JSON, each with its `_meta`.

    It is `sha256:` and 64 hex digits, for an empty list too. Raises ValueError as `canonical_json`
    does.
    """
    return _digest(sorted(map(_digest, definitions)))


def _digest(value: object) -> str:
    return f"sha256:{hashlib.sha256(canonical_json(cast('Json', value))).hexdigest()}"


def canonical_json(value: Json) -> bytes:
    """Return the only form of a JSON value under RFC 8785, in UTF-8.

    A number is written as its double. Raises ValueError for a number beyond a double, a lone
    surrogate, deeper nesting than JSON text may have, and a value that is not JSON.
    """
    return "".join(_parts(value, 0)).encode()


def _parts(value: Json, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise ValueError(f"JSON nested deeper than {MAX_DEPTH}")
    match value:
        case None | bool() | str():
            yield json.dumps(value, ensure_ascii=False)
        case int() | float():
            yield _number(value)
        case dict():
            members = cast("dict[str, Json]", value)
            yield "{"
            for at, name in enumerate(sorted(members, key=_utf_16)):
                yield f"{',' if at else ''}{json.dumps(name, ensure_ascii=False)}:"
                yield from _parts(members[name], depth + 1)
            yield "}"
        case list():
            items = cast("Iterable[Json]", value)
            yield "["
            for at, item in enumerate(items):
                yield "," if at else ""
                yield from _parts(item, depth + 1)
            yield "]"
        case _:
            raise ValueError(f"{type(value).__name__} is not JSON")


def _utf_16(name: str) -> bytes:
    """Return the key by which members are sorted: the code units of ECMAScript's strings."""
    return name.encode("utf-16-be")


def _number(value: float) -> str:
    """Return a number as ECMAScript writes its double (ECMA-262, Number::toString)."""
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    if double != double or double in (float("inf"), float("-inf")):
        raise ValueError("a number beyond a double")
    if double == 0:
        return "0"
    sign, text = ("-", repr(-double)) if double < 0 else ("", repr(double))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction if fraction != "0" else ""
    all_digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - len(whole + fraction) + len(all_digits)
    return sign + _placed(all_digits.rstrip("0"), point)


def _placed(digits: str, point: int) -> str:
    """Return digits with their decimal point, `point` digits from the left."""
    if len(digits) <= point <= _PLACES:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _PLACES:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
