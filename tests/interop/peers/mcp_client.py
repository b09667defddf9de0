"""The package `mcp` as a client: does what every peer client here does.

Usage: mcp_client.py MODE URL|COMMAND…, where MODE is `legacy`, `auto` or a revision. What it saw
goes to stdout as one JSON document.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    Implementation,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
    ToolListChangedNotification,
)

warnings.simplefilter("ignore")
changed = anyio.Event()
seen: dict[str, Any] = {"progress": [], "logs": [], "asked": [], "sampled": []}


async def elicited(context: Any, params: Any) -> ElicitResult:
    seen["asked"].append(params.message)
    return ElicitResult(action="accept", content={"name": "Ada"})


async def sampled(context: Any, params: Any) -> CreateMessageResult:
    content = params.messages[0].content
    seen["sampled"].append(content.text)
    answer = TextContent(type="text", text=f"you said {content.text}")
    return CreateMessageResult(role="assistant", content=answer, model="none")


async def roots(context: Any) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///work", name="work")])


async def logged(params: Any) -> None:
    seen["logs"].append([params.level, params.data])


async def notified(message: Any) -> None:
    if isinstance(message, ToolListChangedNotification):
        changed.set()


async def progressed(progress: float, total: float | None, message: str | None) -> None:
    seen["progress"].append([progress, total])


async def tried(what: Awaitable[Any]) -> Any:
    try:
        return await what
    except MCPError as error:
        return {"code": error.error.code}


def done(result: Any) -> str:
    return "refused" if isinstance(result, dict) else "done"


async def called(client: Client, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
    result = await tried(client.call_tool(tool, arguments, **more))
    if isinstance(result, dict) or result.is_error:
        return result if isinstance(result, dict) else "tool error"
    return [block.text for block in result.content], result.structured_content


async def read(client: Client, uri: str) -> Any:
    result = await tried(client.read_resource(uri))
    return result if isinstance(result, dict) else [content.text for content in result.contents]


async def act(client: Client) -> None:
    seen["revision"] = client.protocol_version
    seen["server"] = client.server_info and client.server_info.name
    seen["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)
    seen["resources"] = [str(r.uri) for r in (await client.list_resources()).resources]
    templates = (await client.list_resource_templates()).resource_templates
    seen["templates"] = [template.uri_template for template in templates]
    seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
    if client.protocol_version < "2026-07-28":
        seen["level"] = done(await tried(client.set_logging_level("debug")))
        seen["ping"] = done(await tried(client.send_ping()))
    seen["add"] = await called(client, "add", {"a": 2, "b": 3})
    seen["echo"] = await called(client, "echo", {"text": "é\n\u2028😀"})
    seen["work"] = await called(client, "work", {"steps": 3}, progress_callback=progressed)
    seen["ask"] = await called(client, "ask", {})
    seen["sample"] = await called(client, "sample", {"text": "hello"})
    seen["where"] = await called(client, "where", {})
    seen["fail"] = await called(client, "fail", {})
    seen["wrong"] = await called(client, "add", {"a": "x"})
    seen["unknown"] = await called(client, "absent", {})
    seen["read"] = await read(client, "note://today")
    seen["template"] = await read(client, "greeting://Ada")
    seen["missing"] = await read(client, "note://absent")
    prompt = await tried(client.get_prompt("review", {"language": "python"}))
    seen["prompt"] = [[message.role, message.content.text] for message in prompt.messages]
    argument = {"name": "language", "value": "py"}
    ref = PromptReference(type="ref/prompt", name="review")
    completed = await tried(client.complete(ref, argument))
    seen["complete"] = completed if isinstance(completed, dict) else completed.completion.values
    seen["wait"] = await give_up(client)
    seen["again"] = await called(client, "add", {"a": 1, "b": 1})
    seen["grown"] = await watch(client)


async def give_up(client: Client) -> str:
    with anyio.move_on_after(0.2):
        await client.call_tool("wait", {})
    return "given up"


async def watch(client: Client) -> list[str]:
    """The tools after they have changed, of which the server tells."""
    async with AsyncExitStack() as stack:
        if client.protocol_version >= "2026-07-28":
            await stack.enter_async_context(client.listen(tools_list_changed=True))
        await called(client, "grow", {})
        with anyio.fail_after(5):
            await changed.wait()
    return sorted(tool.name for tool in (await client.list_tools()).tools)


def reached(command: str, *arguments: str) -> Any:
    if command.endswith("/sse"):
        return sse_client(command)
    if command.startswith("http://"):
        return command
    return StdioServerParameters(command=command, args=list(arguments))


async def main(mode: str, *server: str) -> None:
    client = Client(
        reached(*server),
        mode=mode,
        client_info=Implementation(name="mcp-client", version="1"),
        elicitation_callback=elicited,
        sampling_callback=sampled,
        list_roots_callback=roots,
        logging_callback=logged,
        log_level="debug",
        message_handler=notified,
    )
    async with client:
        await act(client)
    sys.stdout.write(json.dumps(seen))


anyio.run(main, *sys.argv[1:])
