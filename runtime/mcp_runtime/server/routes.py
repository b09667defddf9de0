"""Routes beside the endpoint of the protocol, such as `GET /health`: a function for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from mcp_runtime.shared.request_headers import Headers


class RouteRequest(Struct, frozen=True):
    """A request for a route; `query` is the part of the URL after the question mark."""

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes


class Reply(Struct, frozen=True, kw_only=True):
    """An answer with a status and headers of its own; `media_type` is that of the body."""

    body: bytes = b""
    status: int = 200
    media_type: str = "application/octet-stream"
    headers: Mapping[str, str] | None = None


Answer: TypeAlias = Reply | str | bytes | Mapping[str, Any] | Sequence[Any]
"""The value of a route: a text, bytes, a value to write as JSON, or a `Reply`."""
RouteFunction: TypeAlias = Callable[[RouteRequest], Awaitable[Answer]]
