"""Serves a native server over HTTP with the settings of `mcp` 1.x and `fastmcp`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcp_runtime.compat.native import NativeServer
from mcp_runtime.shared import runner

if TYPE_CHECKING:
    pass

Transport: TypeAlias = Literal["stdio", "sse", "streamable-http", "http"]
TRANSPORTS: Final = ("stdio", "sse", "streamable-http", "http", "streamable_http")


@dataclass
class Settings:
    """Settings of a server, which may be changed until it runs."""

    host: str = "127.0.0.1"
    port: int = 8000
    streamable_http_path: str = "/mcp"
    sse_path: str = "/sse"
    message_path: str = "/messages/"
    mount_path: str = "/"
    debug: bool = False
    log_level: str = "INFO"
    json_response: bool = False
    stateless_http: bool = False
    allowed_hosts: list[str] = field(default_factory=list[str])
    allowed_origins: list[str] = field(default_factory=list[str])
    others: dict[str, Any] = field(default_factory=dict[str, Any])
    """Settings without a meaning here."""


def application(
    native: NativeServer,
    settings: Settings,
    *,
    transport: str = "streamable-http",
    path: str | None = None,
) -> Any:
    """Return the ASGI application of a server: both transports, unless a path names one."""
    endpoint = path or settings.streamable_http_path
    messages = settings.message_path.rstrip("/") or "/messages"
    sse: str | None = settings.sse_path
    if transport == "sse":
        endpoint, sse = settings.streamable_http_path, path or settings.sse_path
    return native.asgi(
        path=endpoint,
        sse=None if sse == endpoint else sse,
        messages=messages,
        hosts=settings.allowed_hosts or None,
        origins=settings.allowed_origins,
    )


def run(
    native: NativeServer,
    transport: str,
    settings: Settings,
    *,
    path: str | None = None,
) -> None:
    """Serve by "stdio", "sse" or "streamable-http", until the input ends or a signal arrives.

    Raises ValueError for another transport.
    """
    require_transport(transport)
    if transport == "stdio":
        native.run()
        return
    from mcp_runtime.server.http.uvicorn import new_loop

    work = serve(native, transport, settings, path=path)
    try:
        runner.run(work, native.limits.close_wait, new_loop)
    except KeyboardInterrupt:
        return


async def serve(
    native: NativeServer,
    transport: str,
    settings: Settings,
    *,
    path: str | None = None,
) -> None:
    """Serve on the running event loop. Raises ValueError for other transports."""
    require_transport(transport)
    if transport == "stdio":
        await native.run_stdio()
        return
    from mcp_runtime.server.http import uvicorn

    if settings.host not in _LOOPBACK and not settings.allowed_hosts:
        settings.allowed_hosts = ["*"]
    app = application(native, settings, transport=transport, path=path)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    await uvicorn.serve(app, f"{host}:{settings.port}")


_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def require_transport(transport: str) -> None:
    """Raise ValueError for an unknown transport."""
    if transport not in TRANSPORTS:
        raise ValueError(f"Unknown transport: {transport}; expected one of {', '.join(TRANSPORTS)}")


def settings_of(options: Mapping[str, Any]) -> Settings:
    """Return settings from the keyword arguments of a server."""
    known = Settings.__dataclass_fields__.keys()
    given = {name: each for name, each in options.items() if each is not None}
    settings = Settings(**{name: each for name, each in given.items() if name in known})
    settings.others.update({name: each for name, each in given.items() if name not in known})
    return settings
