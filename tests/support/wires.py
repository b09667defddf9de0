"""Receivers and small servers for the tests of transports."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.transports.child_process import Child, Stderr, spawn
from mcp_runtime.transports.wire import Wire
from tests.support.patience import PATIENCE, until

RUNTIME: Final = str(Path(__file__).resolve().parents[2] / "runtime")

SERVER: Final = """
import asyncio, sys, os
from mcp_runtime.transports.stdio import own_pipes

class Echo:
    def __init__(self, wire):
        self.wire, self.over = wire, asyncio.Event()
    def received(self, chunk):
        hook(self.wire)
        self.wire.write(chunk)
    def ended(self):
        self.over.set()

async def main():
    async with own_pipes() as wire:
        echo = Echo(wire)
        wire.start(echo)
        await echo.over.wait()

def hook(wire):
    pass
"""


class Taker:
    """Keeps what came, and when it ended; ended twice is an error."""

    def __init__(self, wire: Wire) -> None:
        self.taken = bytearray()
        self.ends: list[float] = []
        wire.start(self)

    def received(self, chunk: bytes) -> None:
        assert chunk
        assert not self.ends
        self.taken += chunk

    def ended(self) -> None:
        self.ends.append(time.monotonic())

    async def until_ended(self, seconds: float = PATIENCE) -> float:
        """When it ended, on the clock of `time.monotonic`."""
        await until(lambda: bool(self.ends), seconds)
        assert len(self.ends) == 1
        return self.ends[0]

    async def until_taken(self, count: int, seconds: float = PATIENCE) -> bytes:
        await until(lambda: len(self.taken) >= count, seconds)
        return bytes(self.taken)


async def python(text: str, *, stderr: Stderr = "capture", limits: Limits = DEFAULT) -> Child:
    """A child that runs this program."""
    command = (sys.executable, "-c", text)
    return await spawn(command, env={"PYTHONPATH": RUNTIME}, stderr=stderr, limits=limits)
