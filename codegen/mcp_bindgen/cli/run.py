"""`mcp-bindgen run`: serves a server that is written in Python, over stdio or HTTP."""

from __future__ import annotations

from contextlib import ExitStack
<<<<<<< HEAD
from importlib import import_module, util
from pathlib import Path
from traceback import StackSummary, TracebackException
from types import ModuleType
from typing import Any, Final
=======
from typing import Any
>>>>>>> d7f4be4 (run: several workers serve one address, with a store and keys that they share)

import click

from mcp_bindgen.cli import OK
<<<<<<< HEAD
from mcp_bindgen.cli.show import warn
from mcp_bindgen.errors import BindgenError, InputError
=======
from mcp_bindgen.cli.target import server_of
from mcp_bindgen.errors import InputError
>>>>>>> d7f4be4 (run: several workers serve one address, with a store and keys that they share)

__all__ = ["command"]

_MACHINERY: Final = frozenset({"mcp_bindgen", "mcp_runtime", "mcp_wire", "asyncio", "importlib"})
"""Packages whose lines of a traceback are not the user's."""


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
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    help="Serve with so many processes (default: 1).",
)
@click.option(
    "--store",
    metavar="URL",
    help="Keep sessions at redis://HOST:PORT/0 or in sqlite:///FILE, for all processes "
    "(default: each process keeps its own).",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Write every message to FILE, one JSON object on a line (default: write no trace).",
)
@click.argument("target", metavar="MODULE[:SERVER]")
def command(
    http: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    workers: int,
    store: str | None,
    trace: str | None,
    target: str,
) -> int:
    """Serve the server called SERVER in a module or a .py file.

    SERVER may be left out if the module has one server. What the program prints goes to standard
    error; over HTTP the address is printed there too.
    Exit status 0: the client has gone, or a signal ended the server; 2: there is no such server,
    it cannot be served there, or a worker ended again and again.
    """
    from mcp_runtime.errors import NotInstalled

    options = _options(http, hosts, origins, store)
    if workers > 1:
        return _run_workers(workers, target, trace, options)
    server = server_of(target)
    with ExitStack() as stack:
        try:
            server.run(trace=_trace(stack, trace), **options)
        except NotInstalled as error:
            raise InputError(str(error)) from None
        except SystemExit:
            raise InputError(f"nothing can be served at {http}") from None
        except (BindgenError, OSError):
            raise
        except Exception as error:
            raise _failure("the server has failed", error) from None
    return OK


def _run_workers(workers: int, target: str, trace: str | None, options: dict[str, Any]) -> int:
    from mcp_bindgen.cli.workers import run_workers

    if "http" not in options:
        raise click.UsageError("--workers goes with --http.")
    if trace is not None:
        raise click.UsageError("--trace writes one file, and goes with one worker.")
    return run_workers(workers, target, options)


def _options(
    http: str | None, hosts: tuple[str, ...], origins: tuple[str, ...], store: str | None
) -> dict[str, Any]:
    """Raises InputError for what is no address, host, origin or store.

    Hosts and origins of the environment are meant too.
    """
    from mcp_runtime.errors import NotInstalled
    from mcp_runtime.server.http.allowed_hosts import allowed_hosts
    from mcp_runtime.server.http.uvicorn import address
    from mcp_runtime.stores.opening import store_at

    if http is None:
        if hosts or origins or store:
            raise click.UsageError("--allow-host, --allow-origin and --store go with --http.")
        return {}
    try:
        address(http)
        allowed_hosts(hosts, origins)
        if store is not None:
            store_at(store)
    except (ValueError, NotInstalled) as error:
        raise InputError(str(error)) from None
    options = {"http": http, "hosts": hosts, "origins": origins, "started": say}
    return options if store is None else {**options, "store": store}


<<<<<<< HEAD
def _say(url: str) -> None:
    warn(f"MCP at {url}")


def _server(target: str) -> Any:
    """Raises InputError."""
    from mcp_runtime.server.server import Server

    name, _, attribute = target.partition(":") if not Path(target).exists() else (target, "", "")
    module = _module(name)
    if attribute:
        found = getattr(module, attribute, None)
        if not isinstance(found, Server):
            raise InputError(f"{name} has no Server called {attribute!r}")
        return found
    servers: dict[str, Server] = {
        key: value for key, value in vars(module).items() if isinstance(value, Server)
    }
    if len(servers) != 1:
        has = f"has {', '.join(sorted(servers))}" if servers else "has no Server"
        raise InputError(f"{name} {has}", remedy=f"Name one: {name}:SERVER.")
    return next(iter(servers.values()))


def _module(name: str) -> ModuleType:
    """Raises InputError for a module that is not there, or that fails when it is imported."""
    path = Path(name)
    if path.suffix == ".py" and not path.is_file():
        raise InputError(f"there is no file {name}")
    try:
        if path.suffix == ".py":
            return _from_file(path)
        sys.path.insert(0, "")
        return import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"cannot import {name}: {error}") from None
        raise _failure(f"{name} fails when it is imported", error) from None


def _failure(what: str, error: Exception) -> InputError:
    """What a program of the user did wrong, in its own lines alone."""
    told = TracebackException.from_exception(error)
    stack = StackSummary.from_list([f for f in told.stack if not _is_ours(f.filename)])
    is_syntax = isinstance(error, SyntaxError)
    ends = list(told.format_exception_only()) if is_syntax else [f"{type(error).__name__}: {error}"]
    rows = [*"".join(stack.format()).splitlines(), *(each.rstrip("\n") for each in ends)]
    return InputError(f"{what}: {ends[-1].strip()}", rows=rows if stack or is_syntax else ())


def _is_ours(file: str) -> bool:
    """Whether a file is part of how a server is run, and none that the user wrote."""
    return file.startswith("<frozen ") or bool(_MACHINERY & {*Path(file).parts})


def _from_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


=======
def say(url: str) -> None:
    click.echo(f"MCP at {url}", err=True)


>>>>>>> d7f4be4 (run: several workers serve one address, with a store and keys that they share)
def _trace(stack: ExitStack, file: str | None) -> Any:
    from mcp_runtime.trace import TraceFile

    return None if file is None else TraceFile(stack.enter_context(open(file, "wb")))
