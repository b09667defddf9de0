"""Doc comments: finds the `/** */` of a node, and reads its lines and tags."""

from __future__ import annotations

import re
from typing import Final

from mcp_bindgen.source.syntax import Doc, Tag
from mcp_bindgen.source.text import Source

__all__ = ["doc_before", "normal", "parse"]

_TAG: Final = re.compile(r"[ \t]*@([A-Za-z][A-Za-z0-9_-]*)[ \t]*(.*)")
_KEPT: Final = {"deprecated": "deprecated", "description": "described"}
_BLANK: Final = b" \t\n"


def normal(text: str) -> str:
    """The text in a single line: runs of space, tab, CR and LF become one space."""
    words = text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" ")
    return " ".join(filter(None, words))


def doc_before(source: Source, at: int) -> Doc | None:
    """The nearest doc comment before byte `at`, if only other comments stand between.

    A comment on the same line as earlier code belongs to that code, as in the TypeScript compiler.
    """
    data = source.data
    doc: tuple[int, int] | None = None
    end = at
    while True:
        code = end
        while code and data[code - 1] in _BLANK:
            code -= 1
        own_line = b"\n" in data[code:end] or code == 0
        if doc is not None and own_line:
            return parse(source.slice(*doc))
        start = source.comments.get(code)
        if start is None:
            return None
        if doc is None and data[start : start + 3] == b"/**" and data[start + 3] != 0x2F:
            doc = (start, code)
        end = start


def parse(comment: str) -> Doc:
    """Lines, description and tags of a comment with its `/**` and `*/`.

    A tag starts a line outside ``` fences; `@deprecated` and `@description` keep the lines below.
    """
    lines = _lines(comment)
    description = lines
    tags: list[Tag] = []
    kept: dict[str, list[str]] = {}
    fenced, current = False, ""
    for number, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        tag = None if fenced else _TAG.match(line)
        if tag:
            if not tags:
                description = lines[:number]
            current = tag[1]
            tags.append(Tag(tag[1], tag[2].strip()))
        if current in _KEPT:
            kept.setdefault(current, []).append(tag[2] if tag else line)
    text = normal("\n".join(lines))
    return Doc(
        text=text,
        description=normal("\n".join(description)) if tags else text,
        tags=tuple(tags),
        **{_KEPT[name]: normal(" ".join(words)) for name, words in kept.items()},
    )


def _lines(comment: str) -> list[str]:
    first, *rest = comment[3:-2].split("\n")
    return [first.lstrip(" \t"), *(line.lstrip(" \t").removeprefix("*") for line in rest)]
