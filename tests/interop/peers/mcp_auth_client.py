"""The package `mcp` as a client of a protected server.

Usage: mcp_auth_client.py MODE URL, where MODE is `legacy`, `auto` or a revision. Prints
{"visit": URL} when a person must sign in, reads the URL that they come back to from stdin, and
prints {"seen": TEXTS} with what the tools said.
"""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.to_thread
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

REDIRECT = "http://127.0.0.1:7777/callback"


def say(document: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(document)}\n")
    sys.stdout.flush()


class Memory:
    """A storage of the package."""

    tokens: Any = None
    client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


async def visit(url: str) -> None:
    say({"visit": url})


async def returned() -> AuthorizationCodeResult:
    redirected = await anyio.to_thread.run_sync(sys.stdin.readline)
    query = dict(parse_qsl(urlsplit(redirected.strip()).query))
    return AuthorizationCodeResult(**{name: query.get(name) for name in ("code", "state", "iss")})


async def main(mode: str, url: str) -> None:
    metadata = OAuthClientMetadata(
        client_name="mcp-client",
        redirect_uris=[REDIRECT],
        token_endpoint_auth_method="none",
    )
    auth = OAuthClientProvider(url, metadata, Memory(), visit, returned)
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode) as client:
            names = ("whoami", "change", "whoami")
            seen = [(await client.call_tool(name, {})).content[0].text for name in names]
    say({"seen": seen})


anyio.run(main, *sys.argv[1:])
