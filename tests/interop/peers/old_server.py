"""A server on a version of `mcp` from 1.2 to 1.9.

Usage: old_server.py [sse|streamable-http PORT]
"""

from __future__ import annotations

import sys

from mcp.server.fastmcp import FastMCP

transport, port = sys.argv[1:] or ("stdio", "0")
server = FastMCP("old-server", host="127.0.0.1", port=int(port))


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def fail() -> str:
    raise ValueError("broken")


@server.resource("note://today")
def today() -> str:
    return "words"


@server.prompt()
def review(language: str) -> str:
    return f"Review this {language}"


server.run(transport=transport)
