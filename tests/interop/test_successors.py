"""The successors beside another implementation: `mcp` is the older peer, over stdio and HTTP.

It knows the revisions up to the one before. So a server that speaks a revision more, and a client
that asks for it first, are understood by peers which nobody has told of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.convert.test_successor import PACKAGES, answered
from tests.interop.scenario import (
    CLIENTS,
    SERVERS,
    Client,
    Server,
    expected,
    invalid,
    seen,
    tapped,
)
from tests.support.successor import KINDS

MODES: Final = ("legacy", "auto")


def program(copy: Path, name: str, *arguments: str) -> list[str]:
    """The command of one of our programs, with the packages of a copy of the project."""
    path = os.pathsep.join(str(copy / folder) for folder in (*PACKAGES, "."))
    file = copy / "tests" / "interop" / "ours" / name
    return ["env", f"PYTHONPATH={path}", sys.executable, str(file), *arguments]


@dataclass(frozen=True)
class NewServer(Server):
    """Our server in a copy of the project."""

    copy: Path

    def command(self, *transport: str) -> list[str]:
        return program(self.copy, "ours_server.py", *transport)


@dataclass(frozen=True, kw_only=True)
class NewClient(Client):
    """Our client in a copy of the project."""

    copy: Path

    def command(self, mode: str, server: Sequence[str]) -> list[str]:
        return program(self.copy, "ours_client.py", mode, *server)


def pairs(copy: Path) -> Iterator[tuple[Client, Server]]:
    """The peers of the successor with `mcp`, either way round."""
    ours, theirs = CLIENTS["ours-client"], SERVERS["ours-server"]
    yield CLIENTS["mcp-client"], NewServer(theirs.name, theirs.revisions, copy)
    yield NewClient(ours.name, ours.modes, copy=copy), SERVERS["mcp-server"]


@pytest.mark.interop
@pytest.mark.parametrize("name", KINDS)
def test_a_successor_is_understood_by_mcp(name: str, root: Path, tmp_path: Path) -> None:
    copy = answered(root, tmp_path / "project", KINDS[name]).at
    for client, server in pairs(copy):
        for mode in MODES:
            wire = tmp_path / f"{client.name}-{mode}.jsonl"
            saw = seen(client, mode, tapped(wire, server.command()))
            assert saw == expected(client, mode, server)
            assert list(invalid(wire, saw["revision"])) == []
            http = tmp_path / f"{client.name}-{mode}-http.jsonl"
            with server.over_http("http", http) as url:
                saw = seen(client, mode, url, http if client.name == "ours-client" else None)
            assert saw == expected(client, mode, server)
            assert list(invalid(http, saw["revision"])) == []
