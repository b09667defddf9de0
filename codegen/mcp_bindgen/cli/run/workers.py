"""Runs several processes for one address: starts them together, replaces dead ones, drains them."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing import connection, get_context, parent_process
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Lock
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOL_SOCKET, socket
from threading import Thread
from types import FrameType
from typing import Any, Final

from mcp_bindgen.cli import COULD_NOT, OK
from mcp_bindgen.cli.run.request_log import log_requests
from mcp_bindgen.cli.run.target import server_of
from mcp_bindgen.cli.show import warn
from mcp_bindgen.errors import InputError

__all__ = ["listening_at", "run_workers", "share_keys"]

_KEYS: Final = "MCP_STATE_KEYS"
_BACKLOG: Final = 2048
_DEATHS: Final = 5
"""So many workers may die young within `_PERIOD`; then all are ended."""
_PERIOD: Final = 30.0
"""In seconds. A worker which lived longer was able to serve, so it is always replaced."""
_DRAIN: Final = 30.0
"""Time for workers to end after a signal, in seconds; then they are killed."""


def run_workers(count: int, target: str, options: Mapping[str, Any]) -> int:
    """Serve until a signal ends it; a second signal kills. Raises InputError."""
    server_of(target)  # what is wrong with it is said once, and here
    if options.get("store", "memory:").startswith("memory:"):
        why = "Workers without --store, or with memory:, know nothing of each other's sessions:"
        warn(f"{why} clients of revisions up to 2025-11-25 will fail.")
    share_keys()
    listening = listening_at(options["http"])
    started = partial(_first, get_context("spawn").Lock(), options["started"])
    workers = _Workers(count, target, {**options, "http": listening, "started": started})
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, workers.end)
    with listening:
        return workers.run()


def _first(is_said: Lock, say: Callable[[str], object], url: str) -> None:
    """Print the URL once, in the first worker to serve it; the lock is never released."""
    if is_said.acquire(block=False):
        say(url)


def share_keys() -> None:
    """Give the processes that are started from here the same keys, unless there are some."""
    os.environ[_KEYS] = os.environ.get(_KEYS) or secrets.token_hex(32)


def listening_at(where: str) -> socket:
    """Open the address HOST:PORT for this process and its children. Raises InputError."""
    from mcp_runtime.server.http.uvicorn import address

    host, port = address(where)
    opened = socket(AF_INET6 if ":" in host else AF_INET)
    opened.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise InputError(f"nothing can be served at {where}: {error.strerror}") from None
    opened.listen(_BACKLOG)
    opened.set_inheritable(True)
    return opened


class _Workers:
    """The processes, each of which serves `target` with these options."""

    def __init__(self, count: int, target: str, options: Mapping[str, Any]) -> None:
        self._arguments = target, options
        self._listening: Final[socket] = options["http"]
        self._count = count
        self._processes: dict[SpawnProcess, float] = {}
        """When each was started."""
        self._deaths: deque[float] = deque(maxlen=_DEATHS)
        self._end_by: float | None = None

    def run(self) -> int:
        """Exit status: 0 after a signal, 2 if workers die again and again."""
        for _ in range(self._count):
            self._start()
        status = OK
        while self._processes:
            connection.wait([process.sentinel for process in self._processes], timeout=0.5)
            status = max(status, self._replace_dead())
            if self._end_by is not None:
                self._listening.close()  # the workers accept no more either
            self._kill_late()
        return status

    def _start(self) -> None:
        process = get_context("spawn").Process(target=_work, args=self._arguments)
        process.start()
        self._processes[process] = time.monotonic()
        if self._end_by is not None:  # the signal came too early to reach it
            process.terminate()

    def _replace_dead(self) -> int:
        dead = [process for process in self._processes if not process.is_alive()]
        for process in dead:
            started, now = self._processes.pop(process), time.monotonic()
            if self._end_by is None:
                warn(f"worker {process.pid} has ended ({process.exitcode})")
                if now - started < _PERIOD:
                    self._deaths.append(now)
                if self._dies_often():
                    warn("workers end again and again; no more are started")
                    self.end(signal.SIGTERM, None)
                    return COULD_NOT
                self._start()
        return OK

    def _dies_often(self) -> bool:
        full = len(self._deaths) == self._deaths.maxlen
        return full and self._deaths[-1] - self._deaths[0] < _PERIOD

    def end(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: the first lets workers finish, the second does not."""
        again = self._end_by is not None
        self._end_by = time.monotonic() + (0 if again else _DRAIN)
        for process in [*self._processes]:
            if process.is_alive():
                process.terminate()

    def _kill_late(self) -> None:
        if self._end_by is not None and time.monotonic() > self._end_by:
            for process in self._processes:
                process.kill()


def _work(target: str, options: Mapping[str, Any]) -> None:
    """Run one worker until it ends."""
    sys.path.insert(0, "")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; we end the workers
    Thread(target=_end_with_supervisor, daemon=True).start()
    server, shows_errors = server_of(target), options["show_errors"]
    server.show_errors = server.show_errors or shows_errors
    log_requests(server)
    server.run(**{name: each for name, each in options.items() if name != "show_errors"})


def _end_with_supervisor() -> None:
    """Exit when the supervisor is gone, since an orphan would keep the address occupied."""
    if (supervisor := parent_process()) is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)
