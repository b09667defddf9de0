"""A client of `notes.py`: starts it, calls its tools, hears of a change, answers its question.

python examples/ask_notes.py
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp_runtime import Client, types

COMMAND = [sys.executable, str(Path(__file__).with_name("notes.py"))]


async def agree(question: types.ElicitRequestParams) -> types.ElicitResult:
    """Stands for a user who agrees to everything."""
    print(question.message)
    return types.ElicitResult(action="accept", content={"delete": True})


async def main() -> None:
    async with Client.stdio(COMMAND, on_elicit=agree) as client:
        print("revision", client.revision)
        for tool in await client.list_tools():
            print("tool", tool.name)
        async with client.listen(uris=["note://tea"]) as changes:
            note = {"title": "tea", "text": "Two minutes, not three."}
            await client.call_tool("write_note", {"note": note})
            print("changed", (await anext(changes)).uri)
        result = await client.call_tool("search_notes", {"words": "minutes"})
        print("found", result.structured_content)
        deleted = await client.call_tool("delete_note", {"title": "tea"})
        print("deleted", not deleted.is_error)
        missing = await client.call_tool("delete_note", {"title": "coffee"})
        print("error", missing.is_error is True, missing.content)


if __name__ == "__main__":
    asyncio.run(main())
