"""Our client: does what every peer client here does.

Usage: ours_client.py MODE URL|COMMAND…, where MODE is `legacy`, `auto` or a revision. What it saw
goes to stdout as one JSON document, what was said to the file that WIRE names.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable
from functools import partial
from typing import IO, Any

from msgspec import UNSET

from mcp_runtime import Client
from mcp_runtime import types as t
from mcp_runtime.errors import RemoteError, SessionError
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import ALL

REVISIONS = {
    "legacy": ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"),
    "auto": ALL,
}
PATIENT = Limits(probe=60.0, first_answer=240.0)
"""A server that starts slowly is still asked for its revisions first."""
seen: dict[str, Any] = {"progress": [], "logs": [], "asked": [], "sampled": []}


async def elicited(params: t.ElicitRequestParams) -> t.ElicitResult:
    seen["asked"].append(params.message)
    return t.ElicitResult(action="accept", content={"name": "Ada"})


async def sampled(params: t.CreateMessageRequestParams) -> t.CreateMessageResult:
    said = params.messages[0].content.text
    seen["sampled"].append(said)
    content = t.TextContent(text=f"you said {said}")
    return t.CreateMessageResult(role="assistant", content=content, model="none")


def logged(params: t.LoggingMessageNotificationParams) -> None:
    seen["logs"].append([params.level, params.data])


def progressed(progress: float, total: float | None, message: str | None) -> None:
    seen["progress"].append([progress, total])


async def tried(what: Awaitable[Any]) -> Any:
    try:
        return await what
    except RemoteError as refused:
        return {"code": refused.code}
    except SessionError as error:
        return {"error": type(error).__name__}


async def called(client: Client, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
    result = await tried(client.call_tool(tool, arguments, **more))
    if isinstance(result, dict):
        return result
    if result.is_error is True:
        return "tool error"
    structured = None if result.structured_content is UNSET else result.structured_content
    return [block.text for block in result.content], structured


async def read(client: Client, uri: str) -> Any:
    contents = await tried(client.read_resource(uri))
    return contents if isinstance(contents, dict) else [content.text for content in contents]


def done(result: Any) -> str:
    return "done" if result is None else "refused"


async def names(client: Client) -> list[str]:
    return sorted(tool.name for tool in await client.list_tools())


async def give_up(client: Client) -> str:
    try:
        await asyncio.wait_for(client.call_tool("wait"), 0.2)
    except TimeoutError:
        return "given up"
    return "answered"


async def watch(client: Client) -> list[str]:
    """The tools after they have changed, of which the server tells."""
    async with client.listen(tools=True) as changes:
        await called(client, "grow", {})
        await asyncio.wait_for(anext(changes), 5)
    return await names(client)


async def act(client: Client) -> None:
    seen["revision"] = client.revision
    seen["server"] = client.server_info and client.server_info.name
    seen["tools"] = await names(client)
    seen["resources"] = [resource.uri for resource in await client.list_resources()]
    seen["templates"] = [each.uri_template for each in await client.list_resource_templates()]
    seen["prompts"] = [prompt.name for prompt in await client.list_prompts()]
    if client.revision < "2026-07-28":
        seen["level"] = done(await tried(client.set_log_level("debug")))
        seen["ping"] = done(await tried(client.ping()))
    seen["add"] = await called(client, "add", {"a": 2, "b": 3})
    seen["echo"] = await called(client, "echo", {"text": "é\n\u2028😀"})
    seen["work"] = await called(client, "work", {"steps": 3}, on_progress=progressed)
    seen["ask"] = await called(client, "ask", {})
    seen["sample"] = await called(client, "sample", {"text": "hello"})
    seen["where"] = await called(client, "where", {})
    seen["fail"] = await called(client, "fail", {})
    seen["wrong"] = await called(client, "add", {"a": "x"})
    seen["unknown"] = await called(client, "absent", {})
    seen["read"] = await read(client, "note://today")
    seen["template"] = await read(client, "greeting://Ada")
    seen["missing"] = await read(client, "note://absent")
    prompt = await client.get_prompt("review", {"language": "python"})
    seen["prompt"] = [[message.role, message.content.text] for message in prompt.messages]
    ref = t.PromptReference(name="review")
    seen["complete"] = (await client.complete(ref, "language", "py")).values
    seen["wait"] = await give_up(client)
    seen["again"] = await called(client, "add", {"a": 1, "b": 1})
    seen["grown"] = await watch(client)


async def main(wire: IO[bytes], mode: str, *server: str) -> None:
    def keep(direction: str, data: bytes) -> None:
        if direction != "forgiven":
            wire.write(data + b"\n")

    over_http = server[0].startswith("http://")
    reach = partial(Client.http, server[0]) if over_http else partial(Client.stdio, server)
    client = reach(
        name="ours-client",
        version="1",
        revisions=REVISIONS.get(mode, (mode,)),
        limits=PATIENT,
        on_elicit=elicited,
        on_sample=sampled,
        roots=[t.Root(uri="file:///work", name="work")],
        on_log=logged,
        log_level="debug",
        trace=keep,
    )
    async with client:
        await act(client)
    sys.stdout.write(json.dumps(seen))


with open(os.environ.get("WIRE", os.devnull), "ab", buffering=0) as file:
    asyncio.run(main(file, *sys.argv[1:]))
