"""Reads the imports of modules without running them: who imports whom, in circles and in chains."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

__all__ = [
    "Edges",
    "Import",
    "Module",
    "circles",
    "edges",
    "longest_chain",
    "modules",
    "read_module",
]

Edges: TypeAlias = Mapping[str, frozenset[str]]
"""The modules that each module imports."""

_BY_NAME: Final = frozenset({"__import__", "import_module"})


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name. `from a import b` reads as `a.b`: b may be a module."""

    name: str
    line: int
    lazy: bool  # inside a function
    typing: bool  # under `if TYPE_CHECKING:`
    source: str = ""  # the `a` of `from a import b`

    def within(self, *packages: str) -> bool:
        return any(f"{self.name}.".startswith(f"{package}.") for package in packages)


@dataclass(frozen=True, slots=True)
class Module:
    """`by_name` are the lines with functions that import what a string names.

    `texts` are its strings, those of docstrings left out.
    """

    name: str
    imports: tuple[Import, ...]
    by_name: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")


def read_module(name: str, text: str, *, is_package: bool = False) -> Module:
    package = name.split(".") if is_package else name.split(".")[:-1]
    tree = ast.parse(text)
    imports = tuple(_imports(tree, package, lazy=False, typing=False))
    by_name = tuple(_imports_by_name(tree)) if any(word in text for word in _BY_NAME) else ()
    return Module(name, imports, by_name, tuple(_texts(tree)))


def _imports(node: ast.AST, package: list[str], *, lazy: bool, typing: bool) -> Iterator[Import]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy, typing)
        case ast.ImportFrom():
            parents = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*parents, *filter(None, [node.module])])
            for alias in node.names:
                yield Import(f"{source}.{alias.name}", node.lineno, lazy, typing, source)
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            for guarded in node.body:
                yield from _imports(guarded, package, lazy=lazy, typing=True)
            for other in node.orelse:
                yield from _imports(other, package, lazy=lazy, typing=typing)
        case _:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from _imports(child, package, lazy=lazy or inside, typing=typing)


def _imports_by_name(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in _BY_NAME:
                yield node.lineno
            case _:
                pass


def _texts(tree: ast.AST) -> Iterator[str]:
    alone = set[int]()
    for node in ast.walk(tree):  # a statement comes before the expression in it
        if isinstance(node, ast.Expr):
            alone.add(id(node.value))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


@cache
def modules(top: Path, package: str) -> tuple[Module, ...]:
    """Those of a package in the source root `top`, which are read once in each worker."""
    return tuple(_modules(top, package))


def _modules(top: Path, package: str) -> Iterator[Module]:
    for path in sorted((top / package).rglob("*.py")):
        parts = path.relative_to(top).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        yield read_module(name, path.read_text("utf-8"), is_package=is_package)


def edges(of: Iterable[Module]) -> Edges:
    """Who imports whom of these modules, in functions and for type checkers too.

    An import of a name counts as one of the module that the name is in.
    """
    read = tuple(of)
    known = frozenset(module.name for module in read)
    return {
        module.name: frozenset(
            there
            for each in module.imports
            if (there := _module_of(each.name, known)) and there != module.name
        )
        for module in read
    }


def _module_of(name: str, known: frozenset[str]) -> str:
    """The longest part of a dotted name that is a module; empty for none."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def circles(graph: Edges) -> list[list[str]]:
    """The modules of each circle, sorted: those that reach each other."""
    reached = {name: _reach(graph, name) for name in graph}
    modules = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return [list(circle) for circle in sorted(modules)]


def _reach(graph: Edges, name: str) -> frozenset[str]:
    """All that a module imports, through others too."""
    reached: set[str] = set()
    waiting = [*graph[name]]
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += graph[each]
    return frozenset(reached)


def longest_chain(graph: Edges) -> tuple[str, ...]:
    """Of modules that each import the next; the graph must have no circle."""

    @cache
    def below(name: str) -> tuple[str, ...]:
        return (name, *max((below(each) for each in sorted(graph[name])), key=len, default=()))

    return max((below(name) for name in sorted(graph)), key=len, default=())
