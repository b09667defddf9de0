"""Generates parts of a conversion function: calls, recorded losses, raised refusals, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp_bindgen.convert.model import DEGRADES, UP, Call, Decision, Direction, Each, Values, Way
from mcp_bindgen.emit.steps.predicates import Admits
from mcp_bindgen.emit.text.layout import Code, call, flat, lay, literal
from mcp_bindgen.ir.model import Arr, Bounded, Lit, Prim, Ref, Type
from mcp_bindgen.ir.names import snake

__all__ = ["Parts", "arm_name", "outcome", "refusal_parts", "to_python"]

_LONG: Final = 30
"""Names of members from this length on are constants of the module."""

_REFUSED: Final = -32603
"""The code of a refusal whose row names none: it is the runtime's to handle."""


class Parts:
    """One direction; `used` collects the names imported by its functions."""

    def __init__(self, direction: Direction, admits: Mapping[str, Admits], used: set[str]) -> None:
        self.direction = direction
        self.up = direction.name == UP
        self.used = used
        older, newer = ("old", "new") if self.up else ("new", "old")
        self.source, self.target = admits[older], admits[newer]
        self.context: dict[str, Type] = {}
        self.names: dict[str, str] = {}

    def wire(self, name: str) -> str:
        """Return a member's name as code: a constant of the module if it is long."""
        if len(name) < _LONG:
            return literal(name)
        const = snake(name.rpartition("/")[2]).upper()
        self.names[const] = name
        return const

    def use(self, name: str) -> str:
        self.used.add(name)
        return name

    def way(self, way: Way, var: str, at: str) -> Code:
        match way:
            case Call():
                return call(way.name, var, at, "trip")
            case Each():
                return call(self.use("each"), self.inner(way.way), var, at, "trip")
            case Values():
                return call(self.use("values"), self.inner(way.way), var, at, "trip")
            case _:
                return var

    def inner(self, way: Way) -> str:
        if isinstance(way, Call):
            return way.name
        return f"lambda o, at, trip: {flat(self.way(way, 'o', 'at'))}"

    def degrade(self, decision: Decision) -> str:
        """The name of the function which degrades a value."""
        return self.use(DEGRADES[decision.values["as"]][0])

    def lose(self, indent: str, at: str, what: str, decision: Decision) -> Iterator[str]:
        """The line which records a loss on the trip; `at` is the code of its place."""
        yield from lay(indent, "", call("trip.lose", at, literal(what), literal(decision.why)))

    def squat(self, indent: str, wire: str) -> Iterator[str]:
        """Lines which remove a member unknown to the sender's revision, as a loss."""
        why = f"_SQUATTER_{self.direction.name.upper()}"
        yield from lay(indent, "o = ", call("trip.squat", "o", wire, "at", why))

    def refuse(self, indent: str, at: str, decision: Decision) -> Iterator[str]:
        """Lines which raise the refusal of a row."""
        parts = refusal_parts(decision)
        yield from lay(indent, "raise ", call(self.use("refusal"), at, *parts))

    def restored_if(self, decision: Decision, var: str, *, negated: bool = False) -> Code | None:
        """Return the condition for the way back to restore the member; None if it never does."""
        if "value" in decision.values:
            return self.equal(var, decision.values["value"], negated=negated)
        name = decision.values.get("context")
        if name is None:
            return None
        if name == "revision":
            return self.equal(var, self.direction.source.revision, negated=negated)
        return self._same(var, f"trip.context.{name}", negated=negated)

    def equal(self, var: str, value: Any, *, negated: bool = False) -> Code:
        """The condition for a member to equal a value of a row."""
        # o["resultType"] == "complete"
        # same(o["ttlMs"], 0)
        if isinstance(value, str):
            return f"{var} {'!=' if negated else '=='} {literal(value)}"
        return self._same(var, to_python(value), negated=negated)

    def _same(self, var: str, wanted: str, *, negated: bool) -> Code:
        return call(f"{'not ' if negated else ''}{self.use('same')}", var, wanted)


def refusal_parts(decision: Decision) -> tuple[str, ...]:
    """The code of a Refusal's parts."""
    values = decision.values
    parts = (str(values.get("code", _REFUSED)), literal(values["message"]), literal(decision.why))
    return (*parts, literal(values["runtime"])) if "runtime" in values else parts


def outcome(decision: Decision) -> str:
    """The text of a loss for a degraded value."""
    return DEGRADES[decision.values["as"]][1]


def arm_name(type: Type) -> str:
    """The name of an arm in losses and docstrings."""
    match type:
        case Ref() | Prim():
            return type.name
        case Bounded():
            return arm_name(type.of)
        case Arr():
            return "array"
        case Lit():
            return f"`{type.value}`"
        case _:
            return type.__class__.__name__.lower()


def to_python(value: Any) -> str:
    """A value of a row as Python."""
    if value.__class__ is dict:
        return f"{{{', '.join(f'{literal(k)}: {to_python(v)}' for k, v in value.items())}}}"
    if value.__class__ is list:
        return f"[{', '.join(map(to_python, value))}]"
    return literal(value)
