"""Finds the calls in your code that a change of the server breaks, and says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_bindgen.cli.python_files import python_files
from mcp_bindgen.source.text import printable

if TYPE_CHECKING:
    from mcp_bindgen.compare.judge.verdicts import Finding
    from mcp_bindgen.compare.report.report import Report

__all__ = ["broken_code", "calls_in"]

_MOST_FILES: Final = 5000
_SHOWN: Final = 3
_GONE: Final = "{what} is gone: {calls} fail"
_SENTENCES: Final[Mapping[str, str]] = {
    "MEMBER_ADDED_REQUIRED": "`{member}` is required now: {calls} that leave it out fail",
    "MEMBER_BECAME_REQUIRED": "`{member}` is required now: {calls} that leave it out fail",
    "TOOL_REMOVED": _GONE,
    "PROMPT_REMOVED": _GONE,
    "RESOURCE_REMOVED": _GONE,
    "TEMPLATE_REMOVED": _GONE,
    "TOOL_OUTPUT_REMOVED": "{what} has no output schema any more: {calls} return no typed value",
}
_OTHER: Final = "{path} changed: look at {calls}"


def broken_code(report: Report, methods: Mapping[str, str], folder: Path, name: str) -> list[str]:
    """A sentence for each finding that breaks code on the client called `name`.

    `methods` are the methods of the client by the name of their item in the report.
    """
    calls = calls_in(folder, name)
    lines = [
        _sentence(finding, methods, calls)
        for finding in report.findings
        if (finding.client, finding.bindings) != ("holds", "holds")
    ]
    return list(dict.fromkeys(lines))


def _sentence(finding: Finding, methods: Mapping[str, str], calls: Mapping[str, list[str]]) -> str:
    path = finding.change.path
    item = next(iter(finding.methods), path)
    method = methods.get(item, item)
    places = calls.get(method, [])
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    where = f" in {', '.join(places[:_SHOWN])}{more}" if places else ""
    member = path.rpartition(".")[2]
    said = _SENTENCES.get(finding.rule.id, _OTHER)
    shown = f"calls of {method}{where}"
    return printable(said.format(member=member, calls=shown, what=item, path=path))


def calls_in(folder: Path, name: str) -> dict[str, list[str]]:
    """The places of calls of methods, by method, in the Python files that import `name`."""
    places: dict[str, list[str]] = {}
    for path in _sources(folder, name):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                place = f"{path.relative_to(folder).as_posix()}:{node.lineno}"
                places.setdefault(node.func.attr, []).append(place)
    return places


def _sources(folder: Path, name: str) -> Iterator[Path]:
    """The files that mention the client, without those of the client itself."""
    others = (
        path
        for path in python_files(folder)
        if path.name != f"{name}.py" and not path.is_relative_to(folder / name)
    )
    for path in islice(others, _MOST_FILES):
        if name.encode() in path.read_bytes():
            yield path
