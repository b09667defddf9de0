"""Regular expressions: from how JSON Schema writes them (ECMA-262, Unicode) to Python's `re`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

__all__ = ["ANY_NUMBER", "ANY_TEXT", "escape", "python_pattern"]

ANY_TEXT: Final = r"[\s\S]*"
_DECIMAL: Final = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
ANY_NUMBER: Final = f"(?:{_DECIMAL}|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)"
"""What JavaScript's `Number` takes, as the compiler does for `${number}`; spaces around it too,
which are left out here: nobody means them, and they make long texts costly to match."""
_SPECIAL: Final = re.compile(r"[\\^$.|?*+()\[\]{}/]")
_SPACE: Final = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_TOKEN: Final = re.compile(
    r"""
    (?P<escape> \\u[0-9A-Fa-f]{4} | \\x[0-9A-Fa-f]{2} | \\c[A-Za-z] | \\. )
  | (?P<group> \(\?<(?![=!]) )
  | (?P<any> \. ) | (?P<end> \$ )
  | (?P<open> \[\^? ) | (?P<close> \] )
  | (?P<plain> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SET_SYNTAX: Final = re.compile(r"[\[&~|]")
"""Syntax which Python may read as nested sets in the future."""
_CLASSES: Final = {
    "d": "0-9",
    "w": "A-Za-z0-9_",
    "s": _SPACE,
    "D": r"\x00-/:-\U0010ffff",
    "W": r"\x00-/:-@\[-\^`{-\U0010ffff",
    "S": r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e"
    r"\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff",
}
_SAME: Final = frozenset("bBnrtfv0123456789^$.*+?()[]{}|\\-/")


def escape(text: str) -> str:
    """A regular expression which matches `text` alone."""
    return _SPECIAL.sub(r"\\\g<0>", text)


@lru_cache(maxsize=1024)
def python_pattern(text: str) -> str:
    """The same expression for `re.search`. Raises ValueError if Python has no equivalent."""
    made = "".join(_translate(text))
    try:
        re.compile(made)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return made


def _translate(text: str) -> Iterator[str]:
    inside = False
    for token in _TOKEN.finditer(text):
        part = token[0]
        match token.lastgroup:
            case "escape":
                yield _escape(part, inside)
            case "open" if not inside:
                inside = True
                yield part
            case "close":
                inside = False
                yield part
            case _ if inside:
                yield _SET_SYNTAX.sub(r"\\\g<0>", part)
            case "group":
                yield "(?P<"
            case "any":
                yield r"[^\n\r\u2028\u2029]"
            case "end":
                yield r"\Z"
            case _:
                yield part


def _escape(part: str, inside: bool) -> str:
    letter = part[1]
    if letter in "ux" and len(part) > 2:
        return part
    if letter == "c" and len(part) == 3:
        return f"\\x{ord(part[2]) % 32:02x}"
    if letter in _CLASSES:
        return _CLASSES[letter] if inside else f"[{_CLASSES[letter]}]"
    if letter == "/":
        return "/"
    if letter in _SAME:
        return part
    raise ValueError(f"the escape {part}")
