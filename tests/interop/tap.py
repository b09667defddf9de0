"""Stands between a client and a server, and keeps what is said.

Usage: tap.py FILE COMMAND…; the messages of both are added to FILE, each before it is passed on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Lock, Thread
from typing import IO


def pass_on(from_: int, to: int, file: IO[bytes], lock: Lock) -> None:
    rest = b""
    while data := os.read(from_, 1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        with lock:
            file.writelines(line + b"\n" for line in lines)
        os.write(to, data)


def main(path: str, *command: str) -> int:
    lock = Lock()
    with (
        open(path, "ab", buffering=0) as file,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        to_server = server.stdin

        def from_client() -> None:
            with to_server:
                pass_on(0, to_server.fileno(), file, lock)

        Thread(target=from_client, daemon=True).start()
        pass_on(server.stdout.fileno(), 1, file, lock)
        return server.wait()


if __name__ == "__main__":
    # The thread may still read; the process must not wait for it.
    os._exit(main(*sys.argv[1:]))
