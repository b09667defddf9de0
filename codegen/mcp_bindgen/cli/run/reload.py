"""Serves over HTTP in a process of its own, which is replaced when a file of the server changes.

The address stays open meanwhile: a client that comes between two processes waits for the second.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from types import FrameType
from typing import Final, Protocol

from mcp_bindgen.cli import COULD_NOT, OK
from mcp_bindgen.cli.run.serving import Program, serve
from mcp_bindgen.cli.run.target import file_of
from mcp_bindgen.cli.run.watched import Watched, failed_files, imported_files
from mcp_bindgen.cli.run.workers import listening_at, share_keys
from mcp_bindgen.cli.show import safe, safe_text, warn
from mcp_bindgen.errors import BindgenError

__all__ = ["Process", "Reloader", "run_reloaded"]

_LOOK: Final = 0.5
"""Between two looks at the files, in seconds."""
_DRAIN: Final = 30.0
"""Time for a process to end after its signal, in seconds; then it is killed."""


class Process(Protocol):
    """A process which serves."""

    def imported(self, seconds: float) -> Iterable[str]:
        """Wait at most so long, and return the files that it has imported since the last call."""
        ...

    def status(self) -> int | None:
        """Return its exit status; None while it runs."""

    def end(self) -> None:
        """Let its calls finish, then end it."""

    def kill(self) -> None:
        """End it at once."""


def run_reloaded(program: Program) -> int:
    """Serve until a signal ends it; a second signal kills. Raises InputError."""
    folder = file_of(program.target).parent
    share_keys()
    with listening_at(program.options["http"]) as listening:
        served = replace(program, options={**program.options, "http": listening})
        reloader = Reloader(lambda: _Child(served), Watched(folder))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, reloader.end)
        return reloader.run()


class Reloader:
    """Runs one process after the other, each until a file changes."""

    def __init__(self, start: Callable[[], Process], watched: Watched) -> None:
        self._start = start
        self._watched = watched
        self._process: Process | None = None
        self._is_ending = False

    def run(self) -> int:
        """Serve until `end` is called. Return the exit status."""
        while not self._is_ending:
            self._watched.changed()  # whatever has changed until here, the next process imports
            self._process = self._start()
            self._watch(self._process)
            self._process.end()
        return OK

    def end(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: the first lets calls finish, the second does not."""
        if self._is_ending and self._process is not None:
            self._process.kill()
        self._is_ending = True

    def _watch(self, process: Process) -> None:
        is_told = False
        while not self._is_ending:
            self._watched.add(process.imported(_LOOK))
            if changed := self._watched.changed():
                names = ", ".join(safe(Path(file).name) for file in changed)
                return warn(f"{names} changed: the server starts again")
            if (status := process.status()) is not None and not is_told:
                warn(f"the server has ended ({status}); it starts again when a file changes")
                is_told = True
        return None


class _Child:
    """A process of the operating system; it reports what it imports through a pipe."""

    def __init__(self, program: Program) -> None:
        context = get_context("spawn")
        self._reports, reports = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(program, reports))
        self._process.start()
        reports.close()  # so that its end is seen here when the process has ended

    def imported(self, seconds: float) -> Iterable[str]:
        if self._reports.closed:
            time.sleep(seconds)
        elif connection.wait([self._reports], seconds):
            try:
                files: set[str] = self._reports.recv()
            except (EOFError, OSError):
                self._reports.close()
            else:
                return files
        return ()

    def status(self) -> int | None:
        return self._process.exitcode

    def end(self) -> None:
        self._process.terminate()
        self._process.join(_DRAIN)
        self._process.kill()
        self._process.join()
        self._reports.close()

    def kill(self) -> None:
        self._process.kill()


def _work(program: Program, reports: Connection) -> None:
    """Serve in this process, and report the files that it imports."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; we are ended
    turn = Lock()
    Thread(target=_report, args=(reports, turn), daemon=True).start()
    try:
        serve(program)
    except (BindgenError, OSError) as error:
        warn(f"mcp-bindgen: {safe_text(str(error))}")
        with turn, suppress(OSError):
            reports.send(imported_files() | failed_files(error))
        sys.exit(COULD_NOT)


def _report(reports: Connection, turn: Lock) -> None:
    """Send the files that are imported, as long as the supervisor lives; then end this process.

    They are sent again and again, since a handler may import too, on its first call.
    """
    supervisor, sent = parent_process(), set[str]()
    with suppress(OSError):
        while supervisor is None or not connection.wait([supervisor.sentinel], _LOOK):
            if new := imported_files() - sent:
                with turn:
                    reports.send(new)
                sent |= new
    os.kill(os.getpid(), signal.SIGTERM)
