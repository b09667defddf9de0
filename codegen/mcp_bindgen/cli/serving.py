"""Serves a server of `mcp_runtime`: options, checks and errors shared by `run` and `bridge`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any, Final, TypeVar

import click

from mcp_bindgen.cli.options import open_trace
from mcp_bindgen.cli.show import warn
from mcp_bindgen.errors import InputError

__all__ = ["address_options", "address_settings", "serve_until_gone"]

_C = TypeVar("_C")

_OPTIONS: Final = (
    click.option(
        "--http",
        metavar="HOST:PORT",
        help="Serve over HTTP at http://HOST:PORT/mcp (default: on standard input and output).",
    ),
    click.option(
        "--allow-host",
        "hosts",
        metavar="NAME",
        multiple=True,
        help="Accept requests whose header Host has this NAME; repeatable (default: loopback "
        "names).",
    ),
    click.option(
        "--allow-origin",
        "origins",
        metavar="URL",
        multiple=True,
        help="Accept requests from web pages of this origin; repeatable (default: loopback "
        "origins).",
    ),
)


def address_options(command: _C) -> _C:
    """Add `--http`, `--allow-host` and `--allow-origin` to a command."""
    decorated: Any = command
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    added: _C = decorated
    return added


def address_settings(http: str, hosts: Sequence[str], origins: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `Server.run` for an address, checked before anything is started.

    Hosts and origins also come from the environment. Raises InputError for an invalid address, host
    or origin, and without the extra `http`.
    """
    from mcp_runtime.errors import NotInstalled
    from mcp_runtime.server.http.asgi.allowed_hosts import allowed_hosts
    from mcp_runtime.server.http.uvicorn import address, require_uvicorn

    try:
        address(http)
        allowed_hosts(hosts, origins)
        require_uvicorn()
    except (ValueError, NotInstalled) as error:
        raise InputError(str(error)) from None
    return {"http": http, "hosts": hosts, "origins": origins, "started": _say_url}


def _say_url(url: str) -> None:
    warn(f"MCP at {url}")


def _trace_file(stream: IO[bytes]) -> Any:
    from mcp_runtime.trace import TraceFile

    return TraceFile(stream)


def serve_until_gone(
    server: Any, trace: str | None, settings: Mapping[str, Any], *, name: str = "server"
) -> None:
    """Serve until the client has gone, or a signal ends it; `trace` is a file for all messages.

    Raises InputError without a library that serving needs, and if the address cannot be served: its
    text calls the server by `name`.
    """
    from mcp_runtime.errors import NotInstalled

    with ExitStack() as stack:
        file = None if trace is None else _trace_file(stack.enter_context(open_trace(trace)))
        try:
            server.run(trace=file, **settings)
        except NotInstalled as error:
            raise InputError(str(error)) from None
        except SystemExit:
            where = settings.get("http")
            why = f"the {name} has not started at {where}; the lines above say why"
            raise InputError(why) from None
