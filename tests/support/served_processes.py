"""Several processes that serve the same clients through one store, behind a port of them all.

To start one takes a second of the processor. Those that outlive a test serve the next one too,
where the store is among those that are kept.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from mcp_runtime import Client
from tests.support.patience import PATIENCE, until
from tests.support.random_proxy import random_proxy
from tests.support.seeds import seed

__all__ = ["PER_REQUEST", "SHAKEN", "Place", "end_kept", "keep", "served"]

SHAKEN = "2025-11-25"
PER_REQUEST = "2026-07-28"
_PLACE = re.compile(rb"MCP at http://127.0.0.1:(\d+)/")
_KEYS = secrets.token_hex(32)
_kept = dict[str, "list[Process]"]()
"""By store, the processes for the next test."""


class Process(subprocess.Popen[bytes]):
    """One of the servers; what it says on its standard error is in a file."""

    port = 0
    was_told = False
    """Whether it got a signal, which ends it sooner or later."""

    def __init__(self, store: str) -> None:
        target = "tests.support.shared_server"
        command = ["-m", "mcp_bindgen", "run", target, "--http", "127.0.0.1:0", "--store", store]
        with tempfile.TemporaryFile() as said:
            super().__init__(
                [sys.executable, *command],
                stdout=subprocess.DEVNULL,
                stderr=said,
                env={**os.environ, "MCP_STATE_KEYS": _KEYS},
            )
            self._said = os.dup(said.fileno())

    @property
    def said(self) -> bytes:
        return os.pread(self._said, 1 << 20, 0)

    def is_serving(self) -> bool:
        """Whether its `port` is known by now. Raises AssertionError if it has ended."""
        assert self.poll() is None, self.said.decode()
        if match := _PLACE.search(self.said):
            self.port = int(match[1])
        return self.port > 0

    def send_signal(self, number: int) -> None:
        self.was_told = True
        super().send_signal(number)

    def end(self) -> None:
        """Tell it to end, and wait until it has."""
        if self.poll() is None:
            self.terminate()
            self.wait(PATIENCE)
        os.close(self._said)


class Place:
    """The processes, and a `port` that leads to any of them that lives and is not `leaving`."""

    def __init__(self, processes: list[Process]) -> None:
        self.processes = {process.port: process for process in processes}
        self.leaving = set[Process]()
        """Those that a health check would take out of the rotation."""
        self.port = 0

    @property
    def pids(self) -> dict[int, Process]:
        return {process.pid: process for process in self.processes.values()}

    def others(self, pid: int) -> set[int]:
        """The numbers of the other processes that were started."""
        return {*self.pids} - {pid}

    def client(self, revision: str = SHAKEN, **options: Any) -> Client:
        url = f"http://127.0.0.1:{self.port}/mcp"
        return Client.http(url, revisions=[revision], **options)


class _Living(list[int]):
    """The ports to choose from, as of now."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def __len__(self) -> int:
        self[:] = [
            port
            for port, process in self._place.processes.items()
            if process.poll() is None and process not in self._place.leaving
        ]
        return super().__len__()


def keep(store: str) -> None:
    """Have the processes of a store outlive a test, until `end_kept`."""
    _kept.setdefault(store, [])


def end_kept() -> None:
    """End what was kept: a process that nobody asks looks at its store all the time."""
    kept = [process for processes in _kept.values() for process in processes]
    for each in kept:
        each.terminate()
    for each in kept:
        each.end()
    for processes in _kept.values():
        processes.clear()


@asynccontextmanager
async def served(store: str, count: int = 3) -> AsyncGenerator[Place]:
    """Have so many processes serve, none of which has got a signal before."""
    processes = _kept.get(store, list[Process]())
    for ending in [each for each in processes if each.was_told]:
        processes.remove(ending)
        ending.end()
    processes += [Process(store) for _ in range(count - len(processes))]
    try:
        await until(lambda: all(each.is_serving() for each in processes))
        place = Place(processes)
        async with random_proxy(_Living(place), Random(seed("routes"))) as port:
            place.port = port
            yield place
    finally:
        for each in [*processes] if store not in _kept else ():
            each.end()
