"""A rule: the effect of one kind of change on readers and on Python source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcp_bindgen.compare.changes.change import Key

__all__ = ["Refuses", "Rule", "Verdict"]

Refuses: TypeAlias = Literal["nothing", "some", "all"]
Verdict: TypeAlias = Literal["holds", "if used", "breaks"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`new_refuses`: the part of old writers' messages refused by new readers: nothing, some, or
    all (even the plainest message); `old_refuses` is the reverse. `source`: Python source still
    type-checks; `docs`: the change is informative only. `hint` is the remedy.
    """

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
