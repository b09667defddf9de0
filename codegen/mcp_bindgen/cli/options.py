"""Options and arguments that several verbs have."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from errno import EBADF
from pathlib import Path
from typing import IO, Any, Final

import click

__all__ = ["FOLDER", "STDIN", "imports_option", "open_input"]

STDIN: Final = "-"
"""What stands for standard input where a file may be named."""


class _Folder(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if ".." not in path.parts or path.exists():
            return path
        real = os.path.realpath(path)
        return Path(real if path.is_absolute() else os.path.relpath(real))


FOLDER: Final = _Folder(path_type=Path)
"""A folder to write into, which need not exist: in `new/../x` neither `new` nor `x`."""

imports_option = click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="SPECIFIER=FILE|REVISION",
    help="Read what a schema imports from SPECIFIER in this file or revision; repeatable "
    "(default: as the pins say).",
)


def open_input(file: str) -> AbstractContextManager[IO[bytes]]:
    """A file, or standard input, to be read. Raises OSError, also for an input that is closed."""
    if file == STDIN and sys.stdin is None:
        raise OSError(EBADF, "standard input is closed", STDIN)
    return click.open_file(file, "rb")
