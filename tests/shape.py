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

FUNCTION: Final = 35
NINE_OF_TEN: Final = 16
MODULE: Final = 400
FOLDERS: Final = ("codegen", "runtime", "bench", "docs", "tests/support")

ACCEPTED: Final[dict[str, str]] = {
    "codegen/mcp_bindgen/cli/call/command.py": "one verb: its options, its words and what it says",
    "codegen/mcp_bindgen/convert/match.py": "one plan, and what is asked and refused of its rows",
    "codegen/mcp_bindgen/ir/decisions/decisions.py": "one table: its rows and their checks",
    "codegen/mcp_bindgen/ir/lower/lower.py": "one class: each kind of type, named as it is lowered",
    "codegen/mcp_bindgen/ir/resolve/resolver.py": "one class, whose methods call each other",
    "runtime/mcp_runtime/client/client.py": "the facade of a client, a method for each request",
    "runtime/mcp_runtime/core/session/server_session.py": "one class: the messages of servers",
    "runtime/mcp_runtime/core/session/session.py": "one class: the messages that both roles have",
    "runtime/mcp_runtime/core/terms/tolerances.py": "the repairs of a message, in their order",
    "runtime/mcp_runtime/extensions/tasks/server.py": "one class: the requests about tasks",
    "runtime/mcp_runtime/server/context.py": "the facade that handlers get, a method for each use",
    "runtime/mcp_runtime/server/decorators.py": "the facade of registration, a decorator each",
    "runtime/mcp_runtime/shared/connection.py": "one class: a session on a wire, and its tasks",
    "runtime/mcp_runtime/stores/sqlite.py": "the tables of one file, each a small class",
    "runtime/mcp_runtime/transports/pipes.py": "one pipe on each kind of event loop and system",
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
    """Yield each function of a module with the lines of its body, without its docstring.

    A signature does not count: an option a line is a list, and no code to follow.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            body = node.body[1:] if has_docstring else node.body
            yield node.name, (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


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
