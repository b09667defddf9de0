"""Null in place of an optional member that cannot be null is read as absent, in every body."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from mcp_bindgen.ir.model import Ref
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.revisions import ALL, DecodeError, Position, revision
from tests.support.instances import Generator, Seeded
from tests.support.law_messages import wire_schema
from tests.support.valid_instances import Path, Site

SEED = 20261127
DRAWN = 8
"""Instances of each body."""


@cache
def bodies(spoken: str) -> tuple[tuple[Position, str, str], ...]:
    """Each body of a revision: its position, its method and the name of its type."""
    positions: list[tuple[Position, str, str]] = []
    for method in wire_schema(spoken).methods:
        if isinstance(method.params, Ref):
            positions.append(("params", method.name, method.params.name))
        if isinstance(method.result, Ref):
            positions.append(("result", method.name, method.result.name))
    return tuple(positions)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def with_null(value: Any, at: Path) -> Any:
    """A copy with null at a place."""
    if not at:
        return None
    copy = value.copy()
    copy[at[0]] = with_null(value[at[0]], at[1:])
    return copy


def without(value: Any, at: Path) -> Any:
    """A copy without the member at a place."""
    copy = value.copy()
    if len(at) == 1:
        del copy[at[0]]
    else:
        copy[at[0]] = without(value[at[0]], at[1:])
    return copy


def accepts(spoken: str, position: Position, method: str, value: Any) -> bool:
    try:
        revision(spoken).decode(position, method, encoded(value))
    except DecodeError:
        return False
    return True


def optional(sites: Any, value: Any) -> list[Site]:
    """The sites of optional members that an instance has."""
    return [
        each for each in sites if not each.required and each.at and isinstance(each.at[-1], str)
    ]


@pytest.mark.parametrize("spoken", ALL)
def test_one_null_is_read_as_its_absence_wherever_a_type_has_an_optional_member(
    spoken: str,
) -> None:
    generator = Generator(wire_schema(spoken), Seeded(SEED))
    read = kept = 0
    for position, method, name in bodies(spoken):
        for _ in range(DRAWN):
            made = generator.valid(name)
            for site in optional(made.sites, made.value):
                nulled, absent = with_null(made.value, site.at), without(made.value, site.at)
                where = f"seed {SEED}: {method} {position} {site.at} in {encoded(nulled)!r}"
                tolerances = Tolerances("server" if position == "params" else "client")
                if accepts(spoken, position, method, nulled):
                    raw, _ = tolerances.decode(revision(spoken), position, method, encoded(nulled))
                    assert (json.loads(raw), tolerances.counts) == (nulled, {}), where
                    kept += 1
                elif accepts(spoken, position, method, absent) and site.around is None:
                    raw, _ = tolerances.decode(revision(spoken), position, method, encoded(nulled))
                    assert json.loads(raw) == absent, where
                    assert tolerances.counts == {"null": 1}, where
                    read += 1
    assert read > 100, "most members were never tried"


@pytest.mark.parametrize("spoken", ALL)
def test_all_nulls_of_a_body_are_read_at_once(spoken: str) -> None:
    generator = Generator(wire_schema(spoken), Seeded(SEED + 1))
    read = 0
    for position, method, name in bodies(spoken):
        for _ in range(DRAWN):
            made = generator.valid(name)
            nulled = absent = made.value
            for site in optional(made.sites, made.value):
                alone = with_null(made.value, site.at)
                is_read = site.around is None and len(site.at) == 1
                if is_read and not accepts(spoken, position, method, alone):
                    nulled, absent = with_null(nulled, site.at), without(absent, site.at)
            if nulled == made.value:
                continue
            tolerances = Tolerances("client")
            raw, _ = tolerances.decode(revision(spoken), position, method, encoded(nulled))
            assert json.loads(raw) == absent, f"seed {SEED + 1}: {method} {encoded(nulled)!r}"
            assert tolerances.counts == {"null": 1}
            read += 1
    assert read > 20


@pytest.mark.parametrize("spoken", ALL)
@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("tools/list", b'{"tools":null}'),
        ("tools/list", b'{"tools":[{"name":null,"inputSchema":{"type":"object"}}],"more":1'),
        ("prompts/get", b'{"messages":[{"role":null,"content":{"type":"text","text":"a"}}]}'),
    ],
)
def test_a_null_for_what_is_required_is_refused(spoken: str, method: str, body: bytes) -> None:
    tolerances = Tolerances("client")
    with pytest.raises(DecodeError):
        tolerances.decode(revision(spoken), "result", method, body)
    assert not tolerances.counts


def test_null_stays_where_it_says_something() -> None:
    tolerances = Tolerances("client")
    sent = {
        "content": [{"type": "text", "text": "a", "mine": None, "annotations": None}],
        "structuredContent": None,
        "resultType": "complete",
        "_meta": {"a.b/c": None},
    }
    raw, result = tolerances.decode(revision(ALL[-1]), "result", "tools/call", encoded(sent))
    assert result.structured_content is None
    assert json.loads(raw) == {**sent, "content": [{"type": "text", "text": "a", "mine": None}]}
    listed = {"tasks": [], "nextCursor": None}
    spoken = revision("2025-11-25")
    task = {"taskId": "1", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": None}
    listed["tasks"] = [{**task, "statusMessage": None}]
    raw, _ = tolerances.decode(spoken, "result", "tasks/list", encoded(listed))
    assert json.loads(raw) == {"tasks": [task]}


def test_what_the_switch_names_is_refused() -> None:
    body = b'{"tools":[],"nextCursor":null}'
    with pytest.raises(DecodeError, match="nextCursor"):
        Tolerances("client", {"null"}).decode(revision("2025-11-25"), "result", "tools/list", body)


def test_reading_many_nulls_takes_one_pass() -> None:
    """As deep as a body may nest, and as many as fit in some MB: no step per null."""
    spoken = revision("2025-11-25")
    tool = {"name": "t", "description": None, "title": None, "inputSchema": {"type": "object"}}
    many = encoded({"tools": [tool] * 20_000})
    tolerances = Tolerances("client")
    raw, result = tolerances.decode(spoken, "result", "tools/list", many)
    assert (len(result.tools), tolerances.counts) == (20_000, {"null": 1})
    assert b"null" not in raw
