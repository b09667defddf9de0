"""A connection: a session on the event loop, which runs handlers and wakes waiting callers.

Both roles and all transports share this class; a subclass implements the sending of a message.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from mcp_runtime.core.session.events import (
    Answered,
    Called,
    Cancelled,
    Event,
    Failed,
    Ignored,
    Notified,
    Opened,
    Progressed,
    Write,
)
from mcp_runtime.core.session.pending import PendingRequest, Timeout
from mcp_runtime.core.session.session import Session
from mcp_runtime.core.terms.tolerances import ITEM
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import (
    Disconnected,
    NotOpen,
    RpcError,
    SessionError,
    TimedOut,
    ToolError,
    counted,
)
from mcp_runtime.revisions import UNSET, DecodeError, EncodeError, StepError
from mcp_runtime.shared.failures import alone, describe, record_failure
from mcp_runtime.shared.request_headers import sending_headers
from mcp_runtime.shared.runner import ends_the_task
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.shared.calls import Call, OnCall, OnSession, Role, Transport, Watch

_T = TypeVar("_T")
log: Final = logging.getLogger("mcp_runtime")
_tolerance_log: Final = logging.getLogger("mcp_runtime.tolerances")

OnProgress: TypeAlias = Callable[[float, float | None, str | None], object]
"""Called with progress, total and message; a client awaits the result if it is awaitable."""
Carrier: TypeAlias = Callable[[Called, Any], bool]
"""Called with a request and its connection; True if it takes the request in a handler's place."""
Trace: TypeAlias = Callable[[Literal["received", "sent", "forgiven", "dropped"], bytes], None]
"""Called with a direction and bytes: a whole message, the name of a tolerance used ("forgiven"), or
the beginning of a message above the limit ("dropped")."""


def _guard(callback: Callable[..., object]) -> Callable[..., None]:
    """Wrap a callback of the application: log its exceptions, so that the session goes on."""

    def call(*arguments: Any) -> None:
        try:
            callback(*arguments)
        except (Exception, SystemExit):
            log.exception("a callback failed")

    return call


def _note_forgiven(
    trace: Trace | None, total: Counter[str] | None, name: str, what: str, is_new: bool
) -> None:
    """Count a use of a tolerance; log its first use for a peer, and each new item left out."""
    if trace is not None:
        trace("forgiven", name.encode())
    if total is not None:
        total[name] += 1
    if is_new and name == ITEM:
        _tolerance_log.warning("left out: %s", what)
    elif is_new:
        _tolerance_log.info("forgiven (%s): %s; more of it is only counted", name, what)


class Hooks:
    """The hooks of one server or client, around calls and sessions that begin from now on."""

    on_call: tuple[OnCall, ...] = ()
    on_session: tuple[OnSession, ...] = ()


