"""Events of a session, on which a connection acts: it writes, runs handlers, wakes callers."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from mcp_runtime.core.session.pending import PendingRequest
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import SessionError


class Write(Struct, frozen=True, gc=False):
    """A message to send, without a line end.

    `about` is the id of the peer's request to which the message belongs; None for the message just
    read.
    """

    data: bytes
    about: Id | None = None


class Called(Struct):
    """A request of the peer; the connection must `answer` or `refuse` it.

    `params` is JSON; empty if there are none, or once they were decoded.
    """

    id: Id
    method: str
    params: bytes
    terms: Terms
    is_cancelled: bool = False
    """True once the peer has cancelled the request or has gone: send nothing more about it."""


class Notified(Struct, frozen=True):
    """A notification of the peer. `params` is a model, UNSET for none."""

    method: str
    params: Any


class Cancelled(Struct, frozen=True):
    """The peer has cancelled its request; it gets no response."""

    id: Id
    reason: str


class Answered(Struct, frozen=True):
    """A request of ours was answered; `result` is a model."""

    sent: PendingRequest
    result: Any


class Failed(Struct, frozen=True):
    """A request of ours has failed."""

    sent: PendingRequest
    error: SessionError


class Progressed(Struct, frozen=True):
    """A request of ours has made progress; `params` is a model."""

    sent: PendingRequest
    params: Any


class Opened(Struct, frozen=True):
    """The session is open: requests may be sent."""

    terms: Terms


class Ignored(Struct, frozen=True, gc=False):
    """A message was dropped; `why` is the reason, for the log."""

    why: str


Event: TypeAlias = (
    Answered | Called | Failed | Cancelled | Ignored | Notified | Opened | Progressed | Write
)
