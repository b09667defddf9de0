"""Imports of a generated module, collected while its code is made."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from mcp_bindgen.emit.text.layout import STEP, WIDTH

__all__ = ["Imports", "homes", "import_order"]

_WIRE: Final = ".."
_SUPPORT: Final = ".._wire"
_FOLDER: Final = Path(__file__).parents[1] / "support" / "_wire"
_FIRST: Final = ("abc", "collections.abc", "typing")
"""Modules of the standard library, before other libraries and before the package's own."""


@cache
def homes() -> Mapping[str, str]:
    """For each public name of `_wire`, the module which defines it."""
    return {
        name: f"{_SUPPORT}.{path.stem}"
        for path in sorted(_FOLDER.glob("*.py"))
        for name in _definitions(ast.parse(path.read_text("utf-8")).body)
        if not name.startswith("_")
    }


def _definitions(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names defined at a module's top level."""
    for node in statements:
        if isinstance(node, ast.If):
            yield from _definitions((*node.body, *node.orelse))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            yield from (target.id for target in targets if isinstance(target, ast.Name))


class Imports:
    """Names by their module; `use` records a name and returns it.

    A name of `.._wire` is imported from the module which defines it. `wire` is the relative name of
    mcp_wire if the module's package lies deeper.
    """

    def __init__(self, wire: str = _WIRE) -> None:
        self._wire = wire
        self._used: set[tuple[str, str]] = set()

    def use(self, module: str, name: str) -> str:
        """Import `name` from `module` and return the name to write in code: `With` for the name
        `Annotated as With`.
        """
        self._used.add((module, name))
        return name.rpartition(" ")[2] if " " in name else name

    def add(self, module: str, names: Iterable[str]) -> None:
        for name in names:
            self.use(module, name)

    @property
    def lines(self) -> list[str]:
        """The import statements, standard library first, groups apart."""
        return self.indented("")

    def indented(self, indent: str) -> list[str]:
        """Like `lines`, inside a block."""
        names: dict[str, set[str]] = {}
        for module, name in self._used:
            names.setdefault(self._home(module, name), set()).add(name)
        groups: dict[int, list[str]] = {}
        for module in sorted(names):
            statement = _statement(indent, module, names[module])
            groups.setdefault(_group(module), [""]).extend(statement)
        return [line for _, lines in sorted(groups.items()) for line in lines][1:]

    def _home(self, module: str, name: str) -> str:
        """The module to import `name` of `module` from."""
        module = homes()[name] if module == _SUPPORT else module
        if module.startswith(_WIRE):
            return self._wire + module.removeprefix(_WIRE)
        return module


def _statement(indent: str, module: str, used: Iterable[str]) -> Iterator[str]:
    """The lines of `from module import names`; a renamed import has its own line."""
    names = sorted(used, key=import_order)
    for name in (name for name in names if " as " in name):
        yield f"{indent}from {module} import {name}"
    plain = [name for name in names if " as " not in name]
    line = f"{indent}from {module} import {', '.join(plain)}"
    if plain and len(line) <= WIDTH:
        yield line
    elif plain:
        yield from (
            f"{indent}from {module} import (",
            *(f"{indent}{STEP}{name}," for name in plain),
            f"{indent})",
        )


def import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _group(module: str) -> int:
    return 2 if module.startswith(".") else 0 if module in _FIRST else 1
