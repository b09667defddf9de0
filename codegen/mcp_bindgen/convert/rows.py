"""The `[[step]]` rows of one pair: asked for, found, missing, and those that nothing needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from mcp_bindgen.convert.model import DEGRADES, Code, Decision
from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import Decisions, Row, paste
from mcp_bindgen.ir.model import Field, Schema, Struct

__all__ = ["Rows"]


@dataclass
class Rows:
    """`missing` are the rows to paste, by path and direction, each with the question it answers.

    A place is a schema and a byte offset in its file.
    """

    old: Schema
    new: Schema
    pair: str
    decisions: Decisions | None
    texts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    missing: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    quiet: bool = False

    def silent(self) -> Rows:
        """Rows that answer nothing and miss nothing: what would be asked?"""
        return Rows(self.old, self.new, self.pair, None, quiet=True)

    def peek(
        self, direction: str, paths: tuple[str, ...], actions: tuple[str, ...]
    ) -> Decision | None:
        """The first row for one of the paths with such an action; not counted as used."""
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
        """As `peek`; the row is counted as used."""
        found = self.peek(direction, paths, actions)
        if found is not None and self.decisions is not None:
            self.decisions.get("step", self.pair, f"{direction} {found.path}")
        return found

    def demand(
        self,
        direction: str,
        paths: tuple[str, ...],
        actions: tuple[str, ...],
        question: str,
        place: tuple[Schema, int],
    ) -> Decision | None:
        """As `find`; where there is no such row, it is noted as missing."""
        found = self.find(direction, paths, actions)
        if found is None and not self.quiet:
            row = self._missing(direction, paths[-1], actions, question, place)
            self.missing.setdefault((direction, paths[-1]), row)
        return found

    def codes(self, direction: str, method: str) -> Iterator[Code]:
        """The error codes that rows name for one method: `resources/read.error:-32002`."""
        prefix = f"{direction} {method}.error:"
        for kind, pair, path in list(self.decisions.rows) if self.decisions else []:
            if (kind, pair) == ("step", self.pair) and path.startswith(prefix):
                name = path.removeprefix(f"{direction} ")
                found = self.find(direction, (name,), ("rename", "refuse"))
                if found is not None:
                    yield Code(int(path.removeprefix(prefix)), found)

    def require_member(self, struct: Struct, wire: str, decision: Decision) -> Field:
        found = struct.field(wire)
        return found or self.misfit(decision, f"{struct.name} has no `{wire}`")

    def misfit(self, decision: Decision, why: str) -> NoReturn:
        """Raises DecisionError for a row that says what cannot be."""
        raise DecisionError(
            f"{self._source}: [[step]] `{decision.path}` of {self.pair} cannot "
            f"{decision.action}: {why}",
            remedy="Decide otherwise.",
        )

    def require_all(self) -> None:
        """Raises DecisionError if rows are missing, or if nothing needed one."""
        if self.missing:
            number = len(self.missing)
            count = f"{number} [[step]] rows are" if number > 1 else "a [[step]] row is"
            raise DecisionError(
                f"{self._source}: {count} missing for {self.pair}",
                remedy="\n\n".join(["Add, with your answers:", *self.missing.values()]),
            )
        if self.decisions is not None:
            self.decisions.require_used(self.pair)

    def _require_known(self, direction: str, row: Row, path: str) -> None:
        kind = row.values.get("as", "")
        if row.values[direction] == "degrade" and kind not in DEGRADES:
            known = ", ".join(DEGRADES)
            raise DecisionError(
                f"{self._source}: [[step]] `{path}` of {self.pair}: nothing degrades as {kind!r}",
                remedy=f"Known: {known}.",
            )

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
    ) -> str:
        """A row to paste, below the place and the question."""
        choice = actions[0] if len(actions) == 1 else ""
        head = f"# {self._line(*place)}: `{path}`, {direction}: {question}"
        told = f"# {direction} is one of: {', '.join(actions)}"
        return f"{head}\n{told}\n{paste('step', self.pair, path, {direction: choice})}"

    def _line(self, schema: Schema, at: int) -> str:
        text = self.texts.get(schema.revision, b"")
        line = text.count(b"\n", 0, at) + 1
        return f"{schema.path}:{line}" if text and at else schema.path


def _decision(direction: str, path: str, row: Row) -> Decision:
    return Decision(row.values[direction], path, row.values["why"], row.values)
