"""Functions and modules are short, and each test file has a name of its own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import pytest

MEDIAN: Final = 6
NINE_OF_TEN: Final = 16
LONGEST: Final = 60
MODULE: Final = 400
ROOTS: Final = ("codegen", "runtime")


def functions(text: str) -> Iterator[tuple[str, int]]:
    """The functions of a module, each with its lines, those of its docstring left out."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, _lines(node) - _docstring(node)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    has_one = ast.get_docstring(node, clean=False) is not None
    return _lines(node.body[0]) if has_one else 0


def sources(root: Path, source_root: str) -> dict[str, str]:
    paths = sorted((root / source_root).rglob("*.py"))
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in paths}


@pytest.mark.parametrize("source_root", ROOTS)
def test_functions_are_short(root: Path, source_root: str) -> None:
    sizes = [
        (size, f"{path}: {name}")
        for path, text in sources(root, source_root).items()
        for name, size in functions(text)
    ]
    ranked = sorted(size for size, _ in sizes)
    assert len(ranked) > 1000
    assert median(ranked) <= MEDIAN
    assert ranked[len(ranked) * 9 // 10] <= NINE_OF_TEN
    assert [where for size, where in sizes if size > LONGEST] == []


@pytest.mark.parametrize("source_root", ROOTS)
def test_modules_are_short(root: Path, source_root: str) -> None:
    lines = {path: text.count("\n") for path, text in sources(root, source_root).items()}
    assert len(lines) > 80
    assert {path: count for path, count in lines.items() if count > MODULE} == {}


def test_a_docstring_is_not_counted() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    return 1\n\nasync def g(): ...\n'
    assert dict(functions(text)) == {"f": 2, "g": 1}


def test_no_two_test_files_share_a_name(root: Path) -> None:
    names = Counter(path.name for path in (root / "tests").rglob("test_*.py"))
    assert len(names) > 80
    assert [name for name, count in names.items() if count > 1] == []
