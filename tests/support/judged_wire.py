"""Judges every message of a wire by the models of its revision and by the official schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias

import jsonschema_rs

from mcp_bindgen.cli.validate import Bindings
from mcp_bindgen.validate.messages import Text
from mcp_bindgen.validate.verdicts import Judge, Method
from mcp_runtime.revisions import ALL, revision
from tests.laws.test_official_schema import official

__all__ = ["Wire", "faults", "official_faults"]

Wire: TypeAlias = list[tuple[str, bytes]]
"""Direction, as the client sees it, and message."""
NEWEST: Final = ALL[-1]
ENVELOPES: Final = ("JSONRPCMessage",)
ERRORS: Final = ("JSONRPCErrorResponse", "JSONRPCError")
_OTHER: Final = {"sent": "received", "received": "sent"}


def _probes(wire: Wire) -> set[Any]:
    """The ids of `server/discover`: a message of the newest revision, whatever is agreed then."""
    messages = [json.loads(data) for _, data in wire]
    return {m["id"] for m in messages if _method(m) == "server/discover"}


def _method(message: Any) -> Any:
    return message.get("method") if isinstance(message, dict) else None


def _spoken(wire: Wire, agreed: str) -> Iterator[tuple[int, str, bytes, str]]:
    """Each message with the revision it is in; an error without id is of the newest."""
    probes = _probes(wire)
    for number, (direction, data) in enumerate(wire, 1):
        message = json.loads(data)
        own = direction == "sent" if "method" in message else direction == "received"
        probing = own and message.get("id") in probes and "id" in message
        idless = "error" in message and "id" not in message
        yield number, direction, data, NEWEST if probing or idless else agreed


def faults(wire: Wire, agreed: str) -> Iterator[str]:
    """What our models refuse; nothing is forgiven."""
    judges = {
        (direction, spoken): Judge(_bindings(spoken))
        for direction in _OTHER
        for spoken in {agreed, NEWEST}
    }
    for number, direction, data, spoken in _spoken(wire, agreed):
        asks = _method(json.loads(data)) is not None
        judge = judges[direction if asks else _OTHER[direction], spoken]
        verdict = judge.judge(Text(number, data))
        if not verdict.valid:
            yield f"{direction} {data!r}: {verdict.fault}"


@cache
def _bindings(spoken: str) -> Bindings:
    return Bindings(spoken)


def official_faults(wire: Wire, agreed: str) -> Iterator[str]:
    """What the official schema refuses, of the envelope, the method's message or its result."""
    asked: dict[tuple[str, Any], Method] = {}
    for _, direction, data, spoken in _spoken(wire, agreed):
        message = json.loads(data)
        types = [("$", ENVELOPES, message)]
        if (name := _method(message)) is not None:
            method = revision(spoken).methods[name]
            types.append(("$", (method.message,), message))
            asked[direction, message.get("id")] = method
        elif "result" in message:
            method = asked[_OTHER[direction], message["id"]]
            types.append(("$.result", method.results, message["result"]))
        else:
            types.append(("$", ERRORS, message))
        for place, names, value in types:
            if not _is_one(spoken, names, value):
                yield f"{direction} {data!r}: {place} is no {' or '.join(names)}"


def _is_one(spoken: str, names: Iterable[str], value: Any) -> bool:
    known = [known_judge for name in names if (known_judge := _validator(spoken, name)) is not None]
    assert known, names
    return any(validator.is_valid(value) for validator in known)


@cache
def _validator(spoken: str, name: str) -> Any:
    document = official(spoken)
    key = "$defs" if "$defs" in document else "definitions"
    if name not in document[key]:
        return None
    make = jsonschema_rs.Draft202012Validator if key == "$defs" else jsonschema_rs.Draft7Validator
    return make({"$ref": f"#/{key}/{name}", key: document[key]}, validate_formats=False)
