"""What a server prints, whatever characters its console has."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from typing import cast


@contextmanager
def printable_output(*, line_buffering: bool | None = None) -> Generator[None]:
    """Prints characters that standard output has not as escapes, instead of raising.

    The console of Windows, and a pipe there, has few: a tool that prints a check mark would fail.
    With `line_buffering` printed lines appear at once.
    """
    with ExitStack() as stack:
        for stream in (sys.stdout, sys.__stdout__, sys.stderr, sys.__stderr__):
            if isinstance(stream, TextIOWrapper) and not stream.closed:
                text = cast("TextIOWrapper", stream)
                stack.enter_context(_reconfigured(text, line_buffering))
        yield


@contextmanager
def _reconfigured(stream: TextIOWrapper, line_buffering: bool | None) -> Generator[None]:
    errors, buffering = stream.errors, stream.line_buffering
    lenient = "backslashreplace" if errors == "strict" else errors
    try:
        stream.reconfigure(errors=lenient, line_buffering=line_buffering)
    except OSError:  # it looks for its position in a file, and writes to a pipe by now
        with _at_no_position(stream.fileno()):
            stream.reconfigure(errors=lenient, line_buffering=line_buffering)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            stream.reconfigure(errors=errors, line_buffering=buffering)


@contextmanager
def _at_no_position(fd: int) -> Generator[None]:
    """Points a descriptor to the null device, in which one may seek."""
    kept = os.dup(fd)
    point_to(os.open(os.devnull, os.O_WRONLY), fd)
    try:
        yield
    finally:
        point_to(kept, fd)


def point_to(source: int, target: int) -> None:
    """Points the descriptor `target` to what `source` is, and closes that."""
    os.dup2(source, target)
    os.close(source)
