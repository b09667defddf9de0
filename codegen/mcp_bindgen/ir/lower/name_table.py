"""The Python names of one revision's declarations, shapes and members; types have unique names."""

from __future__ import annotations

from mcp_bindgen.errors import LimitExceeded, SchemaError
from mcp_bindgen.ir import names
from mcp_bindgen.ir.decisions.decisions import Decisions
from mcp_bindgen.ir.resolve.equality import same
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.limits import MAX_INSTANCES
from mcp_bindgen.source import syntax

__all__ = ["NameTable"]


class NameTable:
    """Maps schema names to Python names, and names to anonymous shapes."""

    def __init__(self, resolver: Resolver, revision: str, decisions: Decisions | None) -> None:
        self.python: dict[str, str] = {}
        self.shapes: dict[str, syntax.Inline] = {}
        self._resolver = resolver
        self._revision = revision
        self._decisions = decisions

    def claim(self, name: str, at: int, shape: syntax.Inline | None = None) -> str:
        """Assign a Python name to a declaration or shape; refuse a name in use."""
        if name in self.shapes and shape is not None:
            if same(self.shapes[name], shape, loosely=True):
                return self.python[name]
            raise self.collision(at, name)
        python = self._name_by_row(name) or names.type_name(name)
        if python is None:
            raise self._resolver.error(at, f"`{name}` cannot be a Python class", "Rename it.")
        if python in self.python.values():
            raise self.collision(at, python)
        if shape is not None:
            self.shapes[name] = shape
        self.python[name] = python
        if len(self.python) > MAX_INSTANCES:
            raise self._resolver.source.error(
                LimitExceeded,
                at,
                f"more than {MAX_INSTANCES} types",
                "Split the file, or use fewer generic arguments.",
            )
        return python

    def is_of_another(self, name: str, shape: syntax.Inline) -> bool:
        """Return whether the name belongs to a different anonymous shape."""
        return name in self.shapes and not same(self.shapes[name], shape, loosely=True)

    def of_member(self, owner: str, member: syntax.Member) -> str:
        """The Python name of a member."""
        python = self._name_by_row(f"{owner}.{member.name}") or names.member_name(member.name)
        if python is None:
            raise self._resolver.error(
                member.at,
                f"the member {member.name!r} has no Python name",
                "It needs an ASCII letter.",
            )
        return python

    def collision(self, at: int, name: str) -> SchemaError:
        """The error for two shapes of one name."""
        return self._resolver.error(
            at,
            f"two shapes would be called `{name}`",
            "Name one of them in the schema, or, for a pinned revision, by a [[name]] row.",
        )

    def _name_by_row(self, path: str) -> str | None:
        """The name given by a row to the path."""
        row = self._decisions.get("name", self._revision, path) if self._decisions else None
        return row.values["name"] if row else None
