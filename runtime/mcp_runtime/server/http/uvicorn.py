"""Serves an application with uvicorn; on shutdown, streams are ended first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from importlib.util import find_spec
from socket import socket
from typing import Final, Protocol

from mcp_runtime.errors import NotInstalled
from mcp_runtime.limits import Limits
from mcp_runtime.server.http.asgi.cross_origin import cross_origin
from mcp_runtime.server.http.asgi.request import Receive, Scope, Send
from mcp_runtime.transports.printing import printable_output

_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[\w.-]*)")
_LAST_PORT: Final = 65_535
_PORT_DIGITS: Final = 9
"""Digits that are read; a port with more is too large."""


class DrainableApp(Protocol):
    """An ASGI application with an orderly end of its streams."""

    path: str
    limits: Limits
    origins: Collection[str]
    hosts: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def drain(self) -> None: ...


def require_uvicorn() -> None:
    """Raise NotInstalled without the extra `http`."""
    if find_spec("uvicorn") is None:
        raise NotInstalled("a server over HTTP", "uvicorn", "http")


def address(text: str) -> tuple[str, int]:
    """Parse the host and port of "127.0.0.1:8000", "[::1]:8000", ":8000" or
    "http://127.0.0.1:8000/".

    Raises ValueError with the fault.
    """
    text = str(text)
    if text[:8].lower() == "https://":
        raise ValueError(
            f"{text!r} is not an address: https is served by a proxy in front; give HOST:PORT,"
            " such as 127.0.0.1:8000"
        )
    scheme, _, plain = text.rpartition("://")
    plain = plain.removesuffix("/") if scheme else plain
    if scheme.lower() not in ("", "http") or "/" in plain:
        raise ValueError(f"{text!r} is not an address: give HOST:PORT, such as 127.0.0.1:8000")
    host, colon, port = plain.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not _HOST.fullmatch(host):
        raise ValueError(
            f"{text!r} is not an address: give HOST:PORT, such as 127.0.0.1:8000 or [::1]:8000"
        )
    if len(port) > _PORT_DIGITS or int(port) > _LAST_PORT:
        ports = f"a port is a number from 0 to {_LAST_PORT}, and 0 takes a free one"
        raise ValueError(f"{text!r} is not an address: {ports}")
    return host.strip("[]") or "127.0.0.1", int(port)


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop of uvloop where that is installed, else one of asyncio."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def serve(
    app: DrainableApp,
    where: str | socket,
    started: Callable[[str], object] = lambda url: None,
    root_path: str = "",
) -> None:
    """Serve at an address, or on a listening socket, until SIGINT or SIGTERM.

    A second signal does not wait for requests.

    Web pages of the application's `origins`, and on its `hosts`, may read the answers.

    `started` is called with each URL of the endpoint as soon as it is served. `root_path` is the
    prefix of the path a proxy cuts off.

    Raises NotInstalled without the extra `http`, ValueError for a malformed address, the exceptions
    of leaving the server's lifespan, and SystemExit if the address cannot be served, after uvicorn
    has logged the reason.
    """
    require_uvicorn()
    from mcp_runtime.server.http.draining_server import DrainingServer

    sockets, at = ([where], ("", 0)) if isinstance(where, socket) else (None, address(where))
    shared = cross_origin(app, app.origins, app.hosts)
    server = DrainingServer(
        shared, at, app.path, app.drain, started, root_path.strip("/"), app.limits.eof_wait
    )
    with printable_output():
        await server.serve(sockets)
        await server.wait_until_drained()
    if not server.started:
        raise SystemExit(1)
