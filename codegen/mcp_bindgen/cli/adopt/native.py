"""Finds each use of `mcp` 1.x and `fastmcp` in a module, with its native form.

A use that means the same natively has the edits that make it so. The others keep a server on
`mcp_runtime.compat`: a native server and one of compat share no functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mcp_bindgen.cli.adopt.edits import Edit, at, rename
from mcp_bindgen.cli.adopt.forms import (
    CONTEXT_FORMS,
    DECORATORS,
    LOGGED,
    NAMES,
    OPTIONS,
    SERVER_FORMS,
    form_of_import,
)
from mcp_bindgen.cli.adopt.imports import is_original, names_of

__all__ = ["Use", "servers_of", "uses"]


_WHOLE: Final = "the Server itself"
_ONE_TEXT: Final = "@server.tool, whose clients read one text instead of one for each item"
_LISTS: Final = frozenset({"list", "List", "Sequence", "Iterable", "tuple", "Tuple"})


@dataclass(frozen=True, slots=True)
class Use:
    """A use of the originals; `edits` make it native, and are None if it has no equal form."""

    line: int
    text: str
    form: str
    edits: tuple[Edit, ...] | None = None


@dataclass(slots=True)
class _Names:
    """Names of a module: local names of the classes, and variables with a server or a context."""

    classes: dict[str, str] = field(default_factory=dict[str, str])
    servers: set[str] = field(default_factory=set[str])
    contexts: set[str] = field(default_factory=set[str])


def servers_of(tree: ast.Module) -> set[str]:
    """Return the variables of a module that hold a server."""
    return _names(tree, frozenset()).servers


def uses(tree: ast.Module, servers: frozenset[str] = frozenset()) -> list[Use]:
    """Return all uses in a module, in order; `servers` are variables with a server elsewhere."""
    return sorted(_Module(tree, servers).uses(), key=lambda use: use.line)


def _names(tree: ast.Module, servers: frozenset[str]) -> _Names:
    names = _Names()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if is_original(node.module or "") and not node.level and alias.name in NAMES:
                    names.classes[alias.asname or alias.name] = alias.name
                elif alias.name in servers:
                    names.servers.add(alias.asname or alias.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if _class_of(node.value, names) == "FastMCP":
                names.servers |= {each.id for each in targets if isinstance(each, ast.Name)}
        elif isinstance(node, ast.arg) and node.annotation is None:
            names.servers |= {node.arg} & servers
        elif isinstance(node, ast.arg) and node.annotation is not None:
            inside = {_named(each, names) for each in ast.walk(node.annotation)}
            names.servers |= {node.arg} if "FastMCP" in inside else set()
            names.contexts |= {node.arg} if "Context" in inside else set()
    return names


def _class_of(value: ast.expr | None, names: _Names) -> str | None:
    return _named(value.func, names) if isinstance(value, ast.Call) else None


def _named(node: ast.AST, names: _Names) -> str | None:
    """Return the class of the originals for which a name stands."""
    return names.classes.get(node.id) if isinstance(node, ast.Name) else None


class _Module:
    """The uses in one module, found from the imports down."""

    def __init__(self, tree: ast.Module, servers: frozenset[str]) -> None:
        self._tree = tree
        self._elsewhere = servers
        self._names = _names(tree, servers)
        self._parents = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        self._is_taken = any(
            isinstance(node, ast.Name) and node.id == "Server" for node in ast.walk(tree)
        )

    def uses(self) -> Iterator[Use]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._of_import(node)
            elif isinstance(node, ast.Name):
                yield from self._of_name(node)
            elif isinstance(node, ast.Attribute) and node.attr in self._elsewhere:
                yield Use(node.lineno, ast.unparse(node), _WHOLE)

    def _of_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[Use]:
        originals = [(module, name) for module, name in names_of(node) if is_original(module)]
        if isinstance(node, ast.ImportFrom) and originals:
            edits = self._import_edits(node)
            if edits is not None:
                yield Use(node.lineno, f"from {node.module}", "from mcp_runtime", edits)
                return
        for module, name in originals:
            if name not in NAMES or self._is_taken:
                text = module if name is None else f"{module}.{name}"
                yield Use(node.lineno, text, form_of_import(module, name))

    def _import_edits(self, node: ast.ImportFrom) -> tuple[Edit, ...] | None:
        """Import the same classes from `mcp_runtime`; None if one of the names is not there."""
        if self._is_taken or any(alias.name not in NAMES for alias in node.names):
            return None
        start = node.col_offset + len("from ")
        end = start + len(node.module or "")
        module = Edit((node.lineno, start), (node.lineno, end), "mcp_runtime")
        renamed = [
            at(each, NAMES[each.name] + (f" as {each.asname}" if each.asname else ""))
            for each in node.names
            if NAMES[each.name] != each.name
        ]
        return (module, *renamed)

    def _of_name(self, node: ast.Name) -> Iterator[Use]:
        parent = self._parents.get(node)
        name = self._names.classes.get(node.id)
        if name is not None:
            yield self._of_class(node, name, parent)
        elif node.id in self._names.servers and isinstance(node.ctx, ast.Load):
            yield self._of_server(node, parent)
        elif node.id in self._names.contexts and isinstance(node.ctx, ast.Load):
            yield self._of_context(node, parent)

    def _of_class(self, node: ast.Name, name: str, parent: ast.AST | None) -> Use:
        edits = (at(node, NAMES[name]),) if node.id == name != NAMES[name] else ()
        if name != "FastMCP" or not isinstance(parent, ast.Call) or parent.func is not node:
            is_whole = not isinstance(parent, ast.Attribute | ast.Subscript)
            return Use(
                node.lineno, node.id, SERVER_FORMS.get(name, name), edits if is_whole else None
            )
        more = _constructor_edits(parent) if self._is_assigned(parent) else None
        made = None if more is None else (*edits, *more)
        return Use(node.lineno, ast.unparse(parent), SERVER_FORMS["FastMCP"], made)

    def _is_assigned(self, call: ast.Call) -> bool:
        """Return True if a call is assigned to variables alone."""
        above = self._parents.get(call)
        targets = above.targets if isinstance(above, ast.Assign) else ()
        return bool(targets) and all(isinstance(each, ast.Name) for each in targets)

    def _of_server(self, node: ast.Name, parent: ast.AST | None) -> Use:
        if not isinstance(parent, ast.Attribute):
            is_passed = isinstance(parent, ast.Call | ast.keyword)
            return Use(node.lineno, node.id, _WHOLE, () if is_passed else None)
        form = SERVER_FORMS.get(parent.attr, "see docs/FROM-MCP.md")
        call = self._parents.get(parent)
        is_called = isinstance(call, ast.Call) and call.func is parent
        edits = _server_edits(parent, call if isinstance(call, ast.Call) and is_called else None)
        if parent.attr == "tool" and self._lists(call if is_called else parent):
            return Use(node.lineno, "a tool that returns a list", _ONE_TEXT)
        text = ast.unparse(call if is_called and call is not None else parent)
        return Use(node.lineno, text, form, edits)

    def _lists(self, decorator: ast.AST | None) -> bool:
        """Return True if the decorated function returns a list."""
        function = None if decorator is None else self._parents.get(decorator)
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not function.returns:
            return False
        names = {each.id for each in ast.walk(function.returns) if isinstance(each, ast.Name)}
        return not names.isdisjoint(_LISTS)

    def _of_context(self, node: ast.Name, parent: ast.AST | None) -> Use:
        if not isinstance(parent, ast.Attribute):
            is_shared = isinstance(parent, ast.Call | ast.keyword | ast.If | ast.IfExp)
            return Use(node.lineno, node.id, "the Context itself", () if is_shared else None)
        form = CONTEXT_FORMS.get(parent.attr, "see docs/FROM-MCP.md")
        above = self._parents.get(parent)
        edits = _context_edits(parent, above)
        return Use(node.lineno, ast.unparse(parent), form, edits)


def _constructor_edits(call: ast.Call) -> list[Edit] | None:
    """Give the server a version, and show clients errors as the originals do."""
    options = {each.arg: each for each in call.keywords}
    given = len(call.args) + ("name" in options)
    if given != 1 or not options.keys() <= OPTIONS:
        return None
    last = call.args[0] if call.args else options["name"].value
    added = "" if "version" in options else ', version="1.0.0"'
    assert last.end_lineno is not None
    assert last.end_col_offset is not None
    place = last.end_lineno, last.end_col_offset
    return [Edit(place, place, f"{added}, show_errors=True")]


def _server_edits(attribute: ast.Attribute, call: ast.Call | None) -> tuple[Edit, ...] | None:
    """Return the edits of a use of a server; None if it has no equal form."""
    name = attribute.attr
    if name in DECORATORS:
        return _decorator_edits(name, call)
    if call is None:
        return None
    options: Mapping[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    if name == "run":
        transports = [*call.args, *(v for k, v in options.items() if k == "transport")]
        rest = options.keys() - {"transport", "show_banner"}
        is_stdio = all(isinstance(t, ast.Constant) and t.value == "stdio" for t in transports)
        return _without_arguments(attribute, call) if is_stdio and not rest else None
    return None


def _without_arguments(attribute: ast.Attribute, call: ast.Call) -> tuple[Edit, ...]:
    assert attribute.end_lineno is not None
    assert attribute.end_col_offset is not None
    assert call.end_lineno is not None
    assert call.end_col_offset is not None
    start = attribute.end_lineno, attribute.end_col_offset
    return (Edit(start, (call.end_lineno, call.end_col_offset), "()"),)


def _decorator_edits(name: str, call: ast.Call | None) -> tuple[Edit, ...] | None:
    if call is None:
        return () if name != "resource" else None
    if not {each.arg for each in call.keywords} <= DECORATORS[name]:
        return None
    if name == "resource":
        return () if len(call.args) == 1 else None
    if len(call.args) > 1:
        return None
    if call.args and isinstance(call.args[0], ast.Constant):
        place = call.args[0].lineno, call.args[0].col_offset
        return (Edit(place, place, "name="),)
    return () if not call.args else None


def _context_edits(attribute: ast.Attribute, above: ast.AST | None) -> tuple[Edit, ...] | None:
    """Return the edits of a use of a context; None if it has no equal form."""
    name = attribute.attr
    if name == "request_id":
        return ()
    if name == "request_context" and isinstance(above, ast.Attribute):
        if above.attr != "lifespan_context":
            return None
        start = rename(attribute, "").start
        return (Edit(start, rename(above, "").end, "lifespan"),)
    if not isinstance(above, ast.Call) or above.func is not attribute:
        return None
    if name in LOGGED:
        return () if len(above.args) == 1 and not above.keywords else None
    if name == "report_progress":
        is_same = {each.arg for each in above.keywords} <= {"progress", "total", "message"}
        return (rename(attribute, "progress"),) if is_same else None
    return None
