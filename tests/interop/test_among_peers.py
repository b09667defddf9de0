"""The peers among themselves: what the programs do that we are put beside, without us."""

from __future__ import annotations

from typing import Final

import pytest

from tests.interop.scenario import CLIENTS, HANDSHAKE, SERVERS, Client, Server, expected, seen

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
def test_peers_see_of_each_other_what_is_offered(client: Client, mode: str, server: Server) -> None:
    revision = client.modes[mode]
    agreed = revision if revision in server.revisions else HANDSHAKE
    wanted = expected(server, agreed)
    if client.name == "mcp-client" and mode == PINNED:
        wanted["server"] = None
    assert seen(client, mode, server.command()) == wanted
