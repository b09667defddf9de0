"""The server's side of a connection: dispatches requests to handlers, sends notifications."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any, ClassVar, Final, Protocol

from mcp_runtime.core.http.header_checks import ParamHeaders
from mcp_runtime.core.session.events import Called, Notified, Opened
from mcp_runtime.core.session.rate_limit import Bucket
from mcp_runtime.core.session.request_state import BoundSealer, InputRequests, StateSealer
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.session.subscriptions import Change
from mcp_runtime.core.terms.negotiation import ServerOffer
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import NotOffered, RpcError
from mcp_runtime.json_schema.to_json import BadResult
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.asking import InputNeeded, InResult
from mcp_runtime.server.broadcast import ChangeListener
from mcp_runtime.server.context import Context, ServerView
from mcp_runtime.server.functions.output_schema import failed_call
from mcp_runtime.server.peer import Peer
from mcp_runtime.server.rules import NO_RULES, Rules, Switch
from mcp_runtime.shared.connection import Carrier, Connection, Hooks, Trace, WireConnection
from mcp_runtime.shared.places import Room
from mcp_runtime.stores import Store
from mcp_runtime.transports.wire import Wire

_RATES: Final = {"tools/call": "call_rate", "completion/complete": "completion_rate"}
"""The name of the limit on requests a second, by method.

