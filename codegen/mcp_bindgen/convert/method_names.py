"""Methods that have another name in the neighbour: rows that rename them, and their first names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from mcp_bindgen.convert.model import DOWN, UP, Decision, Pair
from mcp_bindgen.convert.rows import Rows
from mcp_bindgen.errors import OutputError
from mcp_bindgen.ir.model import Method, Schema
from mcp_bindgen.source.text import close_names

__all__ = ["MethodNames", "first_names", "travels_alone"]

_ACTIONS = ("rename", "refuse")


@dataclass
class MethodNames:
    """The methods that one direction renames, by a row of its own or by the row of the way back."""

    direction: str
    source: Schema
    target: Schema
    rows: Rows

    @cached_property
    def renamed(self) -> dict[str, str]:
        """The name in the target of each renamed method of the source.

        Raises DecisionError for a row that names no method of its kind, or one already taken.
        """
        pairs = {method.name: self._name_there(method) for method in self._gone}
        return {name: there for name, there in pairs.items() if there}

    @cached_property
    def likely(self) -> dict[str, str]:
        """The renamed methods, and those that are asked about, each with its likely name."""
        asked = (m for m in self._gone if not self._is_answered(m))
        return {**{m.name: near for m in asked if (near := self._near(m))}, **self.renamed}

    def _is_answered(self, method: Method) -> bool:
        return self.rows.peek(self.direction, (method.name,), _ACTIONS) is not None

    def demand(self, method: Method) -> Decision | None:
        """Return the row that refuses a method; None if it is missing or the way up asks."""
        if self.direction == DOWN and self._is_asked_upwards(method):
            return None
        near = self._near(method)
        question = "which part of the runtime handles it, or with which error is it refused?"
        question += f" (It may be `{near}` there.)" if near else ""
        actions = _ACTIONS if near else _ACTIONS[1:]
        place = self.source, self.source.structs[method.type].at
        return self.rows.demand(self.direction, (method.name,), actions, question, place)

    @property
    def _gone(self) -> list[Method]:
        there = _by_name(self.target)
        return [method for method in self.source.methods if method.name not in there]

    def _name_there(self, method: Method) -> str:
        """The name of a method in the target by a row; empty without one."""
        rows = [*self._own_row(method), *self._rows_back(method)]
        for decision, name in rows[:1]:
            other = _by_name(self.target).get(name)
            if other is None or name in _by_name(self.source):
                fault = f"`{name}` is not a method that only {self.target.revision} has"
                self.rows.reject(decision, fault)
            if (other.kind, travels_alone(other)) != (method.kind, travels_alone(method)):
                self.rows.reject(decision, f"`{name}` is sent in another way")
            if len(self._older_names_of(name)) > 1:
                self.rows.reject(decision, f"`{name}` stands for two methods")
            return name
        return ""

    def _own_row(self, method: Method) -> Iterator[tuple[Decision, str]]:
        row = self.rows.find(self.direction, (method.name,), _ACTIONS[:1])
        if row is not None:
            yield row, str(row.values["to"])

    def _rows_back(self, method: Method) -> Iterator[tuple[Decision, str]]:
        """The rows of the other direction which rename a method of the target to this one."""
        back = DOWN if self.direction == UP else UP
        if self.rows.peek(self.direction, (method.name,), _ACTIONS) is not None:
            return
        for other in self.target.methods:
            row = self.rows.peek(back, (other.name,), _ACTIONS[:1])
            if row is not None and row.values["to"] == method.name:
                yield row, other.name

    def _older_names_of(self, name: str) -> list[str]:
        rows = ((m, self.rows.peek(self.direction, (m.name,), _ACTIONS[:1])) for m in self._gone)
        return [method.name for method, row in rows if row and row.values["to"] == name]

    def _is_asked_upwards(self, method: Method) -> bool:
        """Return whether the way up asks if an older method is this one: it is one question."""
        back = MethodNames(UP, self.target, self.source, self.rows)
        near = [older for older in back._gone if back._near(older) == method.name]
        rows = self.rows
        if rows.decisions is None or rows.peek(DOWN, (method.name,), _ACTIONS) is not None:
            return False
        return any(rows.peek(UP, (older.name,), _ACTIONS) is None for older in near)

    def _near(self, method: Method) -> str:
        """The method that only the target has and this one resembles; empty without one."""
        known = _by_name(self.source)
        others = [m for m in self.target.methods if m.name not in known and m.kind == method.kind]
        alike = [m.name for m in others if (m.params, m.result) == (method.params, method.result)]
        return next(iter(alike or close_names(method.name, [m.name for m in others])), "")


def travels_alone(method: Method) -> bool:
    """Return whether a method's messages travel by themselves, and not inside other messages."""
    return method.direction in ("client-to-server", "server-to-client", "both")


def first_names(pairs: Sequence[Pair]) -> dict[str, dict[str, str]]:
    """The name in the oldest revision of each renamed method, by revision and its name there.

    Raises OutputError where a later method has the first name of another one.
    """
    names: dict[str, dict[str, str]] = {}
    for pair in pairs:
        before = names.get(pair.old.revision, {})
        taken = {method.name for method in pair.new.methods}
        kept = {name: first for name, first in before.items() if name in taken}
        moved = {new: before.get(old, old) for old, new in pair.up.renamed.items()}
        if both := sorted(({*kept.values()} | {*moved.values()}) & taken):
            raise OutputError(
                f"{pair.new.revision}: `{both[0]}` is a method, and the first name of another one",
                remedy="Refuse one of the two in decisions.toml.",
            )
        if kept or moved:
            names[pair.new.revision] = {**kept, **moved}
    return names


def _by_name(schema: Schema) -> dict[str, Method]:
    return {method.name: method for method in schema.methods}
