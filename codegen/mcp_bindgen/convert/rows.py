"""The `[[step]]` rows of one pair: which are asked for, used, missing and unused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from mcp_bindgen.convert.model import ALLOWED, CONTEXTS, DEGRADES, Code, Decision
from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row, paste
from mcp_bindgen.ir.model import Field, Schema, Struct
from mcp_bindgen.source import Source

__all__ = ["Rows", "paths_of"]


_Asked: TypeAlias = tuple[str, str]


@dataclass
class Rows:
    """`missing` are questions and rows to paste, by direction and path.

    A place is a schema and a byte offset in its file.
    """

    old: Schema
    new: Schema
    pair: str
    decisions: Decisions | None
    texts: Mapping[str, Source] = field(default_factory=dict[str, Source])
    missing: dict[_Asked, tuple[str, str]] = field(default_factory=dict[_Asked, tuple[str, str]])
    quiet: bool = False

    def silent(self) -> Rows:
        """A copy without rows, for asking which rows would be needed."""
        return Rows(self.old, self.new, self.pair, None, quiet=True)

    def peek(
        self, direction: str, paths: tuple[str, ...], actions: tuple[str, ...]
    ) -> Decision | None:
        """The first row for one of the paths with such an action; it is not counted as used."""
        if self.decisions is None:
            return None
        for path in paths:
            row = self.decisions.rows.get(("step", self.pair, f"{direction} {path}"))
            if row is not None and row.values[direction] in actions:
                self._require_known(direction, row, path)
                return _decision(direction, path, row)
        return None

    def find(
        self, direction: str, paths: tuple[str, ...], actions: tuple[str, ...]
    ) -> Decision | None:
        """Like `peek`; the row is counted as used."""
        decision = self.peek(direction, paths, actions)
        if decision is not None and self.decisions is not None:
            self.decisions.get("step", self.pair, f"{direction} {decision.path}")
        return decision

    def demand(
        self,
        direction: str,
        paths: tuple[str, ...],
        actions: tuple[str, ...],
        question: str,
        place: tuple[Schema, int],
    ) -> Decision | None:
        """Like `find`; if there is no such row, the question is noted as missing."""
        decision = self.find(direction, paths, actions)
        if decision is None and not self.quiet:
            row = self._missing(direction, paths[-1], actions, question, place)
            self.missing.setdefault((direction, paths[-1]), row)
        return decision

    def says_revision(self, paths: tuple[str, ...]) -> bool:
        """Return whether a row of any pair fills one of these members with the revision's name."""
        return self.context_of(paths) == "revision"

    def context_of(self, paths: tuple[str, ...]) -> str:
        """The part of the context with which a row of any pair fills one of these members; empty
        without such a row.
        """
        answers = {f"up {path}" for path in paths}
        rows = self.decisions.rows.values() if self.decisions is not None else ()
        parts = (str(row.values.get("context", "")) for row in rows if row.path in answers)
        return next((part for part in parts if part), "")

    def codes(self, direction: str, method: str) -> Iterator[Code]:
        """The error codes named by rows for one method: `resources/read.error:-32002`."""
        prefix = f"{direction} {method}.error:"
        for kind, pair, path in list(self.decisions.rows) if self.decisions else []:
            if (kind, pair) == ("step", self.pair) and path.startswith(prefix):
                name = path.removeprefix(f"{direction} ")
                decision = self.find(direction, (name,), ("rename", "refuse"))
                if decision is not None:
                    self.require_code(decision)
                    yield Code(int(path.removeprefix(prefix)), decision)

    def require_member(self, struct: Struct, wire: str, decision: Decision) -> Field:
        member = struct.field(wire)
        return member or self.reject(decision, f"{struct.name} has no `{wire}`")

    def require_fit(self, decision: Decision, fault: str | None) -> None:
        """Raise DecisionError for an unworkable row."""
        if fault is not None:
            self.reject(decision, fault)

    def reject(self, decision: Decision, why: str) -> NoReturn:
        """Raise DecisionError for a row with an impossible value."""
        raise DecisionError(
            f"{self._source}: [[step]] `{decision.path}` of {self.pair} cannot "
            f"{decision.action}: {why}",
            remedy="Decide otherwise.",
        )

    def require_all(self) -> None:
        """Raise DecisionError if rows are missing or unused, or note the missing rows."""
        if self.decisions is not None:
            for question, row in self.missing.values():
                self.decisions.miss(question, row)
            self.decisions.require_all(self.pair)

    def _require_known(self, direction: str, row: Row, path: str) -> None:
        """Raise DecisionError for a value which generated code cannot hold."""
        values = row.values
        known: tuple[str, ...]
        if values[direction] == "degrade" and values.get("as", "json") not in DEGRADES:
            known, fault = tuple(DEGRADES), f"nothing degrades as {values['as']!r}"
        elif values.get("context", "revision") not in CONTEXTS:
            known, fault = CONTEXTS, f"no context has {values['context']!r}"
        elif values.get("unless", ALLOWED[0]) not in ALLOWED:
            known, fault = ALLOWED, f"no context allows values by {values['unless']!r}"
        elif not isinstance(values.get("code", 0), int):
            known, fault = ("an integer",), f"{values['code']!r} is not an error code"
        else:
            return
        raise DecisionError(
            f"{self._source}: [[step]] `{path}` of {self.pair}: {fault}",
            remedy=f"Known: {', '.join(known)}.",
        )

    def require_code(self, decision: Decision) -> None:
        """Raise DecisionError unless the row maps an error code to an error code."""
        if decision.action != "refuse" and not isinstance(decision.values.get("to"), int):
            self.reject(decision, "`to` is not an error code")
        if decision.action == "degrade" and "as" not in decision.values:
            self.reject(decision, "an error code needs `as`")

    @property
    def _source(self) -> str:
        return self.decisions.source if self.decisions else "decisions"

    def _missing(
        self,
        direction: str,
        path: str,
        actions: tuple[str, ...],
        question: str,
        place: tuple[Schema, int],
    ) -> tuple[str, str]:
        """A question with its place and its possible answers, and the row to paste."""
        choice = actions[0] if len(actions) == 1 else ""
        keys = {"message": ""} if choice == "refuse" else {}
        asked = f"{self._line(*place)}: `{path}`, {direction}: {question}"
        note = f"{asked} ({', '.join(actions)})"
        return note, paste("step", self.pair, path, {direction: choice, **keys})

    def _line(self, schema: Schema, at: int) -> str:
        text = self.texts.get(schema.revision)
        if text is None or not at:
            return schema.path
        file, inner = text.file(at)
        return f"{file.path}:{file.line(inner)}"


def paths_of(struct: Struct, member: Field) -> tuple[str, ...]:
    """The paths for a member in rows: in its struct, and where it is declared."""
    own, declared = f"{struct.name}.{member.wire}", f"{member.origin}.{member.wire}"
    return (own, declared) if member.origin and not struct.place else (own,)


def _decision(direction: str, path: str, row: Row) -> Decision:
    return Decision(row.values[direction], path, row.values["why"], row.values)
