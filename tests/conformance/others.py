"""Runs the official suite against another SDK, scenario by scenario as `make conformance` does.

Usage: python -m tests.conformance.others NAME VERSION PROGRAMS --server URL --client COMMAND.
The SDKs keep their server and client for the suite in their repositories, in no package: check one
out (PROGRAMS says which commit), install the SDK's release beside it, start its server at URL, and
name the command of its client. The scores go to `others.json`, from which the table of README is
checked.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tests.conformance.judge import Scenario
from tests.conformance.run import (
    REQUIRED,
    client_scenarios,
    install,
    print_score,
    server_scenarios,
)

__all__ = ["SCORES", "failed", "scores"]

SCORES: Final = Path(__file__).with_name("others.json")


def scores() -> dict[str, Any]:
    """By name of an SDK: its version, its programs, and the failed scenarios of each run."""
    stored: dict[str, Any] = json.loads(SCORES.read_text("utf-8")) if SCORES.exists() else {}
    return stored


def failed(required: Iterable[str], scenarios: Iterable[Scenario]) -> list[str]:
    """The required scenarios in which a check failed, or that were not run, sorted.

    How a client ended does not count, as in the suite itself: one that ends with an error may be
    right to refuse its server.
    """
    passed = {each.name for each in scenarios if not any(map(_is_check, each.failures))}
    return sorted(set(required) - passed)


def _is_check(failure: str) -> bool:
    return not failure.startswith("the client ended with")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("name", "version", "programs"):
        parser.add_argument(name)
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True, type=shlex.split)
    given = parser.parse_args()
    install()
    runs = {}
    for role, revisions in REQUIRED.items():
        for revision, table in revisions.items():
            scenarios, others = (
                server_scenarios(revision, given.server)
                if role == "server"
                else client_scenarios(revision, *given.client)
            )
            required = frozenset(table["scenarios"])
            print_score(role, revision, required, scenarios, others)
            runs[f"{role} {revision}"] = failed(required, scenarios)
    row = {"version": given.version, "programs": given.programs, "failed": runs}
    text = json.dumps(scores() | {given.name: row}, indent=2, sort_keys=True)
    SCORES.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
