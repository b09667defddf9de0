"""What goes wrong on the client's side of authorization ends the call at once, with its cause."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from mcp_runtime import Client
from mcp_runtime.auth.client.authorization_server.client_authentication import KeyPair
from mcp_runtime.auth.client.grants import ClientCredentials, WorkloadIdentity
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.redirect import LoopbackRedirect, PastedRedirect
from mcp_runtime.auth.client.storage import FileStorage
from mcp_runtime.errors import LocalError
from tests.runtime.auth.test_protected_server import Issuer, client, serving, text


async def refused(issuer: Issuer, **settings: Any) -> str:
    """What the client is told whose settings these are."""
    with pytest.raises(LocalError) as caught:
        async with Client.http(issuer.world.resource, auth=OAuth(**settings)):
            pass
    return str(caught.value)


def ignored(url: str, host: str) -> None:
    """Shows nobody anything."""


@pytest.mark.real_time
async def test_a_redirect_that_cannot_be_waited_for_is_named() -> None:
    def no_terminal() -> str:
        raise EOFError("EOF when reading a line")

    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        async with serving() as issuer:
            said = await refused(issuer, redirect=LoopbackRedirect(ignored, port=port))
            assert str(port) in said
            assert "redirect" in said
            said = await refused(issuer, redirect=PastedRedirect(ignored, no_terminal))
            assert "EOFError: EOF when reading" in said


async def test_a_grant_that_fails_is_named() -> None:
    def no_file() -> str:
        raise FileNotFoundError("/var/run/token")

    async with serving() as issuer:
        known = {"client_issuer": issuer.world.issuer}
        grant = WorkloadIdentity(jwt=no_file)
        assert "FileNotFoundError: /var/run/token" in await refused(issuer, grant=grant, **known)
        key = ClientCredentials(client_id="job", key=KeyPair("no key"))
        assert "ValueError: " in await refused(issuer, grant=key, **known)


async def test_a_storage_that_fails_is_named_and_the_session_lives_on(tmp_path: Path) -> None:
    broken = tmp_path / "tokens.json"
    async with serving() as issuer:
        broken.write_bytes(b"{nonsense")
        assert "is not a token file" in await refused(issuer, storage=FileStorage(broken))
        broken.unlink()
        async with client(issuer, storage=FileStorage(broken)) as who:
            await text(who, "whoami")
            broken.write_bytes(b"{nonsense")
            issuer.world.valid.clear()
            with pytest.raises(LocalError, match="is not a token file"):
                await text(who, "whoami")
            broken.unlink()
            assert await text(who, "whoami") == "ann read"
