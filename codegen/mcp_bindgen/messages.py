"""Where the messages are in a text: one JSON document, JSON lines, or the fences of Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from mcp_bindgen.limits import MAX_MESSAGE_BYTES

__all__ = ["Line", "Text", "numbered", "texts"]

Line: TypeAlias = tuple[int, bytes | None]
"""Its number, from 1, and its bytes with the newline; None for a line over MAX_MESSAGE_BYTES."""

_MARKDOWN: Final = (".md", ".mdx", ".markdown")
_LINES: Final = (".jsonl", ".ndjson")
_BOM: Final = b"\xef\xbb\xbf"
_FENCE: Final = re.compile(rb"(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)")
_OPENS: Final = (b"{", b"[")


@dataclass(frozen=True, slots=True)
class Text:
    """What is to be one message, from line `line` on.

    `data` is None for one over MAX_MESSAGE_BYTES. `loose` says that it may be a part of a message,
    as blocks of Markdown often are.
    """

    line: int
    data: bytes | None
    loose: bool = False


def numbered(lines: Iterable[bytes | None]) -> Iterator[Line]:
    return enumerate(lines, 1)


def texts(lines: Iterator[Line], name: str = "") -> Iterator[Text]:
    """The texts of a file called `name`; its form is seen by its suffix, else by its first lines.

    A line is a message of its own if it is whole, or if the next one begins an object too.
    """
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in _MARKDOWN:
        yield from _blocks(lines, keep=False)
        return
    first = _next_with_text(lines)
    if first is None:
        return
    if suffix in _LINES:
        yield from _each(chain((first,), lines))
        return
    start = (first[1] or b"").removeprefix(_BOM).lstrip()
    if not start.startswith(_OPENS) and suffix != ".json":
        yield from _blocks(chain((first,), lines), keep=True)
    elif _is_whole(first[1]):
        yield from _each(chain((first,), lines))
    else:
        yield from _document_or_lines(first, lines)


def _document_or_lines(first: Line, lines: Iterator[Line]) -> Iterator[Text]:
    second = _next_with_text(lines)
    rest = chain((first,), () if second is None else (second,), lines)
    start = (first[1] or b"").removeprefix(_BOM).strip()
    begun = start.startswith(_OPENS) and start not in _OPENS
    if begun and second is not None and (second[1] is None or second[1].startswith(_OPENS)):
        yield from _each(rest)
    else:
        yield _joined(rest)


def _next_with_text(lines: Iterator[Line]) -> Line | None:
    return next((line for line in lines if line[1] is None or line[1].strip()), None)


def _is_whole(line: bytes | None) -> bool:
    if line is None:
        return True
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _each(lines: Iterable[Line]) -> Iterator[Text]:
    for number, data in lines:
        if data is None or data.strip():
            yield Text(number, data)


def _joined(lines: Iterable[Line], loose: bool = False) -> Text:
    """All lines as one text."""
    start, size, parts = 0, 0, list[bytes]()
    for number, data in lines:
        start = start or number
        size += MAX_MESSAGE_BYTES + 1 if data is None else len(data)
        if size <= MAX_MESSAGE_BYTES and data is not None:
            parts.append(data)
    return Text(start, b"".join(parts) if size <= MAX_MESSAGE_BYTES else None, loose)


def _blocks(lines: Iterable[Line], keep: bool) -> Iterator[Text]:
    """The JSON in fences; with `keep`, a text without any fence is one text."""
    around, any_fence = list[Line](), False
    lines = iter(lines)
    for number, data in lines:
        opened = _FENCE.match(data) if data is not None else None
        if opened:
            any_fence = True
            body = _body(lines, opened["fence"], len(opened["indent"]))
            if opened["info"].split(b" ")[0].strip().lower() == b"json":
                inner = list(body)
                yield _joined(inner, True) if inner else Text(number, b"", True)
            else:
                for _ in body:
                    pass
        elif keep and not any_fence:
            around.append((number, data))
    if keep and not any_fence and around:
        yield _joined(around)


def _body(lines: Iterator[Line], fence: bytes, indent: int) -> Iterator[Line]:
    """The lines up to the closing fence, or to the end, less the indent of the opening one."""
    close = re.compile(rb"[ \t>]*" + re.escape(fence[:1]) + b"{%d,}[ \t]*\r?\n?\\Z" % len(fence))
    for number, data in lines:
        if data is None:
            yield number, None
        elif close.match(data):
            return
        else:
            margin = len(data[:indent]) - len(data[:indent].lstrip(b" \t>"))
            yield number, data[margin:]
