"""Tries messages of both sides of a comparison against the other: no verdict "holds" is refuted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from mcp_bindgen.compare.judge.samples import Samples
from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.compare.messages.directions import OR, Way, back
from mcp_bindgen.compare.messages.extension import Carried
from mcp_bindgen.ir.model import Method, Ref, Schema, Struct, Type
from mcp_bindgen.ir.values.accepts import accepts, fault
from tests.support.instances import Generator, Seeded
from tests.support.mutations import Mutation

__all__ = ["check_mutation", "refute", "varied"]

Write: TypeAlias = Callable[[Schema, Type, int], Iterator[Any]]
"""Makes messages of a type; the number is the seed."""
SAMPLES: Final = 12
"""Messages of each type that has a change in it."""
VARIANTS: Final = 400
"""Messages of which those are drawn."""
ENVELOPE: Final = {"jsonrpc": "2.0", "id": 0}
"""What is around a message whether it declares that or not."""
_WAYS: Final[dict[str, set[Way]]] = {
    "both": {"client-to-server", "server-to-client"},
    "input-request": set(),
    "none": set(),
}


def check_mutation(
    mutation: Mutation,
    before: Schema,
    dice: random.Random,
    where: str,
    inside: Sequence[Carried] = (),
    write: Write | None = None,
) -> None:
    """The change is found at its path, forth and back, and judged for the right roles."""
    after = mutation.schema
    for old, new, forward in ((before, after, True), (after, before, False)):
        findings = judge(old, new, inside=inside)
        paths = {f.change.path: f for f in findings} | {f.change.was: f for f in findings}
        assert any(lies(path, mutation.path) for path in paths), f"{where}: {mutation.path}"
        if forward:
            rules = {f.rule.id for f in findings if lies(f.change.path, mutation.path)}
            assert rules & mutation.rules, f"{where}: {mutation.path} is {rules}"
        refute(
            old, new, findings, dice.randrange(2**32), f"{where}, {mutation.path}", inside, write
        )
        prove(findings, where)


class Writer(Generator):
    """Writes what its schema says and nothing else: no name that is nobody's."""

    def extra(self, struct: Struct, made: dict[str, Any], *_: Any, **__: Any) -> None:
        return


def written(schema: Schema, type: Type, dice: int) -> Iterator[Any]:
    """Random messages of a schema of the core."""
    writer = Writer(schema, Seeded(dice))
    for _ in range(SAMPLES):
        writer.sites, writer.left = [], 40
        value = writer.value(type, "message", (), own=False, around=None)
        if accepts(schema, type, value):  # a number may lie outside of its bounds
            yield value


def varied(schema: Schema, type: Type, dice: int) -> Iterator[Any]:
    """Messages with one thing more than the smallest, of any schema."""
    values = list(islice(Samples(schema).variants(type), VARIANTS))
    yield from random.Random(dice).sample(values, min(len(values), 3 * SAMPLES))


def lies(path: str, around: str) -> bool:
    return path == around or (path.startswith(around) and path[len(around)] in ".[{")


def prove(findings: tuple[Finding, ...], where: str) -> None:
    """What does not hold has a witness, or says why not."""
    for finding in findings:
        if set(finding.peers.values()) != {"holds"}:
            assert finding.witnesses or finding.unproved, f"{where}: {finding.rule.id}"


def refute(
    old: Schema,
    new: Schema,
    findings: tuple[Finding, ...],
    dice: int,
    where: str,
    inside: Sequence[Carried] = (),
    write: Write | None = None,
) -> None:
    """Tries messages of both sides against the other, where a finding says that its place is."""
    concerned = {name for finding in findings for name in finding.methods}
    for method, part, ways, mine, theirs in (
        *parts(old, new, concerned),
        *carried(old, new, inside),
    ):
        for writer, reader, sent, read, by in (
            (old, new, mine, theirs, "old"),
            (new, old, theirs, mine, "new"),
        ):
            for value in (write or written)(writer, sent, dice):
                if part == "message":
                    value = ENVELOPE | value
                if not accepts(reader, read, value):
                    why = fault(reader, read, value)
                    sentence = f"{where}: {method} {part} by {by}: {value} at {why}"
                    assert blamed(findings, method, ways, by), sentence


_Part: TypeAlias = tuple[str, str, set[Way], Type, Type]
"""What of which method travels which ways, and the types of both sides."""


def parts(old: Schema, new: Schema, concerned: set[str]) -> Iterator[_Part]:
    """What both have of those methods, with the ways that both send it."""
    twins = {m.name: m for m in new.methods}
    for a in old.methods:
        b = twins.get(a.name)
        ways = ways_of(a) & ways_of(b) if b is not None and a.name in concerned else set[Way]()
        if b is not None and ways:
            yield a.name, "message", ways, Ref(a.type), Ref(b.type)
            if a.result and b.result:
                yield a.name, "result", set(map(back, ways)), a.result, b.result


def ways_of(method: Method) -> set[Way]:
    return _WAYS.get(method.direction, set(method.direction.split(OR)))


def carried(old: Schema, new: Schema, inside: Sequence[Carried]) -> Iterator[_Part]:
    """What messages of the core carry, where both have it by that name."""
    for each in inside:
        if each.name in old.types and each.name in new.types:
            yield each.method, each.part, set(each.ways), Ref(each.name), Ref(each.name)


def blamed(findings: tuple[Finding, ...], method: str, ways: set[Way], by: str) -> bool:
    """Whether some finding says that what the `by` side writes that way may break the other.

    What the old side writes is sent by old peers, what the new side writes is read by them.
    """
    ends = [way.split("-to-")[0 if by == "old" else 1] for way in ways]
    return all(
        any(
            (not method or method in finding.methods) and finding.verdict(role) != "holds"
            for finding in findings
        )
        for role in ends
    )
