"""A server with tools that end well, late, never, with a question, or with the process."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

from mcp_runtime import Context, Server

FORM: dict[str, Any] = {"type": "object", "properties": {"who": {"type": "string"}}}


def make(end: Callable[[], object]) -> Server:
    """Return the server; `end` is called by its tool `end`."""
    server = Server("churned", "1")

    @server.tool
    async def talk(word: str, steps: int, ctx: Context) -> str:
        for step in range(steps):
            await ctx.progress(step, steps)
            await asyncio.sleep(0.001)
        return word

    @server.tool
    async def ask(word: str, ctx: Context) -> str:
        answer = await ctx.elicit(word, FORM)
        return f"{word} {(answer.content or {}).get('who')}"

    @server.tool
    async def wait() -> str:
        await asyncio.Event().wait()
        return "never"

    @server.tool(name="end")
    async def end_() -> str:
        end()
        return "ended"

    @server.resource("note://{name}")
    async def note(name: str) -> str:
        return name

    return server


if __name__ == "__main__":
    make(lambda: os._exit(1)).run()
