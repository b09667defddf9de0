"""What a session tells its shell; the shell writes, runs handlers and wakes who waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.pending import Sent
from mcp_runtime.core.translation import Translation
from mcp_runtime.errors import SessionError

__all__ = [
    "Answered",
    "Called",
    "Event",
    "Failed",
    "GaveUp",
    "Ignored",
    "Notified",
    "Opened",
    "Progressed",
    "Terms",
    "Write",
]


class Terms(Struct, frozen=True):
    """Under which a message is read and answered: agreed once, or told with each request.

    `info` and `capabilities` are the peer's, as parsed JSON; `token` is where progress is told.
    """

    crossing: Translation
    info: Mapping[str, Any] | None
    capabilities: Mapping[str, Any]
    token: Id | None = None
    log_level: str | None = None


class Write(Struct, frozen=True, gc=False):
    """Must be sent: one message, without a line end.

    `about` is the peer's request that it belongs to, None for the message that was just read.
    """

    data: bytes
    about: Id | None = None


class Called(Struct, frozen=True):
    """The peer's request: `answer` or `refuse` it. `params` is JSON, empty for none."""

    id: Id
    method: str
    params: bytes
    terms: Terms


class Notified(Struct, frozen=True):
    """The peer's notification. `params` is a model, UNSET for none."""

    method: str
    params: Any


class GaveUp(Struct, frozen=True):
    """The peer has cancelled its request: the work on it ends, and nothing is answered."""

    id: Id
    reason: str


class Answered(Struct, frozen=True):
    """Ours was answered; `result` is a model."""

    sent: Sent
    result: Any


class Failed(Struct, frozen=True):
    """Ours has no result and will get none."""

    sent: Sent
    error: SessionError


class Progressed(Struct, frozen=True):
    """On the way to the answer of ours; `params` is a model."""

    sent: Sent
    params: Any


class Opened(Struct, frozen=True):
    """Requests may be sent from now on."""

    terms: Terms


class Ignored(Struct, frozen=True, gc=False):
    """What came was dropped, and why."""

    why: str


Event: TypeAlias = (
    Answered | Called | Failed | GaveUp | Ignored | Notified | Opened | Progressed | Write
)
