"""A vote with a page: hosts that show MCP Apps show buttons and bars, others the numbers as text.

python examples/votes.py 127.0.0.1:8000      # over HTTP; without an address on stdin and stdout
mcp-bindgen call -- python examples/votes.py votes
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from mcp_runtime import Server
from mcp_runtime.extensions import apps

PAGE: Final = "ui://votes/page"
Choice = Literal["tea", "coffee"]

server = Server("votes", "1.0.0", extensions=[apps.extension])
apps.resource(server, PAGE, Path(__file__).with_suffix(".html"), title="Votes", prefers_border=True)
cast: Counter[str] = Counter({"tea": 0, "coffee": 0})


@dataclass
class Votes:
    question: str
    tea: int
    coffee: int


@server.tool(options=[apps.page(PAGE)])
async def votes(question: str = "What shall we drink?") -> Votes:
    """Shows a question, and the votes so far."""
    return Votes(question, **cast)


@server.tool(options=[apps.page(PAGE, visibility=["app"])])
async def vote(question: str, choice: Choice) -> Votes:
    """Counts the vote of who looks at the page; the model has none."""
    cast[choice] += 1
    return Votes(question, **cast)


if __name__ == "__main__":
    server.run(http=sys.argv[1] if len(sys.argv) > 1 else None)
