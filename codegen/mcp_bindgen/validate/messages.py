"""Finds the messages in a text: one JSON document, JSON lines, or the fences of Markdown."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, dropwhile, islice
from typing import Final, TypeAlias

from mcp_bindgen.limits import MAX_MESSAGE_BYTES

__all__ = ["Line", "Text", "numbered", "texts"]

Line: TypeAlias = tuple[int, bytes | None]
"""Its number, from 1, and its bytes with the newline; None for a line over MAX_MESSAGE_BYTES."""

_MARKDOWN: Final = (".md", ".mdx", ".markdown")
_LINES: Final = (".jsonl", ".ndjson")
_BOM: Final = b"\xef\xbb\xbf"
_FENCE: Final = re.compile(
    rb"(?P<indent>(?:[ \t>]|[-*+] |\d{1,9}[.)] )*)(?P<fence>`{3,}|~{3,})[ \t]*"
    rb"(?P<info>[^\s`]*)[^`\r\n]*(?:[\r\n]|\Z)"
)
_BEGINS: Final = re.compile(rb"\s*(?:\{\s*(?:[\"}]|\Z)|\[\s*(?:[\[{\]]|\Z))")
_OPENS: Final = (b"{", b"[")
_CLOSES: Final = (b"}", b"]")
_GOES_ON: Final = (b"{", b"[", b",")


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one message, starting at line `line`.

    `data` is None above MAX_MESSAGE_BYTES. `loose` texts may be part of a message, as blocks of
    Markdown often are.
    """

    line: int
    data: bytes | None
    loose: bool = False


class _Held:
    """Lines of one text. Above MAX_MESSAGE_BYTES only their place is kept."""

    __slots__ = ("_size", "lines")

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._size = 0

    def add(self, line: Line) -> None:
        number, data = line
        self._size += MAX_MESSAGE_BYTES + 1 if data is None else len(data)
        if self._size <= MAX_MESSAGE_BYTES:
            self.lines.append(line)
        else:
            self.lines = [(self.lines[0][0] if self.lines else number, None)]

    def text(self, loose: bool = False) -> Text:
        parts = [data for _, data in self.lines if data is not None]
        whole = len(parts) == len(self.lines)
        return Text(self.lines[0][0], b"".join(parts) if whole else None, loose)


def numbered(lines: Iterable[bytes | None]) -> Iterator[Line]:
    return enumerate(lines, 1)


def texts(lines: Iterator[Line], name: str = "") -> Iterator[Text]:
    """The texts of a file called `name`; its form is seen by its suffix, else by its first lines.

    Holds no more than MAX_MESSAGE_BYTES of the file at a time.
    """
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in _MARKDOWN:
        return _blocks(lines)
    if suffix in _LINES:
        return _each(lines)
    return _json(lines) if suffix == ".json" else _any(lines)


# ---- forms


def _any(lines: Iterator[Line]) -> Iterator[Text]:
    """Choose the format: JSON by its first character, Markdown by a fence, JSON lines by a line."""
    held = _Held()
    for line in _from_text(lines):
        rest = chain((line,), lines)
        if _begins(line) and (not held.lines or _is_whole(line)):
            yield from _each(chain(held.lines, rest)) if held.lines else _json(rest)
            return
        if _fence(line):
            yield from _blocks(rest)
            return
        held.add(line)
    if held.lines:
        yield held.text()


def _json(lines: Iterator[Line]) -> Iterator[Text]:
    """Each line is a text if the first line is whole JSON; otherwise split by brackets."""
    lines = _from_text(lines)
    first = next(lines, None)
    if first is None:
        return
    if _is_whole(first):
        yield from _each(chain((first,), lines))
        return
    second = tuple(islice(lines, 1))
    form = _each if second and _is_broken_off(first, second[0]) else _documents
    yield from form(chain((first,), second, lines))


def _each(lines: Iterable[Line]) -> Iterator[Text]:
    for line in lines:
        if _has_text(line):
            yield Text(*line)


def _documents(lines: Iterable[Line], loose: bool = False) -> Iterator[Text]:
    """Split where one line closes and the next opens: no JSON has `}` directly before `{`."""
    held, closed = _Held(), False
    for line in _from_text(lines):
        text = _text_of(line)
        if closed and text.startswith(_OPENS):
            yield held.text(loose)
            held = _Held()
        held.add(line)
        closed = text.endswith(_CLOSES) if text else closed
    if held.lines:
        yield held.text(loose)


def _blocks(lines: Iterator[Line]) -> Iterator[Text]:
    """The JSON in fences; a block without text is a text too."""
    for number, data in lines:
        opened = _fence((number, data))
        if opened is None:
            continue
        body = _body(lines, opened["fence"], len(opened["indent"]))
        if opened["info"].lower() == b"json":
            documents = _documents(body, loose=True)
            yield next(documents, Text(number, b"", loose=True))
            yield from documents
        else:
            deque(body, maxlen=0)


def _body(lines: Iterator[Line], fence: bytes, indent: int) -> Iterator[Line]:
    """The lines up to the closing fence or the end, without the indent of the opening fence."""
    close = re.compile(rb"[ \t>]*" + re.escape(fence[:1]) + b"{%d,}[ \t]*\r?\n?\\Z" % len(fence))
    for number, data in lines:
        if data is None:
            yield number, None
        elif close.match(data):
            return
        else:
            margin = len(data[:indent]) - len(data[:indent].lstrip(b" \t>"))
            yield number, data[margin:]


# ---- lines


def _fence(line: Line) -> re.Match[bytes] | None:
    """Match the opening fence of a block; the first line may begin with a byte order mark."""
    number, data = line
    if data is None:
        return None
    return _FENCE.match(data.removeprefix(_BOM) if number == 1 else data)


def _text_of(line: Line) -> bytes:
    return (line[1] or b"").removeprefix(_BOM).strip()


def _has_text(line: Line) -> bool:
    return line[1] is None or bool(line[1].strip())


def _from_text(lines: Iterable[Line]) -> Iterator[Line]:
    return dropwhile(lambda line: not _has_text(line), lines)


def _begins(line: Line) -> bool:
    """Return whether a message may begin here: an object, or an array of such."""
    return line[1] is None or _BEGINS.match(_text_of(line)) is not None


def _is_broken_off(line: Line, after: Line) -> bool:
    text = _text_of(line)
    ends = text.startswith(_OPENS) and not text.endswith(_GOES_ON)
    return ends and (after[1] is None or after[1].startswith(_OPENS))


def _is_whole(line: Line) -> bool:
    if line[1] is None:
        return True
    try:
        json.loads(line[1])
    except (ValueError, RecursionError):
        return False
    return True
