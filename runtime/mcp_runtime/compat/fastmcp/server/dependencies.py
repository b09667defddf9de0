"""The running request, for functions without a `Context`, and dependencies of parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, cast

from mcp_runtime.compat.auth import AccessToken
from mcp_runtime.compat.auth import access_token as get_access_token
from mcp_runtime.compat.context import current
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.context import Context
from mcp_runtime.compat.functions import Dependency

_NOT_PASSED_ON: Final = frozenset(
    {
        "accept", "authorization", "connection", "content-length", "content-type", "expect",
        "host", "keep-alive", "mcp-session-id", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers of one connection, which must not reach another server."""


def get_context() -> Context:
    """Return the context of the running request. Raises RuntimeError outside of one."""
    native = current.get()
    if native is None:
        raise RuntimeError("No active context found.")
    return Context(getattr(native.server, "facade", None), native=native)


def get_server() -> Any:
    """Return the server of the running request. Raises RuntimeError outside of one."""
    return get_context().fastmcp


def get_http_headers(include_all: bool = False, include: set[str] | None = None) -> dict[str, str]:
    """Return the headers of the running request, in lower case; none on stdio.

    Those of the connection, and `authorization`, are left out unless `include_all` or `include`
    asks for them.
    """
    native = current.get()
    headers: dict[str, str] = {} if native is None else dict(native.headers)
    wanted = {each.lower() for each in include or ()}
    return {
        name: value
        for name, value in headers.items()
        if include_all or name in wanted or name not in _NOT_PASSED_ON
    }


class HttpRequest:
    """The running request over HTTP: its headers."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


def get_http_request() -> HttpRequest:
    """Return the running request. Raises RuntimeError on stdio."""
    headers = get_http_headers(include_all=True)
    if not headers:
        raise RuntimeError("No active HTTP request found.")
    return HttpRequest(headers)


class _Call(Dependency):
    """The value of a function, or of a context manager it returns."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    async def resolve(self, stack: AsyncExitStack) -> Any:
        value: Any = self._function()
        if inspect.isawaitable(value):
            return await value
        if isinstance(value, AbstractAsyncContextManager):
            return await stack.enter_async_context(cast("AbstractAsyncContextManager[Any]", value))
        if isinstance(value, AbstractContextManager):
            return stack.enter_context(cast("AbstractContextManager[Any]", value))
        return value


def Depends(function: Callable[[], Any]) -> Any:  # noqa: N802 - the name in fastmcp
    """Give a parameter the value of a function, for each call; a context manager is entered."""
    return _Call(function)


def CurrentContext() -> Any:  # noqa: N802 - the name in fastmcp
    return _Call(get_context)


def CurrentFastMCP() -> Any:  # noqa: N802 - the name in fastmcp
    return _Call(get_server)


def CurrentHeaders() -> Any:  # noqa: N802 - the name in fastmcp
    return _Call(get_http_headers)


def CurrentRequest() -> Any:  # noqa: N802 - the name in fastmcp
    return _Call(get_http_request)


def CurrentAccessToken() -> Any:  # noqa: N802 - the name in fastmcp
    return _Call(get_access_token)


__all__ = [
    "AccessToken",
    "CurrentAccessToken",
    "CurrentContext",
    "CurrentFastMCP",
    "CurrentHeaders",
    "CurrentRequest",
    "Depends",
    "get_access_token",
    "get_context",
    "get_http_headers",
    "get_http_request",
    "get_server",
]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
