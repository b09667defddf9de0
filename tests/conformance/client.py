"""The client under test: does what one scenario of the official suite asks for.

Usage: client.py URL. The suite names the scenario, the revision that it speaks and what there is to
call in its environment variables.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp_runtime import Client
from mcp_runtime import types as t
from tests.conformance.authorization import ENDS, authorization

_NEWEST: Final = "2026-07-28"
_HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_SAMPLES: Final = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}


async def filled(params: t.ElicitRequestParams) -> t.ElicitResult:
    """Accepts a form with its defaults, and says yes to what has none."""
    assert isinstance(params, t.ElicitRequestFormParams)
    fields = t.to_wire(params.requested_schema)["properties"]
    content = {name: field.get("default", _sample(field)) for name, field in fields.items()}
    return t.ElicitResult(action="accept", content=content)


async def sampled(params: t.CreateMessageRequestParams) -> t.CreateMessageResult:
    content = t.TextContent(text="a word")
    return t.CreateMessageResult(role="assistant", content=content, model="none")


def _sample(schema: Mapping[str, Any]) -> Any:
    """Some value of a type."""
    return _SAMPLES.get(schema.get("type", ""), {} if schema.get("type") == "object" else None)


# ---- scenarios


async def listed(client: Client) -> None:
    """What the server offers of tools."""
    if "tools" in client.server_capabilities:
        await client.list_tools()


async def added(client: Client) -> None:
    await client.list_tools()
    await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def elicited(client: Client) -> None:
    await client.list_tools()
    await client.call_tool("test_client_elicitation_defaults")


async def reconnected(client: Client) -> None:
    await client.list_tools()
    await client.call_tool("test_reconnection")


async def asked_twice(client: Client) -> None:
    for name in ("echo_state", "unrelated", "no_state", "no_result_type"):
        await client.call_tool(f"test_mrtr_{name}")


async def named(client: Client) -> None:
    """One request of each method that a header names."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, _arguments(tool))
    for resource in await client.list_resources():
        await client.read_resource(resource.uri)
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt.name)


async def mirrored(client: Client) -> None:
    await client.list_tools()
    for call in _context()["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def called_all(client: Client) -> None:
    for tool in await client.list_tools():
        await client.call_tool(tool.name, _arguments(tool))


async def called_all_twice(client: Client) -> None:
    """Two rounds, so that a server can change its mind about a token in between."""
    for _ in range(2):
        await called_all(client)


async def echoed(client: Client) -> None:
    tools = {tool.name: tool for tool in await client.list_tools()}
    schema = t.to_wire(tools["json_schema_2020_12_tool"].input_schema)
    await client.call_tool("json_schema_echo", {"schema": schema})


def _arguments(tool: t.Tool) -> dict[str, Any]:
    schema = t.to_wire(tool.input_schema)
    properties = schema.get("properties", {})
    return {name: _sample(properties.get(name, {})) for name in schema.get("required", ())}


def _context() -> Any:
    return json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))


SCENARIOS: Final[Mapping[str, Callable[[Client], Awaitable[None]]]] = {
    "elicitation-sep1034-client-defaults": elicited,
    "http-custom-headers": mirrored,
    "http-invalid-tool-headers": called_all,
    "http-standard-headers": named,
    "initialize": listed,
    "json-schema-2020-12-preservation": echoed,
    "json-schema-ref-no-deref": listed,
    "request-metadata": listed,
    "sep-2322-client-request-state": asked_twice,
    "sse-retry": reconnected,
    "tools_call": added,
}


async def main(url: str) -> None:
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    is_protected = scenario.startswith("auth/")
    act = called_all_twice if is_protected else SCENARIOS[scenario]
    spoken = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
    client = Client.http(
        url,
        name="conformance-client",
        version="1.0.0",
        revisions=[_NEWEST] if spoken == _NEWEST else _HANDSHAKE,
        on_elicit=filled,
        on_sample=sampled,
        roots=[t.Root(uri="file:///tmp")],
        timeout=20,
        auth=authorization(scenario, _context(), url) if is_protected else None,
    )
    if (error := ENDS.get(scenario)) is None:
        await used(client, act)
        return
    try:
        await used(client, act)
    except error as refusal:
        sys.stderr.write(f"as it must be: {refusal}\n")
    else:
        raise SystemExit(f"{scenario}: the client was let in")


async def used(client: Client, act: Callable[[Client], Awaitable[None]]) -> None:
    async with client:
        await act(client)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
