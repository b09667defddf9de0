"""Each thing around a handler, in one conversation over each transport and in both eras."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias, cast

import pytest

from mcp_runtime import Client, Server, types
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import ALL, latest
from tests.support.patience import PATIENCE
from tests.support.pizzeria import pizzeria
from tests.support.uvicorn_served import served

ERAS: Final = (ALL[-2], ALL[-1])


ANSWERS: Final[dict[str, Any]] = {"Sure?": True, "Which size?": "l", "How many?": 2}


async def fill_in(question: types.ElicitRequestParams) -> types.ElicitResult:
    assert isinstance(question, types.ElicitRequestFormParams)
    assert latest.to_wire(question.requested_schema)["required"] == ["value"]
    return types.ElicitResult(action="accept", content={"value": ANSWERS[question.message]})


Opener: TypeAlias = Callable[[], Client]


@asynccontextmanager
async def opened(revision: str, way: str) -> AsyncGenerator[Opener]:
    """Yield a function that makes a client of a pizzeria, which clients of `stdio` do not share."""
    options: dict[str, Any] = {"revisions": [revision], "on_elicit": fill_in}
    match way:
        case "stdio":
            command = [sys.executable, "-m", "tests.support.pizzeria"]
            yield lambda: Client.stdio(command, env=dict(os.environ), timeout=PATIENCE, **options)
        case "memory":
            server = pizzeria()
            yield lambda: Client(server, **options)
        case _:
            async with served(pizzeria().asgi(), lifespan="on") as origin:
                yield lambda: Client.http(f"{origin}/mcp", **options)


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


async def listed(client: Client) -> list[list[str]]:
    return [
        [tool.name for tool in await client.list_tools()],
        [prompt.name for prompt in await client.list_prompts()],
        [resource.uri for resource in await client.list_resources()],
        [template.uri_template for template in await client.list_resource_templates()],
    ]


async def disabled_features_are_unknown(client: Client) -> None:
    before = await listed(client)
    toast = types.PromptReference(name="toast")
    grill = types.ResourceTemplateReference(uri="grill://{place}")
    async with client.listen(tools=True, prompts=True, resources=True) as changes:
        await client.call_tool("kitchen", {"opens": False})
        changed = {(await anext(changes)).what for _ in range(3)}
    assert changed == {"tools", "prompts", "resources"}
    hidden = {"own", "steak", "toast", "pizza://fire", "grill://{place}"}
    assert await listed(client) == [[each for each in one if each not in hidden] for one in before]
    refused: list[tuple[str, Callable[[], Awaitable[object]]]] = [
        ("Unknown tool: steak", lambda: client.call_tool("steak")),
        ("Unknown tool: own", lambda: client.call_tool("own")),
        ("Unknown prompt: toast", lambda: client.get_prompt("toast", {"to": "luck"})),
        ("Resource not found", lambda: client.read_resource("pizza://fire")),
        ("Resource not found", lambda: client.read_resource("grill://left")),
        ("Unknown reference: toast", lambda: client.complete(toast, "to", "l")),
        ("Unknown reference: grill", lambda: client.complete(grill, "place", "l")),
    ]
    for why, call in refused:
        with pytest.raises(RemoteError, match=why):
            await call()
    await client.call_tool("kitchen", {"opens": True})
    assert await listed(client) == before
    assert (await client.call_tool("steak")).text == "rare"


async def a_session_enables_features_for_itself(client: Client, other: Client) -> None:
    """`other` is a second client of the same server."""
    for each in (client, other):
        await each.call_tool("kitchen", {"opens": False})
    hidden = await listed(client)
    reserved = await client.call_tool("reserve")
    if client.revision == ERAS[1]:
        why = "ctx.enable: the client does not offer a session in 2026-07-28"
        assert (reserved.is_error, reserved.text) == (True, why)
        assert await listed(client) == hidden
    else:
        assert (await client.call_tool("steak")).text == "rare"
        assert (await client.read_resource("grill://left"))[0].uri == "grill://left"
        tools, prompts, resources, templates = await listed(client)
        assert ("steak" in tools, "own" in tools) == (True, False)
        assert (prompts, resources, templates[-1]) == (*hidden[1:3], "grill://{place}")
        await client.call_tool("reserve", {"only": True})
        assert await listed(client) == [["steak"], [], [], ["grill://{place}"]]
        with pytest.raises(RemoteError, match="Unknown tool: heat"):
            await client.call_tool("heat")
    assert await listed(other) == hidden


async def converse(client: Client) -> None:
    assert (await client.call_tool("order")).text == "2 LARGE"
    slow = await client.call_tool("slow")
    assert (slow.is_error, slow.text) == (True, "tool slow: no result within 0.5 s")
    assert (await client.call_tool("heat")).data == 300
    await prompts_have_types(client)
    own = await client.call_tool("own")
    assert own.text.startswith("tool own failed; the log of the server says why")


@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize("revision", ERAS)
async def test_each_thing_around_a_handler(revision: str, way: str) -> None:
    async with opened(revision, way) as opening, opening() as client, opening() as other:
        await converse(client)
        await disabled_features_are_unknown(client)
        await a_session_enables_features_for_itself(client, other)


@pytest.mark.wide
@pytest.mark.real_time
@pytest.mark.parametrize("revision", ERAS)
async def test_each_thing_around_a_handler_in_a_process_of_its_own(revision: str) -> None:
    async with opened(revision, "stdio") as opening, opening() as client, opening() as other:
        await converse(client)
        await disabled_features_are_unknown(client)
        await a_session_enables_features_for_itself(client, other)


def test_a_timeout_is_a_number_of_seconds() -> None:
    async def bake() -> str:
        return "baked"

    with pytest.raises(ValueError, match="timeout is 'soon': give a number of seconds"):
        Server("s", "1").add_tool(bake, timeout=cast("float", "soon"))
