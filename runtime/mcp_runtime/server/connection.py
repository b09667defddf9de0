"""A server's side of a connection: requests go to its handlers, changes to who listens."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from mcp_runtime.core import error_codes
from mcp_runtime.core.events import Called, Notified
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.rate_limit import Bucket
from mcp_runtime.core.request_state import Inputs, Seal
from mcp_runtime.core.server_session import ServerSession, missing
from mcp_runtime.errors import NotOffered, RpcError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context, InputNeeded
from mcp_runtime.shared.connection import Connection, Trace, WireConnection
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.server.server import Server

__all__ = ["ServerConnection", "ServerWireConnection"]

_RATES: Final = {"tools/call": "call_rate", "completion/complete": "completion_rate"}
"""The limit of what a peer may ask a second, by method."""


class ServerConnection(Connection):
    """One client; a transport says how a message is sent."""

    def __init__(
        self,
        server: Server,
        *,
        principal: str = "",
        first_id: int = 1,
        trace: Trace | None = None,
    ) -> None:
        self.server = server
        self.principal = principal
        self.server_session = ServerSession(
            server.offer, next_id=count(first_id).__next__, limits=server.limits
        )
        self.log_rate = Bucket(server.limits.log_rate)
        self._rates: dict[str, Bucket] = {}
        self.roots: list[t.Root] | None = None
        """As the client told them, as long as it tells of changes and has told of none."""
        self.root_changes = 0
        super().__init__(self.server_session, trace=trace)

    async def _run(self, called: Called) -> Any:
        self._require_slowness(called.method)
        params = self.read_params(called)
        ctx = Context(self.server, self, called)
        if self._may_ask(called, params):
            return await self._attempt(called, params, ctx)
        return await self.server.handle(called.method, params, ctx)

    def _require_slowness(self, method: str) -> None:
        """Raises RpcError for the peer's request that comes too soon after others.

        Source: 2025-11-25 server/tools and server/utilities/completion, "Security Considerations".
        """
        if method not in _RATES:
            return
        if method not in self._rates:
            self._rates[method] = Bucket(getattr(self.server.limits, _RATES[method]))
        if not self._rates[method].take(self.loop.time()):
            raise RpcError(
                error_codes.BUSY, f"{method}: too many a second (Limits.{_RATES[method]})"
            )

    def _may_ask(self, called: Called, params: Any) -> bool:
        """Whether the result may ask for input. Source: 2026-07-28 basic/patterns/mrtr."""
        era = called.terms.crossing.revision.era
        return era == "per-request" and hasattr(params, "input_responses")

    async def _attempt(self, called: Called, params: Any, ctx: Context) -> Any:
        ctx.inputs = Inputs.of(params, lambda text: self._seal(called, params).open(text))
        try:
            return await self.server.handle(called.method, params, ctx)
        except InputNeeded:
            pass
        except BaseExceptionGroup as group:
            if group.split(InputNeeded)[1] is not None:
                raise
        except NotOffered as error:
            raise missing(error) from None
        return ctx.inputs.result(self._seal(called, params).seal)

    def _seal(self, called: Called, params: Any) -> Seal:
        server = self.server
        return Seal(
            server.sealer, called.method, params, self.principal, time.time(), server.limits
        )

    def _on_notified(self, event: Notified) -> None:
        if event.method == "notifications/roots/list_changed":
            self.roots, self.root_changes = None, self.root_changes + 1
        self.server.notified(event.method, event.params, self)

    def interrupt(self, id: Id, retry: int) -> None:
        """Ends a response before its answer, where the client comes again for that."""

    def bid_farewell(self) -> None:
        """Ends the streams of changes in good order, then everything else."""
        for data in self.server_session.end_subscriptions():
            self.send(data)
        self.end("the server ends")

    def tell_changed(self, what: str) -> None:
        for data in self.server_session.changed(what):
            self.send(data)

    def tell_updated(self, uri: str) -> None:
        for data in self.server_session.updated(uri):
            self.send(data)


class ServerWireConnection(ServerConnection, WireConnection):
    """One client on a stream of lines."""

    async def serve(self, wire: Wire) -> None:
        """Until the client is gone; what is worked on then is cancelled."""
        self.server.connections.add(self)
        self.ping_every = self.server.ping_every
        self.attach(wire)
        try:
            await asyncio.shield(self.over)
            await self.finished()
        finally:
            self.server.connections.discard(self)
            if not self.over.done():
                self.bid_farewell()
            await wire.close()

    def bid_farewell(self) -> None:
        super().bid_farewell()
        self.ended()
