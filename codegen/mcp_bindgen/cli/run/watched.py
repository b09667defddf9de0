"""Sees which files of a server have changed: its folder, and the local modules it has imported."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from traceback import walk_tb
from typing import Final

from mcp_bindgen.cli.run.target import is_ours

__all__ = ["Watched", "failed_files", "imported_files"]

_INSTALLED: Final = ("site-packages", "dist-packages")
_LIBRARIES: Final = tuple(
    os.path.join(sysconfig.get_path(name), "")
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class Watched:
    """The files of one server. A first look at a file is no change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._imported = set[str]()
        self._seen = self._look()

    def add(self, files: Iterable[str]) -> None:
        """Watch these files too."""
        for file in files:
            if file not in self._imported:
                self._imported.add(file)
                self._seen.setdefault(file, _modified(file))

    def changed(self) -> list[str]:
        """Return the paths which were written, made or removed since the last look, sorted."""
        before, self._seen = self._seen, self._look()
        files = sorted({*before, *self._seen})
        return [file for file in files if before.get(file) != self._seen.get(file)]

    def _look(self) -> dict[str, int | None]:
        here = (str(path) for path in self._folder.glob("*.py"))
        return {file: _modified(file) for file in {*here, *self._imported}}


def _modified(file: str) -> int | None:
    """Return when a file was written, in nanoseconds since the epoch; None if it is not there."""
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return None


def imported_files() -> set[str]:
    """Return the absolute paths of the local modules which this process has imported."""
    names = (getattr(module, "__dict__", {}).get("__file__") for module in [*sys.modules.values()])
    return {os.path.abspath(name) for name in names if isinstance(name, str) and _is_local(name)}


def failed_files(error: BaseException) -> set[str]:
    """Return the absolute paths of the local modules in which an import has failed."""
    return {os.path.abspath(name) for name in _places(error) if _is_local(name)}


def _places(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield from (frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__))
        if isinstance(error, SyntaxError) and error.filename:
            yield error.filename
        error = error.__cause__ or error.__context__


def _is_local(name: str) -> bool:
    """Return whether a file is the user's own: no library's, and none of ours."""
    path = os.path.abspath(name)
    is_installed = path.startswith(_LIBRARIES) or any(part in path for part in _INSTALLED)
    return path.endswith(".py") and not is_installed and not is_ours(path)
