"""Stands between a client and a server, and writes a trace for `mcp-bindgen trace`.

Usage: trace_tap.py FOLDER COMMAND…; each process writes a file of its own in FOLDER.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from threading import Lock, Thread
from typing import IO, Final

from tap import pass_on

_LINE: Final = b'{"direction":"%s","message":%s}\n'


class Trace:
    """The lines of one direction, as the client sees it."""

    def __init__(self, file: IO[bytes], direction: bytes) -> None:
        self._file, self._direction = file, direction

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._file.write(_LINE % (self._direction, line.rstrip(b"\n")))


def main(folder: str, *command: str) -> int:
    lock, path = Lock(), os.path.join(folder, f"{os.getpid()}.jsonl")
    with (
        open(path, "ab", buffering=0) as file,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        to_server = server.stdin

        def from_client() -> None:
            with to_server:
                pass_on(0, to_server.fileno(), Trace(file, b"sent"), lock)

        Thread(target=from_client, daemon=True).start()
        pass_on(server.stdout.fileno(), 1, Trace(file, b"received"), lock)
        return server.wait()


if __name__ == "__main__":
    # The thread may still read; the process must not wait for it.
    os._exit(main(*sys.argv[1:]))
