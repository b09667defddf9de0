"""The client's side of one connection: requests, answers, and subscriptions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Hashable, Iterable, Sequence
from itertools import count
from math import inf
from typing import Any, Final, Literal, Protocol, Unpack

from mcp_runtime.client.extension import ClientExtension
from mcp_runtime.client.options import ClientSettings, RequestOptions
from mcp_runtime.client.progress import ProgressCalls
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.core.session.client_session import ClientSession
from mcp_runtime.core.session.events import Called, Event, Notified, Opened
from mcp_runtime.core.session.pending import PendingRequest, Timeout
from mcp_runtime.core.terms.log_levels import require_level
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.core.wire import error_codes
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import (
    CallbackError,
    Disconnected,
    NotOpen,
    RpcError,
    SessionError,
    TimedOut,
)
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import Connection, WireConnection
from mcp_runtime.transports.wire import Wire

log: Final = logging.getLogger("mcp_runtime.client")

_BESIDE: Final = ("subscriptions/listen", "ping")
"""Requests to which no question of a server can belong."""


class ConnectionOwner(Protocol):
    """The part of a client its connections use."""

    @property
    def settings(self) -> ClientSettings: ...

    def may_restart(self, connection: ClientConnection) -> bool:
        """Return True if the server of this connection, which is gone, may be started again."""
        ...

    async def restart(self) -> None:
        """Start the server again, and renew the subscriptions."""

    async def restore(self) -> None:
        """Repeat the client's settings to a new session, as the previous one knew them."""

    def refresh_tools(self) -> Awaitable[object]:
        """List the tools again, past the cache."""
        ...

    def notified(self, event: Notified, /) -> None:
        """Handle a notification of the server."""


