"""Another implementation as a peer: on which random bodies do its judgement and ours differ?

A peer is a program that reads lines [kind, sender, method, revision, body] and answers each with a
line: whether it accepts the body (null: it knows no such method), and the kinds of its errors.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from mcp_bindgen.ir.model import Method, Schema, Type, Uni
from mcp_bindgen.ir.values.accepts import accepts, fault
from tests.support.instances import Generator, Seeded
from tests.support.judges import REVISIONS, schema_of

__all__ = [
    "ROUNDS",
    "Body",
    "Peer",
    "Row",
    "Rows",
    "Tally",
    "cache_hints",
    "explained",
    "in_schema",
    "judged",
    "mends",
    "newer_shape",
    "peer",
    "server_info",
    "tally",
]

ROUNDS: Final = 4
"""Valid bodies of each type; `make long` has twenty times as many."""

_SENDERS: Final = {
    "client-to-server": ("client",),
    "server-to-client": ("server",),
    "both": ("client", "server"),
}
_OTHER: Final = {"client": "server", "server": "client"}
_SCHEMAS: Final = frozenset(("requestedSchema", "inputSchema", "outputSchema"))

Peer: TypeAlias = "subprocess.Popen[str]"


@dataclass(frozen=True, slots=True)
class Body:
    """A body, and what the peer and the schema make of it. `verdict` is None without the method."""

    schema: Schema
    method: str
    kind: str
    type: Type
    body: Any
    valid: bool
    verdict: bool | None
    errors: tuple[str, ...]

    def __str__(self) -> str:
        body = json.dumps(self.body)
        why = fault(self.schema, self.type, self.body)
        return f"{self.schema.revision} {self.method} {self.kind}: {body}\n{why} {self.errors}"


Row: TypeAlias = tuple[str, Callable[[Body], bool]]
"""A reason to disagree, and the test of whether it holds for a body."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Why a peer accepts an invalid body, and why it refuses a valid one."""

    accepts: tuple[Row, ...]
    refuses: tuple[Row, ...]

    def why(self, body: Body) -> str | None:
        """The first reason that holds for the body or for the body without nulls at fault."""
        rows = self.accepts if body.verdict else self.refuses
        mended = tuple(mends(body))
        return next((why for why, holds in rows if any(map(holds, mended))), None)

    def names(self) -> set[str]:
        return {why for why, _ in (*self.accepts, *self.refuses)}


@dataclass(slots=True)
class Tally:
    """How many bodies were sent in a revision, and how many were judged wrongly."""

    valid: int = 0
    refused: int = 0
    invalid: int = 0
    accepted: int = 0


@contextmanager
def peer(command: Sequence[str]) -> Iterator[Peer]:
    """Start the program of a peer, and end it by the end of its input."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def judged(peer: Peer, schema: Schema, rounds: int, seed: str) -> Iterator[Body]:
    """Random bodies of every method, each judged by the peer and by the schema."""
    generator = Generator(schema, Seeded(seed))
    for method in schema.methods:
        for kind, by, type in _types(method):
            for body in _instances(generator, type, rounds):
                if isinstance(body, dict):
                    verdict = _asked(peer, [kind, by, method.name, schema.revision, body])
                    valid = accepts(schema, type, body)
                    errors = tuple(verdict["errors"])
                    yield Body(
                        schema, method.name, kind, type, body, valid, verdict["accepts"], errors
                    )


def explained(peer: Peer, rows: Rows, rounds: int, seed: str) -> tuple[set[str], set[str]]:
    """The reasons that were needed, and the methods that the peer does not have.

    Raises AssertionError for a body on which peer and schema differ without a reason.
    """
    used: set[str] = set()
    unknown: set[str] = set()
    for revision in REVISIONS:
        for body in judged(peer, schema_of(revision), rounds, seed):
            if body.verdict is None:
                unknown.add(body.method)
            elif body.verdict != body.valid:
                why = rows.why(body)
                said = "accepted" if body.verdict else "refused"
                assert why is not None, f"seed {seed}: {said}: {body}"
                used.add(why)
    return used, unknown


def tally(peer: Peer, rounds: int, seed: str) -> dict[str, Tally]:
    """Count the bodies of each revision. Methods that the peer does not have are left out."""
    tallies = {revision: Tally() for revision in REVISIONS}
    for revision, counts in tallies.items():
        for body in judged(peer, schema_of(revision), rounds, seed):
            if body.verdict is None:
                continue
            counts.valid += body.valid
            counts.refused += body.valid and not body.verdict
            counts.invalid += not body.valid
            counts.accepted += body.verdict and not body.valid
    return tallies


def _asked(peer: Peer, row: list[Any]) -> Any:
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdin.write(json.dumps(row) + "\n")
    peer.stdin.flush()
    return json.loads(peer.stdout.readline())


def _types(method: Method) -> Iterator[tuple[str, str, Type]]:
    """What travels for a method: its kind, who sends it, its type."""
    for sender in _SENDERS.get(method.direction, ()):
        if method.params is not None:
            yield method.kind, sender, method.params
        if method.result is not None:
            yield "result", _OTHER[sender], method.result


def _instances(generator: Generator, type: Type, rounds: int) -> Iterator[Any]:
    """Valid bodies of each arm, and each broken in three places."""
    for arm in type.arms if isinstance(type, Uni) else (type,):
        for _ in range(rounds):
            name: str = arm.name
            made = generator.valid(name)
            yield made.value
            for _ in range(3):
                site = generator.one(made.sites)
                if ways := generator.ways(site):
                    yield generator.broken(name, made, site, generator.one(ways)).value


# ---- bodies without nulls


def mends(body: Body) -> Iterator[Body]:
    """The body without nulls, as far as they are at fault: a null there hides other reasons."""
    yield replace(body, body=_mended(body))
    yield replace(body, body=_without_nulls(body.body))


def _mended(given: Body) -> Any:
    """The body without the nulls that are seen to be at fault."""
    body = json.loads(json.dumps(given.body))
    for _ in range(50):
        why = fault(given.schema, given.type, body)
        if why is None or not why.path or _at(body, why.path) is not None:
            break
        around = _at(body, why.path[:-1])
        if not isinstance(around, dict) or why.path[-1] not in around:
            break
        del around[why.path[-1]]
    return body


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(v) for key, v in value.items() if v is not None}
    return list(map(_without_nulls, value)) if isinstance(value, list) else value


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else value[step]
    return value


# ---- reasons that several peers have


def newer_shape(body: Body) -> bool:
    return body.schema.revision < "2025-11-25"


def server_info(body: Body) -> bool:
    key = "io.modelcontextprotocol/serverInfo"
    meta = body.body.get("_meta")
    if not isinstance(meta, dict) or key not in meta:
        return False
    rest = {name: value for name, value in meta.items() if name != key}
    return accepts(body.schema, body.type, {**body.body, "_meta": rest})


def in_schema(body: Body) -> bool:
    why = fault(body.schema, body.type, body.body)
    return not _SCHEMAS.isdisjoint(why.path if why else ())


def cache_hints(body: Body) -> bool:
    hints = {"ttlMs": 0, "cacheScope": "public"}
    return accepts(body.schema, body.type, hints | body.body)
