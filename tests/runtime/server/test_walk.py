"""One `tools/call` goes through no more modules and calls than it does today."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.walk import Walk, over_http, over_stdio


@pytest.mark.parametrize(("walk", "modules", "calls"), [(over_stdio, 19, 64), (over_http, 25, 77)])
def test_a_call_is_not_walked_further_than_it_was(
    walk: Callable[[], Walk], modules: int, calls: int
) -> None:
    walked = walk()
    assert walked.modules <= modules, sorted({module for module, _ in walked.calls})
    assert len(walked.calls) <= calls, walked.calls
