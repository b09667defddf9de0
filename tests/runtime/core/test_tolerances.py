"""What is forgiven to servers, in a result of one kind and in one of several."""

from __future__ import annotations

import pytest

from mcp_runtime.core.tolerances import Tolerances
from mcp_runtime.revisions import DecodeError, revision

NEWEST = revision("2026-07-28")


def test_a_result_of_several_kinds_is_complete_unless_it_says_otherwise() -> None:
    tolerances = Tolerances("client")
    _, result = tolerances.decode(NEWEST, "result", "tools/call", b'{"content":[]}')
    assert (result.result_type, result.content) == ("complete", [])
    assert tolerances.counts == {"resultType": 1}


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
