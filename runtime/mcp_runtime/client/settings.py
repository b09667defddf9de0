"""What a client was created with, as far as its connections need it."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_runtime.client.callbacks import ClientCallbacks
from mcp_runtime.core.negotiation import ClientOffer
from mcp_runtime.limits import Limits
from mcp_runtime.shared.connection import Trace

__all__ = ["ClientSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """`timeout` and `ping_every` are in seconds; `restarts` is how often a server may restart."""

    offer: ClientOffer
    callbacks: ClientCallbacks
    limits: Limits
    timeout: float
    log_level: str | None
    ping_every: float | None
    restarts: int
    trace: Trace | None
