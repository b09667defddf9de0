"""What is forgiven to peers: rows, applied to a body that its revision refuses, and counted.

A body is read as its revision says. Where that fails at a place that a row names, what the row
assumes is put there, and the body is read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from mcp_runtime.core.lifecycle import CLIENT, SERVER, Role
from mcp_runtime.revisions import DecodeError, Position, Revision

__all__ = ["TOLERANCES", "Tolerance", "Tolerances"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Where `role` reads a body of `revision` without a fit `member`, it assumes a value."""

    revision: str
    role: Role
    position: Position
    member: str
    assumed: Callable[[Any], Any]
    """The value for what was found; None stands for an absent member."""
    forgives: Callable[[Any], bool]
    """Whether what was found is forgiven; None stands for an absent member."""
    why: str
    source: str


def _absent(found: Any) -> bool:
    return found is None


def _negative(found: Any) -> bool:
    return type(found) in (int, float) and found < 0


_NEWEST: Final = "2026-07-28"
TOLERANCES: Final = (
    Tolerance(
        revision=_NEWEST,
        role=CLIENT,
        position="result",
        member="resultType",
        assumed=lambda _: "complete",
        forgives=_absent,
        why="older servers do not send it, and mean a final result",
        source="2026-07-28 basic/index, result types (result-type.absent)",
    ),
    Tolerance(
        revision=_NEWEST,
        role=CLIENT,
        position="result",
        member="ttlMs",
        assumed=lambda _: 0,
        forgives=lambda found: _absent(found) or _negative(found),
        why="absent or negative means stale at once",
        source="2026-07-28 server/utilities/caching (caching.ttl.absent-is-zero, negative-is-zero)",
    ),
    Tolerance(
        revision=_NEWEST,
        role=CLIENT,
        position="result",
        member="cacheScope",
        assumed=lambda _: "private",
        forgives=_absent,
        why="a server that leaves out the hints has no word on sharing: the careful reading",
        source="2026-07-28 server/utilities/caching; observed beside an absent ttlMs",
    ),
)


_TELLS_APART: Final = "resultType"


def _by_place(
    role: Role, rows: tuple[Tolerance, ...]
) -> Mapping[tuple[str, Position, str], Tolerance]:
    return {
        (row.revision, row.position, f"$.{row.member}"): row for row in rows if row.role == role
    }


_ROWS: Final = {role: _by_place(role, TOLERANCES) for role in (CLIENT, SERVER)}


class Tolerances:
    """The rows of one role, and how often each was needed (`counts`, by its member)."""

    def __init__(self, role: Role, rows: tuple[Tolerance, ...] = TOLERANCES) -> None:
        self.counts: Counter[str] = Counter()
        self.watch: Callable[[str], object] | None = None
        """Sees each member that is forgiven."""
        self._rows = _ROWS[role] if rows is TOLERANCES else _by_place(role, rows)

    def decode(
        self, revision: Revision, position: Position, method: str, raw: bytes
    ) -> tuple[bytes, Any]:
        """The body as it was read, and its model. Raises DecodeError for what no row forgives."""
        tried: set[str] = set()
        while True:
            try:
                return raw, revision.decode(position, method, raw)
            except DecodeError as error:
                row = self._row(revision, position, error, raw)
                if row is None or row.member in tried:
                    raise
                tried.add(row.member)
                raw = self._forgiven(row, raw, error)

    def _row(
        self, revision: Revision, position: Position, error: DecodeError, raw: bytes
    ) -> Tolerance | None:
        """The row of the place where reading failed.

        Where none of several types fits as a whole, it is the row of what tells them apart.
        """
        if error.path != "$" or error.found != "object" or _TELLS_APART in msgspec.json.decode(raw):
            return self._rows.get((revision.name, position, error.path))
        return self._rows.get((revision.name, position, f"$.{_TELLS_APART}"))

    def _forgiven(self, row: Tolerance, raw: bytes, error: DecodeError) -> bytes:
        body = msgspec.json.decode(raw)
        found = body.get(row.member)
        if not row.forgives(found) or (found is None and row.member in body):
            raise error
        self.counts[row.member] += 1
        if self.watch is not None:
            self.watch(row.member)
        return msgspec.json.encode({**body, row.member: row.assumed(found)})
