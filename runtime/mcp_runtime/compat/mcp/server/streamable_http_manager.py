"""Stand-in for `mcp.server.streamable_http_manager`: Streamable HTTP in an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking


class StreamableHTTPSessionManager:
    """Serves a low-level server; a surrounding application enters `run()` in its lifespan."""

    def __init__(
        self,
        app: Any,
        event_store: Any = None,
        json_response: bool = False,
        stateless: bool = False,
        security_settings: Any = None,
        **_: Any,
    ) -> None:
        security = security_settings
        hosts = ["*"]
        if security is not None and security.enable_dns_rebinding_protection:
            hosts = [each.removesuffix(":*") for each in security.allowed_hosts]
        self.app = app
        self._application = app.native.asgi(hosts=hosts, sse=None)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Serve as long as the context is entered; then end all sessions."""
        try:
            yield
        finally:
            await self._application.drain()

    async def handle_request(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request, whatever its path is."""
        path = self._application.path
        await self._application({**scope, "path": path, "root_path": ""}, receive, send)


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
