"""The laws of the steps, for every method, position and pair of revisions.

What comes out is valid in the target; up then down is where it began; down then up is, but for the
losses that were told; and every loss that was told is one.
"""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise, permutations
from types import FrameType
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_bindgen import paths
from mcp_wire.convert import Context, Converted, DecodeError, NotAMessageMatter, Refused, convert
from mcp_wire.steps import STEPS
from tests.laws.test_official_schema import official
from tests.support.instances import Drawn, Seeded
from tests.support.judges import REVISIONS, canonical
from tests.support.law_messages import (
    Message,
    Messages,
    context,
    official_faults,
    wire_schema,
    wrong,
)
from tests.support.message_comparison import at, differ, masked, plain, settled, steps
from tests.support.official_files import find
from tests.support.reach import Reach
from tests.support.seeds import seed
from tests.support.squatted_messages import squatted

Place: TypeAlias = tuple[str | int, ...]

ROUNDS: Final = 12
PAIRS: Final = tuple(permutations(REVISIONS, 2))
ENDS: Final = {(REVISIONS[0], REVISIONS[-1]), (REVISIONS[-1], REVISIONS[0])}
"""The pairs whose way is that of all steps, up and down."""


@cache
def document(revision: str) -> dict[str, Any] | None:
    """The official schema.json, its losses mended; None where it is absent."""
    return official(revision) if find(revision, "schema.json") else None


def disputes(
    message: Message,
    to: str,
    context: Context,
    seen: Counter[str],
    squatters: frozenset[Place] = frozenset(),
) -> list[str]:
    """What the laws do not allow in the conversion of one message; nothing if all is well."""
    before = json.dumps(message.value)
    try:
        out = convert(message.value, message.revision, to, method=message.asked, context=context)
    except (Refused, NotAMessageMatter) as error:
        seen[error.why] += 1
        return [] if error.path.startswith("$") else [f"a refusal without a place: {error}"]
    seen.update(loss.why for loss in out.losses)
    faults = ["the message was changed"] if json.dumps(message.value) != before else []
    converted = Message(to, message.method, message.position, message.bare, out.message)
    if (fault := wrong(converted)) is not None:
        faults.append(f"not valid in {to}: {fault}")
    judge = document(to)
    if judge is not None and (fault := official_faults(judge, converted)) is not None:
        faults.append(f"not valid by the official schema of {to}: {fault}")
    try:
        back = convert(out.message, to, message.revision, method=message.asked, context=context)
    except (Refused, NotAMessageMatter) as error:
        return faults if squatters else [*faults, f"no way back: {error}"]
    faults += unkept(message, out, squatters)
    return faults + returns(message, out, back, settled(message, to, context), squatters)


def unkept(message: Message, out: Converted, squatters: frozenset[Place]) -> list[str]:
    """Squatters whose value is nowhere, though no loss was told there, above or below."""
    lost = {steps(loss.path) for loss in out.losses}
    return [
        f"a squatter fell away in silence: {place}"
        for place in squatters
        if canonical(at(message.value, place)) not in canonical(out.message)
        and not any(place[: len(known)] == known or known[: len(place)] == place for known in lost)
    ]


def returns(
    message: Message,
    out: Converted,
    back: Converted,
    wanted: Any,
    squatters: frozenset[Place] = frozenset(),
) -> list[str]:
    """Whether the way back is the message, but for the losses, and each loss is one.

    A squatter that was carried may be lost on the way back, which knows no such member; the loss
    is told where it stands in the newer message, be that an array that is composed of members.
    """
    lost = {steps(loss.path) for loss in out.losses}
    again = {steps(loss.path) for loss in back.losses}
    problems = [
        f"told, but not lost: {loss}"
        for loss in out.losses
        if not differ(at(message.value, steps(loss.path)), at(back.message, steps(loss.path)))
    ]
    lost |= (again | squatters | set(parts_of(again))) if squatters else set()
    one, other = (plain(masked(v, lost)) for v in (wanted, back.message))
    if differ(one, other):
        problems.append(f"lost, but not told: {json.dumps(one)} != {json.dumps(other)}")
    if again - lost:
        problems.append(f"lost on the way back: {back.losses}")
    return problems


def parts_of(places: set[Place]) -> Iterator[Place]:
    """Where members stand that a row composes an array of, for the places of such arrays."""
    arrays = {row["path"].rpartition(".")[2]: row["parts"] for row in rows() if "parts" in row}
    for *around, wire in places:
        names = (part.get("items", part.get("item")) for part in arrays.get(wire, ()))
        yield from ((*around, name) for name in names if name is not None)


@cache
def rows() -> list[dict[str, Any]]:
    """The rows of the steps."""
    table = tomllib.loads((paths.schema() / "decisions.toml").read_text("utf-8"))
    steps_of: list[dict[str, Any]] = table["step"]
    return steps_of


def run(
    from_: str, to: str, rounds: int, chosen: str, reach: Reach | None = None
) -> tuple[list[str], Counter[str], int]:
    """Every method and position, `rounds` times; the first disputes, the reasons told, a count."""
    seen: Counter[str] = Counter()
    problems: list[str] = []
    count = 0
    messages = Messages(from_, Seeded(f"{chosen} {from_} {to}"), reach)
    hand = Seeded(f"{chosen} context {from_} {to}")
    for _ in range(rounds):
        agreed = context(hand)
        for method, position in messages.places():
            message = messages.make(method, position)
            for case, squatters in variants(message, hand):
                count += 1
                for problem in disputes(case, to, agreed, seen, squatters):
                    text = json.dumps(case.value)
                    problems.append(f"{method} {position} {from_} → {to}: {problem}\n  {text}")
        if len(problems) > 5:
            break
    return problems, seen, count


