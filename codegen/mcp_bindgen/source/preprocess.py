"""Rewrites TypeScript unknown to the parser into known syntax, keeping all byte offsets.

The `in` and `out` of a type parameter say how it may vary, which changes no type.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["preprocess"]

# Strings and comments are skipped in one step; `type` and `import("…")` are what is put otherwise.
_TOKEN: Final = re.compile(
    rb"""
    /\*.*?\*/ | //[^\n]*
  | (?<![\w$.]) export (?P<type> \s+type) (?= \s*\* )
  | (?<![\w$.]) (?P<module> import \s*\(\s* (?: "[^"\\\n]*" | '[^'\\\n]*' ) \s*\) )
    (?= \s*\.\s*[\w$]+\s*< )
  | (?<=[<,]) \s* (?P<variance> (?: in \s+ out | in | out ) \s )
    (?= \s* [A-Za-z_$][\w$]* \s* (?: [,>=] | extends\b ) )
  | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*`
    """,
    re.VERBOSE | re.DOTALL,
)


_SUSPECT: Final = (
    re.compile(rb"export\s+type\s*\*"),
    re.compile(rb"import\s*\("),
    re.compile(rb"[<,]\s*(?:in|out)\s+[\w$]+\s*(?:[,>=]|extends\b|out\b)"),
)
"""A file without any of these needs no look at each of its tokens."""


def preprocess(data: bytes) -> bytes:
    """Write `export * from` for `export type * from`, a name for the import of `import("m").A<T>`,
    and blanks for `in` and `out` before a type parameter.
    """
    if not any(suspect.search(data) for suspect in _SUSPECT):
        return data
    return _TOKEN.sub(_otherwise, data)


def _otherwise(token: re.Match[bytes]) -> bytes:
    if (word := token["type"]) is not None:
        return token[0].removesuffix(word) + b" " * len(word)
    if (word := token["variance"]) is not None:
        return token[0].removesuffix(word) + b" " * len(word)
    return token[0] if token["module"] is None else b"_" * len(token[0])
