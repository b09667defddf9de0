"""Measures what an idle stream costs: many open streams of each kind, on servers of their own."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from bench.http import Connection, post
from bench.pairs import Row
from bench.soak import resident
from bench.stdio import ERAS, INITIALIZE

__all__ = ["idle"]

_HERE: Final = Path(__file__).parent / "servers" / "http"
_STREAMS: Final = 5000
_WARM: Final = 500
"""Streams that are opened before the first look: what is made once is made by then."""
_BAR: Final = 8.0
_PATIENCE: Final = 30.0
_MIRRORED: Final = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "subscriptions/listen",
}
_LISTEN: Final = {"notifications": {"toolsListChanged": True}, **ERAS["2026-07-28"][1]}


class _Served:
    """A server process, the connections that stay open, and one that asks between them."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.open: list[socket.socket] = []
        self.connection = Connection(self.port)

    def begin(self, request: bytes) -> None:
        """Returns when the first event, or comment, is there."""
        stream = socket.create_connection(("127.0.0.1", self.port), _PATIENCE)
        self.open.append(stream)
        stream.sendall(request)
        answer = b""
        while not answer.partition(b"\r\n\r\n")[2]:
            if not (data := stream.recv(1 << 16)):
                raise RuntimeError(f"{self.process.args!r} has closed a stream: {answer!r}")
            answer += data
        if not answer.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(f"{self.process.args!r} answered {answer!r}")

    def close(self) -> None:
        for each in [*self.open, self.connection.socket]:
            each.close()
        self.process.terminate()
        self.process.wait(_PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


def _get(path: str, session: str = "") -> bytes:
    lines = f"Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n" if session else ""
    head = f"Host: 127.0.0.1:8000\r\nAccept: text/event-stream\r\n{lines}"
    return f"GET {path} HTTP/1.1\r\n{head}\r\n".encode()


def _session(served: _Served) -> str:
    answer = served.connection.ask(post({}, id=0, method="initialize", params=INITIALIZE))
    head = answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    session = next(
        line.partition(": ")[2] for line in head if line.lower().startswith("mcp-session-id")
    )
    headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
    served.connection.ask(post(headers, method="notifications/initialized"))
    return session


_KINDS: Final[dict[str, Callable[[_Served], bytes]]] = {
    "GET of a session": lambda served: _get("/mcp", _session(served)),
    "subscriptions/listen": lambda served: post(
        _MIRRORED, id=1, method="subscriptions/listen", params=_LISTEN
    ),
    "HTTP+SSE": lambda served: _get("/sse"),
}


def _cost(server: str, request: Callable[[_Served], bytes]) -> float:
    """kB for each stream."""
    with closing(_Served([sys.executable, str(_HERE / server)])) as served:
        for _ in range(_WARM):
            served.begin(request(served))
        before = resident(served.process.pid)
        for _ in range(_STREAMS):
            served.begin(request(served))
        return (resident(served.process.pid) - before) / _STREAMS / 1000


def idle() -> Iterator[Row]:
    """5 000 idle streams on a plain uvicorn: kB each, beyond what a bare ASGI stream costs."""
    for kind, request in _KINDS.items():
        bare = _cost("bare_stream.py", request if kind != "GET of a session" else _bare)
        yield Row(kind, _cost("ours.py", request) - bare, None, _BAR, unit="kB")


def _bare(_: _Served) -> bytes:
    return _get("/mcp", "a" * 43)
