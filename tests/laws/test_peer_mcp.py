"""The package `mcp` as a peer: where it and we disagree, and what the schema says of that.

It has models of two revisions, and judges the three older ones by the shape of 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from bench.peers import python, ready
from mcp_bindgen.ir.values.accepts import accepts
from tests.support import disputes
from tests.support.disputes import (
    ROUNDS,
    Body,
    Peer,
    Rows,
    cache_hints,
    explained,
    in_schema,
    newer_shape,
    server_info,
)
from tests.support.seeds import seed

COMMAND: Final = str(Path(__file__).with_name("peer_mcp.py"))
"""Runs in the interpreter of the peer's environment."""


def _null_for_absent(body: Body) -> bool:
    return accepts(body.schema, body.type, body.body)


def _coerced(body: Body) -> bool:
    """With one boolean, number or text of another kind the body would be right."""
    return any(accepts(body.schema, body.type, other) for other in _recast(body.body))


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


def _default_constant(body: Body) -> bool:
    """With the `type` of one item the body would be right."""
    names = {c for s in body.schema.structs.values() for f in s.consts if (c := f.const)}
    others = _tagged(body.body, sorted(map(str, names)))
    return any(accepts(body.schema, body.type, other) for other in others)


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


ROWS: Final = Rows(
    accepts=(
        ("null stands for absent: every optional member there is `| None`; the schema has no null",
         _null_for_absent),
        ("`_meta` of a result is any object there; the schema types its serverInfo", server_info),
        ("the properties of a JSON Schema are anything there; the schema types them", in_schema),
        ("`ttlMs` and `cacheScope` are optional there; cacheable results require them",
         cache_hints),
        ("pydantic coerces: true is a number, \"1\" is a number, 1 is true; JSON has kinds",
         _coerced),
        ("a constant has a default there: an item without its `type` is read; it is required",
         _default_constant),
        ("older revisions have the newer shape there: what it made optional, they still require",
         newer_shape),
    ),
    refuses=(
        ("`number` is an int there, or at most a double: the schema says number",
         lambda body: any(e.startswith(("int_", "float_")) for e in body.errors)),
        ("a root's `uri` is parsed as a URL there: `@format` only informs",
         lambda body: "url_parsing" in body.errors),
        ("a task as result is unknown there: `CreateTaskResult` is an arm since 2025-11-25",
         lambda body: "task" in body.body and "missing" in body.errors),
        ("`input_required` closes all other arms there: the schema's others admit any `resultType`",
         lambda body: body.body.get("resultType") == "input_required"),
    ),
)  # fmt: skip

TASKS: Final = {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"} | {
    "notifications/tasks/status"
}
"""Methods of 2025-11-25 that the peer does not have."""


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    if not ready():
        pytest.skip("needs the peer in an environment of its own: make peers")
    with disputes.peer([python(), COMMAND]) as process:
        yield process


@pytest.mark.wide
@pytest.mark.peers
def test_every_row_explains_a_dispute_with_the_peer(peer: Peer) -> None:
    used, unknown = explained(peer, ROWS, 6 * ROUNDS, "rows")
    assert used == ROWS.names()
    assert unknown == TASKS


@pytest.mark.wide
@pytest.mark.peers
def test_every_dispute_with_the_peer_is_explained_by_the_schema(peer: Peer) -> None:
    explained(peer, ROWS, ROUNDS, seed("disputes"))


@pytest.mark.long
@pytest.mark.peers
def test_every_dispute_of_many_is_explained(peer: Peer) -> None:
    explained(peer, ROWS, 20 * ROUNDS, seed("disputes"))
