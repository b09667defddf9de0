"""The package `mcp` as a peer: where it and we disagree, and what the schema says of that.

It has models of two revisions, and judges the three older ones by the shape of 2025-11-25.
"""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from bench.peers import python, ready
from mcp_bindgen.ir.model import Method, Schema, Type, Uni
from mcp_bindgen.ir.values.accepts import accepts, fault
from tests.support.instances import Generator, Seeded
from tests.support.judges import REVISIONS, schema_of

ROUNDS: Final = 4
"""Valid bodies of each type; `make long` has twenty times as many."""

_SENDERS: Final = {
    "client-to-server": ("client",),
    "server-to-client": ("server",),
    "both": ("client", "server"),
}
_OTHER: Final = {"client": "server", "server": "client"}


@dataclass(frozen=True, slots=True)
class Dispute:
    """One body about which the peer and we disagree."""

    schema: Schema
    method: str
    kind: str
    type: Type
    body: Any
    errors: tuple[str, ...]

    def __str__(self) -> str:
        body = json.dumps(self.body)
        why = fault(self.schema, self.type, self.body)
        return f"{self.schema.revision} {self.method} {self.kind}: {body}\n{why} {self.errors}"


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(v) for key, v in value.items() if v is not None}
    return list(map(_without_nulls, value)) if isinstance(value, list) else value


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else value[step]
    return value


def _mended(dispute: Dispute) -> Any:
    """The body without the nulls that are seen to be at fault."""
    body = json.loads(json.dumps(dispute.body))
    for _ in range(50):
        why = fault(dispute.schema, dispute.type, body)
        if why is None or not why.path or _at(body, why.path) is not None:
            break
        around = _at(body, why.path[:-1])
        if not isinstance(around, dict) or why.path[-1] not in around:
            break
        del around[why.path[-1]]
    return body


def _mends(dispute: Dispute) -> Iterator[Dispute]:
    """The dispute without nulls, as far as they are at fault: a null there hides other reasons."""
    body = _mended(dispute)
    yield replace(dispute, body=body)
    yield replace(dispute, body=_without_nulls(body))


def _null_for_absent(dispute: Dispute) -> bool:
    return accepts(dispute.schema, dispute.type, dispute.body)


def _coerced(dispute: Dispute) -> bool:
    """With one boolean, number or text of another kind the body would be right."""
    body = dispute.body
    return any(accepts(dispute.schema, dispute.type, other) for other in _recast(body))


