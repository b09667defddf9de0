"""Printing without encoding errors, whatever characters the console has."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from typing import cast


@contextmanager
def printable_output(*, line_buffering: bool | None = None) -> Generator[None]:
    """Escape printed characters missing in the encoding of standard output, instead of raising.

    The console of Windows, and a pipe there, has few characters: a tool could not print a check
    mark. With `line_buffering` each printed line appears at once.
    """
    with ExitStack() as stack:
        for stream in (sys.stdout, sys.__stdout__, sys.stderr, sys.__stderr__):
            if isinstance(stream, TextIOWrapper) and not stream.closed:
                text = cast("TextIOWrapper", stream)
                stack.enter_context(_reconfigure(text, line_buffering))
        yield


@contextmanager
def _reconfigure(stream: TextIOWrapper, line_buffering: bool | None) -> Generator[None]:
    errors, buffering = stream.errors, stream.line_buffering
    lenient = "backslashreplace" if errors == "strict" else errors
    try:
        stream.reconfigure(errors=lenient, line_buffering=line_buffering)
    except OSError:  # the stream was opened on a file, and the pipe now there has no position
        with _at_no_position(stream.fileno()):
            stream.reconfigure(errors=lenient, line_buffering=line_buffering)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            stream.reconfigure(errors=errors, line_buffering=buffering)


@contextmanager
def _at_no_position(fd: int) -> Generator[None]:
    """Redirect a descriptor to the null device, which can seek, for the time of the block."""
    kept = os.dup(fd)
    point_to(os.open(os.devnull, os.O_WRONLY), fd)
    try:
        yield
    finally:
        point_to(kept, fd)


def point_to(source: int, target: int) -> None:
    """Redirect the descriptor `target` to the file of `source`, and close `source`."""
    os.dup2(source, target)
    os.close(source)
