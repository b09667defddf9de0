"""Finds the Python files of a project, without those of environments and hidden folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["python_files"]

_SKIPPED: Final = frozenset(
    {"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"}
)


def python_files(folder: Path) -> Iterator[Path]:
    """Yield the .py files below a folder, each folder's in the order of their names."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        yield from (Path(parent, file) for file in sorted(files) if file.endswith(".py"))
