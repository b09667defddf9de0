"""A protocol of the resolver, by which its parts call one another without importing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from mcp_bindgen.errors import SchemaError
from mcp_bindgen.source import syntax
from mcp_bindgen.source.text import Source

__all__ = ["Env", "Resolving"]

Env: TypeAlias = Mapping[str, syntax.Type]
"""The resolved value of each type parameter."""


class Resolving(Protocol):
    """The declarations of a module, and the methods of `Resolver` that its parts use."""

    source: Source
    declared: dict[str, syntax.Declaration]
    names: Mapping[str, str]

    def error(self, at: int, message: str, remedy: str) -> SchemaError: ...
    def resolve(self, type: syntax.Type, env: Env = ...) -> syntax.Type: ...
    def bare(self, type: syntax.Type) -> syntax.Type: ...
    def arms(self, type: syntax.Type) -> list[syntax.Type]: ...
    def object_shape(self, type: syntax.Type) -> syntax.Inline | None: ...
    def shape(self, type: syntax.Type, at: int) -> syntax.Inline: ...
    def part(self, type: syntax.Type, at: int, wanted: Callable[[str], bool]) -> syntax.Inline: ...
    def check_weight(self, shape: syntax.Inline) -> syntax.Inline: ...
    def union_of(self, arms: list[syntax.Type], at: int) -> syntax.Type: ...
