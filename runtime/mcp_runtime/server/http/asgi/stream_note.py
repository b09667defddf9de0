"""The note on a stream: its unanswered requests, and the data for running them again."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from mcp_runtime.core.wire import peek
from mcp_runtime.core.wire.jsonrpc import Batch, Frame, Id, Request
from mcp_runtime.revisions import first_name

_dump: Final = msgspec.json.Encoder().encode


class Rerun(msgspec.Struct, frozen=True, omit_defaults=True):
    """The note on a stream whose requests another process may run again."""

    owed: tuple[Id, ...]
    body: str
    """The message that has these requests, and nothing else."""
    process: int
    """The process that runs them."""
    token: str = ""
    """The content of the message's token, as JSON; empty without authorization."""
    progress: tuple[float | None, ...] = ()
    """The last progress of each request in `owed`; progress must not go back."""
    count: int = 0
    """How often they were run again."""
    claim: str = ""
    """A random text of the last time, so each attempt to run them again has a note of its
    own."""

    @property
    def written(self) -> bytes:
        return _dump(self)


_notes: Final[msgspec.json.Decoder[Rerun | tuple[Id, ...]]] = msgspec.json.Decoder(
    Rerun | tuple[Id, ...]
)


def note_of(owed: Collection[Id]) -> bytes:
    """Return the note on a stream whose requests are run once."""
    return _dump(owed)


def read_note(note: bytes) -> Rerun | tuple[Id, ...]:
    """Read a note written by `note_of` or `Rerun.written`."""
    return _notes.decode(note)


def frames_of(frame: Frame) -> tuple[Frame, ...]:
    """Return the messages of a batch, or the one message."""
    return frame.frames if isinstance(frame, Batch) else (frame,)


def is_call_of(frame: Frame, tools: Collection[str]) -> bool:
    """Return True if a message that was read before calls one of these tools."""
    if not isinstance(frame, Request) or first_name(frame.method) != "tools/call":
        return False
    name = peek.request_params(frame.params).name
    return isinstance(name, str) and name in tools
