"""What a client was created with, as far as its connections need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_runtime.client.callbacks import ClientCallbacks
from mcp_runtime.core.negotiation import ClientOffer
from mcp_runtime.limits import Limits
from mcp_runtime.shared.connection import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Times are in seconds; `restarts` is how often a server may be started again.

    `timeout` is None if the client's user named none.
    """

    offer: ClientOffer
    era: Literal["auto", "handshake"]
    callbacks: ClientCallbacks
    limits: Limits
    timeout: float | None
    log_level: str | None
    ping_every: float | None
    restarts: int
    trace: Trace | None

    @property
    def answer_timeout(self) -> float:
        """For an answer, once the connection is open."""
        return self.limits.deadline if self.timeout is None else self.timeout
