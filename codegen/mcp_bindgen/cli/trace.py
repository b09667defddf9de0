"""`mcp-bindgen trace`: a recorded wire, to read or to judge."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Final, cast

import click

from mcp_bindgen.cli import COULD_NOT, FINDINGS, OK
from mcp_bindgen.cli.show import safe, say
from mcp_bindgen.cli.validate import Bindings
from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from mcp_bindgen.validate.messages import Text
from mcp_bindgen.validate.verdicts import Judge, Verdict

__all__ = ["command"]

_OTHER: Final = {"sent": "received", "received": "sent"}
_ARROWS: Final = {"sent": "->", "received": "<-", "forgiven": "!!"}
_WIDEST: Final = 160


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    at: float
    direction: str
    message: object
    data: bytes


@click.command("trace")
@click.option("--check", is_flag=True, help="Judge each message by the schema of --revision.")
@click.option(
    "--revision", metavar="REVISION", help="Judge by the schema of this revision (default: none)."
)
@click.argument("file", metavar="FILE|-")
def command(check: bool, revision: str | None, file: str) -> int:
    """Show, or judge, the messages that `--trace` of `run` or `call` wrote to FILE.

    Judging is exact: what the runtime tolerates in messages of a peer is invalid here. `-` is
    standard input. Exit status 0: shown, or all valid; 1: findings; 2: nothing could be read.
    """
    if check and revision is None:
        raise InputError("--check needs a revision", remedy="Give --revision REVISION.")
    with click.open_file(file, "rb") as stream:
        lines = _lines(stream)
        return _judged(lines, Bindings(revision)) if check and revision else _shown(lines)


def _lines(stream: IO[bytes]) -> Iterator[_Line]:
    """Raises InputError for a line that no trace has."""
    number = 0
    while text := stream.readline(4 * MAX_MESSAGE_BYTES):
        number += 1
        try:
            line = json.loads(text)
            message, direction = line.get("message"), line["direction"]
            data = json.dumps(message).encode() if "message" in line else line["text"].encode()
            found = _Line(number, float(line.get("at", 0)), direction, message, data)
            _ARROWS[direction]
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            remedy = (
                "A line has `direction` and `message`, as `mcp-bindgen call --trace` writes it."
            )
            raise InputError(f"line {number} is no line of a trace", remedy=remedy) from None
        yield found


def _shown(lines: Iterator[_Line]) -> int:
    shown = 0
    for line in lines:
        text = line.data.decode("utf-8", "backslashreplace")
        cut = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
        say(safe(f"{line.at:10.3f} {_ARROWS[line.direction]} {cut}"))
        shown += 1
    return OK if shown else COULD_NOT


def _judged(lines: Iterator[_Line], bindings: Bindings) -> int:
    """Each side's answers are known by the other side's requests."""
    judges = {direction: Judge(bindings) for direction in _OTHER}
    counts: Counter[bool | None] = Counter()
    for line in lines:
        if line.direction not in _OTHER:
            continue
        asks = isinstance(line.message, dict) and "method" in cast(
            "Mapping[str, object]", line.message
        )
        judge = judges[line.direction if asks else _OTHER[line.direction]]
        verdict = judge.judge(Text(line.number, line.data))
        counts[verdict.valid] += 1
        if verdict.valid is False:
            say(safe(_told(line, verdict)))
    say(f"{counts.total()} messages: {counts[True]} valid, {counts[False]} invalid")
    if not counts:
        return COULD_NOT
    return FINDINGS if counts[False] else OK


def _told(line: _Line, verdict: Verdict) -> str:
    fault = verdict.fault
    what = f" {verdict.type}" if verdict.type else ""
    where = f" at {fault.path}: expected {fault.expected}, found {fault.found}" if fault else ""
    return f"{line.number}: {_ARROWS[line.direction]} invalid{what}{where}"
