"""The client side of an extension: turns result types that the extension adds into the final
result, for example by polling a task, and handles the extension's notifications.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar, Unpack, cast

from mcp_runtime.client.options import RequestOptions
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.errors import BadAnswer
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import latest_calls

_C = TypeVar("_C")


class ClientView(Protocol):
    """The part of a client an extension may use."""

    @property
    def limits(self) -> Limits: ...
    @property
    def calls(self) -> latest_calls.ClientCalls:
        """Every method of the newest revision, typed."""
        ...

    def meta(self) -> t.RequestMetaObject:
        """Return the `meta` that the params of a request need."""
        ...

    async def request(self, method: str, params: Any, **options: Unpack[RequestOptions]) -> Any:
        """Send one request, of an extension or of the core; return its result, a model."""
        ...

    async def responses(self, requests: Mapping[str, Any], /) -> dict[str, Any]:
        """Return the answers of the client's callbacks to requests for input, by the same keys."""
        ...

    def listen(
        self, *, more: Mapping[str, Sequence[str] | bool] | None = None
    ) -> AbstractAsyncContextManager[Subscription]:
        """Subscribe to changes; `more` are members extensions add to the filter."""
        ...


class ClientExtension(Extension):
    """The client side of an extension. A subclass overrides the methods it needs."""

    async def finish(
        self,
        client: ClientView,
        params: t.CallToolRequestParams,
        result: Any,
        **options: Unpack[RequestOptions],
    ) -> t.CallToolResult:
        """Return the result of `Client.call_tool` for a result of a type of this extension."""
        name = type(result).__name__
        raise BadAnswer(f"tools/call: a {name}: read it with `client.request` instead")

    def notified(self, method: str, params: Any) -> None:
        """Handle a notification of this extension."""


def typed_calls(calls: Callable[[], _C], client: ClientView) -> _C:
    """Return the generated `ClientCalls` of an extension, whose methods are requests of
    `client`.
    """
    sender = client.calls
    members = {"request": staticmethod(sender.request), "notify": staticmethod(sender.notify)}
    base = cast("type", calls)
    return cast("_C", type(base.__name__, (base,), members)())
