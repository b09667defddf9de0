"""A client of a framework: lists the tools, calls two of them, and says what it saw as JSON.

Usage: framework_client.py FRAMEWORK URL|COMMAND…
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import Awaitable
from typing import Any

warnings.simplefilter("ignore")

ADDED = {"a": 2, "b": 3}


async def tried(call: Awaitable[Any]) -> str:
    """The text of the error that a call ends in."""
    try:
        return f"no error, but {await call}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def seen(tools: list[str], text: str, structured: Any, error: str) -> dict[str, Any]:
    return {"tools": sorted(tools), "text": text, "structured": structured, "error": error}


async def fastmcp(server: list[str]) -> dict[str, Any]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = server[0] if len(server) == 1 else StdioTransport(server[0], server[1:])
    async with Client(transport) as client:
        tools = [tool.name for tool in await client.list_tools()]
        added = await client.call_tool("add", ADDED)
        error = await tried(client.call_tool("fail", {}))
        return seen(tools, added.content[0].text, added.structured_content, error)


async def langchain(server: list[str]) -> dict[str, Any]:
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    command = {"transport": "stdio", "command": server[0], "args": server[1:]}
    url = {"transport": "streamable_http", "url": server[0]}
    client = MultiServerMCPClient({"ours": url if len(server) == 1 else command})
    async with client.session("ours") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        call = {"type": "tool_call", "id": "1"}
        added = await tools["add"].ainvoke({**call, "name": "add", "args": ADDED})
        failed = await tools["fail"].ainvoke({**call, "name": "fail", "args": {}})
        assert failed.status == "error"
        structured = added.artifact["structured_content"]
        return seen(list(tools), added.content[0]["text"], structured, failed.content[0]["text"])


async def pydantic_ai(server: list[str]) -> dict[str, Any]:
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset

    transport = server[0] if len(server) == 1 else StdioTransport(server[0], server[1:])
    async with MCPToolset(transport) as client:
        tools = [tool.name for tool in await client.list_tools()]
        added = await client.direct_call_tool("add", ADDED)
        error = await tried(client.direct_call_tool("fail", {}))
        return seen(tools, json.dumps(added, separators=(",", ":")), added, error)


async def openai_agents(server: list[str]) -> dict[str, Any]:
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    command = {"command": server[0], "args": server[1:]}
    made = (
        MCPServerStreamableHttp({"url": server[0]})
        if len(server) == 1
        else MCPServerStdio(command, client_session_timeout_seconds=30)
    )
    async with made as client:
        tools = [tool.name for tool in await client.list_tools()]
        added = await client.call_tool("add", ADDED)
        failed = await client.call_tool("fail", {})
        assert failed.is_error
        structured = added.structured_content
        return seen(tools, added.content[0].text, structured, failed.content[0].text)


if __name__ == "__main__":
    program = {
        "fastmcp": fastmcp,
        "langchain": langchain,
        "pydantic-ai": pydantic_ai,
        "openai-agents": openai_agents,
    }[sys.argv[1]]
    sys.stdout.write(json.dumps(asyncio.run(program(sys.argv[2:]))))
