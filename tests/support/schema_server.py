"""An HTTP server on this machine that has a schema file, and every fault that a fetch may meet."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Final

_NO_OTHERS: Final[Mapping[str, bytes]] = {}


@contextlib.contextmanager
def serving(schema: bytes, others: Mapping[str, bytes] = _NO_OTHERS) -> Generator[str]:
    """The address of a server that has this text at /schema.ts, and others by their paths."""
    handler = type("Handler", (_Handler,), {"schema": schema, "others": others})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=partial(http.serve_forever, poll_interval=0.01)).start()
        yield f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()


class _Handler(BaseHTTPRequestHandler):
    """Answers by path: /schema.ts, /moved, /away, /large, /short, anything else 404."""

    schema: ClassVar[bytes]
    others: ClassVar[Mapping[str, bytes]]

    def do_GET(self) -> None:
        match self.path:
            case path if path in self.others:
                self.answer(200, self.others[path])
            case "/schema.ts":
                self.answer(200, self.schema)
            case "/moved":
                self.answer(302, b"", location="/schema.ts")
            case "/away":
                self.answer(302, b"", location="file:///etc/hostname")
            case "/large":
                self.answer(200, b"/" * 4096)
            case "/dripping" | "/headers":
                self.drip()
            case "/short":
                self.answer(200, self.schema, length=len(self.schema) + 100)
            case _:
                self.answer(404, b"no such page")

    def drip(self) -> None:
        """A byte now and then, of the headers or of the body, as long as somebody listens."""
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n"
        self.wfile.write(head + (b"\r\n" if self.path == "/dripping" else b"X-Slow: "))
        with contextlib.suppress(OSError):
            for _ in range(200):
                self.wfile.write(b"a")
                self.wfile.flush()
                time.sleep(0.05)

    def answer(
        self, status: int, body: bytes, location: str = "", length: int | None = None
    ) -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
