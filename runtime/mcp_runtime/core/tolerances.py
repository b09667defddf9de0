"""Tolerances: known faults of peers that are repaired in received JSON, and counted.

A body is decoded as its revision says. Where that fails at a member that a row of the revision's
table names, the member gets the value of the row, and the body is decoded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from mcp_runtime.core.role import Role
from mcp_runtime.revisions import DecodeError, Position, Revision, Tolerance


class Tolerances:
    """The rows for what one role reads. `counts` says how often a member was repaired."""

    def __init__(self, reader: Role) -> None:
        self.counts: Counter[str] = Counter()
        self.watch: Callable[[str], object] | None = None
        """Sees the name of each member that is repaired."""
        self._reader = reader

    def decode(
        self, revision: Revision, position: Position, method: str, raw: bytes
    ) -> tuple[bytes, Any]:
        """The body with its repairs, and its model. Raises DecodeError if no row repairs it."""
        repaired: list[str] = []
        while True:
            try:
                model = revision.decode(position, method, raw)
            except DecodeError as error:
                rows = [row for row in self._rows(revision, position) if row.member not in repaired]
                row = _matching(rows, error, raw)
                if row is None:
                    raise
                repaired.append(row.member)
                raw = msgspec.json.encode({**msgspec.json.decode(raw), row.member: row.value})
            else:
                self._count(repaired)
                return raw, model

    def _rows(self, revision: Revision, position: Position) -> Collection[Tolerance]:
        rows = revision.tolerances
        return [row for row in rows if row.reader == self._reader and row.position == position]

    def _count(self, members: Collection[str]) -> None:
        for member in members:
            self.counts[member] += 1
            if self.watch is not None:
                self.watch(member)


def _matching(rows: Collection[Tolerance], error: DecodeError, raw: bytes) -> Tolerance | None:
    """The row for an error; in an object that no type of several accepts, any may apply."""
    is_whole = error.path == "$" and error.found == "object"
    near = [row for row in rows if is_whole or error.path == f"$.{row.member}"]
    body: dict[str, Any] = msgspec.json.decode(raw) if near else {}
    return next((row for row in near if _fault(body, row.member) in row.forgives), None)


def _fault(body: Mapping[str, Any], member: str) -> str | None:
    if member not in body:
        return "absent"
    value = body[member]
    return "negative" if type(value) in (int, float) and value < 0 else None
