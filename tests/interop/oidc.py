"""A protected server of ours, a real authorization server (npm's `oidc-provider`), and a person."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
import uvicorn

from mcp_runtime import Client, Context, Server
from mcp_runtime.auth.client.redirect import Visit
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.jwt_verifier import JwtVerifier
from tests.interop import node
from tests.interop.processes import free_port

__all__ = ["Person", "bounded", "first_text", "free_port", "issuing", "protected"]

CALLBACK: Final = "http://127.0.0.1:7777/callback"
SECONDS: Final = 20.0
FORM: Final = re.compile(r'action="([^"]+)"')


@contextmanager
def issuing(resource: str) -> Generator[str]:
    """The URL of an authorization server for that resource."""
    port = free_port()
    command = node.command("issuer.cjs", str(port), resource)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(SECONDS)


@asynccontextmanager
async def protected() -> AsyncGenerator[tuple[str, str]]:
    """The URLs of a protected server of ours, and of its authorization server."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    with issuing(url) as issuer:
        verifier = JwtVerifier(issuer=issuer, audience=url, jwks_uri=f"{issuer}/jwks", leeway=0)
        auth = BearerAuth(verifier, issuer=issuer, resource=url, scopes=("read",))
        server = Server("protected", "1", auth=auth)

        @server.tool
        async def whoami(ctx: Context) -> str:
            assert ctx.token is not None
            bound = " bound" if ctx.token.key_thumbprint else ""
            return f"{ctx.token.subject} {' '.join(sorted(ctx.token.scopes))}{bound}"

        @server.tool(scopes=["write"])
        async def change() -> str:
            return "changed"

        config = uvicorn.Config(server.asgi(), lifespan="off", log_level="warning")
        serving = uvicorn.Server(config)
        running = asyncio.create_task(serving.serve(sockets=[listening]))
        try:
            yield url, issuer
        finally:
            serving.should_exit = True
            await asyncio.wait_for(running, SECONDS)


class Person:
    """Signs in as `ann` in a browser of its own, and counts how often."""

    def __init__(self) -> None:
        self.visits = 0
        self.asked: list[dict[str, list[str]]] = []

    @asynccontextmanager
    async def __call__(self, preferred: str | None, /) -> AsyncGenerator[Visit]:
        yield _Browser(self, preferred or CALLBACK)


class _Browser:
    def __init__(self, person: Person, uri: str) -> None:
        self.uri = uri
        self._person = person

    async def __call__(self, url: str, host: str, /) -> str:
        self._person.visits += 1
        self._person.asked.append(parse_qs(urlsplit(url).query))
        async with httpx2.AsyncClient() as http:
            page = await http.get(url)
            for _ in range(10):
                if "location" in page.headers:
                    target = str(page.url.join(page.headers["location"]))
                    if target.startswith(self.uri):
                        return target
                    page = await http.get(target)
                else:
                    page = await self._answered(http, page)
        raise AssertionError(f"{page.url} does not lead back: {page.text[:500]}")

    async def _answered(self, http: httpx2.AsyncClient, page: httpx2.Response) -> httpx2.Response:
        form = FORM.search(page.text)
        assert form is not None, page.text[:500]
        prompt = "login" if 'name="login"' in page.text else "consent"
        fields = {"prompt": prompt, "login": "ann", "password": "any"}
        return await http.post(str(page.url.join(form[1])), data=fields)


async def first_text(client: Client, tool: str) -> str:
    result: Any = await client.call_tool(tool)
    return str(result.content[0].text)


def bounded(work: Any) -> None:
    async def main() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(main())
