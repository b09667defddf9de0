"""Every client with every server, ours and others': all over stdio, ours with others over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.interop.scenario import (
    CLIENTS,
    DIFFERENCES,
    SERVERS,
    Client,
    Server,
    agreed,
    differences,
    expected,
    invalid,
    seen,
    tapped,
)

IN_NODE: Final = ("sdk", "v2")


PAIRS: Final = [
    (client, mode, server)
    for client in CLIENTS.values()
    for mode in client.modes
    for server in SERVERS.values()
    if agreed(client, mode, server)
]


def _case(client: Client, mode: str, server: Server) -> object:
    marks = _marks({side.name.partition("-")[0] for side in (client, server)})
    return pytest.param(client, mode, server, id=f"{client.name}-{mode}-{server.name}", marks=marks)


def _marks(families: set[str]) -> list[pytest.MarkDecorator]:
    """What else is needed: Node, or the peer in Python, or nothing."""
    if families.intersection(IN_NODE):
        return [pytest.mark.interop]
    return [pytest.mark.peers] if "mcp" in families else []


@pytest.mark.wide
@pytest.mark.requirement(
    "base.support.lifecycle",
    "base.support.stateless-core",
    "discover.implement",
    "jsonrpc.conform",
    "jsonrpc.error.code-and-message",
    "jsonrpc.error.code-integer",
    "jsonrpc.notification.no-id",
    "jsonrpc.request.id-not-null",
    "jsonrpc.request.id-type",
    "jsonrpc.response.not-both",
    "jsonrpc.response.one-of",
    "jsonrpc.result.member",
    "jsonrpc.utf8",
    "meta.request.client-capabilities",
    "meta.request.protocol-version",
    "mrtr.requests.kinds",
    "transport.stdio.no-inner-newline",
    "transport.stdio.stdin-clean",
    "versioning.discover.implemented",
)
@pytest.mark.parametrize(("client", "mode", "server"), [_case(*pair) for pair in PAIRS])
def test_a_client_sees_all_that_a_server_offers_and_neither_says_anything_invalid(
    client: Client, mode: str, server: Server, tmp_path: Path
) -> None:
    wire = tmp_path / "wire.jsonl"
    saw = seen(client, mode, tapped(wire, server.command()))
    assert saw == expected(client, mode, server)
    assert list(invalid(wire, saw["revision"])) == []


def test_every_difference_is_seen_in_a_pair() -> None:
    counted = [difference for pair in PAIRS for difference in differences(*pair)]
    assert [difference for difference in DIFFERENCES if difference not in counted] == []


# ---- over HTTP: ours with another's, either way round; ours keeps what is said


HTTP_PAIRS: Final = [
    (kind, client, mode, server)
    for client, mode, server in PAIRS
    for kind in ("http", "sse")
    if (client.name == "ours-client") != (server.name == "ours-server")
    if kind == "http" or (mode in ("legacy", "2024-11-05") and server.name != "v2-server")
]


@pytest.mark.wide
@pytest.mark.parametrize(
    ("kind", "client", "mode", "server"),
    [
        pytest.param(
            kind,
            *pair,
            id=f"{kind}-{pair[0].name}-{pair[1]}-{pair[2].name}",
            marks=_marks({side.name.partition("-")[0] for side in (pair[0], pair[2])}),
        )
        for kind, *pair in HTTP_PAIRS
    ],
)
def test_over_http_a_client_sees_all_that_a_server_offers_and_ours_says_nothing_invalid(
    kind: str, client: Client, mode: str, server: Server, tmp_path: Path
) -> None:
    wire = tmp_path / "wire.jsonl"
    ours = wire if client.name == "ours-client" else None
    with server.over_http(kind, wire) as url:
        saw = seen(client, mode, url, ours)
    assert saw == expected(client, mode, server)
    assert list(invalid(wire, saw["revision"])) == []
