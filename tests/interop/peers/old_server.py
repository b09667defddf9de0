"""A server on a version of `mcp` from 1.2 to 1.9: what every peer server here offers, but forms.

Usage: old_server.py [sse|streamable-http PORT]
"""

import sys
from functools import partial
from typing import Any

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.lowlevel import NotificationOptions
from mcp.types import Completion, SamplingMessage, TextContent

transport, port = sys.argv[1:] or ("stdio", "0")
server = FastMCP("old-server", host="127.0.0.1", port=int(port))
inner = server._mcp_server


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def work(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
        await ctx.session.send_log_message("info", f"step {step}")
    return "done"


@server.tool()
async def sample(text: str, ctx: Context) -> str:
    said = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    answer = await ctx.session.create_message([said], max_tokens=100)
    assert isinstance(answer.content, TextContent)
    return answer.content.text


@server.tool()
async def where(ctx: Context) -> str:
    return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


def grown() -> str:
    return "grown"


@server.tool()
async def grow(ctx: Context) -> str:
    server.add_tool(grown)
    await ctx.session.send_tool_list_changed()
    return "done"


@server.tool()
def wait() -> str:
    """Return at once: these versions end with an error when a request is cancelled."""
    return "done"


@server.tool()
def fail() -> str:
    raise ValueError("broken")


@server.resource("note://today", mime_type="text/plain")
def today() -> str:
    return "words"


@server.resource("greeting://{name}", mime_type="text/plain")
def greeting(name: str) -> str:
    return f"hello {name}"


@server.prompt()
def review(language: str) -> str:
    return f"Review this {language}"


@inner.completion()
async def complete(ref: Any, argument: Any) -> Completion:
    names = ("perl", "python")
    return Completion(values=[name for name in names if name.startswith(argument.value)])


@inner.set_logging_level()
async def set_level(level: Any) -> None:
    """Every message is sent at any level."""


inner.create_initialization_options = partial(
    inner.create_initialization_options, NotificationOptions(tools_changed=True)
)
server.run(transport=transport)
