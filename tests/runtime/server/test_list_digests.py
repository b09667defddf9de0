"""Digests of lists, without a revision that has them: the rules behind the conversations that
tests/support/successor_digests.py plays on the day of such a revision.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import pytest

from mcp_runtime.client import cache as of_client
from mcp_runtime.client.cache import Cache
from mcp_runtime.limits import DIGEST_CHARS, Limits
from mcp_runtime.revisions import definition_digest, list_digest
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.list_digests import ListDigests

ONE: Final[dict[str, Any]] = {"name": "one", "inputSchema": {"type": "object"}}
TWO: Final[dict[str, Any]] = {"name": "two", "inputSchema": {"type": "object"}, "_meta": {"a": 1}}


def test_a_list_has_one_digest_in_any_order_and_another_after_any_change() -> None:
    digest = list_digest([ONE, TWO])
    assert digest == list_digest([TWO, dict(reversed(ONE.items()))])
    others: list[list[dict[str, Any]]] = [[], [ONE], [ONE, TWO, TWO]]
    others += [[ONE, {**TWO, "_meta": {"a": 2}}], [TWO, {**ONE, "x": 1}]]
    assert len({digest, *map(list_digest, others)}) == 1 + len(others)
    assert definition_digest(TWO) == definition_digest({**TWO, "_meta": {}})


def test_a_server_names_the_lists_whose_digest_is_another_one() -> None:
    tools = [t.from_wire(t.Tool, ONE)]
    asked: list[str] = []

    def lister(method: str) -> Any:
        def listed(ctx: Any) -> list[Any]:
            asked.append(method)
            return list(tools) if method == "tools/list" else []

        return listed

    digests = ListDigests({method: lister(method) for method in ("tools/list", "prompts/list")})
    context: Any = SimpleNamespace()
    now = digests.digest("tools/list", context)
    assert now == list_digest([ONE])
    known = {"tools/list": now, "prompts/list": "x", "skills/list": "x"}
    assert digests.stale(known, context) == ["prompts/list"]
    assert digests.stale({"tools/list": 1, "prompts/list": None}, context) == []
    tools.append(t.from_wire(t.Tool, TWO))
    assert digests.stale(known, context) == ["tools/list", "prompts/list"]
    assert digests.digest("tools/list", context) == list_digest([ONE, TWO])


def a_page(digest: str, ttl_ms: int = 1000) -> Any:
    return SimpleNamespace(digest=digest, ttl_ms=ttl_ms)


def test_pages_of_one_digest_are_fresh_together_and_others_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(of_client, "latest", SimpleNamespace(encode=repr))
    cache, first, second = Cache(Limits()), a_page("a"), a_page("a")
    cache.put("tools/list", None, first, now=0)
    cache.put("tools/list", "2", second, now=0.5)
    assert cache.digests == {"tools/list": "a"}
    assert cache.get("tools/list", None, now=1.4) is first
    assert cache.get("tools/list", "2", now=1.6) is None
    cache.put("tools/list", None, first, now=1.6)
    assert cache.get("tools/list", "2", now=2.5) is second
    cache.put("tools/list", None, a_page("b"), now=2.5)
    assert cache.get("tools/list", "2", now=2.5) is None
    assert cache.digests == {"tools/list": "b"}
    before = cache.changes("tools/list")
    cache.drop_lists(["tools/list", "skills/list", 3])
    assert (cache.digests, cache.get("tools/list", None, now=2.5)) == ({}, None)
    assert cache.changes("tools/list") == before + 1


def test_a_client_repeats_digests_of_stale_answers_but_no_long_ones() -> None:
    cache = Cache(Limits())
    cache.put("prompts/list", None, a_page("a" * DIGEST_CHARS, ttl_ms=0), now=0)
    assert cache.digests == {"prompts/list": "a" * DIGEST_CHARS}
    cache.put("prompts/list", None, a_page("a" * (DIGEST_CHARS + 1), ttl_ms=0), now=0)
    assert cache.digests == {}
    cache.put("prompts/list", None, a_page("b", ttl_ms=0), now=0)
    cache.clear()
    assert cache.digests == {}
    without = Cache(Limits(), keeps=False)
    without.put("prompts/list", None, a_page("a"), now=0)
    assert without.digests == {}
