"""Invalid frames, and the answer that each deserves, found without the code under test."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Literal

from tests.support.session_pair import with_meta

__all__ = ["Deserved", "deserved", "frame", "is_json"]

DIGITS: Final = 5_000
LEVELS: Final = 100_000
MAX_DIGITS: Final = 4_300

PLAIN: Final = (
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
    ("tools/call", {"name": "add", "arguments": {"a": "1"}}),
    ("tools/call", {"name": "nope"}),
    ("resources/list", {"cursor": "x"}),
    ("resources/read", {"uri": "note://x"}),
    ("prompts/get", {"name": "x"}),
    ("logging/setLevel", {"level": "error"}),
    ("server/discover", {}),
    ("nope", {}),
    ("", {}),
)
BODIES: Final = (
    *(b"null", b"true", b"0", b"-0", b"1.5", b"1e999", b"-1e999", b'""', b"[]", b"{}"),
    *(
        b"NaN",
        b"Infinity",
        b"[1,]",
        b"{'a':1}",
        b'"\\ud800"',
        b'"\\u0000"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
    ),
    *(b'{"a":1,"a":2}', b'{"":{"":{}}}', b"[" * 129 + b"]" * 129, b'{"_meta":5}', b'{"_meta":{}}'),
    b'{"_meta":{"progressToken":1.5}}',
    b'{"_meta":{"progressToken":null}}',
    b'{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}',
    b'{"_meta":{"io.modelcontextprotocol/protocolVersion":"\xff"}}',
)
IDS: Final = (
    *(b"null", b"true", b"1.5", b"1.0", b"1e2", b"-0", b"-1", b"[]", b"{}", b'""', b'"\\ud800"'),
    *(b'"\xff"', b'"\\u0000"', b"01", b"9007199254740993", b"18446744073709551616", b"1" * 40),
)
TEXTS: Final = (
    *(
        b"[]",
        b"[[]]",
        b"{}",
        b"null",
        b"5",
        b'"x"',
        b"nonsense",
        b"{",
        b"}",
        b'{"',
        b"\x00",
        b"\xff",
    ),
    *(
        b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}',
        b"[1,",
    ),
)


def _rarely() -> tuple[bytes, ...]:
    return (
        b"1" * DIGITS,
        b"[" * LEVELS + b"]" * LEVELS,
        b'{"a":' * LEVELS + b"1" + b"}" * LEVELS,
        b'"' + b"x" * 200_000 + b'"',
        b'"' + b"\\u00e9" * 20_000 + b'"',
    )


RARE: Final = _rarely()


@dataclass(frozen=True, slots=True)
class Deserved:
    """`answer`: one message with this id; `error`: one without, where that may be; or nothing.

    `any` is for what is no JSON: an error, at most one, with or without an id.
    """

    what: Literal["answer", "error", "nothing", "any"]
    id: Any = None


def frame(random: Random, number: int, spoken: str | None) -> bytes:
    """One line, without its end. Ids differ by `number`, as long as they are read as they are."""
    if random.random() < 0.05:
        return random.choice(TEXTS)
    method, params = random.choice(PLAIN)
    members = {
        b"jsonrpc": b'"2.0"',
        b"id": json.dumps(random.choice((number, -number, f"n{number}", f"é{number}"))).encode(),
        b"method": json.dumps(method).encode(),
        b"params": json.dumps(with_meta(spoken, params)).encode(),
    }
    pairs = _changed(random, list(members.items()))
    text = b"{%b}" % b",".join(b'"%b":%b' % pair for pair in pairs)
    return _hurt(random, text) if random.random() < 0.2 else text


def _changed(random: Random, pairs: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    name = random.choice((b"jsonrpc", b"id", b"method", b"params", b"result", b"error", b"x"))
    body = random.choice(RARE) if random.random() < 0.004 else random.choice(BODIES)
    if name == b"id" and random.random() < 0.7:
        body = random.choice(IDS)
    match random.randrange(6):
        case 0:
            return pairs
        case 1:
            return [pair for pair in pairs if pair[0] != name]
        case 2:
            pairs.insert(random.randrange(len(pairs) + 1), (name, body))
            return pairs
        case 3:
            random.shuffle(pairs)
            return pairs
        case _:
            return [(key, body if key == name else value) for key, value in pairs]


def _hurt(random: Random, text: bytes) -> bytes:
    """A byte changed, left out or put in; or all of it cut off somewhere."""
    at = random.randrange(len(text))
    byte = random.choice(b'{}[]":,\\ \t0e-.\x00\x7f\x80\xff\xc3')
    match random.randrange(4):
        case 0:
            return text[:at] + bytes([byte]) + text[at + 1 :]
        case 1:
            return text[:at] + text[at + 1 :] or b"x"
        case 2:
            return text[:at] + bytes([byte]) + text[at:]
        case _:
            return text[: at + 1]


def deserved(text: bytes) -> Deserved:
    """Of a server, in a revision without batches."""
    try:
        envelope, twice, is_odd = _read(text)
    except (ValueError, RecursionError):
        return Deserved("any") if text.strip(b" \t\r") else Deserved("nothing")
    if not isinstance(envelope, dict):
        return Deserved("any" if is_odd else "error")
    id = envelope.get("id")
    is_answer = ("result" in envelope or "error" in envelope) and "method" not in envelope
    is_fit = (
        envelope.get("jsonrpc") == "2.0" and not twice and isinstance(envelope.get("method"), str)
    )
    if is_answer:
        return Deserved("nothing")
    if isinstance(id, str | int) and not isinstance(id, bool) and not _LONE.search(str(id)):
        return Deserved("answer", id)
    if is_odd:
        return Deserved("any")
    is_told = (
        is_fit and "id" not in envelope and "result" not in envelope and "error" not in envelope
    )
    return Deserved("nothing" if is_told else "error")


def is_json(text: bytes) -> bool:
    try:
        return not _read(text)[-1]
    except (ValueError, RecursionError):
        return False


def _read(text: bytes) -> tuple[Any, bool, bool]:
    """The value, whether a member stands twice in it, and whether it is more than JSON may be."""
    last: list[tuple[str, Any]] = []
    odd: list[str] = [*_LONE_ESCAPE.findall(str(text, "utf-8"))]

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        last[:] = pairs
        return dict(pairs)

    value = json.loads(
        str(text, "utf-8"),
        object_pairs_hook=keep,
        parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else math.inf,
        parse_constant=odd.append,
    )
    twice = isinstance(value, dict) and len(last) != len({name for name, _ in last})
    return value, twice, bool(odd)


_LONE: Final = re.compile("[\ud800-\udfff]")
_LONE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
