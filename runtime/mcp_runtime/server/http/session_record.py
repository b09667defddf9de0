"""What is kept of a session, so that another process can go on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from mcp_runtime.core.lifecycle import State

if TYPE_CHECKING:
    from mcp_runtime.server.http.sessions import HttpSession

__all__ = ["SessionRecord"]

_INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class SessionRecord(msgspec.Struct, frozen=True):
    """What was agreed, and what the client has asked for since then."""

    principal: str
    begun: str
    """The client's `initialize`."""
    is_open: bool
    """Whether it has said `notifications/initialized`."""
    log_level: str | None
    watched: tuple[str, ...]
    """URIs."""

    @classmethod
    def of(cls, session: HttpSession) -> SessionRecord:
        server_session = session.server_session
        return cls(
            session.principal,
            session.begun.decode(),
            server_session.state is State.OPEN,
            server_session.log_level,
            tuple(sorted(server_session.subscriptions.watched)),
        )

    def revive(self, session: HttpSession) -> None:
        """Begins a session that was just made."""
        session.begun = self.begun.encode()
        session.take(session.begun)

    def amend(self, session: HttpSession) -> None:
        """Tells a session what its client has said to other processes."""
        server_session = session.server_session
        if self.is_open and server_session.state is State.AGREED:
            session.take(_INITIALIZED)
        server_session.log_level = self.log_level
        server_session.subscriptions.watched = set(self.watched)
