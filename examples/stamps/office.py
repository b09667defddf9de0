"""A server with an extension of its own: the tool `apply` answers with a stamp.

python examples/stamps/office.py
"""

from __future__ import annotations

from stamps import Stamps

from mcp_runtime import Server

stamps = Stamps()
server = Server("office", "1.0.0", extensions=[stamps])


@server.tool(options=[stamps.later])
def apply(name: str) -> str:
    """Applies for a permit."""
    return f"A permit for {name}"


if __name__ == "__main__":
    server.run()
