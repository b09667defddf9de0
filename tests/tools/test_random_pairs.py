"""Random pairs of schemas against an independent validator: no false "holds", no false witness."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import jsonschema_rs
import pytest

from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.errors import InputError
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import read
from tests.support.schema_pairs import instances, pair, plain
from tests.support.seeds import seed

PAIRS: Final = 80
"""Pairs that are tried each time; `make long` tries 5 000."""
INSTANCES: Final = 25
"""Values of each side of a pair."""


def test_random_pairs_are_judged_as_the_validator_judges_their_instances() -> None:
    check_pairs(seed("pairs"), PAIRS)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_many_random_pairs_are_judged_as_the_validator_judges_their_instances(
    part: int,
) -> None:
    check_pairs(seed(f"pairs, part {part}"), 500)


def check_pairs(number: str, count: int) -> None:
    for round in range(count):
        dice = random.Random(f"{number} {round}")
        old, new = pair(dice)
        check_pair(old, new, dice, f"seed {number}, round {round}: {old} → {new}")


def check_pair(old: Any, new: Any, dice: random.Random, where: str) -> None:
    try:
        findings = findings_of(old, new)
    except InputError:
        return
    judges = {"old": jsonschema_rs.validator_for(old), "new": jsonschema_rs.validator_for(new)}
    for finding in findings:
        assert finding.methods, where
        prove(finding, judges, where)
    refute(findings, old, judges, dice, ("old", "new"), where)
    refute(findings, new, judges, dice, ("new", "old"), where)


def findings_of(old: Any, new: Any) -> tuple[Finding, ...]:
    """The findings of two tools that differ in their input alone, so only clients write it."""
    tools = ([{"name": "t", "inputSchema": schema}] for schema in (old, new))
    before, after = (read(json.dumps(side).encode(), "t.json") for side in tools)
    return compare(before, after).findings


def prove(finding: Finding, judges: dict[str, Any], where: str) -> None:
    """Each witness is of its writer and refused by the reader; what breaks has one."""
    proved = set[str]()
    for witness in finding.witnesses:
        value = witness.message["params"]["arguments"]
        reader = "new" if witness.writer == "old" else "old"
        context = f"{where}: {finding.rule.id} {finding.change.path}: {value} by {witness.writer}"
        assert judges[witness.writer].is_valid(value), context
        assert not judges[reader].is_valid(value), context
        proved.add(witness.writer)
    for verdict, writer in ((finding.client, "old"), (finding.server, "new")):
        claims = verdict == "breaks" and writer not in proved
        assert not claims or "could be made" in finding.unproved, f"{where}: {finding}"


def refute(
    findings: tuple[Finding, ...],
    schema: Any,
    judges: dict[str, Any],
    dice: random.Random,
    sides: tuple[str, str],
    where: str,
) -> None:
    """Tries values of one side against the other, where nothing is said to break."""
    writer, reader = sides
    verdicts = [f.client if writer == "old" else f.server for f in findings]
    if any(verdict != "holds" for verdict in verdicts):
        return
    meant = jsonschema_rs.validator_for(plain(schema))
    for value in instances(dice, schema, INSTANCES):
        if judges[writer].is_valid(value) and meant.is_valid(value):
            assert judges[reader].is_valid(value), f"{where}: {value} by {writer}"
