"""Decides which peers a change breaks: from its rule, and from the senders and readers of the type.

An old client meets a new server, a new client an old server, and Python source written against the
old bindings meets the new ones. Each holds, breaks, or breaks only if the feature is used. The same
applies to the roles of an extension, such as an old view and a new host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mcp_bindgen.compare.changes.change import Change, Owner, Spot
from mcp_bindgen.compare.changes.pairing import Pairing
from mcp_bindgen.compare.changes.schema_changes import ERROR_CODE, compare
from mcp_bindgen.compare.judge.rules import BY_KEY, Refuses, Rule, Verdict
from mcp_bindgen.compare.judge.witness import ByTypes, Exact, Proof, Prover, Side, Witness
from mcp_bindgen.compare.messages.directions import (
    ANYTHING,
    TO_CLIENT,
    TO_SERVER,
    Route,
    Way,
    of_method,
    parties,
    result_route,
)
from mcp_bindgen.compare.messages.extension import Carried, lone_results, routes_of
from mcp_bindgen.compare.messages.message_paths import is_always, routes
from mcp_bindgen.ir.error_codes import is_error_code
from mcp_bindgen.ir.model import Lit, Ref, Schema

__all__ = [
    "AUDIENCES",
    "SEVERITIES",
    "Audience",
    "Finding",
    "Severity",
    "judge",
    "severity",
    "worst",
]

Severity: TypeAlias = Literal["breaking", "dangerous", "compatible", "docs"]
Audience: TypeAlias = str
"""A role, or `bindings`."""
Reached: TypeAlias = dict[Owner, list[Route]]

SEVERITIES: Final[tuple[Severity, ...]] = ("breaking", "dangerous", "compatible", "docs")
"""Worst first."""
AUDIENCES: Final[tuple[Audience, ...]] = ("client", "server", "bindings")
"""The audiences of the core, and of every comparison of messages between clients and servers."""
_OF_VERDICT: Final[dict[Verdict, Severity]] = {
    "breaks": "breaking",
    "if used": "dangerous",
    "holds": "compatible",
}
_BY_TYPES: Final = ByTypes()
Codes: TypeAlias = tuple[Mapping[str, int], Mapping[str, int]]
"""For the old and the new side: the error code by which a method says one thing."""
_NO_CODES: Final[Mapping[str, int]] = {}
_WORST: Final[tuple[Verdict, ...]] = ("breaks", "if used", "holds")


@dataclass(frozen=True, slots=True)
class Finding:
    """A change, its rule, and the peers it breaks.

    `peers` has the verdict for an old peer of each role with new ones of the others, `bindings` the
    verdict for Python source. `routes` are the messages with this place on both sides. `witnesses`
    prove the verdicts on the wire; `unproved` gives the reason if one is missing.
    """

    rule: Rule
    change: Change
    peers: Mapping[str, Verdict]
    bindings: Verdict
    routes: tuple[Route, ...]
    witnesses: tuple[Witness, ...] = ()
    unproved: str = ""

    def verdict(self, audience: Audience) -> Verdict:
        return self.bindings if audience == "bindings" else self.peers.get(audience, "holds")

    @property
    def client(self) -> Verdict:
        """The verdict for an old client with a new server."""
        return self.verdict("client")

    @property
    def server(self) -> Verdict:
        """The verdict for an old server with a new client."""
        return self.verdict("server")

    @property
    def severity(self) -> Severity:
        return severity(self, (*self.peers, "bindings"))

    @property
    def ways(self) -> frozenset[Way]:
        return frozenset(way for route in self.routes for way in route.ways)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose messages have the place, in the schema's order."""
        named = [self.change.method, *(route.method for route in self.routes)]
        return tuple(dict.fromkeys(name for name in named if name))


