"""Every client with every server, ours and others', over stdio."""

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

IN_NODE: Final = ("sdk", "v2")


def _pairs() -> list[object]:
    return [
        pytest.param(client, mode, server, id=f"{client.name}-{mode}-{server.name}", marks=marks)
        for client in CLIENTS.values()
        for mode, revision in client.modes.items()
        for server in SERVERS.values()
        if mode != PINNED or revision in server.revisions
        for marks in [_marks({side.name.partition("-")[0] for side in (client, server)})]
    ]


def _marks(families: set[str]) -> list[pytest.MarkDecorator]:
    """What else is needed: Node, or the peer in Python, or nothing."""
    if families.intersection(IN_NODE):
        return [pytest.mark.interop]
    return [pytest.mark.peers] if "mcp" in families else []


@pytest.mark.parametrize(("client", "mode", "server"), _pairs())
def test_a_client_sees_all_that_a_server_offers_and_neither_says_anything_invalid(
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
