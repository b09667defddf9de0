"""Compares the `Mcp-Param-*` headers of calls with their arguments, as the tools behind want them.

A bridge has no tools of its own, so it learns the marks `x-mcp-header` from the lists of a server.

Source: 2026-07-28 basic/transports/streamable-http, "Server Validation".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from mcp_runtime.bridge.links import Links
from mcp_runtime.core.http.header_checks import ParamHeaders, check_arguments
from mcp_runtime.errors import RpcError, SessionError
from mcp_runtime.json_schema.header_annotations import BadParamHeader, param_headers
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import UNSET
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context

log: Final = logging.getLogger("mcp_runtime.bridge")


class WantedHeaders:
    """The headers wanted by the tools of the servers, as each principal may list them.

    At most `Limits.bridge_links` lists are known; the oldest one is forgotten first.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[tuple[str, str], Mapping[str, ParamHeaders]] = {}
        """By server and principal."""

    def forget(self, *, server: str | None = None, principal: str | None = None) -> None:
        """Forget the lists of a server, or of a principal: the next ones may differ."""
        for key in [key for key in self._known if server == key[0] or principal == key[1]]:
            del self._known[key]

    async def check(self, links: Links, call: t.CallToolRequestParams, ctx: Context) -> None:
        """Raise RpcError (HeaderMismatch) if a header of a call differs from its argument.

        `call` has the server's own name of the tool. The server is asked for its tools before the
        first call, and again before a call is refused, since they may have changed.
        """
        if ctx.era != "per-request" or not ctx.headers:  # no HTTP
            return
        arguments = None if call.arguments is UNSET else call.arguments
        if (known := self._known.get((links.name, ctx.principal))) is not None:
            try:
                check_arguments(ctx.headers, known.get(call.name, {}), arguments)
            except RpcError:
                log.debug("%s: the tools are listed again: a header differs", links.name)
            else:
                return
        known = await self._learn(links, ctx)
        check_arguments(ctx.headers, known.get(call.name, {}), arguments)

    async def _learn(self, links: Links, ctx: Context) -> Mapping[str, ParamHeaders]:
        """List the tools; a list that cannot be had wants no headers."""
        try:
            link = await links.of(ctx, asks=False)
            client = await link.client(self._limits.deadline)
            async with asyncio.timeout(self._limits.bridge_wait):
                tools = await client.list_tools(anew=True)
        except (RpcError, SessionError, TimeoutError) as error:
            log.info("%s: the headers of its tools are not checked: %s", links.name, error)
            return {}
        links.release(link, answered=True)
        known = {tool.name: wanted for tool in tools if (wanted := _wanted(tool))}
        self._known[links.name, ctx.principal] = known
        while len(self._known) > self._limits.bridge_links:
            del self._known[next(iter(self._known))]
        return known


def _wanted(tool: Any) -> ParamHeaders:
    """Return the headers of a tool; none if a mark breaks a rule: no client may call the tool."""
    try:
        return param_headers(t.to_wire(tool.input_schema))
    except BadParamHeader:
        return {}