def severity(finding: Finding, audiences: Iterable[Audience]) -> Severity:
    """The severity of a finding for these audiences."""
    if finding.rule.docs:
        return "docs"
    return _OF_VERDICT[worst(finding.verdict(audience) for audience in audiences)]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of the verdicts; `holds` if there are none."""
    return _WORST[min(map(_WORST.index, verdicts), default=-1)]


def judge(
    old: Schema,
    new: Schema,
    exact: Exact = _BY_TYPES,
    inside: Sequence[Carried] = (),
    codes: Codes = (_NO_CODES, _NO_CODES),
) -> tuple[Finding, ...]:
    """Judge every change from `old` to `new`, in the order of the schemas.

    `exact` knows the constraints outside the types, `inside` lists the extension types carried in
    messages of the core. `codes` has for each side the error codes that methods answer by its
    pages, which no type says.
    """
    pairing, changes = compare(old, new)
    changes += tuple(_of_codes(*codes))
    more = tuple(routes_of(pairing, inside))
    reached, prover = routes(pairing, more), Prover(pairing, exact)
    lone = tuple(lone_results(pairing, inside))
    roles = parties((old, new), (*more, *(route for _, route in lone)))
    rows = [(change, tuple(_routes(pairing, reached, change))) for change in changes]
    rows += [(change, (route,)) for change, route in lone]
    return tuple(_prove(prover, _judge(change, own, roles)) for change, own in rows)


def _of_codes(old: Mapping[str, int], new: Mapping[str, int]) -> Iterator[Change]:
    for method, code in old.items():
        if new.get(method, code) != code:
            spots = Spot(str(code)), Spot(str(new[method]))
            yield Change(ERROR_CODE, f"{method} error", *spots, method=method)


def _judge(change: Change, own: tuple[Route, ...], roles: tuple[str, ...]) -> Finding:
    rule = BY_KEY[change.key]
    verdicts = _peer_verdicts(roles, _claims(rule, roles, own))
    return Finding(rule, change, verdicts, rule.source, own)


# ---- where a change is


def _routes(pairing: Pairing, reached: Reached, change: Change) -> Iterator[Route]:
    """The messages with the place of the change, each with whether it always has the place."""
    if change.owner is not None:
        present = _always_present(pairing, change)
        for owner in (change.owner, *change.heirs):
            for route in reached.get(owner, ()):
                if not (route.part == "error" and _is_of_code(change)):
                    yield _as_sure_as(route, present)
    elif change.key == ERROR_CODE:
        ways = frozenset((TO_SERVER, TO_CLIENT)) if not change.method else frozenset((TO_CLIENT,))
        sure = (False, False)
        yield Route(change.method, "error", ways, ANYTHING, ANYTHING, surely=sure, kind="error")
    elif change.method:
        yield from _of_method(pairing, change)
    elif change.key[0] == "envelope":
        yield Route("", "envelope", frozenset((TO_SERVER, TO_CLIENT)), ANYTHING, ANYTHING)


def _is_of_code(change: Change) -> bool:
    """Return whether an error only has another code: its constant is a change of its own, and any
    reader of errors takes both.
    """
    codes = (change.old.type, change.new.type)
    return change.steps[-1:] == ("code",) and all(
        isinstance(type, Lit) and is_error_code(type.value) for type in codes
    )


def _always_present(pairing: Pairing, change: Change) -> tuple[bool, bool]:
    """Return whether each value of the owner has the place, in the old and in the new schema."""
    assert change.owner is not None
    steps = change.steps[:-1] if change.key[0] == "member" else change.steps
    old, new = change.owner
    return is_always(pairing.old, Ref(old), steps), is_always(pairing.new, Ref(new), steps)


def _as_sure_as(route: Route, present: tuple[bool, bool]) -> Route:
    if all(present):
        return route
    return replace(route, surely=(route.surely[0] and present[0], route.surely[1] and present[1]))


def _of_method(pairing: Pairing, change: Change) -> Iterator[Route]:
    old = next((m for m in pairing.old.methods if m.name == change.method), None)
    new = next((m for m in pairing.new.methods if m.name == change.method), None)
    own = tuple(of_method(old, new))
    if change.root == "result" and old and new:
        for route in own:
            if route.side == "both":
                yield from result_route(old, new, route)
    else:
        yield from (r for r in own if r.side != "both" or change.key[1] == "kind")


# ---- whom it breaks


_Claims: TypeAlias = dict[tuple[Side, Way], Verdict]
"""The verdict on messages of a side's writers in one direction, at their readers."""


def _messages(role: str, roles: Iterable[str]) -> Iterator[tuple[Side, Way]]:
    """The messages an old peer of a role sends and reads: the writing side, and the direction."""
    for other in roles:
        if other != role:
            yield "old", f"{role}-to-{other}"
            yield "new", f"{other}-to-{role}"


def _claims(rule: Rule, roles: Iterable[str], own: tuple[Route, ...]) -> _Claims:
    refuses: dict[Side, Refuses] = {"old": rule.new_refuses, "new": rule.old_refuses}
    return {
        (side, way): worst(_verdicts(own, refuses[side], side, way))
        for role in roles
        for side, way in _messages(role, roles)
    }


def _verdicts(own: Iterable[Route], refuses: Refuses, side: Side, way: Way) -> Iterator[Verdict]:
    index = 0 if side == "old" else 1
    for route in own:
        if way in route.ways and route.side in (side, "both") and not route.covered[index]:
            yield _verdict(refuses, route.surely[index])


def _verdict(refuses: Refuses, surely: bool) -> Verdict:
    if refuses == "nothing":
        return "holds"
    return "breaks" if refuses == "all" and surely else "if used"


def _peer_verdicts(roles: Iterable[str], claims: _Claims) -> dict[str, Verdict]:
    """For an old peer of each role, the worst verdict on the messages it sends and reads."""
    return {role: worst(claims[each] for each in _messages(role, roles)) for role in roles}


def _prove(prover: Prover, finding: Finding) -> Finding:
    """Add a witness for each side and direction which does not hold.

    A verdict `breaks` is weakened if the plainest message refutes it.
    """
    roles = tuple(finding.peers)
    claims = _claims(finding.rule, roles, finding.routes)
    proofs: dict[tuple[Side, Way], Proof] = {}
    for (side, way), verdict in claims.items():
        if verdict != "holds":
            proof = prover.prove(finding.change, finding.routes, side, way)
            proofs[side, way] = proof
            if verdict == "breaks" and proof.plainest is False:
                claims[side, way] = "if used"
    witnesses = tuple(proof.witness for proof in proofs.values() if proof.witness is not None)
    reasons = dict.fromkeys(proof.reason for proof in proofs.values() if proof.reason)
    return replace(
        finding,
        peers=_peer_verdicts(roles, claims),
        witnesses=witnesses,
        unproved="; ".join(reasons),
    )
