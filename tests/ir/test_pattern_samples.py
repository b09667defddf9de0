"""Texts that are made of a pattern are texts that it accepts, and making them ends."""

from __future__ import annotations

from itertools import islice

import pytest

from mcp_bindgen.ir.values.pattern_samples import words


@pytest.mark.parametrize(
    ("pattern", "shortest"),
    [
        (r"^video\/[\s\S]*$", "video/"),
        (r"^[a-z0-9.-]+\/[a-z0-9._-]+$", "x/x"),
        (r"^\d{4}-\d{2}-\d{2}$", "0000-00-00"),
        (r"^(?:aa|b)+$", "b"),
        (r"^(?!x)[xy]$", None),
        (r"^(?:(?:a|b)c){40}$", None),
        (f"^{'(?:a|b)' * 40}$", None),
    ],
)
def test_the_first_text_of_a_pattern_is_the_shortest(pattern: str, shortest: str | None) -> None:
    assert next(words(pattern), None) == shortest


def test_each_way_through_a_pattern_gives_a_text_of_its_own() -> None:
    assert list(islice(words(r"^a+|b$"), 3)) == ["a", "b", "aa"]