Source: 2025-11-25 server/tools and server/utilities/completion, "Security Considerations".
"""
_NO_RESULTS: Final = frozenset((type(None), type(t.UNSET), str, bool, int, float, list, tuple))
"""Values a handler may return by mistake, and no response can have as its result."""


class Dispatcher(ServerView, Protocol):
    """The part of a server its connections use: the offer, and handlers of messages.

    `ServerDispatcher` documents the methods.
    """

    @property
    def sealer(self) -> StateSealer: ...
    @property
    def ping_every(self) -> float | None: ...
    @property
    def connections(self) -> set[ChangeListener]: ...
    @property
    def hooks(self) -> Hooks: ...
    @property
    def show_errors(self) -> bool: ...
    @property
    def forgiven(self) -> Counter[str]: ...
    @property
    def reruns(self) -> Collection[str]: ...
    @property
    def middleware(self) -> Sequence[object]: ...
    @property
    def handlers(self) -> Mapping[str, object]: ...
    @property
    def carrier(self) -> Carrier | None: ...
    def list_digests(self) -> Mapping[str, str]: ...
    def switch_for(self, session: Rules, switch: Switch, /) -> Rules: ...
    def lists_changed_by(self, before: Rules, after: Rules, /) -> Sequence[str]: ...
    @property
    def tool_scopes(self) -> Mapping[str, Collection[str]]: ...
    def offer(self) -> ServerOffer: ...
    def param_headers(self, name: object, /) -> ParamHeaders: ...
    def handle(self, method: str, params: Any, ctx: Context, /) -> Awaitable[Any]: ...
    def handle_notification(self, method: str, params: Any, connection: Peer, /) -> None: ...
    def sharing(self, store: Store, /) -> AbstractAsyncContextManager[object]: ...
    def running(self) -> AbstractAsyncContextManager[object]: ...


class ServerConnection(Connection):
    """One client; a subclass for each transport says how a message is sent."""

    role = "server"
    roots: list[t.Root] | None = None
    """The client's roots, while it promises to report changes and has reported none."""
    root_changes = 0
    rules: Rules = NO_RULES
    is_alone: ClassVar = False
    """True if its transport has no other client."""
    _unsendable = (*Connection._unsendable, BadResult)
    _thread_room: Room | None = None
    _log_rate: Bucket | None = None

    def __init__(
        self,
        server: Dispatcher,
        *,
        principal: str = "",
        trace: Trace | None = None,
        session: ServerSession | None = None,
    ) -> None:
        self.server = server
        self.principal = principal
        self.server_session = session or ServerSession(
            server.offer, next_id=count(1).__next__, limits=server.limits
        )
        if principal:
            self.server_session.principal = principal
        self.is_anonymous = self.server_session.is_anonymous = not (principal or self.is_alone)
        self._rates: dict[str, Bucket] = {}
        self.hooks = server.hooks
        super().__init__(self.server_session, trace=trace, forgiven=server.forgiven)

    @property
    def shows_errors(self) -> bool:
        return self.server.show_errors

    @property
    def thread_room(self) -> Room:
        """The places in the server's threads: of the principal, or of an anonymous session."""
        if self._thread_room is None:
            limits, share = self.server.limits, self.session.held.share
            room = self.server.threads.room_of(share, limits.principal_threads)
            self._thread_room = room if self.principal else room.within(limits.session_threads)
        return self._thread_room

    async def _run(self, called: Called) -> Any:
        limit = _RATES.get(called.method)
        if limit is not None and not self._is_admitted(limit):
            why = f"{called.method}: too many a second (Limits.{limit})"
            raise RpcError(error_codes.BUSY, why)
        params = self.read_params(called)
        era = called.terms.translation.revision.era
        if era == "per-request" and hasattr(params, "request_state"):
            result = await self._attempt(called, params)
        else:
            ctx = Context(self.server, self, called)
            result = await self.server.handle(called.method, params, ctx)
        if result.__class__ in _NO_RESULTS:
            what = f"a handler or a middleware returned {type(result).__name__}"
            raise TypeError(f"{what}, and a result is a model or a dict; is a `return` missing?")
        return result

    def _answer_unsendable(self, called: Called, why: str) -> bytes:
        """Return a result that tells the model why the call failed, so the model may call the tool
        in another way.
        """
        if called.method != "tools/call" or not self._is_ours(called):
            return super()._answer_unsendable(called, why)
        return self.session.answer(called.id, failed_call(f"the result cannot be sent: {why}"))

    def context(self, called: Called) -> Context:
        """Return the context of a request taken by the carrier."""
        return Context(self.server, self, called)

    def admits(self, called: Called) -> bool:
        """Count a request for the carrier; return False above a rate limit."""
        limit = _RATES.get(called.method)
        return limit is None or self._is_admitted(limit)

    def report_at_once(
        self, called: Called, progress: float, total: float | None, message: str | None
    ) -> None:
        """Send progress as `report` does, without waiting for room."""
        self.send(self.session.report(called.id, progress, total, message), called.id)

    def _is_admitted(self, limit: str) -> bool:
        """Return True if the rate limit with this name admits one more request."""
        if limit not in self._rates:
            self._rates[limit] = Bucket(getattr(self.server.limits, limit))
        return self._rates[limit].allow(self.loop.time())

    async def _attempt(self, called: Called, params: Any) -> Any:
        """Run the handler; return its result, or a request for input if the handler asks the
        client.

        Source: 2026-07-28 basic/patterns/mrtr.
        """
        asker = InResult()
        if params.input_responses is not t.UNSET or params.request_state is not t.UNSET:
            asker.inputs = InputRequests.from_params(
                params, lambda text: self._sealer(called, params).open(text)
            )
        try:
            ctx = Context(self.server, self, called, asker)
            return await self.server.handle(called.method, params, ctx)
        except InputNeeded:
            pass
        except BaseExceptionGroup as group:
            if group.split(InputNeeded)[1] is not None:
                raise
        except NotOffered as error:
            if error.who == "server" or not error.capability:
                raise  # of another server, whose client the handler is; or no capability is lacking
            raise rpc_errors.missing_capability(error) from None
        assert asker.inputs is not None  # a question was asked
        return asker.inputs.result(self._sealer(called, params).seal)

    def _sealer(self, called: Called, params: Any) -> BoundSealer:
        server = self.server
        return BoundSealer(
            server.sealer, called.method, params, self.principal, time.time(), server.limits
        )

    async def log(self, called: Called, level: str, data: Any, logger: str | None) -> None:
        """Send a log message about a request, if the client wants messages of this level.

        Nothing is sent about a cancelled request. Raises ValueError for an unknown level.
        """
        if self.log_at_once(called, level, data, logger):
            await self.drain()

    def log_at_once(self, called: Called, level: str, data: Any, logger: str | None) -> bool:
        """Send a log message as `log` does, without waiting for room; return False if it is not
        sent.
        """
        if self._log_rate is None:
            self._log_rate = Bucket(self.server.limits.log_rate)
        if not self._log_rate.allow(self.loop.time()) or called.is_cancelled:
            return False
        message = self.server_session.log(called.id, called.terms, level, data, logger)
        self.send(message, called.id)
        return bool(message)

    async def notify_about(self, called: Called, method: str, params: Any) -> None:
        """Send a notification about a request, on its stream where it has one.

        Nothing is sent about a cancelled request. Raises NotOffered for another revision's method.
        """
        if not called.is_cancelled:
            self.send(self.session.notify(method, params, called.terms), called.id)
            await self.drain()

    async def report(
        self, called: Called, progress: float, total: float | None, message: str | None
    ) -> None:
        """Send progress on a request, if the client wants it and `progress` has grown."""
        self.report_at_once(called, progress, total, message)
        await self.drain()

    async def switch(self, switch: Switch) -> None:
        """Enable or disable features for this session, and notify its client of changed
        lists. Raises ValueError for an unknown name.
        """
        self.change_rules(self.server.switch_for(self.rules, switch))

    def change_rules(self, rules: Rules) -> None:
        """Replace the rules of this session, and notify its client of changed lists."""
        before, self.rules = self.rules, rules
        for list_ in self.server.lists_changed_by(before, rules):
            self.notify_change(Change(list=list_))

    def forgives(self, name: str) -> bool:
        """Return True if a tolerance is on for this client."""
        return self.session.tolerances.forgives(name)

    def forgive(self, name: str, what: str) -> None:
        """Count a use of the tolerance `name`. The first use is logged; `what` says what was
        repaired.
        """
        self.session.tolerances.count(name, what)

    def _on_open(self, event: Opened) -> None:
        self._forget_roots()  # of a client that was here before
        self.rules = NO_RULES
        super()._on_open(event)

    def _forget_roots(self) -> None:
        self.roots, self.root_changes = None, self.root_changes + 1

    def _on_notification(self, event: Notified) -> None:
        if event.method == "notifications/roots/list_changed":
            self._forget_roots()
        self.server.handle_notification(event.method, event.params, self)

    def interrupt(self, id: Id, retry: int) -> None:
        """Close the response of a request if the client can reconnect for the answer.

        The client reconnects after `retry` milliseconds.
        """

    def fail_running(self) -> None:
        """Cancel running requests on shutdown, and answer them with an error."""
        self.refuse_running(error_codes.INTERNAL_ERROR, "the server is shutting down")

    def refuse_running(self, code: int, why: str) -> None:
        """Cancel running requests, and answer them with an error."""
        for id in [*self.session.running]:
            self.send(self.session.refuse(id, code, why), id)
            self._drop(id)

    def watches(self, uri: str) -> bool:
        subscriptions = self.server_session.subscriptions
        return uri in subscriptions.watched or bool(subscriptions.of_uri(uri))

    def notify_change(self, change: Change) -> None:
        for data in self.server_session.about(change):
            self.send(data)


