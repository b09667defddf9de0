"""No pattern that a schema may have takes `re` long, on the longest text that it is tried on."""

from __future__ import annotations

import time
from random import Random
from typing import Final

import pytest

from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Bounded, Limits, Schema
from mcp_bindgen.ir.values.pattern_cost import longest, timely
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.limits import MAX_PATTERN_CHARS
from mcp_wire._wire.bounds import matches
from tests.support.seeds import seed

LINEAR: Final = [
    r"^[a-z]+$",
    r"a.c",
    r"^\d{4}-\d{2}$",
    r"^[a-z]+(?:\/[a-z]+)*$",
    r"^(?:[a-z0-9]|-)*$",
    r"^(?:[a-z]+\.)+$",
    r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$",
]
ONCE_MORE: Final = [
    r"[a-z]+$",
    r"^[^@]+@[^@]+\.[^@]+$",
    r"^(\/[a-z]+)*\/x$",
    r"^a|b+c$",
    r"^(?=.*a)b$",
]
ENDLESS: Final = [
    r"^(a+)+$",
    r"^(a*)*$",
    r"^(a|a)*$",
    r"^(?:ab|ac)*$",
    r"(a?){50}a{50}",
    r"^(x+x+)+y",
    r"^(.*a){9}",
    r"^(a|aa)+$",
    r"^.*a.*b.*c.*d$",
    r"^(a)(?:\1|a)*$",
]


def test_a_pattern_that_leads_to_one_place_is_tried_on_any_text() -> None:
    assert [longest(pattern) for pattern in LINEAR] == [None] * len(LINEAR)


def test_a_pattern_that_may_try_again_is_tried_on_short_texts() -> None:
    assert [longest(p) for p in ONCE_MORE] == [MAX_PATTERN_CHARS[1]] * len(ONCE_MORE)
    assert longest(r"^.*a.*b.*$") == MAX_PATTERN_CHARS[2]


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_may_take_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"repeats|again"):
        longest(pattern)


def test_a_bound_of_the_schema_stays_if_it_is_tighter() -> None:
    assert timely(Limits(pattern="a+$")) == Limits(pattern="a+$", max_length=MAX_PATTERN_CHARS[1])
    for least in (0, 7):
        limits = Limits(pattern="a+$", max_length=least)
        assert timely(limits) == limits


def test_a_text_over_the_limit_is_refused_by_the_models() -> None:
    schema: Schema = load(b"export interface Root { v: `${string}/${string}` }", "a.ts", "1")
    (field,) = schema.structs["Root"].fields
    assert isinstance(field.type, Bounded)
    assert field.type.limits.max_length == MAX_PATTERN_CHARS[1]


PIECES: Final = (
    "a",
    "b",
    "[ab]",
    ".",
    "a*",
    "b+",
    "[ab]*",
    "(a",
    "(?:b",
    ")",
    ")*",
    ")+",
    "|",
    "a?",
)


def test_what_is_not_refused_ends_soon() -> None:
    """Random patterns on texts that they nearly match, the longest that they are tried on."""
    dice, tried = Random(seed("patterns")), 0
    while tried < 400:
        pattern = "^" + "".join(dice.choices(PIECES, k=dice.randint(2, 9))) + "c$"
        try:
            code = python_pattern(pattern)
            most = longest(pattern) or 20_000
        except ValueError:
            continue
        tried += 1
        for text in ("a" * 26, ("ab" * 13), "a" * most, ("ab" * most)[:most]):
            before = time.process_time()
            matches(code, text)
            assert time.process_time() - before < 2, (pattern, len(text))
