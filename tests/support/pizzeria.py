"""A server with each thing around a handler, served over stdio if this module is run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from mcp_runtime import Context, Server

__all__ = ["pizzeria"]


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@dataclass
class Oven:
    degrees: int


@asynccontextmanager
async def lit(server: Server) -> AsyncGenerator[Oven]:
    yield Oven(300)


def pizzeria() -> Server:
    server = Server("pizzeria", "1", lifespan=lit)

    @server.tool
    async def heat(ctx: Context[Oven]) -> int:
        return ctx.lifespan.degrees

    @server.prompt
    async def praise(size: Size, tone: Literal["warm", "wild"], count: int = 1) -> str:
        return f"{size.name} {tone} {count + 1}"

    @server.resource("pizza://{size}")
    async def pizza(size: Literal["small", "large"]) -> str:
        return size

    @server.tool
    async def order(ctx: Context) -> str:
        if not (await ctx.elicit("Sure?", bool, key="sure")).content:
            return "nothing"
        size = await ctx.elicit("Which size?", Size, key="size")
        count = await ctx.elicit("How many?", int, key="count")
        assert size.content is not None
        return f"{count.content} {size.content.name}"

    @server.tool(timeout=0.5)
    async def slow() -> str:
        await asyncio.Event().wait()
        return "never"

    @server.tool(timeout=60)
    async def own() -> str:
        raise TimeoutError("the oven's own")

    add_grill(server)
    return server


def add_grill(server: Server) -> None:
    """Add features that can be disabled, and the tools that do it."""

    @server.tool(tags={"grill"})
    async def steak() -> str:
        return "rare"

    @server.prompt(tags={"grill"})
    async def toast(to: Literal["health", "luck"]) -> str:
        return to

    @server.resource("pizza://fire", tags={"grill"})
    async def fire() -> str:
        return "hot"

    @server.resource("grill://{place}", tags={"grill", "vast"})
    async def grill(place: Literal["left", "right"]) -> str:
        return place

    @server.tool
    async def kitchen(opens: bool) -> str:
        switch = server.enable if opens else server.disable
        switch("own", tags={"grill"})
        return "done"

    @server.tool
    async def reserve(ctx: Context, only: bool = False) -> str:
        await ctx.enable("steak", tags={"vast", "unknown"}, only=only)
        return "reserved"


if __name__ == "__main__":
    pizzeria().run()
