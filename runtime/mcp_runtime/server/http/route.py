"""Serves the routes beside the endpoint of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec

from mcp_runtime.server.http.asgi.request import HttpError, HttpRequest
from mcp_runtime.server.routes import Answer, Reply, RouteFunction, RouteRequest
from mcp_runtime.shared.failures import record_failure
from mcp_runtime.shared.request_headers import Headers

log: Final = logging.getLogger("mcp_runtime")

_SAFE: Final = ("GET", "HEAD")


class Routes:
    """The functions of one path, by method."""

    def __init__(self, functions: Mapping[str, RouteFunction]) -> None:
        self._functions = functions

    @property
    def handlers(self) -> Mapping[str, Callable[[HttpRequest], Awaitable[None]]]:
        return dict.fromkeys(self._functions, self._serve)

    async def _serve(self, request: HttpRequest) -> None:
        """Answer a request. Raises HttpError, also for a request of a web page that might change
        something: its user has not been asked.
        """
        if request.method not in _SAFE and "origin" in request.headers:
            raise HttpError(403, "requests of web pages are not admitted here")
        await request.read_body()
        query = request.scope.get("query_string", b"").decode("latin-1")
        headers = Headers(request.headers)
        asked = RouteRequest(request.method, request.path, query, headers, request.pop_content())
        try:
            reply = _reply(await self._functions[request.method](asked))
        except Exception as error:
            what = f"{request.method} {request.path} failed"
            reference = record_failure(log, what, error)
            raise HttpError(500, f"internal error (reference {reference})") from None
        named = reply.headers or {}
        own = tuple((name.lower().encode(), text.encode()) for name, text in named.items())
        media_type = (b"content-type", reply.media_type.encode())
        await request.reply(reply.status, reply.body, (media_type, *own))


def _reply(answer: Answer) -> Reply:
    """Convert the value of a route. Raises TypeError for a value that JSON cannot hold."""
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(body=answer.encode(), media_type="text/plain; charset=utf-8")
    if isinstance(answer, bytes):
        return Reply(body=answer)
    return Reply(body=msgspec.json.encode(answer), media_type="application/json")
