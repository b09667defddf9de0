"""The record of a session in a store, by which another process can continue the session."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mcp_runtime.server.rules import Rule


class SessionRecord(msgspec.Struct, frozen=True):
    """The outcome of a handshake, and the client's requests since that change the session."""

    principal: str
    begun: str
    """The client's `initialize`."""
    is_open: bool
    """True if the client has sent `notifications/initialized`."""
    log_level: str | None
    watched: tuple[str, ...]
    """The URIs the client is subscribed to."""
    lists: Mapping[str, str] = {}
    """Digests of the lists the client has heard of: as they were when the session began, or
    when a change of them was announced to it by a process that had other ones.
    """
    rules: tuple[Rule, ...] = ()
    """The rules of this session for its features."""


def merge(before: SessionRecord, ours: SessionRecord, theirs: SessionRecord) -> SessionRecord:
    """Merge the changes of two processes since `before`; where both changed the same, `ours`
    counts.
    """
    added, removed = {*ours.watched} - {*before.watched}, {*before.watched} - {*ours.watched}
    return msgspec.structs.replace(
        theirs,
        is_open=ours.is_open or theirs.is_open,
        log_level=theirs.log_level if ours.log_level == before.log_level else ours.log_level,
        watched=tuple(sorted({*theirs.watched} - removed | added)),
        lists=theirs.lists if ours.lists == before.lists else ours.lists,
        rules=theirs.rules if ours.rules == before.rules else ours.rules,
    )
