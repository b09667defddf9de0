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
_FAILED: Final = ("FAILURE", "WARNING")
_FOLDER: Final = re.compile(r"(?:server-)?(?P<name>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_UNSCORED: Final = re.compile(r"^  \S (?P<name>[\w/.-]+) \((?P<why>[\w-]+)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Scenario:
    """`found` are the checks that have failed, and what else is wrong; empty if it is passed."""

    name: str
    checks: int
    found: tuple[str, ...]


def judged(folder: Path, exits: Mapping[str, int] | None = None) -> Iterator[Scenario]:
    """The scenarios whose results lie in a folder; `exits` are the clients' exit codes by name."""
    for results in sorted(folder.glob("**/checks.json")):
        name = scenario_name(results.parent.relative_to(folder).as_posix())
        yield scenario(name, json.loads(results.read_text("utf-8")), (exits or {}).get(name, 0))


def scenario_name(folder: str) -> str:
    match = _FOLDER.fullmatch(folder)
    return match["name"] if match else folder


def scenario(name: str, checks: Iterable[Mapping[str, Any]], exit: int = 0) -> Scenario:
    told = [(str(check["id"]), str(check["status"])) for check in checks]
    counts = Counter(status for _, status in told)
    found = [f"{id}: {status}" for id, status in told if status in _FAILED]
    if not counts[_PASSED]:
        found.append("nothing was checked")
    if exit:
        found.append(f"the client ended with {exit}")
    return Scenario(name, counts[_PASSED], tuple(found))


def unscored(output: str) -> dict[str, str]:
    """Scenarios that a revision does not require, and why, as the suite prints them."""
    _, marker, listed = output.partition("Not scored for")
    return {match["name"]: match["why"] for match in _UNSCORED.finditer(listed)} if marker else {}
