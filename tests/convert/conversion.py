"""docs/CONVERSION.md: every message of the protocol's own pages, through every pair of revisions.

`python -m tests.convert.conversion` writes the file, `--check` says whether it is up to date. Both
need ../shared, where those messages are; without it nothing is done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp_bindgen.convert.inherited_params import envelope
from mcp_bindgen.ir.model import Alias, Arr, Bounded, Lit, Map, Prim, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_wire.convert import Context, DecodeError, NotAMessageMatter, Refused, convert
from mcp_wire.steps import STEPS, matters
from tests.support.judges import REVISIONS, SHARED
from tests.support.law_messages import Message, wire_schema

__all__ = ["TOLD", "Example", "Outcome", "examples", "outcome", "text"]

FILE: Final = Path(__file__).parents[2] / "docs" / "CONVERSION.md"

TOLD: Final = Context(
    client_info={"name": "ExampleClient", "version": "1.0.0"}, client_capabilities={}
)

ANSWERED: Final = {
    "basic/transports/streamable-http": "tools/call",
    "basic/utilities/tasks": "tasks/get",
    "basic/versioning": "tools/call",
    "client/sampling": "sampling/createMessage",
    "server/resources": "resources/read",
    "server/tools": "tools/call",
}
"""What the responses of a page answer that stand there without their request."""


@dataclass(frozen=True, slots=True)
class Example:
    """A message, where it stands, and what it is called there."""

    place: str
    name: str
    message: Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """`mark` stands in the table; `why` is the reason of a refusal."""

    mark: str
    why: str = ""
    converted: Any = None


def outcome(message: Message, to: str) -> Outcome:
    """What becomes of a message."""
    try:
        converted = convert(message.value, message.revision, to, method=message.asked, context=TOLD)
    except (Refused, NotAMessageMatter) as error:
        runtime = getattr(error, "handled_by", "")
        return Outcome("refused", f"`{runtime}`: {error.why}" if runtime else error.why)
    except DecodeError as error:
        return Outcome("invalid", f"not of its own schema: {error}")
    if converted.losses:
        return Outcome(f"{len(converted.losses)} lost", "", converted.message)
    return Outcome("=" if converted.message is message.value else "✓", "", converted.message)


# ---- the messages


def examples(revision: str) -> Iterator[Example]:
    """The messages of the pages, then the examples of the schema, each inside of a message."""
    folder = SHARED / "official" / revision
    asked: dict[tuple[str, Any], str] = {}
    for row in json.loads((folder / "messages.json").read_bytes()):
        value, page = row["json"], row["page"]
        if "method" in value and "id" in value:
            asked[page, value["id"]] = value["method"]
        method = value.get("method") or asked.get((page, value.get("id"))) or ANSWERED[page]
        yield Example(f"{page}, {row['heading']}", method, _message(revision, method, value))
    if (file := folder / "examples.json").exists():
        for row in json.loads(file.read_bytes()):
            message = _held(revision, row["type"], row["json"])
            yield Example(f"{row['type']}, {row['name']}", message.method, message)


def _message(revision: str, method: str, value: Any) -> Message:
    position = "params" if "method" in value else "error" if "error" in value else "result"
    return Message(revision, method, position, "jsonrpc" not in value, value)


def _held(revision: str, name: str, value: Any) -> Message:
    """The smallest message that holds a value of a type."""
    schema = wire_schema(revision)
    for method in schema.methods:
        if name in (method.type, f"{method.type.removesuffix('Request')}ResultResponse"):
            return _message(revision, method.name, value)
    if "jsonrpc" in value:
        return _message(revision, "tools/call", value)
    if name.endswith("Error"):
        failed = {"jsonrpc": "2.0", "id": 1, "error": value}
        return _message(revision, "tools/call", failed)
    for method in schema.methods:
        for position in ("params", "result"):
            type = getattr(method, position)
            inner = None if type is None else _around(schema, type, name, value, ())
            if inner is not None:
                return _enveloped(schema, revision, method, position, inner)
    raise LookupError(f"no message of {revision} holds a {name}")


def _enveloped(schema: Schema, revision: str, method: Any, position: str, inner: Any) -> Message:
    bare = method.direction == "input-request"
    struct = envelope(schema, method.kind if position == "params" else "response")
    assert struct is not None
    outer: dict[str, Any] = {} if bare else {"jsonrpc": "2.0", "id": 1}
    if position == "result":
        value = inner if bare else {**outer, "result": inner}
    else:
        if method.kind == "notification":
            outer.pop("id")
        value = {**outer, "method": method.name, "params": inner}
    return Message(revision, method.name, position, bare, value)


def _around(schema: Schema, type: Type, name: str, value: Any, seen: tuple[str, ...]) -> Any:
    """The smallest value of `type` that holds `value` as a value of the type `name`."""
    match type:
        case Ref() if type.name == name:
            return value
        case Ref() if type.name not in seen:
            declaration = schema.types[type.name]
            inside = (*seen, type.name)
            if isinstance(declaration, Alias):
                return _around(schema, declaration.type, name, value, inside)
            return _around_member(schema, declaration, name, value, inside)
        case Arr():
            item = _around(schema, type.of, name, value, seen)
            return None if item is None else [item]
        case Map():
            item = _around(schema, type.of, name, value, seen)
            return None if item is None else {"a": item}
        case Uni():
            values = (_around(schema, arm, name, value, seen) for arm in type.arms)
            return next((held for held in values if held is not None), None)
        case _:
            return None


def _around_member(
    schema: Schema, struct: Struct, name: str, value: Any, seen: tuple[str, ...]
) -> Any:
    for field in struct.fields:
        item = _around(schema, field.type, name, value, seen)
        if item is not None:
            return {**_least(schema, Ref(struct.name)), field.wire: item}
    return None


def _least(schema: Schema, type: Type) -> Any:
    """The smallest value of a type."""
    match type:
        case Ref():
            declaration = schema.types[type.name]
            if isinstance(declaration, Alias):
                return _least(schema, declaration.type)
            return {f.wire: _least(schema, f.type) for f in declaration.fields if f.required}
        case Prim():
            return {"string": "", "number": 0, "boolean": False, "object": {}}.get(type.name)
        case Lit():
            return type.value
        case Uni():
            return _least(schema, arms(schema, type)[0])
        case Bounded():
            return _least(schema, type.of)
        case Map():
            return {}
        case _:
            return []


# ---- the file

_HEAD: Final = """# Conversion

