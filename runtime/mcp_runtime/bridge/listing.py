"""Lists of a bridge: the pages of one server as they are, or the lists of several as one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from msgspec import structs

from mcp_runtime.bridge.link import Unavailable
from mcp_runtime.bridge.links import Links
from mcp_runtime.bridge.names import KEYS, Kind
from mcp_runtime.bridge.ongoing import Ongoing
from mcp_runtime.bridge.sending import Sending
from mcp_runtime.client.client import Client
from mcp_runtime.core.terms.capabilities import declares
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.visibility import Registry

log: Final = logging.getLogger("mcp_runtime.bridge")

IsAllowed = Callable[[Kind, str, str, Context], Awaitable[bool]]


class _List(NamedTuple):
    """A list: the kind of its items, the member of its result, and how a client gets all of it."""

    kind: Kind
    member: str
    result: Any
    whole: Callable[[Client], Awaitable[list[Any]]]


LISTS: Final[Mapping[str, _List]] = {
    "tools/list": _List("tool", "tools", t.ListToolsResult, Client.list_tools),
    "prompts/list": _List("prompt", "prompts", t.ListPromptsResult, Client.list_prompts),
    "resources/list": _List("resource", "resources", t.ListResourcesResult, Client.list_resources),
    "resources/templates/list": _List(
        "template",
        "resource_templates",
        t.ListResourceTemplatesResult,
        Client.list_resource_templates,
    ),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """Answers requests for lists. Features refused by `is_allowed` are left out."""

    servers: Mapping[str, Links]
    is_allowed: IsAllowed
    limits: Limits

    def handler(self, method: str) -> Callable[[Any, Context, Sending], Awaitable[Any]]:
        of = LISTS[method]

        async def page(params: Any, ctx: Context, sending: Sending) -> Any:
            if len(self.servers) == 1:
                (links,) = self.servers.values()
                return await self._relay_page(of, links, params, ctx, sending)
            sending.lose_meta(params)
            return await self._merge_lists(method, params, ctx)

        return page

    async def _relay_page(
        self, of: _List, links: Links, params: Any, ctx: Context, sending: Sending
    ) -> Any:
        """Return one page of the only server."""
        sending.upstream = links.name
        link = await links.of(ctx, asks=False)
        ongoing = Ongoing("", bytes, ctx)
        ongoing.start(lambda: sending.send(link, ongoing, params))
        link.begin(ongoing)
        result = await ongoing.drive(ctx)
        sending.server = ongoing.spoken
        links.release(link, answered=True)
        shown = await self._visible(of, links, getattr(result, of.member), ctx)
        return structs.replace(result, **{of.member: shown})

    async def everything(self, method: str, ctx: Context) -> list[Any]:
        """Return the items of a list of all servers; a failing server is left out."""
        of = LISTS[method]
        wholes = await asyncio.gather(*(self._whole(of, s, ctx) for s in self.servers.values()))
        return [item for each in wholes for item in each]

    async def _merge_lists(self, method: str, params: Any, ctx: Context) -> Any:
        """Return one page of the lists of all servers; a failing server is left out."""
        of = LISTS[method]
        items: Registry[Any] = Registry(of.kind)
        for item in await self.everything(method, ctx):
            items.setdefault(getattr(item, KEYS[of.kind]), item)
        cursor = params.cursor
        page, after = items.page(None if cursor is t.UNSET else cursor, self.limits.page_size)
        return of.result(
            **{of.member: page},
            next_cursor=after,
            result_type="complete",
            ttl_ms=0,
            cache_scope="private",
        )

    async def _whole(self, of: _List, links: Links, ctx: Context) -> list[Any]:
        try:
            link = await links.of(ctx, asks=False)
            client = await link.client(self.limits.bridge_wait)
            capability = "resources" if of.kind == "template" else of.member
            if not declares(client.server_capabilities, capability):
                return []
            whole = await of.whole(client)
        except Exception as error:
            level = logging.INFO if isinstance(error, Unavailable) else logging.WARNING
            log.log(level, "%s: its %s are left out: %s", links.name, of.member, error)
            return []
        links.release(link, answered=True)
        return await self._visible(of, links, whole, ctx)

    async def _visible(self, of: _List, links: Links, models: list[Any], ctx: Context) -> list[Any]:
        names = links.upstream.names
        renamed = (names.publish(of.kind, model) for model in models)
        return [
            model
            for model in renamed
            if model is not None
            and await self.is_allowed(of.kind, getattr(model, KEYS[of.kind]), links.name, ctx)
        ]
