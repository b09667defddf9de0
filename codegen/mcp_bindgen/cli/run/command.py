"""`mcp-bindgen run`: serves a server written in Python, over stdio or HTTP."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

import click

from mcp_bindgen.cli import OK
from mcp_bindgen.cli.options import open_trace
from mcp_bindgen.cli.run.request_log import log_requests
from mcp_bindgen.cli.run.target import compat_server_of, failure, program_arguments, server_of
from mcp_bindgen.cli.show import safe, warn
from mcp_bindgen.errors import BindgenError, InputError

__all__ = ["command"]


@click.command("run")
@click.option(
    "--http",
    metavar="HOST:PORT",
    help="Serve over HTTP at http://HOST:PORT/mcp (default: on standard input and output).",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="Accept requests whose header Host has this NAME; repeatable (default: loopback names).",
)
@click.option(
    "--allow-origin",
    "origins",
    metavar="URL",
    multiple=True,
    help="Accept requests from web pages of this origin; repeatable (default: loopback origins).",
)
@click.option(
    "--root-path",
    metavar="PATH",
    default="",
    help="Name the path prefix that your proxy cuts off, such as /api (default: none).",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Serve with N processes, at most 64 (default: 1).",
)
@click.option(
    "--store",
    metavar="URL",
    help=(
        "Share sessions between processes at redis://HOST:PORT/0 or in sqlite:///FILE "
        "(default: each process keeps its own)."
    ),
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Write every message to FILE, one JSON object on a line (default: write no trace).",
)
@click.option(
    "--show-errors",
    is_flag=True,
    help="Send clients the text of unexpected exceptions, for development (default: a reference "
    "to the log).",
)
@click.option(
    "--compat",
    is_flag=True,
    help="Serve a server written for the packages mcp 1.x or fastmcp, which need not be installed "
    "(default: serve a Server of mcp_runtime).",
)
@click.argument("target", metavar="MODULE[:SERVER]")
@click.argument("arguments", metavar="[-- ARGUMENT...]", nargs=-1, type=click.UNPROCESSED)
def command(
    http: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    root_path: str,
    workers: int,
    store: str | None,
    trace: str | None,
    show_errors: bool,
    compat: bool,
    target: str,
    arguments: tuple[str, ...],
) -> int:
    """Serve the server called SERVER in a module or a .py file.

    SERVER may be left out if the module has one server; with --compat it may be the function which
    starts the server. The program reads the ARGUMENTs in sys.argv. Its output goes to standard
    error; over HTTP the address and a line for each request are printed there too. Exit status 0:
    the client has gone, or a signal ended the server; 2: there is no such server, the address
    cannot be used, or a worker ended again and again.
    """
    options = _options(http, hosts, origins, root_path, store)
    if compat and workers > 1:
        raise click.UsageError("--compat goes with one worker.")
    with program_arguments(target, arguments):
        if workers > 1:
            return _run_workers(workers, target, trace, {**options, "show_errors": show_errors})
        server = compat_server_of(target, bool(arguments)) if compat else server_of(target)
        if server is not None:
            server.show_errors = server.show_errors or show_errors
            _serve(server, target, trace, options)
    return OK


def _serve(server: Any, target: str, trace: str | None, options: dict[str, Any]) -> None:
    """Serve until the client has gone, or a signal ends it. Raises InputError if it fails."""
    from mcp_runtime.errors import NotInstalled

    if "http" not in options and os.isatty(0):
        warn(
            "Waiting for the messages of a client on standard input; Ctrl-C ends this.\n"
            f"To try the server: mcp-bindgen call --list -- mcp-bindgen run {safe(target)}"
        )
    if "http" in options:
        log_requests(server)
    with ExitStack() as stack:
        try:
            server.run(trace=_trace(stack, trace), **options)
        except NotInstalled as error:
            raise InputError(str(error)) from None
        except SystemExit:
            why = f"the server has not started at {options.get('http')}; the lines above say why"
            raise InputError(why) from None
        except (BindgenError, OSError):
            raise
        except Exception as error:
            raise failure("the server has failed", error) from None


def _run_workers(workers: int, target: str, trace: str | None, options: dict[str, Any]) -> int:
    from mcp_bindgen.cli.run.workers import run_workers

    if "http" not in options:
        raise click.UsageError("--workers goes with --http.")
    if trace is not None:
        raise click.UsageError("--trace writes one file, and goes with one worker.")
    return run_workers(workers, target, options)


def _options(
    http: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    root_path: str,
    store: str | None,
) -> dict[str, Any]:
    """The options of the HTTP application. Raises InputError for an invalid address, host, origin
    or store.

    Hosts and origins also come from the environment.
    """
    if http is None:
        if hosts or origins or root_path or store:
            names = "--allow-host, --allow-origin, --root-path and --store"
            raise click.UsageError(f"{names} go with --http.")
        return {}
    from mcp_runtime.errors import NotInstalled
    from mcp_runtime.server.http.asgi.allowed_hosts import allowed_hosts
    from mcp_runtime.server.http.uvicorn import address
    from mcp_runtime.stores.opening import store_at

    try:
        address(http)
        allowed_hosts(hosts, origins)
        if store is not None:
            store_at(store)
    except (ValueError, NotInstalled) as error:
        raise InputError(str(error)) from None
    options: dict[str, Any] = {"http": http, "hosts": hosts, "origins": origins, "started": say}
    options["root_path"] = root_path
    return options if store is None else {**options, "store": store}


def say(url: str) -> None:
    warn(f"MCP at {url}")


def _trace(stack: ExitStack, file: str | None) -> Any:
    from mcp_runtime.trace import TraceFile

    return None if file is None else TraceFile(stack.enter_context(open_trace(file)))
