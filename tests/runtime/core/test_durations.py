"""Milliseconds of a peer become seconds, whatever number they are."""

from __future__ import annotations

import math

import pytest

from mcp_runtime.client.cache import Cache
from mcp_runtime.core.terms.durations import in_seconds
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [(1500, 1.5), (0.5, 0.0005), (-2000, -2.0), (0, 0.0), (10**300, 10.0**297)],
)
def test_a_number_is_divided(milliseconds: float, seconds: float) -> None:
    assert in_seconds(milliseconds) == seconds


@pytest.mark.parametrize("value", [10**400, -(10**400), math.nan, math.inf, True, "1", None])
def test_what_is_no_finite_number_is_none(value: object) -> None:
    assert in_seconds(value) is None


def test_a_result_whose_ttl_has_400_digits_is_not_cached() -> None:
    cache = Cache(Limits(cached=2))
    for ttl, is_kept in ((10**400, False), (1000, True)):
        page = t.ListToolsResult(
            tools=[], ttl_ms=ttl, cache_scope="private", result_type="complete"
        )
        cache.put("tools/list", None, page, 0.0)
        assert (cache.get("tools/list", None, 0.5) is page) == is_kept
