"""A client of `office.py`: with the extension it fetches what was stamped, without it it waits.

python examples/stamps/ask_office.py
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from stamps import Stamps

from mcp_runtime import Client, types

COMMAND = [sys.executable, str(Path(__file__).with_name("office.py"))]


async def main() -> None:
    for extensions in ([Stamps()], []):
        async with Client.stdio(COMMAND, extensions=extensions) as client:
            result = await client.call_tool("apply", {"name": "Ada"})
            print(*(item.text for item in result.content if isinstance(item, types.TextContent)))


if __name__ == "__main__":
    asyncio.run(main())
