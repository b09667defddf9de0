"""Makes text of a peer safe to show: nothing in it steers a terminal or hides."""

from __future__ import annotations

__all__ = ["first_line", "printable"]


def printable(text: str) -> str:
    """Lines of text whose control and invisible characters are escapes."""
    text = text.replace("\r\n", "\n")
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def first_line(text: str, most: int) -> str:
    """The first line that is not blank, cut at `most` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return printable(line[:most])
