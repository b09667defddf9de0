"""Options and arguments that several verbs have."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from errno import EBADF
from typing import IO, Final

import click

__all__ = ["STDIN", "imports_option", "open_input"]

STDIN: Final = "-"
"""What stands for standard input where a file may be named."""

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
