"""The names of a module's source: those that it lists in `__all__`, and those that it defines."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["defined", "listed"]


def listed(tree: ast.Module) -> list[str] | None:
    """None for a module without `__all__`."""
    lists = [each for each in tree.body if "__all__" in _names(each)]
    return ast.literal_eval(lists[0].value) if lists and isinstance(lists[0], ast.Assign) else None


def defined(tree: ast.Module) -> set[str]:
    """The classes and functions of a module, and what it assigns."""
    return {name for each in tree.body for name in _names(each)}


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    yield from (target.id for target in targets if isinstance(target, ast.Name))
