"""Middleware of `fastmcp`: a class with a method for each kind of request."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Literal, Protocol, Self, TypeVar

from mcp_runtime.compat.generics import Subscriptable

_T = TypeVar("_T", contravariant=True)
_R = TypeVar("_R", covariant=True)


class CallNext(Protocol[_T, _R]):
    """The rest of the chain: it takes the context, and returns the result."""

    def __call__(self, context: _T, /) -> Awaitable[_R]: ...


@dataclass(kw_only=True, frozen=True)
class MiddlewareContext(Subscriptable):
    """A message on its way to its handler; `message` are the params of the request."""

    message: Any
    fastmcp_context: Any = None
    source: Literal["client", "server"] = "client"
    type: Literal["request", "notification"] = "request"
    method: str | None = None
    timestamp: datetime = field(default_factory=partial(datetime.now, UTC))

    def copy(self, **members: Any) -> Self:
        return replace(self, **members)


_HOOKS: Final[Mapping[str, str]] = {
    "tools/call": "on_call_tool",
    "tools/list": "on_list_tools",
    "resources/read": "on_read_resource",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/get": "on_get_prompt",
    "prompts/list": "on_list_prompts",
}


class Middleware:
    """The base of middleware: override the methods you need."""

    async def __call__(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        """Call the methods for a message: `on_message`, `on_request`, and one of its kind."""
        handler = call_next
        hook = _HOOKS.get(context.method or "")
        for name in (hook, "on_request", "on_message"):
            if name is not None:
                handler = partial(getattr(self, name), call_next=handler)
        return await handler(context)

    async def on_message(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        return await call_next(context)

    on_request = on_notification = on_initialize = on_message
    on_call_tool = on_list_tools = on_read_resource = on_list_resources = on_message
    on_list_resource_templates = on_get_prompt = on_list_prompts = on_message