Every JSON message of the protocol's own pages, converted to every other revision, and every example
of its schema inside the smallest message that holds it. Written by `make docs`; `make drift` says
whether it is up to date.

`=` the same object comes back; `✓` converted without loss; `2 lost` converted, with two losses; a
letter: refused, for the reason below the table; `invalid`: the page writes what its schema refuses.
Towards a revision in which every message says what a handshake agreed, a context is given.
"""


def text() -> str:
    """The whole file."""
    lines = [_HEAD, "## What no message says", "", *_matters()]
    for revision in REVISIONS:
        lines += ["", f"## From {revision}", "", *_table(revision)]
    return "\n".join(lines) + "\n"


def _matters() -> Iterator[str]:
    yield "| method | of | to | handled by |"
    yield "| --- | --- | --- | --- |"
    for old, new in STEPS:
        for from_, to in ((old, new), (new, old)):
            for method, refusal in matters(from_, to).items():
                if refusal.runtime:
                    name = f"`{method}`" if method else "batches"
                    yield f"| {name} | {from_} | {to} | `{refusal.runtime}` |"


def _table(revision: str) -> Iterator[str]:
    others = [other for other in REVISIONS if other != revision]
    reasons: dict[str, str] = {}
    yield f"| message | of | {' | '.join(others)} |"
    yield f"| --- | --- |{' --- |' * len(others)}"
    for example in examples(revision):
        cells = [_cell(outcome(example.message, other), reasons) for other in others]
        name = f"`{example.name}` {example.message.position}"
        yield f"| {example.place} | {name} | {' | '.join(cells)} |"
    yield ""
    for why, letter in reasons.items():
        yield f"- **{letter}** {why}"


def _cell(outcome: Outcome, reasons: dict[str, str]) -> str:
    if not outcome.why:
        return outcome.mark
    letter = reasons.setdefault(outcome.why, _letter(len(reasons)))
    return f"invalid ({letter})" if outcome.mark == "invalid" else letter


def _letter(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    first, last = divmod(number, 26)
    return (chr(64 + first) if first else "") + chr(65 + last)


def main(arguments: list[str]) -> int:
    if not SHARED.is_dir():
        return 0
    if arguments == ["--check"]:
        same = FILE.read_text("utf-8") == text()
        if not same:
            print("docs/CONVERSION.md is not what conversion does: run `make docs`")  # noqa: T201 - a command
        return int(not same)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
