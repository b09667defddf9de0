"""A project with --scale: its nginx.conf, in front of two processes, one of which is killed."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.errors import SessionError
from tests.support import redis_server as redis
from tests.support.projects import ALL, answers, environment, made, write

CHOSEN: Final = answers(transports=("http",), scale=True)
SLOW: Final = """

@server.tool
async def pid(seconds: float, ctx: Context) -> int:
    \"\"\"Say who answers, now and later.\"\"\"
    import asyncio
    import os

    await ctx.log("error", str(os.getpid()))
    await asyncio.sleep(seconds)
    return os.getpid()
"""
SECONDS: Final = 30.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def reached(port: int) -> None:
    """Returns when somebody listens there."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nobody listens on port {port}")


@contextmanager
def running(command: list[str], port: int, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, env={**os.environ, **settings}) as process:
        try:
            reached(port)
            yield process
        finally:
            process.terminate()
            process.wait(SECONDS)


@contextmanager
def scaled(home: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The URL of the proxy, and the processes behind it."""
    files = dict(made(CHOSEN))
    files["src/my_server/server.py"] += SLOW
    project = write(files, home / "project")
    python = environment(home / "venv", project)
    ports, front = [free_port(), free_port()], free_port()
    conf = files["nginx.conf"]
    for name, port in zip(("one", "two"), ports, strict=True):
        assert f"server {name}:8000 " in conf
        conf = conf.replace(f"server {name}:8000 ", f"server 127.0.0.1:{port} ")
    conf = conf.replace("listen 8080;", f"listen 127.0.0.1:{front};")
    (home / "nginx.conf").write_text(f"pid {home}/nginx.pid;\ndaemon off;\n{conf}")
    nginx = ["nginx", "-p", str(home), "-c", str(home / "nginx.conf"), "-e", "stderr"]
    with ExitStack() as stack:
        store = stack.enter_context(redis.redis_server())
        settings = {"MCP_STORE": store.url, "MCP_STATE_KEYS": secrets.token_hex(32)}
        processes = [
            stack.enter_context(
                running(
                    [str(python), "-m", "my_server", "--http", f"127.0.0.1:{port}"],
                    port,
                    **settings,
                )
            )
            for port in ports
        ]
        stack.enter_context(running(nginx, front))
        yield f"http://127.0.0.1:{front}/mcp", processes


async def pid(client: Client, seconds: float = 0) -> int:
    result: Any = await client.call_tool("pid", {"seconds": seconds})
    return int(result.structured_content["result"])


@pytest.mark.wide
@pytest.mark.skipif(
    redis.PROGRAM is None or shutil.which("nginx") is None,
    reason="needs redis-server (or valkey-server) and nginx",
)
def test_either_replica_goes_on_when_the_other_is_killed_in_a_call(tmp_path: Path) -> None:
    begun: asyncio.Queue[int] = asyncio.Queue()

    async def main(url: str, processes: list[subprocess.Popen[bytes]]) -> None:
        def logged(params: Any) -> None:
            begun.put_nowait(int(params.data))

        async with (
            asyncio.timeout(60),
            Client.http(url, revisions=[ALL[-2]], on_log=logged) as client,
        ):
            both = {process.pid for process in processes}
            assert {await pid(client) for _ in range(8)} == both
            while not begun.empty():
                begun.get_nowait()
            call = asyncio.create_task(pid(client, 3600))
            owner = await begun.get()
            os.kill(owner, signal.SIGKILL)
            with pytest.raises(SessionError):
                await call
            assert {await pid(client) for _ in range(4)} == both - {owner}

    with scaled(tmp_path) as (url, processes):
        asyncio.run(main(url, processes))


def test_the_compose_file_has_two_replicas_a_store_and_the_proxy() -> None:
    text = made(CHOSEN)["compose.yaml"]
    for line in ("  one: *replica", "  two: *replica", "  proxy:", "  store:"):
        assert line in text.splitlines()
    assert "MCP_AUTH_ISSUER" not in text
    protected = made(answers(transports=("http",), auth="bearer", scale=True))["compose.yaml"]
    assert "MCP_AUTH_ISSUER" in protected
    assert "compose.yaml" not in made(answers(transports=("http",)))
