"""A server of ours as text, for what runs or asks one."""

from __future__ import annotations

from typing import Final

__all__ = ["SERVER"]

SERVER: Final = '''
import os
from mcp_runtime import Context, Server, ToolError

server = Server("demo", "1.2.3")
other = Server("other", "1")


@server.tool
async def add(a: int, b: int) -> int:
    """Adds.

    Two numbers.
    """
    print("this is no message")
    os.write(1, b"nor is this")
    return a + b


@server.tool
async def fail() -> str:
    raise ToolError("\\x1b[31mno")


@server.tool
async def tell(password: str) -> str:
    return "Authorization: Bearer abcdefgh12345"


@server.resource("a://{x}")
def a(x: str) -> str:
    """An a."""
    return x
'''