def variants(message: Message, hand: Seeded) -> Iterator[tuple[Message, frozenset[Place]]]:
    """A message, and often the same with squatters."""
    yield message, frozenset()
    if (other := squatted(message, hand)) is not None:
        yield other[0], frozenset(other[1])


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("from_", "to"),
    [pytest.param(*pair, marks=[pytest.mark.pinned] if pair in ENDS else []) for pair in PAIRS],
)
def test_conversions_are_valid_and_return(from_: str, to: str) -> None:
    problems, _, _ = run(from_, to, ROUNDS, seed(f"{from_} {to}"))
    assert not problems, "\n".join(problems[:8])


@pytest.mark.long
def test_fifty_thousand_messages_keep_the_laws() -> None:
    chosen, total = seed("steps"), 0
    for from_, to in PAIRS:
        problems, _, count = run(from_, to, 60, chosen)
        assert not problems, "\n".join(problems[:8])
        total += count
    assert total > 50_000


@pytest.mark.wide
def test_every_row_and_every_function_is_met() -> None:
    """The generator's reach: each sentence and kind of squatter was told, each step ran."""
    awaited = {pair: set(_awaited(*pair)) for pair in PAIRS if set(pair) in NEIGHBOURS}
    reaches = {revision: Reach(wire_schema(revision)) for revision in REVISIONS}
    chosen = seed("reach")
    for number in range(400):
        for (from_, to), names in awaited.items():
            if names:
                with called() as ran:
                    problems, seen, _ = run(from_, to, 3, f"{chosen} {number}", reaches[from_])
                assert not problems, "\n".join(problems[:8])
                names -= seen.keys() | ran
        if not any(awaited.values()):
            return
    assert not any(awaited.values())


NEIGHBOURS: Final = tuple(map(set, pairwise(REVISIONS)))


def _awaited(from_: str, to: str) -> Iterator[str]:
    """The sentences that a step must tell, and its functions."""
    up = from_ < to
    pair = (from_, to) if up else (to, from_)
    yield from _sentences("..".join(pair), "up" if up else "down")
    if up:
        yield f"{from_} does not declare it, and {to} takes no such value under its name"
    module = importlib.import_module(f"mcp_wire.steps.{STEPS[pair]}")
    for function in vars(module):
        if function.startswith("_up_" if up else "_down_") and function not in BY_HAND:
            yield f"{STEPS[pair]}.{function}"


ELSEWHERE: Final = frozenset(
    {
        "An array of messages is no message; each of them is converted by itself.",
        "More than 100 were never allowed, though the older schema does not say so.",
    }
)
"""Sentences of what the generator does not draw; test_convert.py has messages for them."""


def _sentences(pair: str, direction: str) -> Iterator[str]:
    """Why something is lost or refused; defaults, and renames with a way back, lose nothing."""
    for row in rows():
        telling = row.get(direction) in ("drop", "degrade", "refuse") or "data" in row
        reported = telling or (row.get(direction) == "rename" and isinstance(row["to"], int))
        silent = row.get("value") in ({}, "") or row["why"] in ELSEWHERE
        if row["pair"] == pair and reported and not silent:
            yield row["why"]


BY_HAND: Final = frozenset({"_down_UntitledSingleSelectEnumSchema"})
"""For a field whose unknown `enumNames` no other kind of field would take: in test_convert.py."""


@contextmanager
def called() -> Iterator[set[str]]:
    """Collects the functions that run, as `module.function`."""
    paths: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            paths.add(f"{frame.f_globals['__name__'].rpartition('.')[2]}.{frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        yield paths
    finally:
        sys.setprofile(None)


def by_hypothesis() -> st.SearchStrategy[tuple[Message, str, Context]]:
    """A message, where it goes, and a context, drawn so that a failure shrinks."""

    @st.composite
    def build(draw: Any) -> tuple[Message, str, Context]:
        from_, to = draw(st.sampled_from(PAIRS))
        hand = Drawn(draw)
        messages = Messages(from_, hand)
        method, position = draw(st.sampled_from(list(messages.places())))
        return messages.make(method, position), to, context(hand)

    return build()


@settings(suppress_health_check=list(HealthCheck))
@given(by_hypothesis())
def test_the_laws_hold_by_hypothesis(drawn: tuple[Message, str, Context]) -> None:
    message, to, agreed = drawn
    assert disputes(message, to, agreed, Counter()) == []


@pytest.mark.parametrize("from_", REVISIONS)
def test_what_is_invalid_is_refused_with_its_place(from_: str) -> None:
    """Messages with a single fault are refused before anything is converted."""
    hand = Seeded(seed(f"faults {from_}"))
    messages = Messages(from_, hand)
    refused = 0
    for _ in range(8):
        for method, position in messages.places():
            message = messages.make(method, position)
            broken = messages.broken(message)
            if broken is None:
                continue
            path = refusal(broken, _other(from_))
            assert path.startswith("$"), json.dumps(broken.value)
            refused += 1
    assert refused > 50


def refusal(message: Message, to: str) -> str:
    """Where a message is refused; empty if it is not."""
    try:
        convert(message.value, message.revision, to, method=message.asked)
    except DecodeError as error:
        return error.path
    except NotAMessageMatter as error:  # an array, in the revision that has batches
        return error.path
    return ""


def _other(revision: str) -> str:
    return REVISIONS[REVISIONS.index(revision) - 1]