class ServerWireConnection(ServerConnection, WireConnection):
    """One client on a stream of lines."""

    is_alone = True
    _grace = 0.0

    async def serve(self, wire: Wire, grace: float = 0.0) -> None:
        """Serve until the client is gone; requests still running then are cancelled.

        After the end of the input, running requests have `grace` seconds to be answered, and
        nothing but their responses is sent.
        """
        self.begin(wire, grace)
        await self.wait_until_gone()

    def begin(self, wire: Wire, grace: float = 0.0) -> None:
        """Serve from now on, in callbacks of the event loop."""
        self._grace = grace
        self.carrier = self.server.carrier
        self.server.connections.add(self)
        self.ping_every = self.server.ping_every
        self.attach(wire)

    async def wait_until_gone(self) -> None:
        """Wait until the client is gone and its work has ended. Close the connection on
        cancellation.
        """
        try:
            await asyncio.shield(self.over)
            await self.finished()
        finally:
            self.server.connections.discard(self)
            if not self.over.done():
                self.close_gracefully()
            await self.wire.close()

    def ended(self) -> None:
        """Handle the end of the input. A client that pipes its messages in still waits for answers.

        Only answers are sent then: a client with no interest in the rest may have closed its
        reader.
        """
        self.session.input_ended = True
        grace, self._grace = self._grace, 0.0
        if grace and self._tasks:
            self.spawn(self._finish_running(grace))
        else:
            super().ended()

    async def _finish_running(self, seconds: float) -> None:
        self._end_subscriptions()
        if self._tasks:
            await asyncio.wait([*self._tasks.values()], timeout=seconds)
        self.ended()

    def close_gracefully(self) -> None:
        """End the client's subscriptions as the protocol says, then everything else."""
        self._end_subscriptions()
        self.end("the server ends")
        super().ended()

    def _end_subscriptions(self) -> None:
        for data in self.server_session.end_subscriptions():
            self.send(data)
