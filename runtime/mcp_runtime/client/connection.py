"""A client's side of a connection: who asks waits for an answer, who listens hears of changes."""

from __future__ import annotations

import asyncio
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET

from mcp_runtime.client.subscription import Subscription
from mcp_runtime.core.client_session import ClientSession
from mcp_runtime.core.events import Called, Notified, Opened
from mcp_runtime.core.pending import Timeout
from mcp_runtime.errors import Disconnected, SessionError, TimedOut
from mcp_runtime.revisions import Revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import Connection, WireConnection
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["ClientConnection", "ClientWireConnection"]


class ClientConnection(Connection):
    """One server; a transport says how a message is sent."""

    session: ClientSession

    def __init__(self, client: Client) -> None:
        self.client = client
        self.listening: list[Subscription] = []
        session = ClientSession(client.offer, next_id=count(1).__next__, limits=client.limits)
        super().__init__(session, trace=client.trace)
        self._opened: asyncio.Future[None] = self.loop.create_future()
        self.is_gone = False

    async def open(self, *, handshake: bool = False) -> None:
        """Raises NoCommonRevision, BadAnswer, RemoteError, TimedOut, Disconnected."""
        self._opened = self.loop.create_future()
        self.send(self.session.open(self.loop.time(), handshake=handshake))
        self._watch_pending()
        await self._opened

    def heed(self, events: Any) -> None:
        super().heed(events)
        if not self._opened.done():
            self._watch_pending()
            if self.session.failure is not None:
                self._opened.set_exception(self.session.failure)

    def _watch_pending(self) -> None:
        if (due := self.session.pending.due) is not None:
            self._watch_clock(due)

    def _on_opened(self, event: Opened) -> None:
        super()._on_opened(event)
        if not self._opened.done():
            self._opened.set_result(None)

    def lost(self, why: str) -> None:
        """What is in flight ends, and what listens."""
        self.is_gone = True
        self.end(why)
        if not self._opened.done():
            self._opened.set_exception(Disconnected(f"{why} before it said what it speaks"))
        if self.listening and self.client.life.restarts(self):
            self.spawn(self._restart())
        else:
            self._end_changes(Disconnected(why))

    async def _restart(self) -> None:
        try:
            await self.client.life.revive()
        except SessionError as error:
            self._end_changes(error)

    def _end_changes(self, error: SessionError) -> None:
        for changes in self.listening:
            changes.end(error)

    # ---- changes

    async def listen(self, changes: Subscription) -> None:
        """Has the server tell of them. Raises as a request does."""
        if "subscriptions/listen" in self._spoken.methods:
            await self._subscribe(changes)
        else:
            await self.watch(changes, "subscribe")

    async def unlisten(self, changes: Subscription) -> None:
        if changes.id is not None:
            self.send(self.session.cancel(changes.id, "no longer wanted"))
        else:
            await self.watch(changes, "unsubscribe")

    async def watch(self, changes: Subscription, verb: Literal["subscribe", "unsubscribe"]) -> None:
        """Where a session has a request for each resource."""
        make = getattr(self._spoken.models, f"{verb.capitalize()}RequestParams")
        uris = changes.wanted.resource_subscriptions
        for uri in () if uris is UNSET else uris:
            await self.client.request(f"resources/{verb}", make(uri=uri))

    @property
    def _spoken(self) -> Revision:
        """Raises NotOpen."""
        return self.client.terms.crossing.revision

    async def _subscribe(self, changes: Subscription) -> None:
        changes.acknowledged.clear()
        params = t.SubscriptionsListenRequestParams(
            notifications=changes.wanted, meta=self.client.meta()
        )
        self._start(params, changes)
        try:
            async with asyncio.timeout(self.client.timeout):
                await changes.acknowledged.wait()
        except TimeoutError:
            raise TimedOut("subscriptions/listen", self.client.timeout) from None

    def _start(self, params: Any, changes: Subscription) -> None:
        now = self.loop.time()
        sent, data = self.session.call(
            "subscriptions/listen", params, now=now, patience=Timeout(inf)
        )
        changes.id = sent.id
        waiting = self._wait(sent)
        waiting.add_done_callback(lambda done: self._closed(done, changes))
        self.send(data)

    def _closed(self, done: asyncio.Future[Any], changes: Subscription) -> None:
        error = None if done.cancelled() else done.exception()
        if not (isinstance(error, Disconnected) and self.client.life.restarts(self)):
            changes.end(error if isinstance(error, Exception) else None)

    async def _run(self, called: Called) -> Any:
        return await self.client.answering.answer(called.method, self.read_params(called))

    def _on_notified(self, event: Notified) -> None:
        meta = getattr(event.params, "meta", UNSET)
        id = getattr(meta, "subscription_id", UNSET)
        for changes in self.listening:
            if id == (UNSET if changes.id is None else changes.id):
                changes.heed(event)
        self.client.notified(event)


class ClientWireConnection(ClientConnection, WireConnection):
    """A server on a stream of lines."""

    def __init__(self, client: Client, wire: Wire) -> None:
        super().__init__(client)
        self.attach(wire)

    def ended(self) -> None:
        super().ended()
        self.lost("the server has ended")
