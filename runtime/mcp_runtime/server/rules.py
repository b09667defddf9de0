"""Rules for enabled features: of a server, and of one session."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal, NamedTuple, Self


class Switch(NamedTuple):
    """Enables or disables the items of these names and the items with one of these tags.

    With `only` it says the opposite of every other item.
    """

    enables: bool
    names: Iterable[str] = ()
    tags: Iterable[str] = ()
    only: bool = False


class Rule(NamedTuple):
    """Enables or disables every item, the items of a name, or the items with a tag."""

    by: Literal["all", "name", "tag"]
    value: str
    enables: bool


class Rules(tuple[Rule, ...]):
    """Rules in the order in which they were given: the last rule for an item counts."""

    __slots__ = ()

    def switch(self, switch: Switch) -> Self:
        """Return these rules with new ones at the end; with `only` the new ones stand alone."""
        new = [Rule("name", name, switch.enables) for name in switch.names]
        new += [Rule("tag", tag, switch.enables) for tag in switch.tags]
        if switch.only:
            return type(self)([Rule("all", "", not switch.enables), *new])
        replaced = {(rule.by, rule.value) for rule in new}
        return type(self)([*(rule for rule in self if rule[:2] not in replaced), *new])

    def without(self, name: str) -> Self:
        """Return these rules without the ones for a name."""
        return type(self)(rule for rule in self if rule[:2] != ("name", name))

    def enables(self, names: Collection[str], tags: Collection[str], otherwise: bool) -> bool:
        """Return True if an item with these names and tags is enabled; `otherwise` if no rule is
        about it.
        """
        values = {"all": ("",), "name": names, "tag": tags}
        for rule in reversed(self):
            if rule.value in values[rule.by]:
                return rule.enables
        return otherwise


NO_RULES: Final = Rules()
