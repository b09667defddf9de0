"""Clients of a bridge come, call, cancel and leave; servers are killed, the bridge is started anew.

    python -m bench.bridge_churn [calls] [seed]         # 10000 calls, if no number is given

Prints the rest of each life of a bridge, which is nothing: no child process, task, descriptor or
file; and the memory of the process. Each answer is the one to its own call.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from bench.servers.churned import make
from bench.soak import resident
from mcp_runtime import Client
from mcp_runtime import types as t
from mcp_runtime.bridge import Bridge, Names, Upstream
from mcp_runtime.errors import SessionError
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import ALL
from mcp_runtime.transports.memory import pair
from tests.support.patience import until
from tests.support.uvicorn_served import served

__all__ = ["Processes", "Servers", "Wires", "left", "life"]

_SERVER: Final = Path(__file__).parent / "servers" / "churned.py"
_CALLS: Final = 10_000
_A_LIFE: Final = 250
"""Calls until the bridge ends, while clients are calling."""
_AT_ONCE: Final = 6
_LIMITS: Final = Limits(bridge_backoff=0.05, parked=8)
_NAMES: Final = ("a", "b")


class Servers(Protocol):
    """The servers behind a bridge."""

    def upstream(self, name: str) -> Upstream: ...

    async def kill(self, dice: random.Random) -> None:
        """End one that runs, without a word."""

    def running(self) -> int: ...


class Wires:
    """Servers of this process; a kill cuts a connection."""

    def __init__(self) -> None:
        self._servers = {name: make(lambda: None) for name in _NAMES}
        self._open: dict[asyncio.Task[None], Any] = {}

    def upstream(self, name: str) -> Upstream:
        async def connect() -> Any:
            near, far = pair()
            serving = asyncio.create_task(self._servers[name].serve(far))
            self._open[serving] = near
            serving.add_done_callback(self._open.pop)
            return near

        return Upstream(connect=partial(Client.wire, connect), names=Names(prefix=name))

    async def kill(self, dice: random.Random) -> None:
        if self._open:
            await dice.choice([*self._open.values()]).close()

    def running(self) -> int:
        return len(self._open)


class Processes:
    """Servers in processes of their own."""

    def upstream(self, name: str) -> Upstream:
        return Upstream.of([sys.executable, str(_SERVER)], Names(prefix=name))

    async def kill(self, dice: random.Random) -> None:
        if children := _children():
            with suppress(ProcessLookupError):
                os.kill(dice.choice(children), signal.SIGKILL)

    def running(self) -> int:
        return len(_children())


def _children() -> list[int]:
    children: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            children += map(int, (task / "children").read_text("ascii").split())
    return children


# ---- one life of a bridge


async def life(servers: Servers, calls: int, seed: int) -> Counter[str]:
    """Serve clients until so many calls were made, and end the bridge while others go on.

    Returns how calls have ended, by the names of errors. Raises AssertionError for the answer to
    another call.
    """
    dice, ends = random.Random(seed), Counter[str]()
    bridge = Bridge({name: servers.upstream(name) for name in _NAMES}, limits=_LIMITS)
    async with AsyncExitStack() as stack:
        app = bridge.server.asgi()
        url = f"{await stack.enter_async_context(served(app, lifespan='on'))}/mcp"
        makers = (partial(Client.http, url), partial(Client, bridge.server))
        number = 0
        while ends.total() < calls:
            crowd = [
                asyncio.create_task(_client(dice.choice(makers), f"{seed}.{number + n}", ends))
                for n in range(_AT_ONCE)
            ]
            number += _AT_ONCE
            for _ in range(dice.randrange(3)):
                await asyncio.sleep(dice.random() * 0.05)
                await servers.kill(dice)
            await asyncio.gather(*crowd)
        crowd = [
            asyncio.create_task(_client(partial(Client.http, url), f"{seed}.last.{n}", ends))
            for n in range(_AT_ONCE)
        ]
        await asyncio.sleep(dice.random() * 0.05)
    await asyncio.gather(*crowd)
    return ends


async def _client(make_client: Callable[..., Client], who: str, ends: Counter[str]) -> None:
    """Make some calls, and leave, often in the middle of one."""
    dice, running = random.Random(who), list[asyncio.Task[None]]()

    async def elicit(params: t.ElicitRequestParams) -> t.ElicitResult:
        assert params.message.startswith(f"{who} "), f"{who} is asked {params.message!r}"
        return t.ElicitResult(action="accept", content={"who": who})

    try:
        async with make_client(revisions=[dice.choice(ALL)], on_elicit=elicit) as client:
            for number in range(dice.randrange(1, 12)):
                call = asyncio.create_task(_call(client, who, f"{who} {number}", dice, ends))
                running.append(call)
                if dice.random() < 0.7:
                    await call
                elif dice.random() < 0.5:
                    await asyncio.sleep(dice.random() * 0.01)
                    call.cancel()
    except SessionError as error:
        ends[type(error).__name__] += 1
    finally:
        for call in running:
            call.cancel()
        for ended in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


async def _call(
    client: Client, who: str, word: str, dice: random.Random, ends: Counter[str]
) -> None:
    server = dice.choice(_NAMES)
    try:
        match dice.choices(range(6), (8, 3, 1, 1, 1, 1))[0]:
            case 0:
                arguments = {"word": word, "steps": dice.randrange(4)}
                check(await client.call_tool(f"{server}_talk", arguments), word)
            case 1:
                result = await client.call_tool(f"{server}_ask", {"word": word})
                if client.revision >= ALL[2]:
                    check(result, f"{word} {who}")
            case 2:
                async with asyncio.timeout(dice.random() * 0.05):
                    await client.call_tool(f"{server}_wait")
            case 3:
                await client.list_tools()
            case 4:
                await client.read_resource(f"note://{server}/x")
            case _:
                await client.call_tool(f"{server}_end")
    except (SessionError, TimeoutError) as error:
        ends[type(error).__name__] += 1
    except asyncio.CancelledError:
        ends["cancelled"] += 1
        raise
    else:
        ends["answered"] += 1


def check(result: t.CallToolResult, wanted: str) -> None:
    (block,) = result.content
    assert isinstance(block, t.TextContent)
    assert block.text == wanted, f"{block.text!r} in place of {wanted!r}"


# ---- what is left


async def left(servers: Servers) -> dict[str, int]:
    """Count what this process holds, when the servers of a bridge that has ended are gone."""
    with suppress(AssertionError):
        await until(lambda: not servers.running())
    for _ in range(3):  # what one collection finds may hold generators, which the loop closes then
        gc.collect()
        await asyncio.sleep(0.001)
    return {
        "servers": servers.running(),
        "tasks": len(asyncio.all_tasks()) - 1,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "files": len(os.listdir(tempfile.gettempdir())),
        "objects": len(gc.get_objects()),
    }


async def _main(calls: int, seed: int) -> None:
    print(f"{calls} calls, seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir, servers = folder, Processes()
        ends = await life(servers, 50, seed)
        held = [await left(servers)]
        while ends.total() < calls:
            seed += 1
            ends += await life(servers, _A_LIFE, seed)
            held.append(await left(servers))
            words = ", ".join(f"{name} {count}" for name, count in held[-1].items())
            print(f"{ends.total():8} calls  {resident() >> 10} KiB  {words}", flush=True)
        tempfile.tempdir = None
    print(", ".join(f"{name} {count}" for name, count in ends.most_common()))
    for name in ("servers", "tasks", "descriptors", "files"):
        if held[-1][name] != held[0][name]:
            sys.exit(f"{name}: {held[0][name]} at first, and {held[-1][name]} at the end")


if __name__ == "__main__":
    given = [*map(int, sys.argv[1:])]
    calls = given[0] if given else _CALLS
    asyncio.run(_main(calls, given[1] if len(given) > 1 else random.SystemRandom().getrandbits(32)))
