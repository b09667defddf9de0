"""The official SDKs and authorization: their clients at our protected server, ours at theirs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from bench import peers
from mcp_runtime import Client
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.revisions import ALL
from tests.interop import node
from tests.interop.oidc import CALLBACK, Person, bounded, first_text, free_port, issuing, protected

pytestmark = pytest.mark.interop

HERE: Final = Path(__file__).parent / "peers"
SECONDS: Final = 30.0
PACKAGES: Final = ("mcp", "v2")


def program(package: str, role: str, *arguments: str) -> list[str]:
    """How the program of a package is started."""
    if package == "mcp":
        return [peers.python(), str(HERE / f"mcp_auth_{role}.py"), *arguments]
    return node.command(f"auth_{role}.cjs", *arguments)


# ---- their clients


async def seen(command: Sequence[str], person: Person) -> Any:
    """What a client saw, whose person signs in as often as it wants them to."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            document = json.loads(line)
            if "seen" in document:
                return document["seen"]
            async with person(CALLBACK) as visit:
                process.stdin.write((await visit(document["visit"], "") + "\n").encode())
        raise AssertionError("the client ended without an answer")
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("mode", ["legacy", ALL[-1]])
def test_their_client_signs_in_and_steps_up_at_our_server(package: str, mode: str) -> None:
    async def main() -> None:
        person = Person()
        async with protected() as (url, _):
            lines = await seen(program(package, "client", mode, url), person)
        assert lines == ["ann read", "changed", "ann read write"]
        assert all(query["resource"] == [url] for query in person.asked)
        assert all(query["code_challenge_method"] == ["S256"] for query in person.asked)

    bounded(main())


# ---- their servers


@asynccontextmanager
async def theirs(package: str) -> AsyncGenerator[str]:
    """The URL of a protected server of a package."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    with issuing(url) as issuer:
        process = await asyncio.create_subprocess_exec(
            *program(package, "server", str(port), issuer)
        )
        try:
            await listening(port)
            yield url
        finally:
            process.terminate()
            await process.wait()


async def listening(port: int) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("revision", [ALL[-2], ALL[-1]])
def test_our_client_signs_in_at_their_server(package: str, revision: str) -> None:
    async def main() -> None:
        person = Person()
        async with theirs(package) as url:
            auth = OAuth(redirect=person, client_name="interop")
            async with Client.http(url, auth=auth, revisions=[revision]) as client:
                assert await first_text(client, "whoami") == "ann read"
        (query,) = person.asked
        assert query["resource"] == [url]

    bounded(main())
