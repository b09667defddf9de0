"""Whom a change breaks: its rule's verdicts, turned by the ways that its place travels.

An old client meets a new server, a new client an old server, and Python source written against the
old bindings meets the new ones. Each holds, breaks, or breaks only if the feature is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mcp_bindgen.compare.change import Change, Owner
from mcp_bindgen.compare.changes import compare
from mcp_bindgen.compare.judge.rules import BY_KEY, Refuses, Rule, Verdict
from mcp_bindgen.compare.judge.witness import Side, Witness, prove
from mcp_bindgen.compare.pairing import Pairing
from mcp_bindgen.compare.travel import (
    TO_CLIENT,
    TO_SERVER,
    Route,
    Way,
    of_method,
    result_route,
    routes,
)
from mcp_bindgen.ir.model import Schema

__all__ = ["AUDIENCES", "SEVERITIES", "Audience", "Finding", "Severity", "judge", "severity"]

Severity: TypeAlias = Literal["breaking", "dangerous", "compatible", "docs"]
Audience: TypeAlias = Literal["client", "server", "bindings"]
Reached: TypeAlias = dict[Owner, list[Route]]

SEVERITIES: Final[tuple[Severity, ...]] = ("breaking", "dangerous", "compatible", "docs")
"""Worst first."""
AUDIENCES: Final[tuple[Audience, ...]] = ("client", "server", "bindings")
_OF_VERDICT: Final[dict[Verdict, Severity]] = {
    "breaks": "breaking",
    "if used": "dangerous",
    "holds": "compatible",
}
_PEERS: Final[tuple[tuple[Way, Way], ...]] = ((TO_SERVER, TO_CLIENT), (TO_CLIENT, TO_SERVER))
"""Which way an old client, and an old server, sends and reads."""
_WORST: Final[tuple[Verdict, ...]] = ("breaks", "if used", "holds")


@dataclass(frozen=True, slots=True)
class Finding:
    """A change, its rule, and whom it breaks.

    `client` is the verdict for an old client with a new server, `server` for an old server with a
    new client, `bindings` for Python source against the old bindings. `routes` are the messages
    that have the place on both sides. `witnesses` prove the verdicts on the wire; where there is
    none for one that does not hold, `unproved` says why.
    """

    rule: Rule
    change: Change
    client: Verdict
    server: Verdict
    bindings: Verdict
    routes: tuple[Route, ...]
    witnesses: tuple[Witness, ...] = ()
    unproved: str = ""

    def verdict(self, audience: Audience) -> Verdict:
        verdict: Verdict = getattr(self, audience)
        return verdict

    @property
    def severity(self) -> Severity:
        return severity(self, AUDIENCES)

    @property
    def ways(self) -> frozenset[Way]:
        return frozenset(way for route in self.routes for way in route.ways)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose messages have the place, in the schema's order."""
        named = [self.change.method, *(route.method for route in self.routes)]
        return tuple(dict.fromkeys(name for name in named if name))


def severity(finding: Finding, audiences: Iterable[Audience]) -> Severity:
    """How bad a finding is for those audiences."""
    if finding.rule.docs:
        return "docs"
    return _OF_VERDICT[_worst(finding.verdict(audience) for audience in audiences)]


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    return _WORST[min(map(_WORST.index, verdicts), default=-1)]


def judge(old: Schema, new: Schema, proofs: bool = True) -> tuple[Finding, ...]:
    """Every change from `old` to `new` with its verdicts, in the order of the schemas.

    Without `proofs` no witness is looked for.
    """
    pairing, changes = compare(old, new)
    reached = routes(pairing)
    findings = (_judged(pairing, reached, change) for change in changes)
    return tuple(_proved(pairing, each) if proofs else each for each in findings)


def _judged(pairing: Pairing, reached: Reached, change: Change) -> Finding:
    rule = BY_KEY[change.key]
    own = tuple(_routes(pairing, reached, change))
    client = _worst(verdict for _, _, verdict in _wire(rule, own, TO_SERVER, TO_CLIENT))
    server = _worst(verdict for _, _, verdict in _wire(rule, own, TO_CLIENT, TO_SERVER))
    return Finding(rule, change, client, server, rule.source, own)


def _routes(pairing: Pairing, reached: Reached, change: Change) -> Iterator[Route]:
    if change.owner is not None:
        for owner in (change.owner, *change.heirs):
            yield from reached.get(owner, ())
    elif change.method:
        yield from _of_method(pairing, change)


def _of_method(pairing: Pairing, change: Change) -> Iterator[Route]:
    old = next((m for m in pairing.old.methods if m.name == change.method), None)
    new = next((m for m in pairing.new.methods if m.name == change.method), None)
    own = tuple(of_method(old, new))
    if change.root == "result" and old and new:
        for route in own:
            if route.side == "both":
                yield from result_route(old, new, route.ways)
    else:
        yield from (r for r in own if r.side != "both" or change.key[1] == "kind")


def _wire(
    rule: Rule, own: Iterable[Route], sends: Way, reads: Way
) -> Iterator[tuple[Side, Way, Verdict]]:
    """What happens to an old peer: its messages with new readers, new messages with it."""
    for route in own:
        if sends in route.ways and route.side != "new":
            yield "old", sends, _verdict(rule.new_refuses, route.surely[0])
        if reads in route.ways and route.side != "old":
            yield "new", reads, _verdict(rule.old_refuses, route.surely[1])


def _verdict(refuses: Refuses, surely: bool) -> Verdict:
    if refuses == "nothing":
        return "holds"
    return "breaks" if refuses == "all" and surely else "if used"


def _proved(pairing: Pairing, finding: Finding) -> Finding:
    """The finding with a witness for each side and way that does not hold."""
    claims: dict[tuple[Side, Way], None] = {}
    for sends, reads in _PEERS:
        for side, way, verdict in _wire(finding.rule, finding.routes, sends, reads):
            if verdict != "holds":
                claims[side, way] = None
    proofs = [prove(pairing, finding.change, finding.routes, side, way) for side, way in claims]
    witnesses = tuple(proof for proof in proofs if isinstance(proof, Witness))
    reasons = dict.fromkeys(proof for proof in proofs if isinstance(proof, str))
    return replace(finding, witnesses=witnesses, unproved="; ".join(reasons))
