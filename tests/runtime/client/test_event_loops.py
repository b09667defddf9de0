"""A client belongs to one event loop; calls that come while its server is restarted wait for it."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from mcp_runtime import Client, Server, types
from mcp_runtime.errors import Disconnected, LocalError
from tests.support.patience import PATIENCE, eventually

SLOW: Final = """
import os, time
time.sleep(0.5)
from mcp_runtime import Server
server = Server("slow", "1")
@server.tool
def echo(text: str) -> str:
    return text
@server.tool
def crash() -> None:
    os._exit(3)
server.run()
"""


ASKING: Final = """
import json, os, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        about = {"capabilities": {"logging": {}, "tools": {}, "prompts": {}}}
        about |= {"protocolVersion": "2025-11-25", "serverInfo": {"name": "asking", "version": "1"}}
        send(id=id, result=about)
    elif method == "logging/setLevel":
        level = id
        send(id="roots", method="roots/list")
    elif id == "roots":
        send(id=level, result={})
    elif method == "prompts/list":
        send(id=id, result={"prompts": []})
    elif method == "tools/call" and message["params"]["name"] == "crash":
        os._exit(3)
    elif method == "tools/call":
        send(id=id, result={"content": [{"type": "text", "text": "hi"}]})
    elif id is not None:
        send(id=id, error={"code": -32601, "message": "no"})
"""
"""A server that asks the client before it answers `logging/setLevel`."""


def echoing() -> Client:
    server = Server("echoing", "1")

    @server.tool
    async def echo(text: str) -> str:
        return text

    return Client(server)


async def echoed(client: Client, text: str = "hi") -> str:
    (content,) = (await client.call_tool("echo", {"text": text})).content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.real_time
@pytest.mark.parametrize("era", ["auto", "handshake"])
async def test_calls_that_come_during_a_restart_wait_for_its_end(
    era: Literal["auto", "handshake"], tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    command = [sys.executable, str(tmp_path / "slow.py")]

    async def later(client: Client, number: int) -> str:
        await asyncio.sleep(number / 10)
        return await echoed(client, str(number))

    async with Client.stdio(command, restarts=1, era=era) as client:
        with pytest.raises(Disconnected):
            await client.call_tool("crash")
        texts = await asyncio.gather(*(later(client, number) for number in range(10)))
        assert texts == [str(number) for number in range(10)]


@pytest.mark.real_time
async def test_a_callback_that_a_restart_waits_for_may_call_the_new_server(tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text(ASKING, "utf-8")
    command = [sys.executable, str(tmp_path / "asking.py")]
    asked: list[int] = []

    async def roots() -> list[types.Root]:
        async with asyncio.TaskGroup() as tasks:
            asked.append(len(await tasks.create_task(client.list_prompts())))
        return []

    client = Client.stdio(command, restarts=1, era="handshake", roots=roots)

    async with asyncio.timeout(PATIENCE), client:
        await client.set_log_level("info")
        with pytest.raises(Disconnected):
            await client.call_tool("crash")
        assert await echoed(client) == "hi"
    assert asked == [0, 0]


async def test_a_call_on_another_event_loop_says_where_to_call() -> None:
    raised: list[BaseException] = []

    def elsewhere(client: Client) -> None:
        try:
            asyncio.run(echoed(client))
        except LocalError as error:
            raised.append(error)

    async with echoing() as client:
        thread = threading.Thread(target=elsewhere, args=[client])
        thread.start()
        await asyncio.to_thread(thread.join)
        assert "asyncio.run_coroutine_threadsafe" in str(raised[0])
        assert await echoed(client) == "hi"


async def test_handlers_may_be_eager_tasks() -> None:
    """Python 3.11 has none: there the tasks are plain ones."""

    asyncio.get_running_loop().set_task_factory(getattr(asyncio, "eager_task_factory", None))
    async with echoing() as client, asyncio.timeout(10):
        texts = await asyncio.gather(*(echoed(client, str(number)) for number in range(5)))
        assert texts == [str(number) for number in range(5)]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("has_pidfd", [True, False])
def test_a_server_whose_client_was_not_closed_ends_after_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_pidfd: bool
) -> None:
    if not has_pidfd:
        monkeypatch.delattr(os, "pidfd_open")
    deaf = tmp_path / "deaf.py"
    deaf.write_text(SLOW + "time.sleep(60)", "utf-8")
    pids: list[int] = []

    async def main() -> None:
        client = Client.stdio([sys.executable, str(deaf)], stderr="drop")
        await client.__aenter__()
        connection: Any = client.connection
        pids.append(connection.wire.pid)
        await echoed(client)

    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(main())
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
    if has_pidfd:  # else a thread waits for the process
        _, status = os.waitpid(pids[0], 0)
        assert os.waitstatus_to_exitcode(status) == -9
    eventually(lambda: not Path(f"/proc/{pids[0]}").exists())


def test_a_client_in_memory_whose_event_loop_is_closed_leaves_no_task(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop, client = asyncio.new_event_loop(), echoing()
    loop.run_until_complete(client.__aenter__())
    assert loop.run_until_complete(echoed(client)) == "hi"
    loop.close()
    del client
    gc.collect()
    assert caplog.text == ""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_client_whose_event_loop_was_closed_can_be_opened_again() -> None:
    client = echoing()

    async def opened() -> None:
        await client.__aenter__()
        assert await echoed(client) == "hi"

    async def again() -> None:
        with pytest.raises(LocalError, match="open another client here"):
            await echoed(client)
        async with client:
            assert await echoed(client) == "hi"

    async def closed() -> None:
        await client.__aexit__(None, None, None)
        assert not client.is_connected

    for main in (opened, again, opened, closed):
        asyncio.run(main())
