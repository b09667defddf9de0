"""Each thing around a handler, in one conversation over each transport and in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, cast

import pytest

from mcp_runtime import Client, Context, Server, types
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import ALL, latest
from tests.support.uvicorn_served import served

ERAS: Final = (ALL[-2], ALL[-1])


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

    return server


ANSWERS: Final[dict[str, Any]] = {"Sure?": True, "Which size?": "l", "How many?": 2}


async def fill_in(question: types.ElicitRequestParams) -> types.ElicitResult:
    assert isinstance(question, types.ElicitRequestFormParams)
    assert latest.to_wire(question.requested_schema)["required"] == ["value"]
    return types.ElicitResult(action="accept", content={"value": ANSWERS[question.message]})


@asynccontextmanager
async def connected(revision: str, way: str, server: Server) -> AsyncGenerator[Client]:
    options: dict[str, Any] = {"revisions": [revision], "on_elicit": fill_in}
    if way == "memory":
        async with Client(server, **options) as client:
            yield client
        return
    async with (
        served(server.asgi(), lifespan="on") as origin,
        Client.http(f"{origin}/mcp", **options) as client,
    ):
        yield client


async def prompts_have_types(client: Client) -> None:
    given = {"size": "l", "tone": "warm", "count": "2"}
    (message,) = (await client.get_prompt("praise", given)).messages
    assert message.content == types.TextContent(text="LARGE warm 3")
    with pytest.raises(RemoteError, match="size: expected"):
        await client.get_prompt("praise", {**given, "size": "medium"})
    praise = types.PromptReference(name="praise")
    assert (await client.complete(praise, "tone", "W")).values == ["warm", "wild"]
    assert (await client.complete(praise, "size", "l")).values == ["l"]
    assert (await client.complete(praise, "count", "")).values == []
    pizza = types.ResourceTemplateReference(uri="pizza://{size}")
    assert (await client.complete(pizza, "size", "")).values == ["small", "large"]


@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize("revision", ERAS)
async def test_each_thing_around_a_handler(revision: str, way: str) -> None:
    async with connected(revision, way, pizzeria()) as client:
        assert (await client.call_tool("order")).text == "2 LARGE"
        slow = await client.call_tool("slow")
        assert (slow.is_error, slow.text) == (True, "tool slow: no result within 0.5 s")
        assert (await client.call_tool("heat")).data == 300
        await prompts_have_types(client)
        own = await client.call_tool("own")
        assert own.text.startswith("tool own failed; the log of the server says why")


def test_a_timeout_is_a_number_of_seconds() -> None:
    async def bake() -> str:
        return "baked"

    with pytest.raises(ValueError, match="timeout is 'soon': give a number of seconds"):
        Server("s", "1").add_tool(bake, timeout=cast("float", "soon"))
