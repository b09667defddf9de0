"""Flavours, gears, validator and interpreter agree on every type of every revision."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import given

from tests.support.instances import Case, Generator, Seeded, cases, more
from tests.support.instances import instances as instances_of
from tests.support.judges import (
    FLAVOURS,
    REVISIONS,
    SCHEMAS,
    Court,
    Flavour,
    flavour_of,
    flavours,
    own_types,
    schema_of,
    shrink,
)
from tests.support.reach import Reach
from tests.support.seeds import seed

LONG: Final = 40_000
"""Instances of one revision in `make long`; there are five."""

MANY: Final = 12
"""Disputes after which a run stops."""


@pytest.mark.parametrize("revision", SCHEMAS)
def test_all_three_flavours_are_generated(revision: str) -> None:
    assert [flavour.name for flavour in flavours(revision)] == list(FLAVOURS)


@pytest.mark.drawn
@pytest.mark.parametrize("revision", SCHEMAS)
def test_the_instances_reach_every_option_arm_literal_bound_and_fault(revision: str) -> None:
    generator = Generator(schema_of(revision), Seeded(seed(revision)))
    for _ in _reaching(generator):
        pass
    missed = [
        m for name in own_types(generator.schema) for m in sorted(generator.reach.missed(name))
    ]
    assert not any(missed)


def test_the_arms_of_a_named_union_are_to_be_reached_wherever_it_stands() -> None:
    reach = Reach(schema_of("2025-11-25"))
    blocks = {f"CallToolResult.content[]: arm {n}" for n in range(5)}
    levels = {f"SetLevelRequestParams.level: arm {n}" for n in range(8)}
    assert blocks <= reach.features("CallToolResult")
    assert levels <= reach.missed("SetLevelRequestParams")


@pytest.mark.drawn
@pytest.mark.parametrize("revision", SCHEMAS)
def test_everyone_agrees_about_every_type(revision: str) -> None:
    """Of what reaches each option, arm, literal, bound and fault: up to 5 300 instances."""
    _hold(revision)


@pytest.mark.long
@pytest.mark.parametrize("revision", SCHEMAS)
def test_everyone_agrees_about_a_hundred_thousand_instances(revision: str) -> None:
    _hold(revision, LONG)


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("revision", SCHEMAS)
def test_everyone_agrees_about_what_hypothesis_finds(revision: str) -> None:
    """Fewer instances than the above, of the same generator; a failure comes out small."""
    court = _court(revision)

    @given(instances_of(court.schema))
    def agree(case: Case) -> None:
        assert not list(court.disputes(case))

    agree()


def test_a_seed_gives_the_same_instances() -> None:
    schema = schema_of(REVISIONS[-1])
    runs = [
        [json.dumps(c.value) for c in islice(_reaching(Generator(schema, Seeded(1))), 500)]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


# ---- the court sees what is wrong


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    return int(value) if value in ("1", True, False) else value


def _without_odd_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_odd_keys(v) for k, v in value.items() if k != "__class__"}
    return [_without_odd_keys(item) for item in value] if isinstance(value, list) else value


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value == int(value) else value


def _reads(bend: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """A flavour whose native gear reads something else than what is written."""
    return lambda m: {"decode": lambda of, text: m.from_wire(of, bend(json.loads(text)))}


def _writes(bend: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """A flavour that writes something else than what was read."""
    return lambda m: {"encode": lambda value: json.dumps(bend(m.to_wire(value))).encode()}


def _tells(bend: Callable[[Any], tuple[str, str, str]]) -> Callable[[Any], dict[str, Any]]:
    """A flavour whose native gear tells another fault."""

    def decode(module: Any) -> Callable[[Any, bytes], Any]:
        def bent(of: Any, text: bytes) -> Any:
            try:
                return module.decode(of, text)
            except module.DecodeError as error:
                raise module.DecodeError(*bend(error)) from None

        return bent

    return lambda m: {"decode": decode(m)}


SABOTAGE: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "null is absent": _reads(_without_nulls),
    "text and true are numbers": _reads(_numbers),
    "an unknown member is lost in reading": _reads(_without_odd_keys),
    "a whole float becomes an int in reading": _reads(_whole),
    "an unknown member is lost in writing": _writes(_without_odd_keys),
    "a whole float becomes an int in writing": _writes(_whole),
    "null is not written": _writes(_without_nulls),
    "the path ends early": _tells(lambda e: ("$", e.expected, e.found)),
    "it was expected otherwise": _tells(lambda e: (e.path, f"a {e.expected}", e.found)),
    "it was found otherwise": _tells(lambda e: (e.path, e.expected, f"a {e.found}")),
}


@pytest.mark.parametrize("what", SABOTAGE)
@pytest.mark.parametrize("who", FLAVOURS)
def test_the_court_sees_a_flavour_go_wrong(what: str, who: str) -> None:
    true = flavour_of(REVISIONS[-2], who)
    bent: Any = SimpleNamespace(**{**vars(true.module), **SABOTAGE[what](true.module)})
    schema = schema_of(REVISIONS[-2])
    court = Court(schema, (Flavour(who, bent, true.fault),))
    generator = Generator(schema, Seeded(seed(what)))
    assert any(dispute for case in _reaching(generator) for dispute in court.disputes(case))


def _court(revision: str) -> Court:
    return Court(schema_of(revision), flavours(revision))


def _reaching(generator: Generator) -> Iterator[Case]:
    return chain.from_iterable(cases(generator, name) for name in own_types(generator.schema))


def _hold(revision: str, count: int | None = None) -> None:
    """Judges what reaches everything, or `count` instances; fails with small disputes."""
    court = _court(revision)
    generator = Generator(court.schema, Seeded(seed(revision)), Reach(court.schema))
    instances = _reaching(generator)
    if count is not None:
        instances = islice(chain(instances, more(generator, own_types(court.schema))), count)
    judged, disputes = 0, dict[str, str]()
    for case in instances:
        judged += 1
        for dispute in court.disputes(case):
            disputes.setdefault(f"{case.type}: {dispute[:40]}", _told(court, case, dispute))
        if len(disputes) >= MANY:
            break
    print(f"{revision}: {judged} instances, {court.refused} refused")  # noqa: T201 - as the seed
    assert not disputes, "\n\n".join(disputes.values())
    assert not [m for name in own_types(court.schema) for m in generator.reach.missed(name)]


def _told(court: Court, case: Case, dispute: str) -> str:
    """A dispute, with a smaller message that is disputed too where there is one."""

    def fails(value: object) -> bool:
        return any(d[:30] == dispute[:30] for d in court.disputes(Case(case.type, value)))

    small = shrink(case.value, fails) if fails(case.value) else case.value
    return f"{case.type} {json.dumps(small)[:1500]}\n  {dispute[:1500]}\n  {case.fault or 'valid'}"
