"""The server that tests run in several processes at once; each tool says who has answered."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path

from mcp_runtime import Context, Limits, Server
from mcp_runtime.extensions.tasks import Tasks

tasks = Tasks(poll_interval=0.2)
server = Server("shared", "1", offers=["resources"], extensions=[tasks], limits=Limits(lease=3))


@dataclass
class Sure:
    yes: bool


@server.tool
async def who() -> str:
    return str(os.getpid())


@server.tool
async def confirm(ctx: Context) -> str:
    answer = await ctx.elicit("sure?", Sure)
    return f"{answer.content} {os.getpid()}"


@server.tool
async def tell(ctx: Context, count: int, every: float = 0.05) -> str:
    for number in range(count):
        await ctx.log("error", {"number": number, "process": os.getpid()})
        await asyncio.sleep(every)
    return str(os.getpid())


@server.tool(rerun=True)
async def tell_again(ctx: Context, count: int, until: str) -> str:
    """Ends when the file `until` is there."""
    for number in range(count):
        await ctx.log("error", {"number": number, "process": os.getpid()})
        await asyncio.sleep(0.05)
    while not Path(until).exists():
        await asyncio.sleep(0.05)
    return str(os.getpid())


@server.tool(rerun=True)
async def confirm_again(ctx: Context) -> str:
    await ctx.log("error", {"process": os.getpid()})
    answer = await ctx.elicit("sure?", Sure)
    return f"{answer.content} {os.getpid()}"


@server.tool
async def change() -> str:
    server.resource_updated("note://one")
    return str(os.getpid())


@server.tool(options=[tasks.optional])
async def job(ctx: Context, seconds: float) -> str:
    await ctx.progress(1, message=str(os.getpid()))
    await asyncio.sleep(seconds)
    return str(os.getpid())


@server.tool(options=[tasks.optional], rerun=True)
async def job_again(ctx: Context, until: str) -> str:
    """Ends when the file `until` is there."""
    await ctx.progress(time.time(), message=str(os.getpid()))
    while not Path(until).exists():
        await asyncio.sleep(0.05)
    return str(os.getpid())


@server.tool(options=[tasks.optional])
async def asking_job(ctx: Context) -> str:
    first = await ctx.elicit("sure?", Sure)
    second = await ctx.elicit("really?", Sure)
    return f"{first.content} {second.content}"


@server.resource("note://one")
def note() -> str:
    return "one"
