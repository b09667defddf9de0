"""`stdio_client` of `mcp` 1.x."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_runtime.client.transports import child_process
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.mcp.client.transports import Connection

DEFAULT_INHERITED_ENV_VARS: Final = (
    ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]
    if sys.platform != "win32"
    else ["APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "TEMP", "USERPROFILE"]
)


@dataclass
class StdioServerParameters:
    """The command of a server."""

    command: str
    args: list[str] = field(default_factory=list[str])
    env: dict[str, str] | None = None
    cwd: str | Path | None = None
    encoding: str = "utf-8"
    encoding_error_handler: str = "strict"


def get_default_environment() -> dict[str, str]:
    """Return the variables for a server."""
    return {name: os.environ[name] for name in DEFAULT_INHERITED_ENV_VARS if name in os.environ}


@asynccontextmanager
async def stdio_client(
    server: StdioServerParameters, errlog: Any = None
) -> AsyncGenerator[tuple[Connection, Connection]]:
    """Start a server as a child process, once a session is initialized on the streams."""
    cwd = None if server.cwd is None else str(server.cwd)
    factory = child_process(
        [server.command, *server.args], env=server.env, cwd=cwd, stderr="inherit"
    )
    connection = Connection(factory)
    yield connection, connection


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