class ClientConnection(Connection):
    """A connection to one server; a subclass knows how a message is sent."""

    session: ClientSession
    role = "client"
    server_key: Hashable | None = None
    """The key by which the process remembers the revision of the server."""

    def __init__(self, owner: ConnectionOwner) -> None:
        self.owner = owner
        self.settings = settings = owner.settings
        self.subscriptions: list[Subscription] = []
        session = ClientSession(settings.offer, next_id=count(1).__next__, limits=settings.limits)
        super().__init__(session, trace=settings.trace)
        self.hooks = settings.hooks
        self._carry_timeout = Timeout(
            settings.answer_timeout, settings.limits.total, progress_counts=True
        )
        self._opened: asyncio.Future[None] = self.loop.create_future()
        self.is_gone = False

    # ---- opening and losing the server

    @property
    def open_timeout(self) -> float:
        """The seconds that opening may take."""
        return self.settings.answer_timeout

    async def open(self, *, handshake: bool = False, timeout: float | None = None) -> None:
        """Open the session. Raises NoCommonRevision, BadAnswer, RemoteError, TimedOut,
        Disconnected.
        """
        self._opened = self.loop.create_future()
        timeout = self.open_timeout if timeout is None else timeout
        self.send(self.session.open(self.loop.time(), handshake=handshake, timeout=timeout))
        self._watch_pending()
        await self._opened

    @property
    def restarts_after_probe(self) -> bool:
        """True if a failed probe may have spoiled the connection, so another is needed."""
        return False

    def diagnosis(self, error: SessionError) -> str:
        """Return more facts about an error of opening, to add to the error's text."""
        return ""

    @property
    def terms(self) -> Terms:
        """The terms agreed with the server. Raises NotOpen."""
        if (agreed := self.session.agreed) is None:
            raise NotOpen("the session is not open")
        return agreed

    def handle(self, events: Iterable[Event]) -> None:
        super().handle(events)
        if not self._opened.done():
            self._watch_pending()
            if self.session.failure is not None:
                self._opened.set_exception(self.session.failure)

    def _watch_pending(self) -> None:
        if (due := self.session.pending.due) is not None:
            self._wake_at(due)

    def _on_open(self, event: Opened) -> None:
        super()._on_open(event)
        if not self._opened.done():
            self._opened.set_result(None)

    def lost(self, why: str) -> None:
        """End the requests in flight, and the subscriptions unless the server may be started
        again.
        """
        self.is_gone = True
        self.end(why)
        if not self._opened.done():
            self._opened.set_exception(Disconnected(f"{why} before it said what it speaks"))
        if self.subscriptions and self.owner.may_restart(self):
            self.spawn(self._restart())
        else:
            self._end_subscriptions(Disconnected(why))

    async def _restart(self) -> None:
        try:
            await self.owner.restart()
        except SessionError as error:
            self._end_subscriptions(error)

    def _end_subscriptions(self, error: SessionError) -> None:
        for subscription in self.subscriptions:
            subscription.end(error)

    # ---- requests

    async def ask(
        self, method: str, params: Any, token: Id | None = None, **options: Unpack[RequestOptions]
    ) -> Any:
        """Send a request, as `request` does, with the client's timeout, which progress restarts."""
        named = options.get("timeout")
        seconds = self.settings.answer_timeout if named is None else named
        timeout = Timeout(seconds, self.settings.limits.total, progress_counts=True)
        if (on_progress := options.get("on_progress")) is None:
            return await self.request(method, params, timeout=timeout, token=token)
        async with ProgressCalls(on_progress, self.settings.limits) as called:
            return await self.request(
                method, params, timeout=timeout, token=token, on_progress=called
            )

    def carry(
        self, method: str, params: bytes, waiter: asyncio.Future[Any], *, token: Id | None = None
    ) -> PendingRequest:
        """Send a request whose params are JSON of the server's revision.

        `waiter` gets the result as JSON, or the exception. Raises LocalError.
        """
        sent, data = self.session.carry(
            method, params, now=self.loop.time(), timeout=self._carry_timeout, token=token
        )
        sent.waiter = waiter
        self._wake_at(sent.due)
        self.send(data)
        return sent

    def give_up(self, sent: PendingRequest, reason: str) -> None:
        """Cancel a request sent by `carry`."""
        self.send(self.session.cancel(sent.id, reason))

    async def set_log_level(self, level: str) -> None:
        """Ask for log messages of at least this level from now on.

        Raises ValueError for a text that is not a level.
        """
        require_level(level)
        self.session.log_level = level
        spoken = self.terms.translation.revision
        if "logging/setLevel" in spoken.methods:
            await self.ask("logging/setLevel", spoken.models.SetLevelRequestParams(level=level))

    async def _run(self, called: Called) -> Any:
        return await self.settings.callbacks.answer(called.method, self.read_params(called))

    def _answer_failure(self, called: Called, error: BaseException) -> bytes:
        if isinstance(error, self._unsendable):
            error = CallbackError(f"{called.method}: the answer cannot be sent: {error}")
        if not isinstance(error, CallbackError):
            return super()._answer_failure(called, error)
        log.error("%s: %s", called.method, error)
        self.loop.call_soon(self._fail_call, error)  # once the server was told
        refusal = RpcError(error_codes.INTERNAL_ERROR, f"Internal error: {error.for_server}")
        return self._refuse(called, refusal)

    def _fail_call(self, error: CallbackError) -> None:
        """End the only call with the error of our callback; leave several calls running.

        A request of the server does not name the call it belongs to, so with several calls the
        server decides by our error.
        """
        calls = [sent for sent in self.session.pending.with_caller if sent.method not in _BESIDE]
        if len(calls) == 1:
            (sent,) = calls
            self.send(self.session.cancel(sent.id, "the client's own answer cannot be used"))
            self._settle(sent, lambda waiting: waiting.set_exception(error))

    # ---- subscriptions

    async def listen(self, subscription: Subscription) -> None:
        """Ask the server to send these changes. Raises as a request does."""
        if "subscriptions/listen" in self.terms.translation.revision.methods:
            await self._open_stream(subscription)
        else:
            subscription.narrow(self.terms.capabilities)
            await self.watch(subscription, "subscribe")
        if refused := subscription.refused:
            lists = " and ".join(refused)
            log.warning("the server does not report changes of its %s: nothing will come", lists)

    async def unlisten(self, subscription: Subscription) -> None:
        if subscription.id is not None:
            self.send(self.session.cancel(subscription.id, "no longer wanted"))
        else:
            await self.watch(subscription, "unsubscribe")

    async def watch(
        self, subscription: Subscription, verb: Literal["subscribe", "unsubscribe"]
    ) -> None:
        """Send `verb` for each resource of a subscription, as the handshake era does.

        The server knows one subscription of a resource, which other subscriptions of ours may still
        need.
        """
        models = self.terms.translation.revision.models
        make = getattr(models, f"{verb.capitalize()}RequestParams")
        for uri in _uris(subscription):
            if verb == "subscribe" or not any(uri in _uris(other) for other in self.subscriptions):
                await self.ask(f"resources/{verb}", make(uri=uri))

    async def _open_stream(self, subscription: Subscription) -> None:
        timeout = self.settings.answer_timeout
        subscription.acknowledged.clear()
        self._send_listen(subscription)
        try:
            async with asyncio.timeout(timeout):
                await subscription.acknowledged.wait()
        except TimeoutError:
            raise TimedOut("subscriptions/listen", timeout) from None

    def _send_listen(self, subscription: Subscription) -> None:
        params = t.SubscriptionsListenRequestParams(
            notifications=subscription.wanted, meta=self.session.meta()
        )
        now = self.loop.time()
        sent, data = self.session.call(
            "subscriptions/listen", params, now=now, timeout=Timeout(inf)
        )
        subscription.id = sent.id
        waiting = self._wait(sent)
        waiting.add_done_callback(lambda done: self._stream_ended(done, subscription))
        self.send(data)

    def _stream_ended(self, done: asyncio.Future[Any], subscription: Subscription) -> None:
        error = None if done.cancelled() else done.exception()
        if not (isinstance(error, Disconnected) and self.owner.may_restart(self)):
            subscription.end(error if isinstance(error, Exception) else None)

    def _on_notification(self, event: Notified) -> None:
        meta = getattr(event.params, "meta", t.UNSET)
        id = getattr(meta, "subscription_id", t.UNSET)
        for subscription in self.subscriptions:
            if id == (t.UNSET if subscription.id is None else subscription.id):
                subscription.deliver(event)
        for one in self.settings.offer.extensions:
            if event.method in one.methods and isinstance(one, ClientExtension):
                one.notified(event.method, event.params)
        self.owner.notified(event)


class ClientWireConnection(ClientConnection, WireConnection):
    """A connection over a stream of lines."""

    def __init__(self, owner: ConnectionOwner, wire: Wire) -> None:
        super().__init__(owner)
        self.attach(wire)

    @property
    def restarts_after_probe(self) -> bool:
        return True

    def ended(self) -> None:
        self.lost("the server has ended")
        super().ended()


def _uris(subscription: Subscription) -> Sequence[str]:
    uris = subscription.wanted.resource_subscriptions
    return () if uris is t.UNSET else uris
