"""Copies the bindings and the runtime into a project, as needed, with relative imports.

`mcp_wire` becomes `_mcp.wire` and `mcp_runtime` becomes `_mcp.runtime`. Their imports of each other
stay inside, so the files are the same in every project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias, cast

from mcp_bindgen.errors import TemplateError
from mcp_bindgen.scaffold.answers import COMMON, OWNED, PAGES, TRANSPORTS, Answers

__all__ = ["vendored"]

_HOMES: Final = {"mcp_wire": "wire", "mcp_runtime": "runtime"}
_INSTALL: Final = ("pip install 'mcp-bindgen-runtime[{extra}]'", "pip install '{package}'")
"""The remedy for a missing library in errors: a project has no extras of ours."""

_FROM: Final = re.compile(r"from\s+[\w.]+\s+import\b")
_REGENERATE: Final = ("run `make generate`", "run `mcp-bindgen update`")
_HEADER: Final = "# Written by mcp-bindgen from {}. Do not edit; run `mcp-bindgen update`.\n"
_INIT: Final = '''\
# Written by mcp-bindgen. Do not edit; run `mcp-bindgen update`.
"""The Model Context Protocol: `runtime` speaks it, `wire` has its types."""
'''


@dataclass(frozen=True, slots=True)
class _Module:
    """A module under its old name; `path` is where it stands below `_mcp/`."""

    name: str
    text: str
    path: str

    @property
    def package(self) -> str:
        return self.name if self.path.endswith("__init__.py") else self.name.rpartition(".")[0]


def vendored(
    answers: Answers, wire: Mapping[str, str], runtime: Mapping[str, str]
) -> dict[str, str]:
    """The texts of `_mcp/` by path: all of `wire`, and the modules of `runtime` the transports
    need.

    Raises TemplateError for an import which cannot be made relative.
    """
    ours = _modules("mcp_runtime", runtime)
    files = {"__init__.py": _INIT}
    needed = sorted(_needs(answers, ours))
    for name in needed:
        module = ours[name]
        head = _HEADER.format(f"mcp_{module.path}")
        files[module.path] = head + _relative(module)
    bindings = _modules("mcp_wire", wire)
    for name in bindings.keys() - _unused(bindings, map(ours.__getitem__, needed)):
        module = bindings[name]
        files[module.path] = module.text.replace(*_REGENERATE, 1)
    return dict(sorted(files.items()))


def _unused(bindings: Mapping[str, _Module], runtime: Iterable[_Module]) -> set[str]:
    """The parts of the support which neither bindings nor `runtime` import."""
    modules = (*bindings.values(), *runtime)
    imported = {name for module in modules for name, _ in _imports_of(module)}
    parts = "mcp_wire._wire.", "mcp_wire.convert", "mcp_wire.steps._"
    return {name for name in bindings if name.startswith(parts)} - imported


def _modules(package: str, files: Mapping[str, str]) -> dict[str, _Module]:
    """Modules by name, of texts by path in their package."""
    read: dict[str, _Module] = {}
    for path, text in files.items():
        if path.endswith(".py"):
            dotted = f"{package}/{path}".removesuffix(".py").removesuffix("/__init__")
            name = dotted.replace("/", ".")
            read[name] = _Module(name, text, f"{_HOMES[package]}/{path}")
    return read


def _needs(answers: Answers, modules: Mapping[str, _Module]) -> set[str]:
    """The first modules of the transports, their imports, and the packages around them. Modules of
    other transports are included only if imported at module level.
    """
    others = [owned for other, owned in OWNED.items() if other not in answers.transports]
    barred = tuple(f"mcp_runtime.{start}" for owned in others for start in owned)
    queue = [(name, True) for name in _roots(answers, modules)]
    reached: set[str] = set()
    while queue:
        name, at_once = queue.pop()
        if name in modules and name not in reached and (at_once or not name.startswith(barred)):
            reached.add(name)
            queue += [*_imports_of(modules[name]), (name.rpartition(".")[0], True)]
    return reached


def _roots(answers: Answers, modules: Mapping[str, _Module]) -> Iterator[str]:
    """The modules whose imports decide which modules are copied into a project. Raises
    TemplateError if a module is missing."""
    yield "mcp_runtime"
    added = [root for transport in answers.transports for root in TRANSPORTS[transport]]
    for root in (*COMMON, *added, *((PAGES,) if answers.ui else ())):
        name = f"mcp_runtime.{root}".removesuffix(".*")
        if name not in modules:
            raise TemplateError(f"{name} is not there", remedy="Install mcp-bindgen again.")
        yield name
        if root.endswith(".*"):
            yield from (each for each in modules if each.startswith(f"{name}."))


Import: TypeAlias = ast.Import | ast.ImportFrom

_BLOCKS: Final = ("body", "orelse", "finalbody", "handlers", "cases")


@lru_cache(1024)
def _imports(text: str) -> tuple[tuple[Import, bool], ...]:
    """Every import statement of a text, and whether it runs when the module is imported."""
    imports: list[tuple[Import, bool]] = []
    queue: list[tuple[ast.AST, bool]] = [(ast.parse(text), True)]
    while queue:
        node, at_once = queue.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append((node, at_once))
        inside = at_once and not _is_later(node)
        for block in _BLOCKS:
            inner: object = getattr(node, block, None)
            if isinstance(inner, list):
                queue += [(each, inside) for each in cast("list[ast.AST]", inner)]
    return tuple(imports)


def _is_later(node: ast.AST) -> bool:
    """Return whether a statement's body does not run when the module is imported."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test).endswith("TYPE_CHECKING")
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _imports_of(module: _Module) -> Iterator[tuple[str, bool]]:
    """The absolute names imported by a module, and whether at once; for `from a import b` both `a`
    and `a.b`.
    """
    for node, at_once in _imports(module.text):
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        else:
            parents = module.package.split(".")
            near = parents[: len(parents) - node.level + 1] if node.level else []
            source = ".".join([*near, *filter(None, [node.module])])
            yield source, at_once
            yield from ((f"{source}.{alias.name}", at_once) for alias in node.names)


