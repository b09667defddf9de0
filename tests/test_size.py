"""What `python -m bench size` counts as code."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from bench.size import OURS, OURS_LEFT_OUT, Size, count, sizes

TEXT: Final = '''"""A module."""

# A comment.
import json  # and another


class Reader:
    """A class."""

    limit: int = 1
    """A member."""

    def read(self, text: str) -> object:
        """A method,
        over two lines.
        """
        return json.loads(
            text,
        )
'''


def test_blank_lines_comments_and_docstrings_are_not_counted() -> None:
    assert count(TEXT) == Size(lines=7, statements=5)


@pytest.mark.parametrize(
    ("text", "lines", "statements"),
    [
        ("", 0, 0),
        ("# nothing\n", 0, 0),
        ("x = 1; y = 2\n", 1, 2),
        ('x = """a\nb\nc"""\n', 3, 1),
        ("if a:\n    b()\nelse:\n    c()\n", 4, 3),
        ("1\n", 1, 1),
    ],
)
def test_a_line_and_a_statement_are_counted_apart(text: str, lines: int, statements: int) -> None:
    assert count(text) == Size(lines, statements)


def test_a_file_counts_where_the_closest_folder_says(tmp_path: Path) -> None:
    for name in ("a.py", "a/b/c.py", "a/b/d.py", "a/left_out/e.py", "f.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n", "utf-8")
    parts = {"a": ("a",), "b": ("a/b",), "d": ("a/b/d.py",), "the rest": ("",), "none": ("z",)}
    counted = {name: size.lines for name, size in sizes(tmp_path, parts, ("a/left_out",)).items()}
    assert counted == {"b": 1, "d": 1, "the rest": 2}


def test_each_room_of_the_runtime_is_counted_once(root: Path) -> None:
    folder = root / "runtime" / "mcp_runtime"
    rooms = {path.name for path in folder.iterdir() if path.is_dir() and path.name[0] != "_"}
    named = {place for places in OURS.values() for place in places}
    assert rooms <= named | set(OURS_LEFT_OUT)


def test_what_is_left_out_is_there_or_still_to_come(root: Path) -> None:
    folder = root / "runtime" / "mcp_runtime"
    absent = {place for place in OURS_LEFT_OUT if not (folder / place).exists()}
    assert absent <= {"bridge"}
