"""Lets web pages of allowed origins read the server's answers (CORS).

Source: the Fetch standard, "CORS protocol".
"""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from typing import Any, Final

from mcp_runtime.core.http.http_rules import Hosts
from mcp_runtime.server.http.asgi.request import App, Receive, Scope, Send

_ORIGIN: Final = b"access-control-allow-origin"
_EXPOSED: Final = b"Mcp-Session-Id, WWW-Authenticate, Retry-After"
_PREFLIGHT: Final = (
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (b"access-control-max-age", b"600"),
)


def cross_origin(app: App, origins: Collection[str], hosts: Collection[str] = ()) -> App:
    """Wrap the application: answer preflights of these origins too, and of pages on `hosts`.

    Without origins and hosts, return `app` itself.
    """
    if not origins and not hosts:
        return app
    named = Hosts(hosts, origins)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        origin = headers.get(b"origin")
        if origin is None or not named.admits_origin(origin.decode("latin-1")):
            await app(scope, receive, send)
            return
        allowed = [(_ORIGIN, origin), (b"vary", b"origin")]
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            wanted = headers.get(b"access-control-request-headers", b"")
            allowed += [*_PREFLIGHT, (b"access-control-allow-headers", wanted)]
            await send({"type": "http.response.start", "status": 204, "headers": allowed})
            await send({"type": "http.response.body"})
            return
        allowed.append((b"access-control-expose-headers", _EXPOSED))

        async def send_allowed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and _ORIGIN not in dict(message["headers"]):
                message = {**message, "headers": [*message["headers"], *allowed]}
            await send(message)

        await app(scope, receive, send_allowed)

    return serve
