"""The events of a session; the connection around it writes, runs handlers, resolves requests."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.pending import Sent
from mcp_runtime.core.translation import Terms
from mcp_runtime.errors import SessionError


class Write(Struct, frozen=True, gc=False):
    """A message to send, without a line end.

    `about` is the peer's request that it belongs to, None for the message that was just read.
    """

    data: bytes
    about: Id | None = None


class Called(Struct):
    """A request of the peer: `answer` or `refuse` it.

    `params` is JSON, empty for none, and once it was read.
    """

    id: Id
    method: str
    params: bytes
    terms: Terms
    is_cancelled: bool = False
    """Whether the peer has cancelled it, or has gone: nothing more is sent about it."""


class Notified(Struct, frozen=True):
    """A notification of the peer. `params` is a model, UNSET for none."""

    method: str
    params: Any


class Cancelled(Struct, frozen=True):
    """The peer has cancelled its request, which then has no response."""

    id: Id
    reason: str


class Answered(Struct, frozen=True):
    """A request of ours has a result, which is a model."""

    sent: Sent
    result: Any


class Failed(Struct, frozen=True):
    """A request of ours has failed."""

    sent: Sent
    error: SessionError


class Progressed(Struct, frozen=True):
    """A request of ours has made progress; `params` is a model."""

    sent: Sent
    params: Any


class Opened(Struct, frozen=True):
    """Requests may be sent from now on."""

    terms: Terms


class Ignored(Struct, frozen=True, gc=False):
    """A message was dropped, and why."""

    why: str


Event: TypeAlias = (
    Answered | Called | Failed | Cancelled | Ignored | Notified | Opened | Progressed | Write
)
