"""Schema text: its lines, its comments, its bracket depth, and how an error points into it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import Final, TypeVar

from mcp_bindgen.errors import LimitExceeded, SchemaError, SchemaSyntaxError
from mcp_bindgen.limits import MAX_DEPTH, MAX_SCHEMA_BYTES

__all__ = ["Source", "close_names", "close_to", "did_you_mean", "printable"]

_E = TypeVar("_E", bound=SchemaError)

# A comment, a string or a bracket. As each begins with a character of its own, not with a group,
# whatever else a file has is skipped in one step.
_TOKEN: Final = re.compile(
    rb"""
    /\*.*?\*/ | //[^\n]*
  | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*`
  | /\* | " | ' | ` | => | \( | \[ | \{ | < | \) | \] | \} | >
    """,
    re.VERBOSE | re.DOTALL,
)
_UNCLOSED: Final = frozenset({b"/*", b'"', b"'", b"`"})
_DEEPER: Final = {b"(": 1, b"[": 1, b"{": 1, b"<": 1, b")": -1, b"]": -1, b"}": -1, b">": -1}
# Controls (C0, DEL, C1), line separators, bidi marks and overrides, BOM, surrogates, tags.
_CONTROL: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff"
    r"\U000e0000-\U000e007f]"
)
_EXCERPT_WIDTH: Final = 96


def printable(text: str) -> str:
    """`text` with control characters as JSON escapes, so it cannot steer a terminal."""
    return _CONTROL.sub(lambda match: _escape(match[0]), text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause for a message about an unknown name: the known name closest to it."""
    near = close_names(name, sorted(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def close_to(
    name: str, known: Iterable[str], otherwise: str, *, most: int = 3, cutoff: float = 0.6
) -> str:
    """The remedy for an unknown name: the closest known names, or `otherwise`."""
    near = close_names(name, known, n=most, cutoff=cutoff)
    return f"Did you mean {' or '.join(near)}?" if near else otherwise


def close_names(name: str, known: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """The names among `known` that resemble `name`, the closest first."""
    from difflib import get_close_matches

    return get_close_matches(name[:_EXCERPT_WIDTH], known, n=n, cutoff=cutoff)


def _escape(character: str) -> str:
    """A character as JSON escapes it: one hexadecimal escape for each UTF-16 code unit."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class Source:
    """One schema file as bytes: UTF-8 without BOM, lines ended by a line feed.

    A `part` belongs to the schema that imports it, whose declarations are then in several files.
    Raises SchemaSyntaxError if the text is not UTF-8, LimitExceeded if it is too long or too deep.
    """

    def __init__(self, data: bytes, path: str, *, part: bool = False) -> None:
        self.path = printable(path)
        self.part = part
        if len(data) > MAX_SCHEMA_BYTES:
            raise LimitExceeded(
                f"the file has {len(data)} bytes, more than {MAX_SCHEMA_BYTES}",
                place=self.path,
                remedy="A schema of that size is a mistake; look at the file.",
            )
        data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.data = data
        self._require_utf8()
        self.comments = self._scan()

    def _require_utf8(self) -> None:
        try:
            self.data.decode()
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise SchemaSyntaxError(
                f"byte 0x{self.data[error.start]:02x} is not UTF-8",
                place=f"{self.path}:{line}",
                remedy="Save the file as UTF-8.",
            ) from None

    def _scan(self) -> dict[int, int]:
        """Map the end of each comment to its start. Refuses brackets nested above MAX_DEPTH."""
        comments: dict[int, int] = {}
        depth = 0
        for token in _TOKEN.finditer(self.data):
            text = token[0]
            if text in _UNCLOSED:
                raise self.error(
                    SchemaSyntaxError,
                    token.start(),
                    "a string or comment is not closed",
                    "Close it.",
                )
            depth = max(0, depth + _DEEPER.get(text, 0))
            if depth > MAX_DEPTH:
                raise self.error(
                    LimitExceeded,
                    token.start(),
                    f"brackets nest deeper than {MAX_DEPTH}",
                    "Give the inner shapes names of their own.",
                )
            if text.startswith(b"/"):
                comments[token.end()] = token.start()
        return comments

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(newline.end() for newline in re.finditer(rb"\n", self.data))]

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode()

    def line(self, at: int) -> int:
        """The line of a byte offset, from 1."""
        return bisect_right(self._line_starts, at)

    def place(self, at: int) -> str:
        """`file:line:column` of a byte offset; columns count characters, from 1."""
        line = self.line(at)
        column = len(self.slice(self._line_starts[line - 1], at)) + 1
        return f"{self.path}:{line}:{column}"

    def file(self, at: int) -> tuple[Source, int]:
        """The file with the text at a byte offset, and the offset within that file: here this file
        itself.
        """
        return self, at

    def excerpt(self, at: int) -> str:
        """The line of a byte offset, cut to a readable width, and a caret below the place."""
        start = self._line_starts[self.line(at) - 1]
        end = self.data.find(b"\n", start)
        before = printable(self.slice(start, at))
        after = printable(self.data[at : end if end >= 0 else None].decode(errors="replace"))
        left = before[-_EXCERPT_WIDTH // 2 :]
        return f"    {left}{after[: _EXCERPT_WIDTH - len(left)]}\n    {' ' * len(left)}^"

    def error(
        self,
        kind: type[_E],
        at: int,
        message: str,
        remedy: str = "",
        others: Iterable[tuple[int, str]] = (),
    ) -> _E:
        """An error of `kind` at byte offset `at`; `others` are further places with messages."""
        rows = [self.excerpt(at)]
        for place, what in others:
            rows += [f"and at {self.place(place)}: {what}", self.excerpt(place)]
        return kind(message, place=self.place(at), excerpt="\n".join(rows), remedy=remedy)
