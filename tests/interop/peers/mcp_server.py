"""The package `mcp` as a server: what every peer server here offers.

Usage: mcp_server.py [http|sse PORT]
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import Completion, CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel

warnings.simplefilter("ignore")
server = MCPServer("mcp-server", version="1")


class Person(BaseModel):
    name: str


def who() -> Elicit[Person]:
    return Elicit("Who are you?", Person)


def thought(text: str) -> Sample:
    content = TextContent(type="text", text=text)
    return Sample([SamplingMessage(role="user", content=content)], max_tokens=100)


def places() -> ListRoots:
    return ListRoots()


async def grown() -> str:
    return "grown"


@server.tool()
async def add(a: int, b: int) -> int:
    return a + b


@server.tool()
async def echo(text: str) -> str:
    return text


@server.tool()
async def work(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
        await ctx.info(f"step {step}")
    return "done"


@server.tool()
async def ask(person: Annotated[Person, Resolve(who)]) -> str:
    return f"hello {person.name}"


@server.tool()
async def sample(text: str, said: Annotated[CreateMessageResult, Resolve(thought)]) -> str:
    assert isinstance(said.content, TextContent)
    return said.content.text


@server.tool()
async def fail() -> str:
    raise ValueError("broken")


@server.tool()
async def where(roots: Annotated[ListRootsResult, Resolve(places)]) -> str:
    return " ".join(str(root.uri) for root in roots.roots)


@server.tool()
async def grow(ctx: Context) -> str:
    server.add_tool(grown)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "done"


@server.tool()
async def wait() -> str:
    await anyio.sleep_forever()
    return "never"


@server.resource("note://today", mime_type="text/plain")
async def today() -> str:
    return "words"


@server.resource("greeting://{name}", mime_type="text/plain")
async def greeting(name: str) -> str:
    return f"hello {name}"


@server.prompt()
async def review(language: str) -> str:
    return f"Review this {language}"


@server.completion()
async def complete(ref: object, argument: object, context: object) -> Completion:
    prefix = getattr(argument, "value", "")
    return Completion(values=[name for name in ("perl", "python") if name.startswith(prefix)])


if len(sys.argv) > 1:
    kind, port = sys.argv[1:]
    server.run("sse" if kind == "sse" else "streamable-http", port=int(port))
else:
    server.run()
