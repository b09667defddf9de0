"""Our client as a stranger uses it: lists what a server has, calls tools, and says what it saw.

Usage: field_client.py ERA CALLS URL|COMMAND…, where CALLS is JSON, pairs of a tool and its
arguments. What it saw goes to stdout as one JSON document.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from msgspec import UNSET

from mcp_runtime import Client
from mcp_runtime.errors import RemoteError


async def names(kind: str, client: Client) -> list[str]:
    if kind not in client.server_capabilities:
        return []
    return sorted(item.name for item in await getattr(client, f"list_{kind}")())


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except RemoteError as error:
        return {"code": error.code}
    structured = result.structured_content
    return {
        "text": "\n".join(getattr(block, "text", "") for block in result.content),
        "structured": None if structured is UNSET else structured,
        "is_error": result.is_error is True,
    }


async def main(era: Any, calls: list[Any], server: list[str]) -> None:
    opened = Client.http(server[0], era=era) if len(server) == 1 else Client.stdio(server, era=era)
    async with opened as client:
        kinds = ("tools", "resources", "prompts")
        seen = {
            "revision": client.revision,
            **{kind: await names(kind, client) for kind in kinds},
            "calls": [await called(client, tool, arguments) for tool, arguments in calls],
        }
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]))
