"""Our standard input and output as a wire, protected from all other code in the process."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final

from mcp_runtime.errors import Disconnected, counted
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.transports.pipes import Pipes
from mcp_runtime.transports.printing import point_to, printable_output
from mcp_runtime.transports.wire import Wire

STRAY_WAIT: Final = 0.25  # for the last stray output to arrive
STRAY_BYTES: Final = 1024 * 1024  # what C may write while it keeps Python's threads from running


@asynccontextmanager
async def own_pipes(limits: Limits = DEFAULT) -> AsyncGenerator[Wire]:
    """Use standard input and output as a wire, for the time of the block.

    All other code is kept from them: output of the process or its children goes to standard error,
    and they read nothing. At the end one line on standard error has the number of such bytes.

    Raises Disconnected if one of the two was closed when the program began.
    """
    with _divert() as (read, write):
        wire = Pipes(read, write, limits, limits.outgoing_bytes)
        try:
            yield wire
        finally:
            await wire.close()


@contextmanager
def _divert() -> Generator[tuple[int, int]]:
    """Yield copies of the real descriptors, which the caller closes; divert 0 and 1 meanwhile."""
    if sys.__stdin__ is None or sys.__stdout__ is None:
        raise Disconnected("standard input or output was closed before the program began")
    real = os.dup(0), os.dup(1)
    stray = _Stray()
    point_to(os.open(os.devnull, os.O_RDONLY), 0)
    point_to(stray.inlet, 1)
    try:
        with printable_output(line_buffering=True):
            yield os.dup(real[0]), os.dup(real[1])
    finally:
        _flush()
        for fd in range(2):
            point_to(real[fd], fd)
        stray.join()


def _flush() -> None:
    """Flush the buffers of Python and C for standard output."""
    for stream in (sys.stdout, sys.__stdout__):
        with suppress(AttributeError, OSError, ValueError):
            if stream is not None:
                stream.flush()
    with suppress(ImportError, OSError, AttributeError, TypeError):
        import ctypes

        ctypes.CDLL(None).fflush(None)


class _Stray:
    """Copies bytes written to `inlet` to standard error, and counts them.

    It uses a thread, as the writer may block the event loop. A child process may write on after the
    wire is closed: the thread ends, and prints its count, when the last writer is gone.
    """

    def __init__(self) -> None:
        self._outlet, self.inlet = os.pipe()
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(self.inlet, fcntl.F_SETPIPE_SZ, STRAY_BYTES)
        self._thread = threading.Thread(target=self._forward, name="stray output", daemon=True)
        self._thread.start()

    def _forward(self) -> None:
        count = 0
        while chunk := os.read(self._outlet, 65_536):
            count += len(chunk)
            _write_stderr(chunk)
        os.close(self._outlet)
        if count:
            _write_stderr(
                f"mcp_runtime: {counted(count, 'byte')} for standard output went to standard"
                " error\n".encode()
            )

    def join(self) -> None:
        self._thread.join(STRAY_WAIT)


def _write_stderr(text: bytes) -> None:
    if sys.__stderr__ is None:  # descriptor 2 may be some other open file
        return
    with suppress(OSError):
        while text:
            text = text[os.write(2, text) :]
