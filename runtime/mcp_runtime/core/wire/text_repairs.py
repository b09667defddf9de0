"""Repairs of a text which is not JSON, or not a message of JSON-RPC.

Each function returns the text itself if it finds no fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Raw

_MARK: Final = b"\xef\xbb\xbf"
_NULL: Final = b"null"
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_object: Final = msgspec.json.Decoder(dict[str, Raw])
_array: Final = msgspec.json.Decoder(list[Raw])
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
_dump: Final = msgspec.json.Encoder().encode


def without_mark(text: bytes) -> bytes:
    """Remove a byte order mark. Source: RFC 8259, section 8.1."""
    return text.removeprefix(_MARK)


def with_whole_characters(text: bytes) -> bytes:
    """Replace each escaped half of a character (a lone surrogate) by U+FFFD."""
    if rb"\ud" not in text and rb"\uD" not in text:
        return text
    return _ESCAPE.sub(lambda at: rb"\ufffd" if at["half"] else at[0], text)


def without_null_members(text: bytes) -> bytes:
    """Remove null members which mean absence, from a message or each message of a batch.

    They are `params`; `error` beside a result or a method; `result` beside an error or a method;
    `method` beside a result or an error; and the `id` of a notification.
    """
    with suppress(*_UNREADABLE):
        if text[:1] != b"[":
            return _without_nulls(text)
        messages = [bytes(each) for each in _array.decode(text)]
        read = [_without_nulls(each) for each in messages]
        return text if read == messages else b"[%b]" % b",".join(read)
    return text


def _without_nulls(text: bytes) -> bytes:
    """Repair one message as `without_null_members` does."""
    with suppress(*_UNREADABLE):
        members = _object.decode(text)
        absent = {name for name, value in members.items() if _is_null(value)} & _absent(members)
        if absent and len(_names(text)) == len(members):
            return _dump({name: raw for name, raw in members.items() if name not in absent})
    return text


def _names(text: bytes) -> list[str]:
    """Return the names of the top-level members, duplicates included. Raises ValueError."""
    last: list[str] = []

    def keep(pairs: list[tuple[str, object]]) -> None:
        last[:] = [name for name, _ in pairs]

    json.loads(text, object_pairs_hook=keep)
    return last


def _absent(members: Mapping[str, Raw]) -> set[str]:
    """Return the members whose null means absence."""
    given = {name for name, value in members.items() if not _is_null(value)}
    absent = {"params"}
    if given & {"result", "error"}:
        absent |= {"method", "result", "error"} - given
    elif "method" in given:
        absent |= {"result", "error"}
        if bytes(members["method"]).startswith(b'"notifications/'):
            absent.add("id")
    elif "result" in members and "method" not in given:
        absent |= {"method", "error"}  # a result of null stays, and is judged
    return absent


def _is_null(value: Raw) -> bool:
    return len(value) == len(_NULL) and bytes(value) == _NULL


TEXT_REPAIRS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "bom": without_mark,
    "surrogate": with_whole_characters,
    "null": without_null_members,
}
"""Repairs by the name of their tolerance, in the order of their use."""


def repair(text: bytes) -> bytes:
    """Apply every repair to a text."""
    for repair in TEXT_REPAIRS.values():
        text = repair(text)
    return text
