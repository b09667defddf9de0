"""Options of tools, by which an extension changes how a tool is listed and called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from mcp_runtime.option_checks import require_seconds
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.functions.output_schema import failed_call

_Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]


class ToolOption:
    """An option for `@server.tool(options=[...])`. A subclass overrides the methods it needs."""

    def register(self, tool: t.Tool) -> t.Tool:
        """Return the tool with this option applied. Raises ValueError if it cannot have one."""
        return tool

    def show(self, tool: t.Tool, ctx: Context) -> t.Tool | None:
        """Return the tool as a client sees it in a list; None hides it."""
        return tool

    async def call(self, params: t.CallToolRequestParams, ctx: Context, handler: _Handler) -> Any:
        """Return the result of a call; `await handler(params, ctx)` is the tool's own result.

        An extension may return a model that widens the result of `tools/call`. Raises RpcError.
        """
        return await handler(params, ctx)


class CallTimeout(ToolOption):
    """The seconds a call of the tool may take; then it ends with an error for the model."""

    def __init__(self, seconds: float) -> None:
        require_seconds("timeout", seconds)
        self._seconds = seconds

    async def call(self, params: t.CallToolRequestParams, ctx: Context, handler: _Handler) -> Any:
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await handler(params, ctx)
        except TimeoutError:
            if not limit.expired():
                raise
            return failed_call(f"tool {params.name}: no result within {self._seconds:g} s")


Options: TypeAlias = Mapping[str, Sequence[ToolOption]]
"""The options of each tool, by the name of the tool."""


def show(tool: t.Tool, options: Sequence[ToolOption], ctx: Context) -> t.Tool | None:
    """Return the tool as all its options show it; None if one hides it."""
    seen: t.Tool | None = tool
    for option in options:
        seen = None if seen is None else option.show(seen, ctx)
    return seen


def calling(options: Options, handler: _Handler) -> _Handler:
    """Return a handler of `tools/call` that calls the options of the tool; the first is the
    outermost.
    """

    async def call(params: Any, ctx: Context) -> Any:
        inner = handler
        for option in reversed(options.get(params.name, ())):
            inner = partial(option.call, handler=inner)
        return await inner(params, ctx)

    return call
