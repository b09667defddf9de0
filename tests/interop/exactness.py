"""Counts which random bodies the two official SDKs judge as the schema does not.

`make exactness`, or `python -m tests.interop.exactness`, writes the counts to `exactness.json`. The
tables of README and docs/exactness.md are checked against it. A valid body has odd names and
extreme numbers on purpose, so a share says nothing about everyday traffic.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bench.peers import python
from tests.interop import node
from tests.laws import test_peer_mcp
from tests.support.disputes import ROUNDS, Peer, Tally, peer, tally

__all__ = ["COUNTS", "PEERS", "counts", "measured"]

COUNTS: Final = Path(__file__).with_name("exactness.json")

PEERS: Final[Mapping[str, Callable[[], AbstractContextManager[Peer]]]] = {
    "mcp": lambda: peer([python(), test_peer_mcp.COMMAND]),
    "typescript": lambda: peer(node.command("schemas.cjs")),
}


def counts() -> dict[str, dict[str, Tally]]:
    """The stored counts, by peer and revision."""
    stored = json.loads(COUNTS.read_text("utf-8"))
    return {
        name: {revision: Tally(**row) for revision, row in revisions.items()}
        for name, revisions in stored.items()
    }


def measured(name: str) -> dict[str, Tally]:
    """Count anew for a peer, on the same bodies each time."""
    with PEERS[name]() as process:
        return tally(process, 6 * ROUNDS, "rows")


def main() -> None:
    rows = {
        name: {revision: asdict(row) for revision, row in measured(name).items()} for name in PEERS
    }
    COUNTS.write_text(f"{json.dumps(rows, indent=2)}\n", "utf-8")


if __name__ == "__main__":
    main()
