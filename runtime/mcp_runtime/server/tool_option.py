"""Options of tools, by which an extension changes how a tool is listed and called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context

_Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]


class ToolOption:
    """One of `@server.tool(options=[...])`; a subclass overrides what it needs."""

    def registered(self, tool: t.Tool) -> t.Tool:
        """The tool as it is registered. Raises ValueError for one that cannot have this option."""
        return tool

    def shown(self, tool: t.Tool, ctx: Context) -> t.Tool | None:
        """The tool as a client sees it in a list; None hides it."""
        return tool

    async def call(self, params: t.CallToolRequestParams, ctx: Context, handler: _Handler) -> Any:
        """The result of a call; `await handler(params, ctx)` is that of the tool itself.

        It may be a model by which an extension widens `tools/call`. Raises RpcError.
        """
        return await handler(params, ctx)


Options: TypeAlias = Mapping[str, Sequence[ToolOption]]
"""The options of each tool, by the name of the tool."""


def shown(tool: t.Tool, options: Sequence[ToolOption], ctx: Context) -> t.Tool | None:
    """The tool as all its options show it; None if one hides it."""
    seen: t.Tool | None = tool
    for option in options:
        seen = None if seen is None else option.shown(seen, ctx)
    return seen


def calling(options: Options, handler: _Handler) -> _Handler:
    """A handler of `tools/call` that asks the options of the tool; the first is the outermost."""

    async def call(params: Any, ctx: Context) -> Any:
        inner = handler
        for option in reversed(options.get(params.name, ())):
            inner = partial(option.call, handler=inner)
        return await inner(params, ctx)

    return call
