"""`mcp-bindgen trace`: shows or judges recorded messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Final, cast

import click

from mcp_bindgen.cli import COULD_NOT, FINDINGS, OK
from mcp_bindgen.cli.options import open_input
from mcp_bindgen.cli.show import safe, say
from mcp_bindgen.cli.validate import Bindings
from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from mcp_bindgen.validate.messages import Text
from mcp_bindgen.validate.negotiation import Negotiation
from mcp_bindgen.validate.verdicts import Judge, Verdict

__all__ = ["command"]

_OTHER: Final = {"sent": "received", "received": "sent"}
_ARROWS: Final = {"sent": "->", "received": "<-", "forgiven": "!!", "dropped": "xx"}
_WIDEST: Final = 160
_REMEDY: Final = "A line has `direction` and `message`, as `mcp-bindgen call --trace` writes it."


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    at: float
    direction: str
    message: object
    data: bytes


@click.command("trace")
@click.option("--check", is_flag=True, help="Check each message instead of showing it.")
@click.option(
    "--revision",
    metavar="REVISION",
    help=(
        "Check every message by the schema of this revision (default: the one negotiated by "
        "the messages)."
    ),
)
@click.option("--full", is_flag=True, help="Show long messages whole.")
@click.argument("file", metavar="FILE|-")
def command(check: bool, revision: str | None, full: bool, file: str) -> int:
    """Show or check the messages in FILE, written by `--trace` of `run` or `call`.

    The check is exact: a peer's message may be invalid here although the runtime tolerates it. `-`
    is standard input. Exit status 0: shown, or all valid; 1: findings; 2: nothing could be read.
    """
    with open_input(file) as stream:
        lines = _lines(stream)
        code = _judge(lines, revision) if check else _show(lines, full)
    if code == COULD_NOT:
        raise InputError(f"{file}: holds no message", remedy=_REMEDY)
    return code


def _lines(stream: IO[bytes]) -> Iterator[_Line]:
    """The lines of a trace. Raises InputError for an invalid line."""
    number = 0
    while text := stream.readline(4 * MAX_MESSAGE_BYTES):
        number += 1
        try:
            line = json.loads(text)
            message, direction = line.get("message"), line["direction"]
            data = json.dumps(message).encode() if "message" in line else line["text"].encode()
            read = _Line(number, float(line.get("at", 0)), direction, message, data)
            _ARROWS[direction]
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            message = f"line {number} is not a line of a trace"
            raise InputError(message, remedy=_REMEDY) from None
        yield read


def _show(lines: Iterator[_Line], full: bool) -> int:
    count = 0
    for line in lines:
        text = line.data.decode("utf-8", "backslashreplace")
        cut = text if full or len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
        say(safe(f"{line.at:10.3f} {_ARROWS[line.direction]} {cut}"))
        count += 1
    return OK if count else COULD_NOT


class _Judges:
    """A judge for each side's requests in each revision; answers are judged with them."""

    def __init__(self, revision: str | None) -> None:
        import mcp_wire

        known = tuple(mcp_wire.REVISIONS)
        handshakes = [name for name in known if mcp_wire.load(name).ERA == "handshake"]
        self._negotiation = Negotiation(known, handshakes)
        self._revision = revision
        self._judges: dict[tuple[str, str], Judge] = {}

    def judge(self, line: _Line) -> Verdict:
        """Raise InputError where no message before it says which revision is spoken."""
        side, other = line.direction, _OTHER[line.direction]
        spoken = self._negotiation.revision_of(side, other, line.message)
        revision = self._revision or spoken
        if revision is None:
            raise InputError(
                f"line {line.number}: no message up to this one says which revision is spoken",
                remedy="Give it: --revision REVISION.",
            )
        judge = self._of(side if _is_call(line.message) else other, revision)
        return judge.judge(Text(line.number, line.data))

    def _of(self, side: str, revision: str) -> Judge:
        if (side, revision) not in self._judges:
            self._judges[side, revision] = Judge(Bindings(revision))
        return self._judges[side, revision]


def _is_call(message: object) -> bool:
    return isinstance(message, dict) and "method" in cast("Mapping[str, object]", message)


def _judge(lines: Iterator[_Line], revision: str | None) -> int:
    judges = _Judges(revision)
    counts: Counter[bool | None] = Counter()
    for line in lines:
        if line.direction not in _OTHER:
            continue
        verdict = judges.judge(line)
        counts[verdict.valid] += 1
        if verdict.valid is False:
            say(safe(_text(line, verdict)))
    total = counts.total()
    messages = "1 message" if total == 1 else f"{total} messages"
    say(f"{messages}: {counts[True]} valid, {counts[False]} invalid")
    if not counts:
        return COULD_NOT
    return FINDINGS if counts[False] else OK


def _text(line: _Line, verdict: Verdict) -> str:
    fault = verdict.fault
    what = f" {verdict.type}" if verdict.type else ""
    where = f" at {fault.path}: expected {fault.expected}, found {fault.found}" if fault else ""
    return f"{line.number}: {_ARROWS[line.direction]} invalid{what}{where}"
