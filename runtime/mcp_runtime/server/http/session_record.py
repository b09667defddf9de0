"""What a store keeps of a session, so that another process can go on with it."""

from __future__ import annotations

import msgspec

__all__ = ["SessionRecord"]


class SessionRecord(msgspec.Struct, frozen=True):
    """What the handshake agreed on, and what the client has asked for since."""

    principal: str
    begun: str
    """The client's `initialize`."""
    is_open: bool
    """Whether the client has sent `notifications/initialized`."""
    log_level: str | None
    watched: tuple[str, ...]
    """The URIs that the client is subscribed to."""
