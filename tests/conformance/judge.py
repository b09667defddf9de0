"""What the official suite has found, read strictly.

The suite itself forgives warnings, scenarios in which nothing was checked, and clients that hang or
fail; here each of these fails its scenario.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["Scenario", "judged", "unscored"]

_PASSED: Final = "SUCCESS"
_FORGIVEN: Final = ("INFO", "SKIPPED")
_FOLDER: Final = re.compile(r"(?:server-)?(?P<name>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_UNSCORED: Final = re.compile(r"^  \S (?P<name>[\w/.-]+) \((?P<why>[\w-]+)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Scenario:
    """`failures` are the checks that have failed, and what else is wrong; empty if it is passed."""

    name: str
    checks: int
    failures: tuple[str, ...]


def judged(folder: Path, exits: Mapping[str, int] | None = None) -> Iterator[Scenario]:
    """The scenarios whose results lie in a folder.

    `exits` are the clients' exit codes by name; without them there were no clients. One whose end
    nobody has seen had to be killed.
    """
    for results in sorted(folder.glob("**/checks.json")):
        name = scenario_name(results.parent.relative_to(folder).as_posix())
        exit = 0 if exits is None else exits.get(name, "a kill")
        yield scenario(name, json.loads(results.read_text("utf-8")), exit)


def scenario_name(folder: str) -> str:
    match = _FOLDER.fullmatch(folder)
    return match["name"] if match else folder


def scenario(name: str, checks: Iterable[Mapping[str, Any]], exit: int | str = 0) -> Scenario:
    outcomes = [(str(check["id"]), str(check["status"])) for check in checks]
    counts = Counter(status for _, status in outcomes)
    failures = [f"{id}: {status}" for id, status in outcomes if status not in (_PASSED, *_FORGIVEN)]
    if not counts[_PASSED]:
        failures.append("nothing was checked")
    if exit:
        failures.append(f"the client ended with {exit}")
    return Scenario(name, counts[_PASSED], tuple(failures))


def unscored(output: str) -> dict[str, str]:
    """Scenarios that a revision does not require, and why, as the suite prints them."""
    _, marker, listed = output.partition("Not scored for")
    return {match["name"]: match["why"] for match in _UNSCORED.finditer(listed)} if marker else {}
