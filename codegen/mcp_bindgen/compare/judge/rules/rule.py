"""A rule: what one kind of change does to readers on the wire and to Python source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcp_bindgen.compare.changes.change import Key

__all__ = ["Refuses", "Rule", "Verdict"]

Refuses: TypeAlias = Literal["nothing", "some", "all"]
Verdict: TypeAlias = Literal["holds", "if used", "breaks"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`new_refuses` is what new readers refuse of what old writers send there: nothing, some, or
    even the plainest message (all); `old_refuses` is the reverse. `source` says whether Python
    source still type-checks; `docs` marks what only informs. `hint` says what to do about it."""

    id: str
    key: Key
    asks: str
    why: str
    example: str
    new_refuses: Refuses = "nothing"
    old_refuses: Refuses = "nothing"
    source: Verdict = "holds"
    docs: bool = False
    hint: str = ""
