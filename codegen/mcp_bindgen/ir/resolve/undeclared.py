"""Reports undeclared type names: all of a module at once, each with the closest known name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from mcp_bindgen.errors import SchemaError, SchemaMeaningError
from mcp_bindgen.ir.resolve.scope import Resolving
from mcp_bindgen.source import syntax
from mcp_bindgen.source.text import did_you_mean, printable

__all__ = ["undeclared_error"]

_MOST: Final = 10
"""How many are shown at once."""

_KEYWORDS: Final = ("boolean", "number", "object", "string", "unknown")


def undeclared_error(
    scope: Resolving, ref: syntax.Ref, read: Collection[str], refused: Collection[str]
) -> SchemaError:
    """The error for `ref` and all other names which are neither declared nor TypeScript's.

    Library names in `read` are suggested, those in `refused` are not.
    """
    accepted = frozenset((*scope.declared, *scope.names, *read))
    known = accepted.union(refused)
    unknown = {each.at: each.name for each in (*_refs(tuple(scope.declared.values()), known), ref)}
    names = accepted.union(_KEYWORDS)
    (at, message), *others = [
        (at, f"`{printable(unknown[at])}` is not declared{did_you_mean(unknown[at], names)}")
        for at in sorted(unknown)[:_MOST]
    ]
    remedy = "Declare it in this file, or import it."
    if len(unknown) > _MOST:
        remedy += f" These are {_MOST} of {len(unknown)}."
    return scope.source.error(SchemaMeaningError, at, message, remedy, others)


def _refs(node: Any, known: frozenset[str]) -> Iterator[syntax.Ref]:
    """The references to names not `known`, nor type parameters around them."""
    if params := getattr(node, "params", ()):
        known = known.union(param.name for param in params)
    if isinstance(node, syntax.Mapped):
        known |= {node.param}
    if (
        isinstance(node, syntax.Ref)
        and node.name not in known
        and not (node.module or "." in node.name)
    ):
        yield node
    for child in syntax.children(node):
        yield from _refs(child, known)
