"""The peers among themselves: what the programs do that we are put beside, without us."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.interop.scenario import (
    CLIENTS,
    HANDSHAKE,
    SERVERS,
    Client,
    Server,
    expected,
    invalid,
    seen,
    tapped,
)

PINNED: Final = "2026-07-28"
"""A client in this mode takes no other revision; `mcp` then never learns the server's name."""


def _pairs() -> list[object]:
    return [
        pytest.param(
            client,
            mode,
            server,
            id=f"{client.name}-{mode}-{server.name}",
            marks=_mark(client, server),
        )
        for client in CLIENTS.values()
        for mode, revision in client.modes.items()
        for server in SERVERS.values()
        if mode != PINNED or revision in server.revisions
    ]


def _mark(client: Client, server: Server) -> pytest.MarkDecorator:
    in_python = client.name.startswith("mcp-") and server.name.startswith("mcp-")
    return pytest.mark.peers if in_python else pytest.mark.interop


@pytest.mark.parametrize(("client", "mode", "server"), _pairs())
def test_peers_see_of_each_other_what_is_offered_and_say_nothing_invalid(
    client: Client, mode: str, server: Server, tmp_path: Path
) -> None:
    wire = tmp_path / "wire.jsonl"
    revision = client.modes[mode]
    agreed = revision if revision in server.revisions else HANDSHAKE
    wanted = expected(server, agreed)
    if client.name == "mcp-client" and mode == PINNED:
        wanted["server"] = None
    assert seen(client, mode, tapped(wire, server.command())) == wanted
    assert list(invalid(wire, agreed)) == []
