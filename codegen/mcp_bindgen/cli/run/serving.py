"""Serves the server of a module or a file in this process, until its client has gone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_bindgen.cli.run.request_log import log_requests
from mcp_bindgen.cli.run.target import compat_server_of, failure, program_arguments, server_of
from mcp_bindgen.cli.serving import serve_until_gone
from mcp_bindgen.cli.show import safe, warn
from mcp_bindgen.errors import BindgenError

__all__ = ["Program", "serve"]


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


def _serve(server: Any, program: Program) -> None:
    """Raise InputError if the server has not started, or fails."""
    options = program.options
    if "http" in options:
        log_requests(server)
    elif os.isatty(0):
        warn(
            "Waiting for the messages of a client on standard input; Ctrl-C ends this.\n"
            f"To try the server: mcp-bindgen call --list -- mcp-bindgen run {safe(program.target)}"
        )
    try:
        serve_until_gone(server, program.trace, options)
    except (BindgenError, OSError):
        raise
    except Exception as error:
        raise failure("the server has failed", error) from None
