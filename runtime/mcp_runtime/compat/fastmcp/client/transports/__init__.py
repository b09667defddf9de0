"""Stand-in for `fastmcp.client.transports`: transports of clients."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_runtime.client.transports import TransportFactory, child_process, in_memory
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.shapes import members_of


class ClientTransport:
    """A way to a server."""

    factory: TransportFactory


class StdioTransport(ClientTransport):
    """A server started by a command."""

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        **_: Any,
    ) -> None:
        self.command, self.args = command, list(args)
        self.factory = child_process([command, *args], env=env, cwd=cwd, stderr="inherit")


class PythonStdioTransport(StdioTransport):
    """A server in a file of Python."""

    def __init__(self, script_path: str | Path, args: Sequence[str] = (), **options: Any) -> None:
        python = options.pop("python_cmd", sys.executable)
        super().__init__(python, [str(script_path), *args], **options)


class StreamableHttpTransport(ClientTransport):
    """A server at a URL. Raises NotImplementedError for `auth` of httpx."""

    def __init__(
        self, url: Any, headers: dict[str, str] | None = None, auth: Any = None, **_: Any
    ) -> None:
        from mcp_runtime.client.http.transport import over_http

        given = dict(headers or {})
        if isinstance(auth, str) and auth != "oauth":
            given["Authorization"] = f"Bearer {auth}"
        elif auth is not None:
            raise NotImplementedError("auth: write Client.http(url, auth=OAuth(...))")
        self.url = str(url)
        self.factory = over_http(
            self.url, headers=given, tls=None, proxy=None, trust_env=True, auth=None
        )


SSETransport = StreamableHttpTransport


class FastMCPTransport(ClientTransport):
    """A server of this process."""

    def __init__(self, server: Any) -> None:
        low_level = getattr(server, "_mcp_server", server)
        self.factory = in_memory(low_level.native)


def transport_of(target: Any, **options: Any) -> ClientTransport:
    """Return the transport to a server object, a URL, a script, or one server of a configuration.

    Raises ValueError for anything else.
    """
    if isinstance(target, ClientTransport):
        return target
    if hasattr(target, "_mcp_server") or hasattr(target, "native"):
        return FastMCPTransport(target)
    if (config := members_of(target)) is not None:
        return _configured(config)
    text = str(target)
    if text.startswith(("http://", "https://")):
        return StreamableHttpTransport(text, **options)
    if text.endswith(".py"):
        return PythonStdioTransport(text)
    if text.endswith(".js"):
        return StdioTransport("node", [text])
    raise ValueError(f"Could not infer a valid transport from: {target!r}")


def _configured(config: dict[str, Any]) -> ClientTransport:
    servers: dict[str, Any] = config.get("mcpServers", config)
    if len(servers) != 1:
        raise ValueError("give one server: a client here has one connection")
    (server,) = servers.values()
    if "url" in server:
        return StreamableHttpTransport(server["url"], headers=server.get("headers"))
    return StdioTransport(
        server["command"], server.get("args", ()), server.get("env"), server.get("cwd")
    )


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
