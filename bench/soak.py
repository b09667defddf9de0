"""`make soak`: clients connect, call, cancel and disconnect for hours; reports memory growth.

    python -m bench.soak [seconds]          # 4 hours, if no time is given

Prints each minute what the process holds, and at the end the slope of its memory, after the first
quarter, in which it warms up. A slope that is less than twice its error is none; what one holds
wavers by some hundred KiB, so a run of minutes finds megabytes an hour that hours do not.
"""

from __future__ import annotations

import asyncio
import gc
import math
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, linear_regression
from typing import Final

from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from tests.support.asgi_client import Client, Response, Session

__all__ = ["Counts", "churn", "counts", "resident", "settled", "slope", "talker"]

_HOURS: Final = 4 * 3600.0
_AT_ONCE: Final = 50
_REPORT: Final = 60.0
_IDLE: Final = 4.0
"""Seconds after which a session is given up: longer than a busy machine stands still."""


def talker(session_idle: float) -> Server:
    """Its tool tells a little, slowly; its sessions are soon given up."""
    server = Server("talker", "1", limits=Limits(session_idle=session_idle))

    @server.tool
    async def talk(ctx: Context, count: int = 3) -> str:
        for number in range(count):
            await ctx.log("info", number)
            await asyncio.sleep(0.001)
        return "talked"

    return server


Counts = dict[str, int]


def counts(client: Client) -> Counts:
    """What the process holds: tasks, descriptors, entries of the application, live objects."""
    gc.collect()
    app = client.app
    return {
        "tasks": len(asyncio.all_tasks()),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "sessions": len(app.sessions) + len(app.sse_sessions),
        "connections": len(app._service.server.connections) + len(app._per_request.open),
        "stored": len(app._table.events),
        "objects": len(gc.get_objects()),
    }


async def settled(client: Client) -> None:
    """When all sessions are given up, and forgotten."""
    async with asyncio.timeout(30):
        while client.app.sessions or client.app._busy or len(client.app._table.events):
            await asyncio.sleep(0.05)


async def churn(client: Client, seed: int) -> None:
    """One client, which breaks off in one of many ways; it never says DELETE but at one."""
    dice = random.Random(seed)
    if dice.random() < 0.3:
        await _request(client, dice)
        return
    session = await client.session(dice.choice(["2025-11-25", "2025-06-18", "2025-03-26"]))
    stream = session.get() if dice.random() < 0.5 else None
    for _ in range(dice.randrange(4)):
        await _call(session, dice)
    if stream is not None:
        await stream.drop()
    if dice.random() < 0.1:
        await session.delete().until_over()


async def _request(client: Client, dice: random.Random) -> None:
    listens = dice.random() < 0.3
    wanted = {"notifications": {"toolsListChanged": True}}
    meta = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}
    asked = (
        client.request("subscriptions/listen", wanted)
        if listens
        else client.call("talk", more=meta)
    )
    await asyncio.sleep(dice.random() * 0.01)
    await asked.drop() if listens or dice.random() < 0.5 else await asked.until_over()


async def _call(session: Session, dice: random.Random) -> None:
    asked = session.call("talk")
    await asyncio.sleep(dice.random() * 0.01)
    match dice.randrange(4):
        case 0:
            await asked.until_over()
        case 1:
            cancellation = {
                "method": "notifications/cancelled",
                "params": {"requestId": session.last},
            }
            await session.post({"jsonrpc": "2.0", **cancellation}).until_over()
            await asked.until_over()
        case 2:
            await asked.drop()
        case _:
            await asked.drop()
            await _resume(session, asked, dice)


async def _resume(session: Session, asked: Response, dice: random.Random) -> None:
    if ids := [event.id for event in asked.events if event.id]:
        again = session.get(dice.choice(ids))
        await (again.drop() if dice.random() < 0.5 else again.until_over())


def resident(process: int | str = "self") -> int:
    """Bytes of memory of a process, by its id."""
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Of the line that lies closest to the points, with its standard error.

    Of fewer than three points the error is infinite.
    """
    columns = [*zip(*points, strict=True)]
    if len(points) < 3:
        return 0.0, math.inf
    line = linear_regression(*columns)
    wide = sum((x - fmean(columns[0])) ** 2 for x in columns[0])
    off = sum((y - line.slope * x - line.intercept) ** 2 for x, y in points)
    return line.slope, math.sqrt(off / (len(points) - 2) / wide)


async def _soak(seconds: float) -> None:
    client, begun, seed = Client(talker(_IDLE).asgi()), time.monotonic(), 0
    points: list[tuple[float, float]] = []
    due = begun
    while (now := time.monotonic()) < begun + seconds:
        await asyncio.gather(*(churn(client, seed + n) for n in range(_AT_ONCE)))
        seed += _AT_ONCE
        client.open.clear()
        if now >= due:
            due = now + min(_REPORT, seconds / 10)
            points.append(((now - begun) / 3600, resident()))
            held = ", ".join(f"{name} {count}" for name, count in counts(client).items())
            print(f"{now - begun:8.0f} s  {seed:9} clients  {resident() >> 10} KiB  {held}")
    await settled(client)
    print(f"at the end: {counts(client)}")
    growth, error = (each / 1024 for each in slope(points[len(points) // 4 :]))
    print(f"slope: {growth:+.0f} ± {error:.0f} KiB an hour")


if __name__ == "__main__":
    asyncio.run(_soak(float(sys.argv[1]) if len(sys.argv) > 1 else _HOURS))
