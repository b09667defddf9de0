"""Our server: what every peer server here offers.

Usage: ours_server.py [REVISION | http|sse PORT]; it speaks that revision alone, or all. Over HTTP
what is said goes to the file that WIRE names.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass

from mcp_runtime import Context, Server
from mcp_runtime.revisions import ALL

revisions = sys.argv[1:] if len(sys.argv) == 2 else ALL
server = Server("ours-server", "1", show_errors=True, revisions=revisions)


@dataclass
class Person:
    name: str


async def grown() -> str:
    return "grown"


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool
async def echo(text: str) -> str:
    return text


@server.tool
async def work(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.progress(step, steps)
        await ctx.info(f"step {step}")
    return "done"


@server.tool
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Who are you?", Person)
    return f"hello {answer.content.name}" if answer.content else answer.action


@server.tool
async def sample(text: str, ctx: Context) -> str:
    said = await ctx.sample(text, max_tokens=100)
    return said.content.text


@server.tool
async def where(ctx: Context) -> str:
    return " ".join(root.uri for root in await ctx.roots())


@server.tool
async def grow() -> str:
    server.add_tool(grown)
    return "done"


@server.tool
async def wait() -> str:
    await asyncio.Event().wait()
    return "never"


@server.tool
async def fail() -> str:
    raise ValueError("broken")


@server.resource("note://today", mime_type="text/plain")
async def today() -> str:
    return "words"


@server.resource("greeting://{name}", mime_type="text/plain")
async def greeting(name: str) -> str:
    return f"hello {name}"


@server.prompt
async def review(language: str) -> str:
    return f"Review this {language}"


@server.completion("review", "language")
async def languages(typed: str) -> list[str]:
    return [name for name in ("perl", "python") if name.startswith(typed)]


if len(sys.argv) > 2:
    with open(os.environ["WIRE"], "ab", buffering=0) as file:

        def keep(direction: str, data: bytes) -> None:
            if direction != "forgiven":
                file.write(data + b"\n")

        server.run(http=f"127.0.0.1:{sys.argv[2]}", trace=keep)
else:
    server.run()
