"""The TypeScript SDK as a peer: where its exported schemas and we disagree, and the schema on that.

`@modelcontextprotocol/core` exports one zod schema of each message, for all revisions. What the SDK
further checks inside, by revision, it does not export.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from mcp_bindgen.ir.values.accepts import accepts, fault
from tests.interop import exactness, node
from tests.support import disputes
from tests.support.disputes import (
    ROUNDS,
    Body,
    Peer,
    Rows,
    cache_hints,
    explained,
    in_schema,
    server_info,
)
from tests.support.seeds import seed

pytestmark = pytest.mark.interop

_ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _is_right_with(members: Mapping[str, Any]) -> Callable[[Body], bool]:
    """Whether the body is valid once these members are as given."""
    return lambda body: accepts(body.schema, body.type, {**body.body, **members})


def _is_at(*members: str) -> Callable[[Body], bool]:
    """Whether the fault lies in one of these members, or the body is valid without them."""

    def holds(body: Body) -> bool:
        why = fault(body.schema, body.type, body.body)
        rest = {name: value for name, value in body.body.items() if name not in members}
        is_inside = why is not None and bool(why.path) and why.path[0] in members
        return is_inside or accepts(body.schema, body.type, rest)

    return holds


def _has(*codes: str) -> Callable[[Body], bool]:
    return lambda body: any(error.startswith(codes) for error in body.errors)


def _open_meta(body: Body) -> bool:
    return body.kind != "result" and _is_right_with({"_meta": _ENVELOPE})(body)


def _cache_hints(body: Body) -> bool:
    return cache_hints(body) or _is_right_with({"ttlMs": 0, "cacheScope": "public"})(body)


def _result_type(body: Body) -> bool:
    return body.kind == "result" and _is_right_with({"resultType": "complete"})(body)


def _untitled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _untitled(inner) for key, inner in value.items() if key != "title"}
    return list(map(_untitled, value)) if isinstance(value, list) else value


def _has_special_name(body: Body) -> bool:
    why = fault(body.schema, body.type, body.body)
    return why is not None and "__proto__" in why.path


def _newer_shape(body: Body) -> bool:
    return body.schema.revision < "2026-07-28"


ROWS: Final = Rows(
    accepts=(
        ("`_meta` of a request or notification is open there: 2026-07-28 types and requires it",
         _open_meta),
        ("`_meta` of a result is any object there; the schema types its serverInfo", server_info),
        ("`ttlMs` and `cacheScope` are anything there; cacheable results require them",
         _cache_hints),
        ("`resultType` is anything there; 2026-07-28 requires a text", _result_type),
        ("`content` of a tool's result is empty there where it is absent: it is required",
         _is_right_with({"content": [], "resultType": "complete"})),
        ("the properties of a JSON Schema are anything there; the schema types them", in_schema),
        ("what a multi-round-trip request or result brings is not read there; it is typed",
         _is_at("inputResponses", "requestState", "inputRequests")),
        ("`requestId` of a cancellation is optional there: 2026-07-28 requires it",
         _is_right_with({"requestId": 1})),
        ("`title` of a prompt's argument or reference is not known there: it is text",
         lambda body: accepts(body.schema, body.type, _untitled(body.body))),
        ("a member called `__proto__` is not read there: JSON has no special names",
         _has_special_name),
        ("older revisions have the newest shape there: what it made optional, they still require",
         _newer_shape),
    ),
    refuses=(
        ("`number` is a safe integer there, or at most a double: the schema says number",
         _has("invalid_type:safeint", "too_big:", "too_small:", "invalid_type:number")),
        ("`@format byte` is checked there: the alphabet of base64; `@format` only informs",
         _has("custom:Invalid Base64")),
        ("`lastModified` and the URL of an elicitation are parsed there: `@format` only informs",
         _has("invalid_format:datetime", "invalid_format:url")),
        ("a root has to begin with `file://` there: the schema says text",
         _has("invalid_format:starts_with")),
        ("an empty result is closed to further members there: the schema's is open",
         _has("unrecognized_keys:")),
        ("a task as result is unknown there: `CreateTaskResult` is an arm since 2025-11-25",
         lambda body: "task" in body.body),
        ("`input_required` is read as the plain result there: the schema has an arm for it",
         lambda body: body.body.get("resultType") == "input_required"),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    with disputes.peer(node.command("schemas.cjs")) as process:
        yield process


def test_every_row_explains_a_dispute_with_the_exported_schemas(peer: Peer) -> None:
    used, unknown = explained(peer, ROWS, 6 * ROUNDS, "rows")
    assert used == ROWS.names()
    assert unknown == set()


def test_every_dispute_with_the_exported_schemas_is_explained_by_the_schema(peer: Peer) -> None:
    explained(peer, ROWS, ROUNDS, seed("disputes"))


@pytest.mark.long
def test_every_dispute_of_many_is_explained(peer: Peer) -> None:
    explained(peer, ROWS, 20 * ROUNDS, seed("disputes"))


@pytest.mark.peers
@pytest.mark.parametrize("name", exactness.PEERS)
def test_the_stored_counts_of_a_peer_are_what_is_measured(name: str) -> None:
    """Write them anew with `make exactness`."""
    assert exactness.measured(name) == exactness.counts()[name]