class Connection(ABC):
    """A connection to one peer, until the peer is gone."""

    _unsendable: ClassVar[tuple[type[Exception], ...]] = (EncodeError, StepError)
    """Errors of encoding a result; their text is safe to send to the peer."""
    _handlers: ClassVar[dict[type, Callable[[Any, Any], None]]]

    role: Role
    transport: Transport = "stream"
    hooks = Hooks()
    """The hooks of the server or of the client."""
    carrier: Carrier | None = None
    """Called with each request of the peer; it may take the request in a handler's place."""
    _session_watch: Watch | None = None

    ping_every: float | None = None
    """Seconds between pings on a stream, if the revision has pings; None for no pings."""
    ignored = 0
    """The number of dropped messages; the reason for each is logged at level debug."""
    _trace: Trace | None = None
    _timer: asyncio.TimerHandle | None = None
    _due = float("inf")
    _at_end: tuple[Callable[[], object], ...] = ()
    _pauses = 0
    _paused_at = 0.0
    _paused_for = 0.0

    def __init__(
        self,
        session: Session,
        *,
        trace: Trace | None = None,
        forgiven: Counter[str] | None = None,
    ) -> None:
        self.session = session
        self.loop = asyncio.get_running_loop()
        self._tasks: dict[Id, asyncio.Future[Any]] = {}
        self._loose: set[asyncio.Future[Any]] = set()
        trace = None if trace is None else _guard(trace)
        if session.tolerances.watch is None:  # several sessions may share them
            session.tolerances.watch = partial(_note_forgiven, trace, forgiven)
        if trace is not None:
            self._trace = trace
            session.watch = partial(trace, "received")
            session.watch_dropped = partial(trace, "dropped")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._handlers = {
            Write: cls._on_write,
            Called: cls._on_call,
            Answered: cls._on_answer,
            Failed: cls._on_failure,
            Cancelled: cls._on_cancel,
            Progressed: cls._on_progress,
            Notified: _guard(cls._on_notification),
            Opened: cls._on_open,
            Ignored: cls._on_unknown,
        }

    @property
    def shows_errors(self) -> bool:
        """True if the peer gets the text of an unexpected exception."""
        return False

    @property
    def session_id(self) -> str:
        """The id of the session on the transport; empty if it has none."""
        return ""

    @property
    def address(self) -> tuple[str, int | None] | None:
        """The host and the port this side has connected to, if it has."""
        return None

    # ---- what subclasses implement

    @abstractmethod
    def _write(self, data: bytes, about: Id | None) -> None:
        """Send one message; `about` is the id of the peer's request to which it belongs."""

    @abstractmethod
    async def drain(self) -> None:
        """Wait for room to send more."""

    @abstractmethod
    async def _run(self, called: Called) -> Any:
        """Handle a request of the peer and return its result, a model."""

    @abstractmethod
    def _on_notification(self, event: Notified) -> None:
        """Handle a notification which the session does not handle itself."""

    def _on_open(self, event: Opened) -> None:
        log.debug("open: %s", event.terms.translation.revision.name)
        self._end_session_watch()
        if self.hooks.on_session:
            from mcp_runtime.shared.calls import Watch, link

            self._session_watch = Watch(self.hooks.on_session, link(self, event.terms))

    def _end_session_watch(self) -> None:
        if self._session_watch is not None:
            self._session_watch.leave()

    def handle(self, events: Iterable[Event]) -> None:
        for event in events:
            self._handlers[type(event)](self, event)

    def send(self, data: bytes, about: Id | None = None) -> None:
        """Send a message, unless `data` is empty."""
        if data:
            if self._trace is not None:
                self._trace("sent", data)
            self._write(data, about)

    def _on_write(self, event: Write) -> None:
        self.send(event.data, event.about)

    def _on_call(self, event: Called) -> None:
        if self.carrier is not None and self.carrier(event, self):
            return
        task = self.loop.create_task(self.run_handler(event))
        if not task.done():  # with an eager task factory it may be: `run_handler` has registered it
            self._tasks[event.id] = task

    def _on_answer(self, event: Answered) -> None:
        self._settle(event.sent, lambda waiting: waiting.set_result(event.result))

    def _on_failure(self, event: Failed) -> None:
        if isinstance(event.error, TimedOut):
            log.info("request %r is cancelled: %s", event.sent.id, event.error)
        self._settle(event.sent, lambda waiting: waiting.set_exception(event.error))

    def _settle(self, sent: PendingRequest, settle: Callable[[asyncio.Future[Any]], None]) -> None:
        if sent.waiter is not None and not sent.waiter.done():
            settle(sent.waiter)

    def _on_cancel(self, event: Cancelled) -> None:
        if self._drop(event.id):
            log.info("request %r was cancelled by the peer: %r", event.id, event.reason)

    def _drop(self, id: Id) -> bool:
        """Cancel the handler of a request; return False if it has none."""
        task = self._tasks.pop(id, None)
        if task is None:
            return False
        task.cancel()
        self._keep(task)
        return True

    def _on_progress(self, event: Progressed) -> None:
        callback, params = event.sent.on_progress, event.params
        if callback is not None:
            total = params.total if isinstance(params.total, int | float) else None
            message = getattr(params, "message", None)
            _guard(callback)(params.progress, total, message if isinstance(message, str) else None)

    def _on_unknown(self, event: Ignored) -> None:
        self.ignored += 1
        log.debug("ignored: %r", event.why)

    # ---- requests of the peer

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Run the handler of a notification; log its exceptions."""
        self._keep(self.loop.create_task(_log_exceptions(work)))

    def _keep(self, task: asyncio.Future[Any]) -> None:
        """Register a task for which `finished` waits."""
        self._loose.add(task)
        task.add_done_callback(self._loose.discard)

    async def run_handler(self, called: Called) -> None:
        """Run the handler of a request, and send the response."""
        answer = b""
        if called.id not in self._tasks and (task := asyncio.current_task(self.loop)):
            self._tasks[called.id] = task  # an eager task runs before `_on_call` can register it
        try:
            answer = await self._answer(called)
            self.send(answer, called.id)
        finally:
            if answer or self._is_ours(called):  # only the owner of the id gets bytes to send
                self._on_response(called.id)

    def _on_response(self, id: Id) -> None:
        """Unregister a request which was answered and not cancelled."""
        del self._tasks[id]

    def _is_ours(self, called: Called) -> bool:
        """True if this task still serves the id: another request may reuse a cancelled one."""
        return self._tasks.get(called.id) is asyncio.current_task(self.loop)

    async def _answer(self, called: Called) -> bytes:
        """Run the handler of a request and return the response; empty if it was cancelled."""
        try:
            result = await (self._run_in_hooks(called) if self.hooks.on_call else self._run(called))
            return self.session.answer(called.id, result) if self._is_ours(called) else b""
        except RpcError as refusal:
            return self._refuse(called, refusal)
        except Exception as error:
            return self._answer_failure(called, alone(error))
        except BaseException as error:
            answer = b""
            if self._is_ours(called):
                what = f"{called.method}: the handler ended in {type(error).__name__}"
                answer = self._refuse(called, self._mask_exception(what, error))
            if ends_the_task(error):
                self.send(answer, called.id)
                raise
            return answer

    def take(self, called: Called, task: asyncio.Future[Any]) -> None:
        """Register the task of a request taken by the carrier: it is cancelled with the request."""
        self._tasks[called.id] = task

    def pass_on(self, called: Called, result: Any) -> None:
        """Answer a request taken by the carrier; bytes are JSON of the peer's revision, other
        results are models.
        """
        session, id = self.session, called.id
        is_json = result.__class__ is bytes
        self.send(session.pass_on(id, result) if is_json else session.answer(id, result), id)
        self._on_response(id)

    def pass_error(self, called: Called, error: RpcError) -> None:
        """Refuse a request taken by the carrier."""
        data = self.session.refuse(called.id, error.code, error.message, error.data)
        self.send(data, called.id)
        self._on_response(called.id)

    async def _run_in_hooks(self, called: Called) -> Any:
        """Run the handler of a request inside of the hooks."""
        from mcp_runtime.shared.calls import Watch, incoming_call

        call = incoming_call(self, called)
        watch = Watch(self.hooks.on_call, call)
        try:
            call.result = await self._run(called)
        except BaseException as error:
            call.error = error
            raise
        finally:
            watch.leave()
        return call.result

    def _answer_failure(self, called: Called, error: BaseException) -> bytes:
        """Return the response to a request whose handler raised, or whose result cannot be sent."""
        if isinstance(error, RpcError):
            return self._refuse(called, error)
        if isinstance(error, ToolError):
            return self._refuse(called, RpcError(error_codes.INTERNAL_ERROR, str(error)))
        if isinstance(error, self._unsendable):
            log.error("%s: the result cannot be sent: %s", called.method, error)
            return self._answer_unsendable(called, str(error))
        return self._refuse(called, self._mask_exception(f"{called.method} failed", error))

    def _answer_unsendable(self, called: Called, why: str) -> bytes:
        """Return the response to a request whose result cannot be sent."""
        return self._refuse(called, RpcError(error_codes.INTERNAL_ERROR, f"Internal error: {why}"))

    def _mask_exception(self, what: str, error: BaseException) -> RpcError:
        """Log an exception; return an error with a reference to the log entry.

        If `shows_errors`, the error has the exception's text instead. By default it has not: the
        text may hold a secret, such as the password of a database.
        """
        reference = record_failure(log, what, error)
        shown = f": {describe(error)}" if self.shows_errors else f" (reference {reference})"
        return RpcError(error_codes.INTERNAL_ERROR, f"Internal error{shown}")

    def _refuse(self, called: Called, refusal: RpcError) -> bytes:
        """Return the error response; an error which cannot be encoded becomes an internal error."""
        if not self._is_ours(called):
            return b""
        session, id = self.session, called.id
        try:
            return session.refuse(id, refusal.code, refusal.message, refusal.data)
        except Exception:
            log.exception("%s: the error cannot be sent", called.method)
            return session.refuse(id, error_codes.INTERNAL_ERROR, "Internal error")

    def read_params(self, called: Called) -> Any:
        """Decode the params of a request, once. Raises RpcError for invalid params."""
        try:
            raw, called.params = called.params, b""
            return called.terms.translation.read("params", called.method, raw)
        except (DecodeError, StepError) as error:
            raise rpc_errors.invalid_params(error) from None

    # ---- our requests

    async def request(
        self,
        method: str,
        params: Any,
        *,
        timeout: Timeout | None = None,
        token: Id | None = None,
        on_progress: OnProgress | None = None,
        about: Id | None = None,
        call: Call | None = None,
    ) -> Any:
        """Send a request and return its result, a model. Cancelling the caller cancels the request.

        Raises LocalError if the request was never answered, PeerError for an error or a bad answer.
        """
        if call is None and self.hooks.on_call:
            options = {"timeout": timeout, "token": token, "about": about}
            return await self._request_in_hooks(method, params, on_progress, options)
        now = self.loop.time()
        pending, data = self.session.call(method, params, now=now, timeout=timeout, token=token)
        pending.on_progress, pending.about = on_progress, about
        if call is not None:
            call.id = pending.id
        waiting = self._wait(pending)
        self.send(data, about)
        try:
            return await waiting
        except asyncio.CancelledError:
            # Empty if the answer has come meanwhile, or the deadline has cancelled the request.
            reason = "the caller has given up"
            log.info("request %r, %s, is cancelled: %s", pending.id, method, reason)
            self.send(self.session.cancel(pending.id, reason), about)
            raise

    async def _request_in_hooks(
        self, method: str, params: Any, on_progress: OnProgress | None, options: dict[str, Any]
    ) -> Any:
        """Send a request inside of the hooks, with the `_meta` and the headers that they set."""
        from mcp_runtime.shared.calls import Watch, outgoing_call

        call = outgoing_call(self, self.session.agreed, method, params)
        watch = Watch(self.hooks.on_call, call)
        headers = sending_headers.set(call.headers)
        try:
            params = call.with_meta(params)
            # Not the method of a subclass, which has called this one.
            call.result = await Connection.request(
                self, method, params, on_progress=on_progress, call=call, **options
            )
        except BaseException as error:
            call.error = error
            raise
        finally:
            sending_headers.reset(headers)
            watch.leave()
        return call.result

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification. Raises LocalError if it is not allowed."""
        self.send(self.session.notify(method, params))
        await self.drain()

    def _wait(self, sent: PendingRequest) -> asyncio.Future[Any]:
        waiter: asyncio.Future[Any] = self.loop.create_future()
        sent.waiter = waiter
        self._wake_at(sent.due)
        return waiter

    def _wake_at(self, due: float) -> None:
        """Schedule a check of the deadlines at `due`, unless an earlier one is scheduled."""
        if due < self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._due = due
            self._timer = self.loop.call_at(due, self._check_deadlines)

    @contextmanager
    def deadlines_paused(self) -> Generator[None]:
        """Stop the clock of deadlines inside the block, for example while a person signs in."""
        if not self._pauses:
            self._paused_at = self.loop.time()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                paused = self.loop.time() - self._paused_at
                self._paused_for += paused
                self.session.pending.postpone(paused)
                self._check_deadlines()

    @property
    def clock(self) -> float:
        """Seconds on a clock which stands still while deadlines are paused."""
        now = self._paused_at if self._pauses else self.loop.time()
        return now - self._paused_for

    async def in_time(self, waited: asyncio.Future[_T], seconds: float) -> _T:
        """Wait for a future, at most `seconds` by `clock`. Raises TimeoutError."""
        until = self.clock + seconds
        while (left := until - self.clock) > 0:
            await asyncio.wait({waited}, timeout=left)
            if waited.done():
                return waited.result()
        raise TimeoutError

    def _check_deadlines(self) -> None:
        self._timer, self._due = None, float("inf")
        if self._pauses:
            return
        self.handle(self.session.expire(self.loop.time()))
        if (due := self.session.pending.due) is not None:
            self._wake_at(due)

    # ---- the end

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call `callback` once this peer is gone."""
        self._at_end = (*self._at_end, callback)

    def end(self, why: str = "the peer is gone") -> None:
        """Cancel all handlers; waiting callers get Disconnected."""
        called, self._at_end = self._at_end, ()
        for callback in called:
            _guard(callback)()
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due = None, float("inf")
        self.handle(self.session.lost(why))
        self._end_session_watch()

    async def finished(self) -> None:
        """Wait until every handler has ended, for `Limits.drain_wait` seconds at most."""
        deadline = self.loop.time() + self.session.limits.drain_wait
        while tasks := [*self._tasks.values(), *self._loose]:
            done, _ = await asyncio.wait(tasks, timeout=deadline - self.loop.time())
            if not done:
                left = counted(len(tasks), "handler")
                log.warning("%s still running after cancellation", left)
                return


class WireConnection(Connection):
    """A connection over a stream of lines, one message each."""

    wire: Wire
    over: asyncio.Future[None]
    """A future, done when the peer is gone."""
    _pinging: asyncio.Task[None] | None = None

    def attach(self, wire: Wire) -> None:
        self.wire, self.over = wire, self.loop.create_future()
        self.session.unsent = lambda: wire.waiting
        wire.start(self)

    def received(self, chunk: bytes) -> None:
        self.handle(self.session.receive(chunk, self.loop.time()))

    def _on_open(self, event: Opened) -> None:
        super()._on_open(event)
        self._stop_pinging()
        if self.ping_every is not None and "ping" in event.terms.translation.revision.methods:
            self._pinging = self.loop.create_task(self._ping(self.ping_every))

    async def _ping(self, every: float) -> None:
        """Send pings until the peer does not answer one, then close the wire.

        Source: 2025-11-25 basic/utilities/ping.
        """
        timeout = Timeout(min(every, self.session.limits.deadline))
        try:
            while True:
                await asyncio.sleep(every)
                await self.request("ping", UNSET, timeout=timeout)
        except (Disconnected, NotOpen):  # another `initialize` has come
            return
        except SessionError as error:
            log.warning("the peer does not answer a ping: %s", error)
            self.spawn(self.wire.close())
            self.ended()

    def _stop_pinging(self) -> None:
        if self._pinging is not None:
            self._pinging.cancel()

    def end(self, why: str = "the peer is gone") -> None:
        self._stop_pinging()
        super().end(why)

    def ended(self) -> None:
        self.end()
        if not self.over.done():
            self.over.set_result(None)

    def _write(self, data: bytes, about: Id | None) -> None:
        self.wire.write(data + b"\n")

    async def drain(self) -> None:
        await self.wire.drain()


async def _log_exceptions(work: Coroutine[Any, Any, object]) -> None:
    try:
        await work
    except (Exception, SystemExit):
        log.exception("the handler of a notification failed")
