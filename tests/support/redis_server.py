"""A Redis server of our own, on a free port of the loopback interface, for one test run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.support.ports import keep_port, until_listening

__all__ = ["PROGRAM", "RedisServer", "redis_server"]

PROGRAM: Final = shutil.which("redis-server") or shutil.which("valkey-server")


class RedisServer:
    """A process that can be stopped and started again on its port; it keeps nothing on disk."""

    def __init__(self) -> None:
        self._place, self.port = keep_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        assert PROGRAM is not None
        options = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        self._process = subprocess.Popen([PROGRAM, *options], stdout=subprocess.DEVNULL)
        until_listening(self.port)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Stop the server and give its port back."""
        self.stop()
        self._place.close()


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    server = RedisServer()
    server.start()
    try:
        yield server
    finally:
        server.close()
