"""What is forgiven to servers, in a result of one kind and in one of several."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mcp_runtime.core.terms.tolerances import Tolerances, names_of_tolerances, strictness
from mcp_runtime.limits import PROBLEMS
from mcp_runtime.revisions import DecodeError, revision

NEWEST = revision("2026-07-28")


def test_a_result_of_several_kinds_is_complete_unless_it_says_otherwise() -> None:
    tolerances = Tolerances("client")
    _, result = tolerances.decode(NEWEST, "result", "tools/call", b'{"content":[]}')
    assert (result.result_type, result.content) == ("complete", [])
    assert tolerances.counts == {"resultType": 1}


def test_null_for_a_required_member_is_absent_where_a_row_forgives_that() -> None:
    body = b'{"tools":[],"resultType":null,"ttlMs":null,"cacheScope":null}'
    tolerances = Tolerances("client")
    _, result = tolerances.decode(NEWEST, "result", "tools/list", body)
    assert (result.result_type, result.ttl_ms, result.cache_scope) == ("complete", 0, "private")
    rows = ("resultType", "ttlMs", "cacheScope")
    assert tolerances.counts == {"null": 3, **dict.fromkeys(rows, 1)}
    for strict in ("null", *rows):
        with pytest.raises(DecodeError):
            Tolerances("client", {strict}).decode(NEWEST, "result", "tools/list", body)


@pytest.mark.parametrize(
    "body", [b"[]", b'{"content":1}', b'{"resultType":"complete"}', b'{"resultType":null}']
)
def test_what_no_row_forgives_is_refused(body: bytes) -> None:
    with pytest.raises(DecodeError):
        Tolerances("client").decode(NEWEST, "result", "tools/call", body)


@pytest.mark.parametrize(
    ("method", "body", "repaired"),
    [
        ("tools/list", b'{"tools":[]}', {"resultType", "ttlMs", "cacheScope"}),
        ("tools/list", b'{"tools":[],"ttlMs":-1.5,"cacheScope":"public"}', {"resultType", "ttlMs"}),
        ("resources/read", b'{"contents":[]}', {"resultType", "ttlMs", "cacheScope"}),
    ],
)
def test_each_repair_is_counted_once_and_seen(method: str, body: bytes, repaired: set[str]) -> None:
    tolerances = Tolerances("client")
    seen: list[str] = []
    tolerances.watch = lambda name, what, is_new: seen.append(name)
    raw, result = tolerances.decode(NEWEST, "result", method, body)
    assert result.ttl_ms == 0
    assert tolerances.counts == dict.fromkeys(repaired, 1)
    assert sorted(seen) == sorted(repaired)
    assert NEWEST.decode("result", method, raw) == result


def test_what_is_refused_in_the_end_is_not_counted() -> None:
    tolerances = Tolerances("client")
    with pytest.raises(DecodeError):
        tolerances.decode(NEWEST, "result", "tools/call", b'{"content":1}')
    assert not tolerances.counts


def test_a_server_repairs_nothing() -> None:
    with pytest.raises(DecodeError):
        Tolerances("server").decode(NEWEST, "result", "tools/call", b'{"content":[]}')


def test_each_tolerance_has_a_name_that_can_be_refused_and_stands_on_its_page(root: Path) -> None:
    page = (root / "docs" / "TOLERANCES.md").read_text("utf-8")
    names = names_of_tolerances()
    assert names >= {"null", "bom", "surrogate", "item", "text_argument", "resultType"}
    shown = re.findall(r"^(?:## |\| )`(\w+)`", page, re.M)
    assert set(shown) == names
    assert strictness(strict=True) == names
    assert strictness(strict=False) == frozenset()
    with pytest.raises(ValueError, match="strict: 'nul' is not one of"):
        strictness(["nul"])


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("null", b'{"content":[],"isError":null,"resultType":"complete"}'),
        ("resultType", b'{"content":[]}'),
        ("item", b'{"content":[{"type":"text","text":""},1],"resultType":"complete"}'),
    ],
)
def test_what_is_strict_is_refused_and_the_rest_is_not(name: str, body: bytes) -> None:
    others = names_of_tolerances() - {name}
    tolerances = Tolerances("client", others)
    tolerances.decode(NEWEST, "result", "tools/call", body)
    assert tolerances.counts == {name: 1}
    with pytest.raises(DecodeError):
        Tolerances("client", {name}).decode(NEWEST, "result", "tools/call", body)


def test_items_are_remembered_up_to_a_limit_and_counted_beyond() -> None:
    tolerances = Tolerances("client")
    seen: list[bool] = []
    tolerances.watch = lambda name, what, is_new: seen.append(is_new)
    tools = [{"name": f"t{i}"} for i in range(PROBLEMS + 50)]
    body = json.dumps({"tools": tools}).encode()
    spoken = revision("2025-11-25")
    for _ in range(2):
        tolerances.decode(spoken, "result", "tools/list", body)
    assert len(tolerances.problems) == PROBLEMS
    assert tolerances.counts == {"item": 2 * len(tools)}
    assert seen.count(True) == PROBLEMS
