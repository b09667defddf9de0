"""The pair server: it has every feature, and its client can tell what happened.

python tests/support/pair_server.py 2025-06-18,2026-07-28      serves these over stdio
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp_runtime import Audio, Context, Embedded, Image, Limits, Server, ToolError
from mcp_runtime.errors import RpcError, SessionError, TimedOut
from mcp_runtime.revisions import UNSET
from mcp_runtime.revisions import latest as t

PAGE = 2


@dataclass
class Sum:
    """What two numbers come to."""

    total: int


@dataclass
class Person:
    """Who fills in the form."""

    name: str
    age: int = 3
    likes: Literal["tea", "coffee"] = "tea"


def make(revisions: Sequence[str]) -> Server:
    server = Server(
        "served",
        "1",
        title="Served",
        instructions="Try everything.",
        website_url="https://example.com",
        revisions=revisions,
        limits=Limits(page_size=PAGE),
        ttl_ms=5,
        cache_scope="public",
        show_errors=True,
    )
    seen: dict[str, Any] = {"given up": 0, "roots changed": 0, "waiting": 0}
    _plain(server)
    _asking(server)
    _going_on(server, seen)
    _resources(server)
    _prompts(server)
    return server


def _plain(server: Server) -> None:
    @server.tool(title="Sum", annotations=t.ToolAnnotations(read_only_hint=True))
    async def add(a: int, b: Annotated[int, "The other one"] = 1) -> Sum:
        """Adds."""
        return Sum(a + b)

    @server.tool
    def threaded(ctx: Context) -> str:
        return ctx.revision

    @server.tool
    async def contents() -> list[str | Image | Embedded]:
        return ["é\n\u2028😀", Image(b"png", "image/png"), Embedded("x://y", "z", "text/plain")]

    @server.tool
    async def sound() -> Audio:
        return Audio(b"wav", "audio/wav")

    @server.tool
    async def link() -> t.ResourceLink:
        return t.ResourceLink(uri="note://today", name="today")

    @server.tool
    async def fail() -> str:
        raise ToolError("as asked")

    @server.tool
    async def crash() -> str:
        raise ValueError("a fault of ours")

    @server.tool
    async def refuse(code: int) -> str:
        raise RpcError(code, "refused", {"why": [None]})


def _asking(server: Server) -> None:
    @server.tool
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", Person)
        return f"{answer.action} {answer.content}"

    @server.tool
    async def visit(ctx: Context) -> str:
        answer = await ctx.elicit_url("Please go", "https://example.com/", elicitation_id="e1")
        return answer.action

    @server.tool
    async def sample(ctx: Context, tools: bool = False) -> str:
        schema = t.from_wire(t.ToolInputSchema, {"type": "object"})
        offered = [t.Tool(name="look", input_schema=schema)] if tools else None
        choice = t.ToolChoice(mode="auto") if tools else None
        answer = await ctx.sample("hello", max_tokens=9, tools=offered, tool_choice=choice)
        return f"{answer.model} {answer.role}"

    @server.tool
    async def where(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    @server.tool
    async def interview(ctx: Context) -> str:
        roots = await ctx.roots()
        model = await ctx.sample("one", max_tokens=1)
        again = await ctx.sample("two", max_tokens=1)
        return f"{len(roots)} {model.model} {again.model}"

    @server.tool
    async def interview_more(ctx: Context) -> str:
        first = await ctx.elicit("first?", Person)
        second = await ctx.elicit("second?", Person)
        return f"{first.action} {second.action}"

    @server.tool
    async def hurry(ctx: Context) -> str:
        try:
            await ctx.sample("slowly", max_tokens=1, timeout=0.1)
        except TimedOut:
            return "given up"
        return "in time"


def _going_on(server: Server, seen: dict[str, Any]) -> None:
    @server.tool
    async def work(ctx: Context) -> str:
        for step in (1, 2, 3):
            await ctx.progress(step, 3, f"step {step}")
            await ctx.log("info" if step < 3 else "error", {"step": step}, "worker")
        await ctx.debug("nobody wants that")
        return "done"

    @server.tool
    async def wait(ctx: Context) -> str:
        seen["waiting"] += 1
        try:
            await ctx.progress(1)
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen["given up"] += 1
            raise
        return "late"

    @server.on("notifications/roots/list_changed")
    def roots_changed(params: Any, connection: Any) -> None:
        seen["roots changed"] += 1

    @server.tool
    async def saw(what: str) -> int:
        count: int = seen[what]
        return count

    @server.tool
    async def change(ctx: Context) -> str:
        server.add_tool(threaded, name="grown")
        server.remove_tool("grown")
        server.resource("note://new", name="new")(threaded)
        server.remove_resource("note://new")
        server.prompt(name="new")(threaded)
        server.remove_prompt("new")
        server.resource_updated("note://today")
        server.resource_updated("greeting://ada")
        return "done"

    @server.tool
    async def echo_ping(ctx: Context) -> str:
        try:
            await ctx.peer.request("ping", UNSET, about=ctx.request_id)
        except SessionError as error:
            return type(error).__name__
        return "pong"


def threaded() -> str:
    return ""


def _resources(server: Server) -> None:
    @server.resource("note://today", title="Today", mime_type="text/plain", size=5)
    async def today() -> str:
        return "today"

    @server.resource("note://bytes")
    async def raw() -> bytes:
        return b"\x00\xff"

    @server.resource("note://asked")
    async def asked(ctx: Context) -> str:
        return ",".join(root.uri for root in await ctx.roots())

    @server.resource("greeting://{name}")
    async def greeting(name: str) -> str:
        return f"hello {name}"

    @server.resource("sum://{a}/{b}")
    def total(a: int, b: int) -> str:
        return str(a + b)

    @server.resource("deep://{+path}")
    def deep(path: str) -> str:
        return path

    @server.completion("greeting://{name}", "name")
    def names(value: str) -> list[str]:
        return [name for name in ("ada", "alan", "grace") if name.startswith(value)]


def _prompts(server: Server) -> None:
    @server.prompt(title="Review")
    async def review(code: str, language: str = "python") -> str:
        """Reviews code."""
        return f"Review {language}: {code}"

    @server.prompt
    async def pictures() -> list[t.PromptMessage]:
        image = t.ImageContent(data="AAAA", mime_type="image/png")
        return [t.PromptMessage(role="assistant", content=image)]

    @server.prompt
    async def asks(ctx: Context) -> str:
        return (await ctx.sample("prompted", max_tokens=1)).model

    @server.completion("review", "language")
    def languages(value: str, arguments: dict[str, str]) -> list[str]:
        return [f"{value}thon", *arguments.values()]


if __name__ == "__main__":
    make(sys.argv[1].split(",")).run()
