"""How a server is named: by a URL, or by a file or command that starts it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Final

from mcp_bindgen.cli.show import safe
from mcp_bindgen.errors import InputError

__all__ = ["is_script", "is_url", "launched"]

_SCRIPTS: Final[Mapping[str, tuple[str, ...]]] = {
    ".py": (sys.executable,),
    ".pyz": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
}
"""The programs for files which are named without one."""
_REMEDY: Final = "Name a script such as server.py, a command behind `--`, or a URL."


def is_script(file: str) -> bool:
    """Return whether a file has the ending of a script that we know how to start."""
    return PurePath(file).suffix.lower() in _SCRIPTS


def is_url(word: str) -> bool:
    """True for a URL of any scheme, which the client may refuse."""
    return "://" in word


def launched(words: Sequence[str]) -> tuple[str, ...]:
    """Put the program before a script which cannot be executed by itself. Raises InputError."""
    first = words[0]
    launcher = _SCRIPTS.get(PurePath(first).suffix.lower())
    path = Path(first)
    if is_url(first) or launcher is None:
        if len(path.parts) == 1 and path.is_file() and shutil.which(first) is None:
            raise InputError(f"{safe(first)} is a file, and not a program", remedy=_REMEDY)
        return tuple(words)
    if not path.is_file():
        raise InputError(f"there is no file {safe(first)}", remedy=_REMEDY)
    if os.name != "nt" and os.access(path, os.X_OK):
        return str(path.absolute()), *words[1:]
    if len(words) > 1:
        command = safe(shlex.join([PurePath(launcher[0]).name, *words]))
        raise InputError(
            f"{words[1]!r} is neither a tool with arguments nor an option of `call`",
            remedy="Write arguments as name=value; a server with words of its own is a command: "
            f"-- {command} TOOL",
        )
    return *launcher, first
