"""Parse and write JSON text strictly, and measure its nesting."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate
from re import compile as pattern
from typing import Any, Final, NoReturn

from .faults import DecodeError, fault, too_deep
from .values import MAX_DEPTH, MAX_DIGITS, Json

_INFINITE: Final = frozenset((float("inf"), float("-inf")))


def _float(text: str) -> float:
    value = float(text)
    if value in _INFINITE:
        raise DecodeError("$", "JSON", "a number beyond a double")
    return value


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise DecodeError("$", "JSON", f"an integer over {MAX_DIGITS} digits")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise DecodeError("$", "JSON", text)


def _scanner(**how: Any) -> Callable[[str, int], tuple[Json, int]]:
    """Return a function which parses the value at an index; it returns the value and its end."""
    decoder: Any = json.JSONDecoder(**how)
    scan: Callable[[str, int], tuple[Json, int]] = decoder.scan_once
    return scan


_scan: Final = _scanner(parse_float=_float, parse_constant=_constant)
_scan_long: Final = _scanner(
    parse_float=_float, parse_int=_integer, parse_constant=_constant
)
_SPACE: Final = " \t\n\r"
_MARKED: Final = "a byte order mark at the start (save the text without it)"


def _decode(text: str) -> Json:
    """Parse one JSON value, with only white space around it."""
    text = text.strip(_SPACE)
    scan = _scan if len(text) <= MAX_DIGITS else _scan_long
    try:
        value, end = scan(text, 0)
    except StopIteration as error:
        if text.startswith("\ufeff"):
            raise ValueError(_MARKED) from None
        raise ValueError(f"no value at character {error.value}") from None
    if end != len(text):
        raise ValueError(f"more after the value, at character {end}")
    return value


def parse(data: bytes | bytearray | memoryview | str) -> Any:
    """Parse JSON text strictly.

    Raises DecodeError for text which is not JSON or not UTF-8, begins with a byte order mark, nests
    deeper than MAX_DEPTH, or has NaN, an infinity, a number beyond a double, an integer over 4 300
    digits or a lone surrogate.
    """
    try:
        text = data if isinstance(data, str) else str(data, "utf-8")
        check_depth(data)
        value = _decode(text)
        if isinstance(data, str):
            text.encode()
        if "\\" in text and ("\\ud" in text or "\\uD" in text):
            _check_surrogates(text)
        return value
    except DecodeError:
        raise
    except UnicodeError as error:
        raise DecodeError("$", "JSON in UTF-8", str(error)) from None
    except (ValueError, RecursionError) as error:
        raise DecodeError("$", "JSON", str(error) or "nesting without end") from None


def _check_surrogates(text: str) -> None:
    """Raise DecodeError for a lone escaped surrogate, even in a member replaced by a later one."""
    if _HALF.search(text.replace("\\\\", "//")):
        raise DecodeError("$", "JSON", "a lone surrogate")


_HALF: Final = pattern(
    r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])"
)


def check_depth(data: bytes | bytearray | memoryview | str) -> None:
    """Raise DecodeError if brackets outside strings nest deeper than MAX_DEPTH."""
    if is_deep(data):
        raise too_deep()


def is_deep(data: bytes | bytearray | memoryview | str) -> bool:
    """Return whether brackets outside strings nest deeper than MAX_DEPTH, in valid JSON."""
    # First count the brackets of the text's end with those in strings: mostly there are too few to
    # nest so deep, and nothing has to be cut out.
    raw = data if type(data) is bytes else _octets(data)
    if len(raw) < 2_000 and len(raw.translate(None, _NO_BRACKETS)) <= 2 * MAX_DEPTH:
        return False
    end = raw.rfind(b"}", 0, -_COUNTED) + 1
    brackets = _outside_strings(raw[:end]) if end else b""
    depth = 2 * brackets.count(b"[") - len(brackets)
    if not _stay_shallow(raw[end:].translate(_ONE_SORT, _NO_BRACKETS), depth):
        brackets = _outside_strings(raw)
    return _nest_deeper(brackets)


def _stay_shallow(brackets: bytes, depth: int) -> bool:
    """Return whether brackets cannot nest deeper than MAX_DEPTH, beginning at `depth`.

    Some of them may be in strings, so the halves of `brackets` are only upper limits.
    """
    half = len(brackets) // 2
    opened = brackets[:half].count(b"[")
    return max(depth + opened, brackets[half:].count(b"]")) <= MAX_DEPTH


def _outside_strings(raw: bytes) -> bytes:
    """Return the brackets outside strings, `{}` as `[]`: the parser checks which closes which."""
    # Reduce the text to quotes and brackets. A string without brackets is then `""`; the remaining
    # strings are cut out.
    if _BACKSLASH in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    quoted = raw.translate(_ONE_SORT, _NO_STRUCTURE)
    brackets = quoted.translate(None, b'"')
    if 2 * quoted.count(b'""') + len(brackets) != len(quoted):
        brackets = b"".join(quoted.replace(b'""', b"").split(b'"')[::2])
    return brackets


def _octets(data: bytes | bytearray | memoryview | str) -> bytes:
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    return bytes(data)


def _nest_deeper(brackets: bytes) -> bool:
    """Return whether brackets, all of one sort, nest deeper than MAX_DEPTH.

    A part with few opening brackets is only counted; else each bracket is followed.
    """
    depth = 0
    for start in range(0, len(brackets), MAX_DEPTH):
        part = brackets[start : start + MAX_DEPTH]
        opened = part.count(b"[")
        if depth + opened > MAX_DEPTH and _deepest(part, depth) > MAX_DEPTH:
            return True
        depth += 2 * opened - len(part)
    return False


def _deepest(brackets: bytes, depth: int) -> int:
    """Return the greatest depth which brackets reach, beginning at `depth`."""
    return max(accumulate((1 if b == _OPENS else -1 for b in brackets), initial=depth))


_COUNTED: Final = 8_000
"""The bytes at a text's end in which brackets are only counted; more of them rarely pass."""
_OPENS: Final = ord("[")
_BACKSLASH: Final = ord("\\")
_ONE_SORT: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))

_encode: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


def dump(value: Any) -> bytes:
    """Write Python values as JSON text. Raises EncodeError, with the path, for other values."""
    try:
        text = _encode(value).encode()
    except (ValueError, TypeError, RecursionError):
        raise fault(value) from None
    return text


def is_json(value: Json) -> bool:
    """Return whether all numbers in a parsed JSON value are finite."""
    if value.__class__ is float:
        return bool(value - value == 0)
    if value.__class__ is list:
        return all(map(is_json, value))
    if value.__class__ is dict:
        return all(map(is_json, value.values()))
    return True
