"""`mcp-bindgen run`: serves a server written in Python, over stdio or HTTP."""

from __future__ import annotations

from typing import Any, Final

import click

from mcp_bindgen.cli import OK
from mcp_bindgen.cli.run.serving import Program, serve
from mcp_bindgen.cli.run.target import program_arguments
from mcp_bindgen.cli.serving import address_options, address_settings
from mcp_bindgen.errors import InputError

__all__ = ["command"]

_ON_STDIO: Final = (
    "On standard input and output a session ends with its process, and only the host can open "
    "a new one: restart the server there."
)


@click.command("run")
@address_options
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
@click.option(
    "--reload",
    is_flag=True,
    help="Serve over HTTP, for development: start the server again when a .py file of its folder, "
    "or one that it imports, changes (default: serve what it was when it started).",
)
@click.option(
    "--inspect",
    is_flag=True,
    help="Start the official inspector, and let it start the server; this needs npx of Node.js "
    "(default: wait for a client).",
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
    reload: bool,
    inspect: bool,
    target: str,
    arguments: tuple[str, ...],
) -> int:
    """Serve the server called SERVER in a module or a .py file.

    SERVER may be left out if the module has one server; with --compat it may be the function which
    starts the server. The program reads the ARGUMENTs in sys.argv. Its output goes to standard
    error; over HTTP the address and a line for each request are printed there too. With --reload
    clients open their sessions anew after a change, unless a --store keeps them. Exit status 0: the
    client has gone, or a signal ended the server; 2: there is no such server, the address cannot be
    used, or a worker ended again and again.
    """
    options = _options(http, hosts, origins, root_path, store)
    program = Program(target, arguments, compat, show_errors, trace, options)
    if workers > 1 or reload or inspect:
        return _supervise(program, workers, reload, inspect)
    serve(program)
    return OK


def _supervise(program: Program, workers: int, reload: bool, inspect: bool) -> int:
    """Let other processes serve. Raises UsageError if the options do not go together."""
    over_http = "http" in program.options
    for mistake, why in (
        (inspect and (over_http or reload), "--inspect goes without --http and --reload."),
        (reload and not over_http, f"--reload goes with --http. {_ON_STDIO}"),
        (workers > 1 and program.compat, "--compat goes with one worker."),
        (workers > 1 and reload, "--reload goes with one worker."),
        (workers > 1 and not over_http, "--workers goes with --http."),
        (workers > 1 and program.trace, "--trace writes one file, and goes with one worker."),
    ):
        if mistake:
            raise click.UsageError(why)
    if inspect:
        from mcp_bindgen.cli.run.inspector import run_inspector

        return run_inspector(program)
    if reload:
        from mcp_bindgen.cli.run.reload import run_reloaded

        return run_reloaded(program)
    return _run_workers(workers, program)


def _run_workers(workers: int, program: Program) -> int:
    from mcp_bindgen.cli.run.workers import run_workers

    options = {**program.options, "show_errors": program.show_errors}
    with program_arguments(program.target, program.arguments):
        return run_workers(workers, program.target, options)


def _options(
    http: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    root_path: str,
    store: str | None,
) -> dict[str, Any]:
    """The options of the HTTP application. Raises InputError for an invalid address, host, origin
    or store.
    """
    if http is None:
        if hosts or origins or root_path or store:
            names = "--allow-host, --allow-origin, --root-path and --store"
            raise click.UsageError(f"{names} go with --http.")
        return {}
    options = {**address_settings(http, hosts, origins), "root_path": root_path}
    if store is None:
        return options
    from mcp_runtime.errors import NotInstalled
    from mcp_runtime.stores.opening import store_at

    try:
        store_at(store)
    except (ValueError, NotInstalled) as error:
        raise InputError(str(error)) from None
    return {**options, "store": store}
