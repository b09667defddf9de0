"""Stands between a client and a server, and writes a trace for `mcp-bindgen trace`.

Usage: trace_tap.py FOLDER COMMAND…; each process writes a file of its own in FOLDER.
"""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Lock, Thread
from typing import IO, Final

_LINE: Final = b'{"direction":"%s","message":%s}\n'


def pass_on(from_: int, to: int, file: IO[bytes], direction: bytes, lock: Lock) -> None:
    """Copy lines, and keep each before it goes on. The direction is as the client sees it."""
    rest = b""
    while data := os.read(from_, 1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        with lock:
            file.writelines(_LINE % (direction, line) for line in lines)
        os.write(to, data)


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
                pass_on(0, to_server.fileno(), file, b"sent", lock)

        Thread(target=from_client, daemon=True).start()
        pass_on(server.stdout.fileno(), 1, file, b"received", lock)
        return server.wait()


if __name__ == "__main__":
    # The thread may still read; the process must not wait for it.
    os._exit(main(*sys.argv[1:]))
