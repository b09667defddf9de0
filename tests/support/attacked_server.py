"""A server with small limits that hostile peers are sent to: `python … stdio|http [STORE]`.

Over HTTP the principal is what the header `x-user` says; none where it is missing.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

from mcp_runtime import Context, Limits, Server
from mcp_runtime.extensions.tasks import Tasks
from mcp_runtime.server.http.uvicorn import serve

MIB: Final = 1024 * 1024
PROCESS_BYTES: Final = 32 * MIB

limits = Limits(
    process_bytes=PROCESS_BYTES,
    held_bytes=8 * MIB,
    sessions=200,
    tasks=50,
    unread_wait=5,
    body_seconds=5,
)
tasks = Tasks(poll_interval=0.05)
server = Server(
    "attacked", "1", limits=limits, extensions=[tasks], offers=["resources"], keys=[bytes(32)]
)


@server.tool
async def echo(text: str = "") -> str:
    return text


@server.tool
async def large(size: int) -> str:
    return "x" * min(size, 6 * MIB)


@server.tool
async def wait(text: str = "") -> str:
    await asyncio.sleep(2)
    return "waited"


@server.tool
async def events(ctx: Context, count: int, size: int) -> str:
    for _ in range(min(count, 20)):
        await ctx.log("error", "x" * min(size, 100_000))
    return "x" * min(size, MIB)


@server.tool(options=[tasks.optional])
async def job(size: int = 1000) -> str:
    return "x" * min(size, 900_000)


@server.resource("note://{+name}")
def note(name: str) -> str:
    return name


for number in range(12):
    server.tool(name=f"tool{number}", description="d" * 500)(echo)


def _principal(scope: Any) -> str:
    return dict(scope["headers"]).get(b"x-user", b"").decode("latin-1")


def _say(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


async def main(store: str | None) -> None:
    app = server.asgi(store=store, principal=_principal)
    await serve(app, "127.0.0.1:0", started=_say)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        asyncio.run(main(sys.argv[2] if len(sys.argv) > 2 else None))
