"""`make ledger`: what is held by a test, ours elsewhere, not ours, or missing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from textwrap import fill
from typing import Final

from tests.spec.areas import RULES, Area, rule_of
from tests.spec.ledger import Row, held, rows

_LEVELS: Final = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "PROSE")
_HELD: Final = "held"
_MISSING: Final = "missing"
_STATES: Final = (_HELD, _MISSING, Area.NOT_OURS)


def _state(row: Row) -> str:
    if row.id in held():
        return _HELD
    area = rule_of(row).area
    return _MISSING if area is Area.NOW else area


def _table(states: dict[str, str]) -> Iterator[str]:
    revisions = sorted({revision for row in rows().values() for revision in row.revisions})
    for revision in revisions:
        yield f"{revision:12}" + "".join(f"{state:>14}" for state in (*_STATES, "rows"))
        for level in _LEVELS:
            known = [r for r in rows().values() if revision in r.revisions and r.level == level]
            count = Counter(states[row.id] for row in known)
            numbers = [*(count[state] for state in _STATES), len(known)]
            yield f"{level:12}" + "".join(f"{number:14}" for number in numbers)
        yield ""


def _reasons(states: dict[str, str]) -> Iterator[str]:
    """Not ours, in numbers by reason."""
    for rule in RULES:
        count = sum(rule_of(r) is rule and states[r.id] == rule.area for r in rows().values())
        if rule.area is not Area.NOW:
            yield f"{count:5}  {rule.area}: {rule.why}"


def _share(states: dict[str, str], which: Callable[[Row], bool]) -> str:
    ours = [states[row.id] for row in rows().values() if which(row)]
    held_or_not = [state for state in ours if state in {_HELD, _MISSING}]
    done = held_or_not.count(_HELD)
    return f"{done} of {len(held_or_not)} held, {done / max(len(held_or_not), 1):.1%}"


def _names(states: dict[str, str], which: Callable[[Row], bool]) -> str:
    missing = [r.id for r in rows().values() if which(r) and states[r.id] == _MISSING]
    text = " ".join(sorted(missing)) or "none"
    return fill(text, 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def report() -> Iterable[str]:
    """The lines that are shown."""
    states = {row.id: _state(row) for row in rows().values()}
    yield from _table(states)
    yield from _reasons(states)
    kinds: tuple[tuple[str, Callable[[Row], bool]], ...] = (
        ("MUST and MUST NOT", lambda row: row.binds),
        ("SHOULD and SHOULD NOT", lambda row: row.advises),
    )
    for name, which in kinds:
        yield f"\n{name}, ours now: {_share(states, which)}; missing:"
        yield _names(states, which)
    yield f"\nMAY and prose, ours now: {_share(states, lambda r: not (r.binds or r.advises))}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report())
