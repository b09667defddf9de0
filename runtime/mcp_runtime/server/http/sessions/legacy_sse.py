"""HTTP+SSE, the transport of 2024-11-05: a stream per session, and a route to POST messages to.

Source: 2024-11-05 basic/transports, "HTTP with SSE".
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from itertools import count
from typing import Final
from urllib.parse import parse_qs

from mcp_runtime.auth.server.current import run_with_token, written_token
from mcp_runtime.core.http import http_rules
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.held import SESSION_BYTES, HeldBytes, Share
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.wire import jsonrpc, sse
from mcp_runtime.server.http.asgi.event_response import EventResponse
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import HttpError, HttpRequest
from mcp_runtime.server.http.asgi.service import HttpService, new_session_id
from mcp_runtime.server.http.asgi.streaming import StreamingConnection
from mcp_runtime.server.http.cluster.cluster import Cluster, Forwarded

_DIGITS: Final = 12
"""A process has a shorter number."""


class LegacySseSession(StreamingConnection):
    """A session of HTTP+SSE, which sends everything on one stream."""

    def __init__(
        self,
        service: HttpService,
        id: str,
        principal: str,
        share: Share,
        sessions: dict[str, LegacySseSession],
    ) -> None:
        server, held = service.server, HeldBytes(share)
        session = ServerSession(
            server.offer, next_id=count(1).__next__, limits=server.limits, held=held
        )
        super().__init__(server, principal=principal, trace=service.trace, session=session)
        held.change(SESSION_BYTES)
        self.protection = service.protection
        self.id: Final = id
        self._sessions = sessions
        self._is_ending = False
        self._service = service
        self._expiry: asyncio.TimerHandle | None = None
        self._renew()
        sessions[self.id] = self
        service.server.connections.add(self)

    @property
    def session_id(self) -> str:
        return self.id

    def receive(self, body: bytes) -> None:
        """Start to work on a body. Raises HttpError."""
        frame = self.read(body)
        if self.stream.is_full:
            raise HttpError(503, "the client does not read the stream of this session")
        self._renew()
        self.handle(self.session.handle(frame, self.loop.time()))

    def _renew(self) -> None:
        """Extend the session until the expiry of the token in the present request."""
        self._cancel_expiry()
        if (until := self._service.expires()) < math.inf:
            self._expiry = self.loop.call_at(until, self.stop_listening)

    def _cancel_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()

    def on_response_end(self, stream: Outbox) -> None:
        self.close()

    def close(self) -> None:
        self._sessions.pop(self.id, None)
        if self.session.state is not State.CLOSED:
            self.session.held.change(-SESSION_BYTES)
        self._cancel_expiry()
        self.disconnect("the client has closed the stream")
        self.stream.finish()

    async def run_handler(self, called: Called) -> None:
        await super().run_handler(called)
        if self._is_ending:
            self.stop_listening()

    def stop_listening(self) -> None:
        """Close the session as soon as no request is running."""
        self._is_ending = True
        if not self.session.running:
            self.close()


class LegacySseEndpoint:
    """The two routes of HTTP+SSE; `messages` is the path clients POST to.

    `make_room` makes room for a session of a principal and its share, or raises HttpError.
    """

    def __init__(
        self,
        service: HttpService,
        messages: str,
        cluster: Cluster | None,
        make_room: Callable[[str, Share], None],
    ) -> None:
        self._make_room = make_room
        self.sessions: Final[dict[str, LegacySseSession]] = {}
        self._service = service
        self._messages = messages
        self._cluster = cluster
        service.count(self.sessions)

    async def open_stream(self, request: HttpRequest) -> EventResponse:
        """Begin a session; its first event names the path to POST to. Raises HttpError."""
        principal = self._service.principal(request)
        share = self._service.share_of(request, principal)
        self._make_room(principal, share)
        session = LegacySseSession(self._service, self._new_id(), principal, share, self.sessions)
        request.held = session.session.held
        root = request.scope.get("root_path", "").rstrip("/")
        path = f"{root}{self._messages}?session_id={session.id}"
        endpoint = sse.encode(sse.Event(name="endpoint", data=path.encode()))
        stream = session.stream
        return EventResponse(request, session, stream, stream.attach(), first=[endpoint])

    async def post(self, request: HttpRequest) -> None:
        """Take a message of a client, for its session. Raises HttpError and ClientGone."""
        if http_rules.media_type(request.headers.get("content-type")) != http_rules.JSON:
            raise HttpError(415, f"Content-Type must be {http_rules.JSON}")
        query = parse_qs(request.scope.get("query_string", b"").decode("latin-1"))
        id = query.get("session_id", [""])[0]
        principal = self._service.principal(request)
        session, number = self.sessions.get(id), await self._elsewhere(id)
        if number is None and (session is None or session.principal != principal):
            raise HttpError(404, "there is no such session")
        await request.read_body()
        body = request.pop_content()
        if session is not None:
            session.receive(body)
        elif number is not None:
            self._forward(number, id, body, principal)
        await request.reply(202, b"Accepted", ((b"content-type", b"text/plain"),))

    # ---- sessions of other processes of the cluster

    def _new_id(self) -> str:
        """Return a new session id; in a cluster it begins with the number of the process that has
        the stream.
        """
        if self._cluster is None:
            return new_session_id()
        return f"{self._cluster.number}.{new_session_id()}"

    async def _elsewhere(self, id: str) -> int | None:
        """Return the id of the other process that has the session; None if it has ended."""
        number, dot, _ = id.partition(".")
        if self._cluster is None or not (dot and number.isdecimal() and len(number) < _DIGITS):
            return None
        if int(number) == self._cluster.number or not await self._cluster.lives(int(number)):
            return None
        return int(number)

    def _forward(self, number: int, id: str, body: bytes, principal: str) -> None:
        """Forward a body to the process that has the session. Raises HttpError if the body calls a
        tool and the token lacks its scopes.
        """
        if (protection := self._service.protection) is not None:
            protection.require_tool_scopes(jsonrpc.read(body, max_batch=self._service.limits.batch))
        if self._cluster is not None:
            self._cluster.send(number, id, body, principal, written_token())

    def receive(self, message: Forwarded) -> None:
        """Handle a message another process forwards, if the session is open here."""
        session = self.sessions.get(message.session)
        if session is not None and message.body and session.principal == message.principal:
            body = message.body.encode()
            run_with_token(message.token, lambda: session.receive(body))
