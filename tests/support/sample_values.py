"""Values that generated instances are made of: plain and odd texts, names and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from math import floor
from typing import Any, Final, TypeAlias

from mcp_bindgen.ir.model import Limits
from mcp_bindgen.ir.values.pattern_samples import words

__all__ = [
    "FLOATS",
    "INTS",
    "JSON",
    "KEYS",
    "ODD",
    "PLAIN",
    "WRONG",
    "long_text",
    "matching",
    "numbers_within",
    "outside",
]

JSON: TypeAlias = Any

PLAIN: Final = ("", "a", "text", "2.0", "1", "true", "null", "file:///a", "image/png", "x" * 40)
# fmt: off
ODD: Final = (
    "\0", "\x1f\x7f", "\u2028\u2029", "é", "\U0001f600", "\U0010ffff", "\ufeffa", '"\\/\b', "\n",
    "${x}", "[[[[", "{{{{", "\\ud800", "ключ", "a\u0301", "\ufffd", "</script>", " ",
)
KEYS: Final = (
    "a", "", " ", "\0", "__class__", "__dict__", "__init__", "__slots__", "__proto__", "extra_",
    "extra", "type", "type_", "self", "cls", "UNSET", "_meta_", "meta", "model_config",
    "model_extra", "model_fields", "$ref", "a.b", "a b", '"', "'", "ключ", "\U0001f600", "0",
    "[0]", "method_",
    "True", "None", "\\", "/", "\ufeff", "T", "x-y/z",
)
INTS: Final = (
    0, 1, -1, 2, 7, 255, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1,
    10**30, -(10**30), 10**400,
)
FLOATS: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 1e308, -1e308, 5e-324, 2.5e-5, 1e22, 1e16, 9007199254740993.0,
    1.7976931348623157e308,
)
# fmt: on
MATCHING: Final[Mapping[str, tuple[str, ...]]] = {
    r"^https://static\.modelcontextprotocol\.io/schemas/v1/server-card\.schema\.json$": (
        "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    ),
    r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$": ("a/b", "com.example/a_b.c", "-/."),
    r"^(https?://[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$": (
        *("http://a", "https://example.com/mcp", "{host}", "{_a1}/mcp?é"),
    ),
}
"""Texts that match patterns of the schemas, the shortest first; those of others are made."""


def matching(pattern: str) -> tuple[str, ...]:
    """Texts that match a pattern, the shortest first. Raises LookupError if none is found."""
    texts = MATCHING.get(pattern) or tuple(islice(words(pattern), 4))
    if not texts:
        raise LookupError(f"no text is known to match {pattern!r}: give one to MATCHING")
    return texts


def long_text(limits: Limits, length: int) -> str:
    """A text of this length, which matches the pattern unless it is too short for that."""
    start = matching(limits.pattern)[0] if limits.pattern else ""
    return start[:length] + "a" * (length - len(start))


def numbers_within(limits: Limits, values: Iterable[int | float]) -> list[int | float]:
    """The values within the limits; if none is, whole steps from its edges which are."""
    within = [value for value in values if not outside(value, limits)]
    edges = (limits.minimum, limits.exclusive_minimum, limits.maximum, limits.exclusive_maximum)
    step = limits.multiple_of or 1
    near = (floor(edge / step) * step for edge in edges if edge is not None)
    made = (value + by * step for value in near for by in (0, 0.5, -0.5, 1, -1, 2, -2))
    return within or [value for value in made if not outside(value, limits)]


def _is_multiple(value: int | float, step: int | float) -> bool:
    return abs(value) < 10**300 and value % step == 0


def outside(value: int | float, limits: Limits) -> bool:
    """Return whether a number violates one of the limits."""
    low, high = limits.minimum, limits.maximum
    above, below = limits.exclusive_minimum, limits.exclusive_maximum
    return (
        (low is not None and value < low)
        or (high is not None and value > high)
        or (above is not None and value <= above)
        or (below is not None and value >= below)
        or (limits.integer and value != floor(value))
        or (limits.multiple_of is not None and not _is_multiple(value, limits.multiple_of))
    )


WRONG: Final[Mapping[str, tuple[JSON, ...]]] = {
    "null": (None,),
    "boolean": (True, False),
    "number": (0, 1, -1, 0.5, 1.0, 2**64),
    "string": ("", "1", "true", "null", "{}", "a"),
    "array": ([], [1], [["a", 1]], [{}], ["a"]),
    "object": ({}, {"0": "a"}, {"a": {}}),
}
