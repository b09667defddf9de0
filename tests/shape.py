"""Print the long modules and functions that nobody has looked at yet: `python -m tests.shape`.

The numbers are warnings. A module of 420 lines with one thought is better than two with half of
one: look at a place that is printed, then shorten it or accept it with a reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["ACCEPTED", "FOLDERS", "functions", "long_places", "sources"]

FUNCTION: Final = 40
NINE_OF_TEN: Final = 16
MODULE: Final = 400
FOLDERS: Final = ("codegen", "runtime", "bench", "docs", "tests/support")

ACCEPTED: Final[dict[str, str]] = {
    "codegen/mcp_bindgen/cli/generate.py: command": "the verb's options, a line each",
    "codegen/mcp_bindgen/emit/support/_wire/binding.py: bind": "closures over one table of types",
    "runtime/mcp_runtime/client/client.py: __init__": "the client's options, a line each",
    "runtime/mcp_runtime/server/http/app.py: __init__": "the application's options, a line each",
    "runtime/mcp_runtime/server/server.py: __init__": "the server's options, a line each",
    "tests/support/pair_server.py: _asking": "tools that ask the client, registered in one place",
    "tests/support/pair_server.py: _going_on": "tools that take time, registered in one place",
    "tests/support/task_server.py: _add_tools": "the tools of one server, registered in one place",
}
"""Long places that are one thought: the place as it is printed, and why it stays whole."""


def sources(root: Path, folder: str) -> dict[str, str]:
    """Read the modules below a folder, by their paths from `root`."""
    paths = sorted((root / folder).rglob("*.py"))
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in paths}


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield each function of a module with its lines; the lines of its docstring do not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, _lines(node) - _docstring(node)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    has_one = ast.get_docstring(node, clean=False) is not None
    return _lines(node.body[0]) if has_one else 0


def long_places(root: Path, folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each module over `MODULE` lines and each function over `FUNCTION`, with its length."""
    for folder in folders:
        for path, text in sources(root, folder).items():
            if (count := text.count("\n")) > MODULE:
                yield path, f"{count} lines"
            for name, size in functions(text):
                if size > FUNCTION:
                    yield f"{path}: {name}", f"{size} lines"


def decile(root: Path, folder: str) -> int:
    """Return the length that nine in ten functions below `folder` do not exceed."""
    texts = sources(root, folder).values()
    ranked = sorted(size for text in texts for _, size in functions(text))
    return ranked[len(ranked) * 9 // 10]


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    for place, length in long_places(root, FOLDERS):
        if place not in ACCEPTED:
            print(f"long: {place}, {length}; shorten it, or accept it in tests/shape.py")
    for folder in ("codegen", "runtime"):
        if (size := decile(root, folder)) > NINE_OF_TEN:
            print(f"long: one function in ten below {folder} has more than {size - 1} lines")


if __name__ == "__main__":
    main()