def _recast(value: Any) -> Iterator[Any]:
    """`value` with one scalar in it replaced by one of another kind."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: other} for other in _recast(inner))
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from ([*value[:n], other, *value[n + 1 :]] for other in _recast(inner))
    else:
        yield from (0, "", True)


def _default_constant(dispute: Dispute) -> bool:
    """With the `type` of one item the body would be right."""
    names = {c for s in dispute.schema.structs.values() for f in s.consts if (c := f.const)}
    others = _tagged(dispute.body, sorted(map(str, names)))
    return any(accepts(dispute.schema, dispute.type, other) for other in others)


def _tagged(value: Any, names: list[str]) -> Iterator[Any]:
    """`value` with a `type` given to one object in it that has none."""
    if isinstance(value, dict):
        if "type" not in value:
            yield from ({**value, "type": name} for name in names)
        for key, inner in value.items():
            yield from ({**value, key: other} for other in _tagged(inner, names))
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from ([*value[:n], other, *value[n + 1 :]] for other in _tagged(inner, names))


def _newer_shape(dispute: Dispute) -> bool:
    return dispute.schema.revision < "2025-11-25"


def _server_info(dispute: Dispute) -> bool:
    key = "io.modelcontextprotocol/serverInfo"
    meta = dispute.body.get("_meta")
    if not isinstance(meta, dict) or key not in meta:
        return False
    rest = {name: value for name, value in meta.items() if name != key}
    return accepts(dispute.schema, dispute.type, {**dispute.body, "_meta": rest})


def _in_schema(dispute: Dispute) -> bool:
    why = fault(dispute.schema, dispute.type, dispute.body)
    return not _SCHEMAS.isdisjoint(why.path if why else ())


_SCHEMAS: Final = frozenset(("requestedSchema", "inputSchema", "outputSchema"))


def _cache_hints(dispute: Dispute) -> bool:
    hints = {"ttlMs": 0, "cacheScope": "public"}
    return accepts(dispute.schema, dispute.type, hints | dispute.body)


_Row = tuple[str, Callable[[Dispute], bool]]

PEER_ACCEPTS: Final[tuple[_Row, ...]] = (
    ("null stands for absent: every optional member there is `| None`; the schema has no null",
     _null_for_absent),
    ("`_meta` of a result is any object there; the schema types its serverInfo", _server_info),
    ("the properties of a JSON Schema are anything there; the schema types them", _in_schema),
    ("`ttlMs` and `cacheScope` are optional there; cacheable results require them", _cache_hints),
    ("pydantic coerces: true is a number, \"1\" is a number, 1 is true; JSON has kinds", _coerced),
    ("a constant has a default there: an item without its `type` is read; it is required",
     _default_constant),
    ("older revisions have the newer shape there: what it made optional, they still require",
     _newer_shape),
)  # fmt: skip

PEER_REFUSES: Final[tuple[_Row, ...]] = (
    ("`number` is an int there, or at most a double: the schema says number",
     lambda dispute: any(e.startswith(("int_", "float_")) for e in dispute.errors)),
    ("a root's `uri` is parsed as a URL there: `@format` only informs",
     lambda dispute: "url_parsing" in dispute.errors),
    ("a task as result is unknown there: `CreateTaskResult` is an arm since 2025-11-25",
     lambda dispute: "task" in dispute.body and "missing" in dispute.errors),
    ("`input_required` closes all other arms there: the schema's other arms admit any `resultType`",
     lambda dispute: dispute.body.get("resultType") == "input_required"),
)  # fmt: skip


@pytest.fixture(scope="module")
def peer() -> Iterator[subprocess.Popen[str]]:
    if not ready():
        pytest.skip("needs the peer in an environment of its own: make peers")
    program = [python(), str(Path(__file__).with_name("peer_mcp.py"))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        yield run
        assert run.stdin is not None
        run.stdin.close()


def bodies(schema: Schema, method: Method) -> Iterator[tuple[str, str, Type]]:
    """What travels for a method: its kind, who sends it, its type."""
    for sender in _SENDERS.get(method.direction, ()):
        if method.params is not None:
            yield method.kind, sender, method.params
        if method.result is not None:
            yield "result", _OTHER[sender], method.result


def instances(generator: Generator, type: Type, rounds: int) -> Iterator[Any]:
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


def disputes(
    peer: subprocess.Popen[str], schema: Schema, rounds: int, seed: str
) -> Iterator[tuple[bool | None, Dispute]]:
    """The peer's verdict where it is not ours."""
    assert peer.stdin is not None
    assert peer.stdout is not None
    generator = Generator(schema, Seeded(seed))
    for method in schema.methods:
        for kind, by, type in bodies(schema, method):
            for body in instances(generator, type, rounds):
                if not isinstance(body, dict):
                    continue
                row = [kind, by, method.name, schema.revision, body]
                peer.stdin.write(json.dumps(row) + "\n")
                peer.stdin.flush()
                verdict = json.loads(peer.stdout.readline())
                if verdict["accepts"] != accepts(schema, type, body):
                    dispute = Dispute(
                        schema, method.name, kind, type, body, tuple(verdict["errors"])
                    )
                    yield verdict["accepts"], dispute


def explained(peer: subprocess.Popen[str], rounds: int, seed: str) -> tuple[set[str], set[str]]:
    """The rows that were needed, and the methods that the peer does not have."""
    used: set[str] = set()
    unknown: set[str] = set()
    for revision in REVISIONS:
        for verdict, dispute in disputes(peer, schema_of(revision), rounds, seed):
            if verdict is None:
                unknown.add(dispute.method)
                continue
            rows = PEER_ACCEPTS if verdict else PEER_REFUSES
            why = next((why for why, holds in rows if any(map(holds, _mends(dispute)))), None)
            assert why is not None, (
                f"seed {seed}: {'accepted' if verdict else 'refused'}: {dispute}"
            )
            used.add(why)
    return used, unknown


TASKS: Final = {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"} | {
    "notifications/tasks/status"
}
"""Methods of 2025-11-25 that the peer does not have."""


def seed() -> str:
    drawn = str(secrets.randbits(32))
    print(f"seed {drawn}")  # noqa: T201 - pytest shows it with a failure
    return drawn


@pytest.mark.peers
def test_every_row_explains_a_dispute_with_the_peer(peer: subprocess.Popen[str]) -> None:
    used, unknown = explained(peer, 6 * ROUNDS, "rows")
    assert used == {why for why, _ in (*PEER_ACCEPTS, *PEER_REFUSES)}
    assert unknown == TASKS


@pytest.mark.peers
def test_every_dispute_with_the_peer_is_explained_by_the_schema(
    peer: subprocess.Popen[str],
) -> None:
    explained(peer, ROUNDS, seed())


@pytest.mark.long
@pytest.mark.peers
def test_every_dispute_of_many_is_explained(peer: subprocess.Popen[str]) -> None:
    explained(peer, 20 * ROUNDS, seed())
