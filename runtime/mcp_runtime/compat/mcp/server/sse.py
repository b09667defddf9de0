"""Stand-in for `mcp.server.sse`: the transport HTTP+SSE inside another ASGI application."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp_runtime.compat.native import NativeServer
from mcp_runtime.compat.streams import Stream

_STREAM: Final = "/sse"


class _Request(Stream):
    """The request of a client for its stream."""

    def __init__(self, transport: SseServerTransport, scope: Any, receive: Any, send: Any) -> None:
        self._transport, self._call = transport, (scope, receive, send)

    async def serve(self, native: NativeServer) -> None:
        scope, receive, send = self._call
        await self._transport.application(native)(_at(scope, _STREAM), receive, send)


class SseServerTransport:
    """Serves streams, and messages posted to `endpoint`."""

    def __init__(self, endpoint: str, security_settings: Any = None) -> None:
        self._endpoint = "/" + endpoint.strip("/")
        self._application: Any = None

    def application(self, native: NativeServer) -> Any:
        """Return the application, which one server has for all its clients."""
        if self._application is None:
            self._application = native.asgi(sse=_STREAM, messages=self._endpoint, hosts=["*"])
        return self._application

    @asynccontextmanager
    async def connect_sse(
        self, scope: Any, receive: Any, send: Any
    ) -> AsyncGenerator[tuple[Stream, Stream]]:
        """Take the request for a stream; `Server.run` serves it."""
        stream = _Request(self, scope, receive, send)
        yield stream, stream

    async def handle_post_message(self, scope: Any, receive: Any, send: Any) -> None:
        """Receive a message of a client. Raises RuntimeError before the first stream."""
        if self._application is None:
            raise RuntimeError("no client has opened a stream here")
        await self._application(_at(scope, self._endpoint), receive, send)


def _at(scope: Any, path: str) -> Any:
    """Return a scope with the path of a route, without a prefix."""
    return {**scope, "path": path, "root_path": ""}
