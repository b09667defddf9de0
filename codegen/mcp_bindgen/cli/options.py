"""Options and arguments that several verbs have."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import AbstractContextManager
from errno import EBADF
from pathlib import Path
from typing import IO, Any, Final

import click

from mcp_bindgen.errors import OutputError

__all__ = ["FOLDER", "STDIN", "imports_option", "open_input", "open_trace"]

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


def open_trace(file: str) -> IO[bytes]:
    """A new trace, which its owner alone may read: it has whatever was said.

    Raises OutputError for a file that holds anything else, such as a server.
    """
    if Path(file).is_file():
        with open(file, "rb") as there:
            if there.read(len(_TRACE)) not in (b"", _TRACE):
                message = f"{file}: holds something other than a trace"
                raise OutputError(message, remedy="Give --trace another file.")
    return open(file, "wb", opener=_private)


def _private(file: str, flags: int) -> int:
    """Opens a file of mode 0600; one that is there already gets that mode, before it is written."""
    descriptor = os.open(file, flags, 0o600)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
    except PermissionError:  # somebody else's, which we may write all the same
        pass
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


_TRACE: Final = b'{"at"'
"""How a trace begins."""
