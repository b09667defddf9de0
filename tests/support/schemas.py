"""Schemas and sides of comparisons, read once in each worker."""

from __future__ import annotations

from functools import cache

from mcp_bindgen import pins
from mcp_bindgen.cli.diff.sides import sides
from mcp_bindgen.compare.report.report import Side
from mcp_bindgen.ir.model import Schema

__all__ = ["pinned", "side_of"]


@cache
def pinned(name: str) -> Schema:
    """The meaning of a pinned revision, or version of an extension (`name@version`)."""
    return pins.load(name)


@cache
def side_of(name: str) -> Side:
    """A pinned revision, or version of an extension, as one side of a comparison."""
    return sides([name])[0]