def _relative(module: _Module) -> str:
    """The text of a module: imports of the two packages are relative, no extra of ours is named."""
    lines = module.text.splitlines(keepends=True)
    for node, _ in _imports(module.text):
        if isinstance(node, ast.Import) and any(_home(alias.name) for alias in node.names):
            lines[node.lineno - 1] = _imported_whole(module, node, lines[node.lineno - 1])
        elif isinstance(node, ast.ImportFrom) and not node.level and _home(node.module or ""):
            source = _way(module, node.module or "")
            before, line = lines[node.lineno - 1][: node.col_offset], lines[node.lineno - 1]
            rest = _FROM.sub(f"from {source} import", line[node.col_offset :], count=1)
            lines[node.lineno - 1] = before + rest
    return "".join(lines).replace(*_INSTALL)


def _imported_whole(module: _Module, node: ast.Import, line: str) -> str:
    """`import mcp_wire` as `from .. import wire as mcp_wire`."""
    alias = node.names[0]
    if len(node.names) > 1 or alias.name not in _HOMES or node.end_lineno != node.lineno:
        raise TemplateError(
            f"{module.path}:{node.lineno}: {line.strip()!r} cannot be made relative",
            remedy="Import names from the module.",
        )
    way = _way(module, alias.name)
    above, _, name = way.rpartition(".")
    start, end = node.col_offset, node.end_col_offset
    said = f"from {above}. import {name} as {alias.asname or alias.name}"
    return line[:start] + said + line[end:]


def _home(name: str) -> str | None:
    return _HOMES.get(name.partition(".")[0])


def _way(module: _Module, target: str) -> str:
    """The relative name of a module, seen from another: dots, then the rest."""
    here, there = _rewrite_imports(module.package), _rewrite_imports(target)
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return "." * (len(here) - common + 1) + ".".join(there[common:])


def _rewrite_imports(name: str) -> list[str]:
    """The steps of a module's name below `_mcp`."""
    package, _, rest = name.partition(".")
    return [_HOMES[package], *filter(None, rest.split("."))]
