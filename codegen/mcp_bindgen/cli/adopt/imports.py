"""Rewrites the imports of `mcp` and `fastmcp` in a module, and leaves every other character alone.

An import statement is found by its place in the syntax tree; only the names of modules in it are
replaced, so comments and the layout stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Final

__all__ = ["Adopted", "Missing", "adopt", "is_original", "names_of"]

PREFIX: Final = "mcp_runtime.compat."
PACKAGES: Final = ("mcp", "fastmcp")
_FROM: Final = re.compile(r"(from\s+)([\w.]+)")


@dataclass(frozen=True, slots=True)
class Missing:
    """An import that stays as it was; `why` says what to use instead."""

    line: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """A module with its imports rewritten: the new text, and the lines that need a hand."""

    text: str
    lines: tuple[int, ...]
    """Lines with a rewritten import."""
    missing: tuple[Missing, ...]


def adopt(text: str, fault: Callable[[str, str | None], str | None]) -> Adopted:
    """Rewrite the imports of a module's text. Raises SyntaxError.

    `fault(module, name)` says why a module, or a name in it, cannot be imported from our packages;
    None if it can. An import with a fault is left as it was.
    """
    # `str.splitlines` would also split at form feeds, which the syntax tree does not count.
    source = StringIO(text, newline="").readlines()
    changed: list[int] = []
    missing: list[Missing] = []
    for node in sorted(_imports(ast.parse(text)), key=lambda node: node.lineno, reverse=True):
        faults = [
            Missing(node.lineno, module if name is None else f"{module}.{name}", why)
            for module, name in names_of(node)
            if (why := fault(module, name)) is not None
        ]
        missing += faults
        if not faults:
            _rewrite(source, node)
            changed.append(node.lineno)
    return Adopted("".join(source), tuple(sorted(changed)), tuple(reversed(missing)))


_Import = ast.Import | ast.ImportFrom


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """Yield the statements that import one of the packages, those in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            is_original(module) for module, _ in names_of(node)
        ):
            yield node


def names_of(node: _Import) -> list[tuple[str, str | None]]:
    """Return the module and the name of each import in a statement."""
    if isinstance(node, ast.Import):
        return [(each.name, None) for each in node.names if is_original(each.name)]
    module = node.module if node.level == 0 else None
    return [] if module is None else [(module, each.name) for each in node.names]


def is_original(module: str) -> bool:
    """Return True for a module of one of the packages."""
    return module.partition(".")[0] in PACKAGES


def _rewrite(source: list[str], node: _Import) -> None:
    """Replace the names of modules in one statement, which may take several lines."""
    if isinstance(node, ast.ImportFrom):
        at = node.lineno - 1
        head, tail = _cut(source[at], node.col_offset)
        source[at] = head + _FROM.sub(lambda match: match[1] + PREFIX + match[2], tail, count=1)
        return
    for each in reversed(node.names):
        if is_original(each.name):
            at = each.lineno - 1
            head, tail = _cut(source[at], each.col_offset)
            source[at] = head + _import_of(each) + tail[len(each.name) :]


def _import_of(each: ast.alias) -> str:
    """Return the new import of a module; the code below uses the name of its package."""
    top = each.name.partition(".")[0]
    if each.asname is not None:
        return PREFIX + each.name
    package = f"{PREFIX}{top} as {top}"
    return package if each.name == top else f"{package}, {PREFIX}{each.name}"


def _cut(line: str, offset: int) -> tuple[str, str]:
    """Cut a line at an offset in bytes of UTF-8, as the syntax tree counts."""
    data = line.encode()
    return data[:offset].decode(), data[offset:].decode()
