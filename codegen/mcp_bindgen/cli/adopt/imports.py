"""Rewrites the imports of `mcp` and `fastmcp` in a module, and leaves every other character alone.

An import statement is found by its place in the syntax tree; only the names of modules in it are
replaced, so comments and the layout stay. The same goes for strings in calls that import or patch
by name, such as `patch("mcp.server.stdio.stdio_server")`.
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
_BY_NAME: Final = frozenset({"patch", "setattr", "delattr", "import_module", "importorskip"})
"""Functions whose first argument may be the dotted name of a module, or of a name in it."""
_DOTTED: Final = re.compile(r"\w+(\.\w+)*")
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


@dataclass(frozen=True, slots=True)
class _String:
    """A string with a dotted name, at its place in the syntax tree."""

    lineno: int
    col_offset: int
    value: str


def adopt(text: str, fault: _Fault) -> Adopted:
    """Rewrite the imports of a module's text, and its names in strings. Raises SyntaxError.

    `fault(module, name)` says why a module, or a name in it, cannot be imported from our packages;
    None if it can. An import with a fault is left as it was.
    """
    # `str.splitlines` would also split at form feeds, which the syntax tree does not count.
    source = StringIO(text, newline="").readlines()
    changed: list[int] = []
    missing: list[Missing] = []
    tree = ast.parse(text)
    nodes = [*_imports(tree), *_strings(tree)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        faults = list(_faults(node, fault))
        missing += faults
        if not faults and _rewrite(source, node):
            changed.append(node.lineno)
    return Adopted("".join(source), tuple(sorted(changed)), tuple(reversed(missing)))


_Fault = Callable[[str, str | None], str | None]


def _faults(node: _Import | _String, fault: _Fault) -> Iterator[Missing]:
    """Yield each name in a node that is missing here."""
    if isinstance(node, _String):
        if (why := _fault_of(node.value, fault)) is not None:
            yield Missing(node.lineno, node.value, why)
        return
    for module, name in names_of(node):
        if (why := fault(module, name)) is not None:
            yield Missing(node.lineno, module if name is None else f"{module}.{name}", why)


def _fault_of(dotted: str, fault: _Fault) -> str | None:
    """Return the reason why a dotted name cannot be used: its longest module lacks the rest."""
    why = fault(dotted, None)
    parts = dotted.split(".")
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:end])
        if why is not None and fault(module, None) is None:
            return fault(module, parts[end])
    return why


_Import = ast.Import | ast.ImportFrom


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """Yield the statements that import one of the packages, those in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            is_original(module) for module, _ in names_of(node)
        ):
            yield node


def _strings(tree: ast.Module) -> Iterator[_String]:
    """Yield the strings with a dotted name of the packages that a call imports or patches."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and node.args and _names_of_call(node.func) & _BY_NAME):
            continue
        first = node.args[0]
        text = first.value if isinstance(first, ast.Constant) else None
        if isinstance(text, str) and _DOTTED.fullmatch(text) and is_original(text):
            yield _String(first.lineno, first.col_offset, text)


def _names_of_call(function: ast.expr) -> set[str]:
    """Return the last two names of a function, as in `mocker.patch.multiple`."""
    names = set[str]()
    while isinstance(function, ast.Attribute) and len(names) < 2:
        names.add(function.attr)
        function = function.value
    return names | ({function.id} if isinstance(function, ast.Name) and len(names) < 2 else set())


def names_of(node: _Import) -> list[tuple[str, str | None]]:
    """Return the module and the name of each import in a statement."""
    if isinstance(node, ast.Import):
        return [(each.name, None) for each in node.names if is_original(each.name)]
    module = node.module if node.level == 0 else None
    return [] if module is None else [(module, each.name) for each in node.names]


def is_original(module: str) -> bool:
    """Return True for a module of one of the packages."""
    return module.partition(".")[0] in PACKAGES


def _rewrite(source: list[str], node: _Import | _String) -> bool:
    """Replace the names of modules in one statement, which may take several lines, or in a string.

    Return False for a string that is written in pieces or with escapes, which stays.
    """
    if isinstance(node, _String):
        at = node.lineno - 1
        head, tail = _cut(source[at], node.col_offset)
        opening, name, rest = tail.partition(node.value)
        if name and not opening.strip("rRuU'\""):
            source[at] = head + opening + PREFIX + name + rest
            return True
        return False
    if isinstance(node, ast.ImportFrom):
        at = node.lineno - 1
        head, tail = _cut(source[at], node.col_offset)
        source[at] = head + _FROM.sub(lambda match: match[1] + PREFIX + match[2], tail, count=1)
        return True
    for each in reversed(node.names):
        if is_original(each.name):
            at = each.lineno - 1
            head, tail = _cut(source[at], each.col_offset)
            source[at] = head + _import_of(each) + tail[len(each.name) :]
    return True


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
