"""Joins several files into one text, so that one byte offset names a place in any file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from mcp_bindgen.source.text import Source

__all__ = ["Joined"]


class Joined(Source):
    """The texts of `parts` in order; `starts` has the byte offset of each."""

    def __init__(self, parts: Sequence[Source]) -> None:
        self.parts = tuple(parts)
        self.path = parts[0].path
        self.part = False
        self.data = b"\n".join(part.data for part in parts)
        self.starts: list[int] = []
        comments: dict[int, int] = {}
        start = 0
        for part in parts:
            self.starts.append(start)
            comments |= {end + start: begin + start for end, begin in part.comments.items()}
            start += len(part.data) + 1
        self.comments = comments

    def file(self, at: int) -> tuple[Source, int]:
        """The file at a byte offset, and the offset within that file."""
        number = bisect_right(self.starts, at) - 1
        return self.parts[number], at - self.starts[number]

    def line(self, at: int) -> int:
        part, inner = self.file(at)
        return part.line(inner)

    def place(self, at: int) -> str:
        part, inner = self.file(at)
        return part.place(inner)

    def excerpt(self, at: int) -> str:
        part, inner = self.file(at)
        return part.excerpt(inner)
