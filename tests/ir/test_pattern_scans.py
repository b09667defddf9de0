"""A look ahead that reads on in a loop, from each place of a text, costs a factor of its length."""

from __future__ import annotations

import pytest

from mcp_bindgen.ir.values.pattern_cost import longest
from mcp_bindgen.limits import MAX_PATTERN_CHARS


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(1)+?(?=\w*)+\W$",
        r"^1+(?=\w*)$",
        r"^(?:(?=\w*)1)+$",
        r"^(?:1(?!2*3))*$",
        r"^a*(?<=ba*)c$",
        r"^(?=a)(?:(?=\w*)1)+$",
    ],
)
def test_a_scan_from_each_place_bounds_the_text(pattern: str) -> None:
    most = longest(pattern)
    assert most is not None
    assert most <= (MAX_PATTERN_CHARS[1] or 0)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?=[a-y]*z)b*$",
        r"^(?=[a-z]*1)(?=[a-y]*z)(?!b*c)[a-z]*$",
        r"^1+(?=a)$",
        r"^(?:1(?!23))*$",
        r"^1+$",
    ],
)
def test_a_scan_that_is_made_once_or_of_few_characters_does_not(pattern: str) -> None:
    assert longest(pattern) is None
