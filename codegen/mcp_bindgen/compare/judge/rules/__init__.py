"""The rules: one row for each kind of change, with a permanent id.

A row says whether readers with the new schema refuse messages of writers with the old one, and the
other way round, and whether Python source written against the old bindings still type-checks. The
judge finds out whether clients or servers read at the place of the change.
"""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.changes.change import Key
from mcp_bindgen.compare.judge.rules.declarations import (
    CONSTANT_RULES,
    DECLARATION_RULES,
    ERROR_RULES,
    TAG_RULES,
    UNREAD_RULES,
)
from mcp_bindgen.compare.judge.rules.members import ENVELOPE_RULES, INDEX_RULES, MEMBER_RULES
from mcp_bindgen.compare.judge.rules.methods import METHOD_RULES
from mcp_bindgen.compare.judge.rules.rule import Refuses, Rule, Verdict
from mcp_bindgen.compare.judge.rules.tools import IGNORE_RULES, ITEM_RULES, TOOL_RULES
from mcp_bindgen.compare.judge.rules.types import ARM_RULES, BOUND_RULES, NULL_RULES, TYPE_RULES
from mcp_bindgen.errors import InputError
from mcp_bindgen.source.text import close_to

__all__ = ["BY_KEY", "RULES", "Refuses", "Rule", "Verdict", "rule"]

_ROWS: Final = (
    *METHOD_RULES,
    *DECLARATION_RULES,
    *UNREAD_RULES,
    *MEMBER_RULES,
    *NULL_RULES,
    *ENVELOPE_RULES,
    *INDEX_RULES,
    *TYPE_RULES,
    *BOUND_RULES,
    *ARM_RULES,
    *CONSTANT_RULES,
    *ERROR_RULES,
    *TAG_RULES,
    *TOOL_RULES,
    *ITEM_RULES,
    *IGNORE_RULES,
)

RULES: Final[dict[str, Rule]] = {row.id: row for row in _ROWS}
BY_KEY: Final[dict[Key, Rule]] = {row.key: row for row in _ROWS}


def rule(id: str) -> Rule:
    """The rule with this id. Raises InputError naming similar ids."""
    row = RULES.get(id.upper())
    if row is None:
        raise InputError(
            f"no rule is called {id!r}",
            remedy=close_to(id.upper(), RULES, "`mcp-bindgen diff --explain` lists all."),
        )
    return row
