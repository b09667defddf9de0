"""Any change is found at its path, and no verdict "holds" is refuted by a message."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import mcp_wire
from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.messages.directions import TO_CLIENT, TO_SERVER, Way
from mcp_bindgen.ir.model import Schema
from mcp_bindgen.source import Source, read
from mcp_bindgen.source.excerpt import excerpt
from tests.support.mutations import MUTATIONS, mutated
from tests.support.refutation import check_mutation, refute
from tests.support.schemas import pinned
from tests.support.seeds import seed
from tests.support.wide import wide_but

REVISIONS: Final = pins.revisions()
ROUNDS: Final = 3
"""Of each kind in each revision; `make long` has a hundred times as many."""

_WAYS: Final[dict[str, tuple[Way, ...]]] = {
    "client-to-server": (TO_SERVER,),
    "server-to-client": (TO_CLIENT,),
    "both": (TO_SERVER, TO_CLIENT),
}


@pytest.mark.drawn
@pytest.mark.parametrize("kind", MUTATIONS)
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_change_is_found_at_its_path_and_judged_rightly(revision: str, kind: str) -> None:
    dice = random.Random(number := seed(f"{revision} {kind}"))
    for round in range(ROUNDS):
        check(revision, kind, dice, f"seed {number}, {revision}, round {round}")


@pytest.mark.long
@pytest.mark.parametrize("kind", MUTATIONS)
@pytest.mark.parametrize("revision", REVISIONS)
def test_many_changes_are_found_and_judged_rightly(revision: str, kind: str) -> None:
    dice = random.Random(number := seed(f"{revision} {kind}"))
    for round in range(100 * ROUNDS):
        check(revision, kind, dice, f"seed {number}, {revision}, round {round}")


def check(revision: str, kind: str, dice: random.Random, where: str) -> None:
    check_mutation(mutated(dice, pinned(revision), kind), pinned(revision), dice, where)


@pytest.mark.wide
@pytest.mark.parametrize("revision", wide_but({"2026-07-28"}, REVISIONS))
def test_the_check_sees_a_verdict_that_is_wrong(revision: str) -> None:
    """Were every verdict "holds", messages would refute it."""
    dice = random.Random(7)
    mutation = mutated(dice, pinned(revision), "remove member")
    seen = 0
    for _ in range(20):
        mutation = mutated(dice, pinned(revision), "toggle member")
        try:
            refute(pinned(revision), mutation.schema, silent(revision, mutation.schema), 7, "")
        except AssertionError:
            seen += 1
    assert seen > 3


def silent(revision: str, after: Schema) -> tuple[Finding, ...]:
    findings = judge(pinned(revision), after)
    return tuple(
        replace(finding, peers=dict.fromkeys(finding.peers, "holds")) for finding in findings
    )


# ---- what is no change


def reordered(text: str, dice: random.Random) -> str:
    module = read(text.encode(), "schema.ts")
    source = Source(text.encode(), "schema.ts")
    declarations = [excerpt(source, module, d.name) for d in module.declarations]
    dice.shuffle(declarations)
    return "\n".join(declarations)


def reformatted(text: str, dice: random.Random) -> str:
    return re.sub(r"(?m)^( +)", lambda m: dice.choice((m[1] * 3, "\t", m[1] + " ")), text)


def commented(text: str, dice: random.Random) -> str:
    notes = ("; // note", " /* note */;", ";\n")
    return re.sub(r"(?m)^(?! *[/*])(.*);$", lambda m: m[1] + dice.choice(notes), text)


def as_arrays(text: str, dice: random.Random) -> str:
    return re.sub(r"\b([A-Z]\w+|string)\[\]", r"Array<\1>", text)


def in_parentheses(text: str, dice: random.Random) -> str:
    return re.sub(r"(?m): ([A-Z]\w+);$", r": (\1);", text)


@pytest.mark.drawn
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "respell",
    [reordered, reformatted, commented, as_arrays, in_parentheses],
    ids=lambda f: f.__name__,
)
def test_what_is_only_written_otherwise_is_no_change(
    revision: str, respell: Callable[[str, random.Random], str], tmp_path: Path
) -> None:
    dice = random.Random(seed(revision))
    text = pins.schema_path(revision).read_text("utf-8")
    other = respell(text, dice)
    assert other != text
    paths = tmp_path / "old.ts", tmp_path / "new.ts"
    for path, written_ in zip(paths, (text, other), strict=True):
        path.write_text(written_, encoding="utf-8")
    old, new = (pins.resolve(str(path)) for path in paths)
    assert [(f.rule.id, f.change.path) for f in judge(old, new)] == []
    assert [(f.rule.id, f.change.path) for f in judge(new, old)] == []


BASES: Final = 4
"""How many bases with members a run takes away, of up to thirty that the seed draws from."""


@pytest.mark.wide
@pytest.mark.parametrize("revision", wide_but({"2025-11-25"}, REVISIONS))
def test_a_base_that_goes_takes_its_members_along(revision: str, tmp_path: Path) -> None:
    text = pins.schema_path(revision).read_text("utf-8")
    tried = 0
    head = r"(?m)^export interface (\w*(?:Result|Params)) extends \w+ \{"
    bases = [*re.finditer(head, text)]
    random.Random(seed(revision)).shuffle(bases)
    for match in bases:
        other = text[: match.start()] + f"export interface {match[1]} {{" + text[match.end() :]
        path = tmp_path / "new.ts"
        path.write_text(other, encoding="utf-8")
        old, new = pinned(revision), pins.resolve(str(path))
        if match[1] not in new.structs:
            continue  # nothing is left of it: a map
        gone = {f.wire for f in old.structs[match[1]].fields}
        gone -= {f.wire for f in new.structs[match[1]].fields}
        paths = {f.change.path for f in judge(old, new)}
        assert {f"{match[1]}.{wire}" for wire in gone} <= paths
        if (tried := tried + bool(gone)) == BASES:
            break
    assert tried == BASES


# ---- witnesses


@pytest.mark.parametrize("old", REVISIONS)
@pytest.mark.parametrize("new", REVISIONS)
def test_a_witness_is_read_by_one_sides_models_and_refused_by_the_others(
    old: str, new: str
) -> None:
    before, after = pinned(old), pinned(new)
    findings = judge(before, after)
    assert bool(findings) == (old != new)
    for finding in findings:
        for witness in finding.witnesses:
            sides = (before, after) if witness.writer == "old" else (after, before)
            assert reads(sides[0], witness) is None, witness
            fault_ = reads(sides[1], witness)
            if witness.path == "$.method" and not carries(sides[1], witness):
                continue
            assert fault_ is not None, witness
            assert agree(fault_, witness.path), (fault_, witness)


def reads(schema: Schema, witness: Witness) -> str | None:
    """Where the generated models refuse the typed part; None if they take it, or have none."""
    models = mcp_wire.load(schema.revision, "models_dataclass")
    method = next((m for m in schema.methods if m.name == witness.method), None)
    value, prefix = witness.message, "$"
    if witness.part == "result":
        value, prefix = value["result"], "$.result"
        names = (
            [] if method is None else mcp_wire.load(schema.revision).METHODS[method.name].results
        )
        faults = [refused(models, name, value) for name in names]
        if not faults or None in faults:
            return None
        return prefix if len(faults) > 1 else prefix + str(faults[0]).removeprefix("$")
    if witness.part in ("envelope", "error"):
        return refused(models, "JSONRPCMessage", value)
    return None if method is None else refused(models, method.type, value)


def refused(models: ModuleType, name: str, value: object) -> str | None:
    try:
        models.from_wire(getattr(models, name), value)
    except models.DecodeError as error:
        return str(error.path)
    return None


def agree(path: str, other: str) -> bool:
    """Whether one of two paths lies in the other: a union may be blamed, or what is in an arm."""
    return path.startswith(other) or other.startswith(path)


def carries(schema: Schema, witness: Witness) -> bool:
    """Whether the method is sent that way, in that manner."""
    method = next((m for m in schema.methods if m.name == witness.method), None)
    if method is None:
        return False
    inside = method.direction == "input-request"
    return inside == (witness.part == "input request") and witness.way in _WAYS.get(
        method.direction, (TO_CLIENT,)
    )
