"""A connection over HTTP: messages arrive in bodies of POST, and leave in streams."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from mcp_runtime.core.session.subscriptions import Change
from mcp_runtime.core.wire import jsonrpc, sse
from mcp_runtime.core.wire.jsonrpc import Batch, Frame, Id, Malformed
from mcp_runtime.server.connection import ServerConnection
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import HttpError

if TYPE_CHECKING:
    from mcp_runtime.server.http.asgi.protection import Protection

STANDALONE: Final = "0"
"""The start of the names of streams that belong to no request."""


class StreamingConnection(ServerConnection):
    """One client over HTTP. `protection` asks for the scopes of tools, if there are any."""

    transport = "http"
    protection: Protection | None = None

    @cached_property
    def stream(self) -> Outbox:
        """The stream for messages that belong to no request."""
        return Outbox(STANDALONE, self.server.limits, self.session.held)

    def _write(self, data: bytes, about: Id | None) -> None:
        self.stream.put(data)

    async def drain(self) -> None:
        await self.stream.drain()

    def read(self, body: bytes) -> Frame:
        """Return the message in a body. Raises HttpError if there is none."""
        frame = self.session.read(body)
        if isinstance(frame, Malformed):
            raise bad_body_error(frame)
        if isinstance(frame, Batch) and all(map(_is_unanswerable, frame.frames)):
            raise HttpError(400, "Invalid request: a batch without a message")
        if self.protection is not None:
            self.protection.require_tool_scopes(frame)
        return frame

    def notify_change(self, change: Change) -> None:
        if not self.stream.is_behind:
            super().notify_change(change)

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        """Return the events for messages that were taken from a stream."""
        return b"".join(sse.encode(sse.Event(data=data)) for data in messages)

    @abstractmethod
    def on_response_end(self, stream: Outbox) -> None:
        """Handle the end of a response that sent `stream`."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection: cancel running requests, end streams."""

    def disconnect(self, why: str) -> None:
        """Cancel running requests with the reason `why`, and end all subscriptions."""
        self.server.connections.discard(self)
        self.end(why)

    def stop_listening(self) -> None:
        """End the streams that only carry changes, on shutdown; running requests may still end."""


def bad_body_error(frame: Malformed) -> HttpError:
    """Return the answer to a body that is not a message."""
    id = None if frame.is_response else frame.id
    return HttpError(400, frame.message, jsonrpc.error_response(id, frame.code, frame.message))


def _is_unanswerable(frame: Frame) -> bool:
    """Return True if a body is not a message, and has no id to answer to."""
    return isinstance(frame, Malformed) and (frame.id is None or frame.is_response)
