"""Serves the server of a module or a file in this process, until its client has gone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from mcp_bindgen.cli.options import open_trace
from mcp_bindgen.cli.run.request_log import log_requests
from mcp_bindgen.cli.run.target import compat_server_of, failure, program_arguments, server_of
from mcp_bindgen.cli.show import safe, warn
from mcp_bindgen.errors import BindgenError, InputError

__all__ = ["Program", "say_url", "serve"]


@dataclass(frozen=True, slots=True)
class Program:
    """The server that `run` was asked to serve, and how."""

    target: str
    arguments: tuple[str, ...] = ()
    compat: bool = False
    show_errors: bool = False
    trace: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Those of `Server.run` over HTTP; none for standard input and output."""


def serve(program: Program) -> None:
    """Serve until the client has gone, or a signal ends it. Raises InputError."""
    target, arguments = program.target, program.arguments
    with program_arguments(target, arguments):
        server = compat_server_of(target, bool(arguments)) if program.compat else server_of(target)
        if server is not None:
            server.show_errors = server.show_errors or program.show_errors
            _serve(server, program)


def say_url(url: str) -> None:
    """Print the address of the server."""
    warn(f"MCP at {url}")


def _serve(server: Any, program: Program) -> None:
    """Raise InputError if the server has not started, or fails."""
    from mcp_runtime.errors import NotInstalled

    options = program.options
    if "http" not in options and os.isatty(0):
        warn(
            "Waiting for the messages of a client on standard input; Ctrl-C ends this.\n"
            f"To try the server: mcp-bindgen call --list -- mcp-bindgen run {safe(program.target)}"
        )
    if "http" in options:
        log_requests(server)
    with ExitStack() as stack:
        try:
            server.run(trace=_trace(stack, program.trace), **options)
        except NotInstalled as error:
            raise InputError(str(error)) from None
        except SystemExit:
            why = f"the server has not started at {options.get('http')}; the lines above say why"
            raise InputError(why) from None
        except (BindgenError, OSError):
            raise
        except Exception as error:
            raise failure("the server has failed", error) from None


def _trace(stack: ExitStack, file: str | None) -> Any:
    from mcp_runtime.trace import TraceFile

    return None if file is None else TraceFile(stack.enter_context(open_trace(file)))
