"""The protocol session of both roles: requests in both directions, progress, batches and errors.

`receive` and `handle` turn bytes of the peer into events; `call`, `answer`, `refuse`, `notify` and
`cancel` return bytes to send. A session does no I/O. Times are seconds on the caller's clock.

Source: 2025-11-25 basic/index and basic/utilities; 2026-07-28 basic/patterns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Final, TypeVar

from msgspec import structs

from mcp_runtime.core.session.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Ignored,
    Notified,
    Progressed,
    Write,
)
from mcp_runtime.core.session.held import REQUEST_BYTES, SMALL, HeldBytes, Hold
from mcp_runtime.core.session.lifecycle import State, after
from mcp_runtime.core.session.pending import Pending, PendingRequest, Timeout
from mcp_runtime.core.session.running_requests import BatchResponses, Cancellable, RunningRequest
from mcp_runtime.core.terms.role import Role
from mcp_runtime.core.terms.tolerances import NULL, Tolerances
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.core.wire import error_codes, jsonrpc, peek, rpc_errors
from mcp_runtime.core.wire.jsonrpc import UNREADABLE, Id
from mcp_runtime.core.wire.lines import Lines, TooLong
from mcp_runtime.errors import (
    BadAnswer,
    Disconnected,
    NotOpen,
    RemoteError,
    RpcError,
    TimedOut,
    TooMuch,
)
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import (
    HANDLERS,
    UNSET,
    DecodeError,
    Method,
    Revision,
    StepError,
    first_name,
    latest,
    parse,
    revision,
)

_Asked = TypeVar("_Asked", jsonrpc.Request, jsonrpc.Notification)


class Session(ABC):
    """A session with one peer.

    `agreed` holds the revision and the peer's capabilities: from the handshake, or from our
    requests.
    """

    role: Role
    state = State.NEW
    agreed: Terms | None = None
    input_ended = False
    """True once the peer has closed its sending side. Then the session sends answers only: such a
    peer may not read any more, and an unexpected message can break it."""
    watch: Callable[[bytes], object] | None = None
    """Called with the bytes of each message received."""
    watch_dropped: Callable[[bytes], object] | None = None
    """Called with the first bytes of each message above the size limit."""
    unsent: Callable[[], int] | None = None
    """Returns the number of bytes waiting in the transport."""
    _lines: Lines | None = None
    _on_frame: ClassVar[dict[type, Callable[[Any, Any, float], list[Event]]]]

    def __init__(
        self,
        *,
        next_id: Callable[[], Id],
        limits: Limits = DEFAULT,
        tolerances: Tolerances | None = None,
        pending: Pending | None = None,
        held: HeldBytes | None = None,
    ) -> None:
        self.tolerances = Tolerances(self.role) if tolerances is None else tolerances
        self.limits = limits
        self.pending = Pending() if pending is None else pending
        self.running: dict[Id, RunningRequest] = {}
        self.held = HeldBytes() if held is None else held
        self._next_id = next_id

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._on_frame = {
            jsonrpc.Request: cls._on_request,
            jsonrpc.Notification: cls._on_notification,
            jsonrpc.Response: cls._on_response,
            jsonrpc.ErrorResponse: cls._on_error_response,
            jsonrpc.Malformed: cls._handle_malformed_frame,
            jsonrpc.Batch: cls._on_batch,
        }

    @property
    def message_bytes(self) -> int:
        """The size limit of one received message, in bytes."""
        return self.limits.line_bytes

    # ---- received messages

    def receive(self, chunk: bytes, now: float) -> Iterator[Event]:
        """Yield the events of each line completed by `chunk`."""
        if self._lines is None:
            self._lines = Lines(self.message_bytes)
        for line in self._lines.feed(chunk):
            if isinstance(line, TooLong):
                yield from self.too_long(line)
            else:
                yield from self.handle(self.read(line), now)

    def read(self, message: bytes) -> jsonrpc.Frame:
        """Parse one message; `message` has no line end."""
        if self.watch is not None:
            self.watch(message)
        if self.agreed is not None and self.agreed.translation.revision.batches:
            frame = jsonrpc.read(message, max_batch=self.limits.batch)
        else:
            frame = jsonrpc.read_single(message)
        return self.reread(message, frame) if type(frame) in _MAY_BE_FAULTY else frame

    def reread(self, message: bytes, frame: jsonrpc.Frame) -> jsonrpc.Frame:
        """Repair and parse a message again if it, or a part of it, is malformed.

        Return `frame` itself if it is well formed or cannot be repaired.
        """
        if not _is_faulty(frame):
            return frame
        text, repaired = self.tolerances.repair_text(message)
        if not repaired:
            return frame
        agreed = self.agreed
        most = self.limits.batch if agreed and agreed.translation.revision.batches else 0
        again = jsonrpc.read(text, max_batch=most) if text.strip() else jsonrpc.Batch(())
        if isinstance(again, jsonrpc.Malformed) or again == frame:
            return frame
        if "surrogate" in repaired and "\ufffd" in str(getattr(again, "id", "")):
            return frame  # under another id its sender would not know the answer
        for name in repaired:
            self.tolerances.count(name, "in the text of a message")
        return again

    def handle(self, frame: jsonrpc.Frame, now: float) -> list[Event]:
        """Return the events of a message."""
        return self._on_frame[type(frame)](self, frame, now)

    def _on_request(self, frame: jsonrpc.Request, now: float) -> list[Event]:
        try:
            return self._handle_request(frame)
        except RpcError as error:
            refusal = error
        except (DecodeError, StepError, *UNREADABLE) as error:
            refusal = rpc_errors.invalid_params(error)
        if refusal.code == error_codes.INVALID_PARAMS and (fixed := self._without_nulls(frame)):
            return self._on_request(fixed, now)
        return [Write(jsonrpc.refusal(frame.id, refusal.code, refusal.message, refusal.data))]

    @abstractmethod
    def _handle_request(self, frame: jsonrpc.Request) -> list[Event]:
        """Return the events of a request.

        Raises RpcError if the request is refused, and the errors of reading its params.
        """

    def _on_notification(self, frame: jsonrpc.Notification, now: float) -> list[Event]:
        try:
            return self._handle_notification(frame, now)
        except (DecodeError, StepError, *UNREADABLE) as error:
            if fixed := self._without_nulls(frame):
                return self._on_notification(fixed, now)
            return [Ignored(f"{frame.method}: {error}")]

    def _without_nulls(self, frame: _Asked) -> _Asked | None:
        """Remove the nulls of absent members from the params; return None if there are none.

        The session reads some members of `_meta` before it decodes the params as a whole, so both
        types are repaired.
        """
        if not self.tolerances.forgives(NULL):
            return None
        if frame.params == b"null":
            self.tolerances.count(NULL, "$.params")
            return structs.replace(frame, params=b"")
        types: list[object] = [peek.SessionParams]
        with suppress(KeyError):  # of a method that the revision does not have
            spoken = self._revision_of(frame)
            types.append(spoken.type_of("params", spoken.first_name(frame.method) or ""))
        params = frame.params
        with suppress(DecodeError):
            for each in types:
                params = self.tolerances.without_nulls(each, params) or params
        return None if params is frame.params else structs.replace(frame, params=params)

    def _revision_of(self, frame: jsonrpc.Request | jsonrpc.Notification) -> Revision:
        """Return the revision whose types repair an unreadable message."""
        return revision(HANDLERS) if self.agreed is None else self.agreed.translation.revision

    def _handle_notification(self, frame: jsonrpc.Notification, now: float) -> list[Event]:
        if first_name(frame.method) == _CANCEL:
            return self._handle_cancellation(frame.params)
        agreed = self.agreed
        method = None if agreed is None else agreed.translation.revision.first_name(frame.method)
        if agreed is None or not method or not self._method(agreed, method, "notification"):
            return [Ignored(f"{frame.method} is not expected now")]
        params = agreed.translation.read("params", method, frame.params)
        is_progress = method == "notifications/progress"
        return self._handle_progress(params, now) if is_progress else [Notified(method, params)]

    def _handle_cancellation(self, raw: bytes) -> list[Event]:
        cancellation = peek.cancellation(raw)
        id = cancellation.request_id
        running = self.running.get(id)
        if running is None or running.method == "initialize":
            return [Ignored(f"a cancellation of {id!r}, which is not in flight")]
        self.release(id)
        if running.called is not None:
            running.called.is_cancelled = True
        rest = running.batch.add(id, b"") if running.batch else b""
        cancelled = Cancelled(id, cancellation.reason[:1000])
        return [Write(rest, id), cancelled] if rest else [cancelled]

    def _handle_progress(self, params: Any, now: float) -> list[Event]:
        sent = self.pending.record_progress(params.progress_token, params.progress, now)
        if sent is None:
            return [Ignored(f"progress on {params.progress_token!r}, which is not open")]
        return [Progressed(sent, params)]

    def _on_response(self, frame: jsonrpc.Response, now: float) -> list[Event]:
        sent = self.pending.pop(frame.id)
        if sent is None:
            return [Ignored(f"an answer to {frame.id!r}, which is not open")]
        return self._handle_answer(sent, frame.result, now)

    def _handle_answer(self, sent: PendingRequest, result: bytes, now: float) -> list[Event]:
        assert self.agreed is not None
        translation = self.agreed.translation
        try:
            if sent.is_carried:
                checked = translation.check("result", sent.method, result, is_open=sent.is_open)
                return [Answered(sent, checked)]
            return [Answered(sent, translation.read("result", sent.method, result))]
        except (DecodeError, StepError) as error:
            return self._bad_answer(sent, error, now)

    def _bad_answer(self, sent: PendingRequest, why: object, now: float) -> list[Event]:
        """Fail a request of ours whose answer cannot be used."""
        fault = f"{sent.method}: {why}"
        remedy = next((words for start, words in _REMEDIES if fault.startswith(start)), "")
        return [Failed(sent, BadAnswer(f"{fault}{remedy}"))]

    def _on_error_response(self, frame: jsonrpc.ErrorResponse, now: float) -> list[Event]:
        sent = None if frame.id is None else self.pending.pop(frame.id)
        if sent is None:
            return [Ignored(f"an error for {frame.id!r}: {frame.message[:200]} ({frame.code})")]
        return self._handle_error(sent, frame, now)

    def _handle_error(
        self, sent: PendingRequest, frame: jsonrpc.ErrorResponse, now: float
    ) -> list[Event]:
        try:
            data = parse(frame.data) if frame.data else None
        except DecodeError as error:
            return self._bad_answer(sent, error, now)
        return [Failed(sent, RemoteError(frame.code, frame.message, data))]

    def _handle_malformed_frame(self, frame: jsonrpc.Malformed, now: float) -> list[Event]:
        sent = self.pending.pop(frame.id) if frame.is_response and frame.id is not None else None
        if sent is not None:
            return self._bad_answer(sent, frame.message, now)
        if frame.is_response or not self._may_report_error(frame.id):
            return [Ignored(frame.message)]
        return [Write(jsonrpc.error_response(frame.id, frame.code, frame.message))]

    def too_long(self, line: TooLong) -> list[Event]:
        """Return the events of a message above the size limit."""
        if line.tail is None and self.watch_dropped is not None:
            self.watch_dropped(line.head)
        needs = not self._may_report_error(None)
        id, is_known = peek.request_id(line.head, line.tail, needs_id=needs)
        why = f"a line of more than {line.limit} bytes (Limits.line_bytes)"
        fault = jsonrpc.Malformed(id, error_codes.INVALID_REQUEST, why)
        return self._handle_malformed_frame(fault, 0) if is_known else []

    def _may_report_error(self, id: Id | None) -> bool:
        """True if the peer's revision allows an error response with this id."""
        agreed = self.agreed
        return id is not None or agreed is None or agreed.translation.revision.idless_errors

    def _on_batch(self, frame: jsonrpc.Batch, now: float) -> list[Event]:
        events: list[Event] = []
        batch = BatchResponses(Hold(self.held))
        for single in frame.frames:
            if isinstance(single, jsonrpc.Request) and single.method == "initialize":
                why = "initialize is never batched"
                single = jsonrpc.Malformed(single.id, error_codes.INVALID_REQUEST, why)
            events += self._handle_in_batch(single, batch, now)
        batch.is_read = True
        responses = batch.all()
        return [*events, Write(responses)] if responses else events

    def _handle_in_batch(
        self, single: jsonrpc.Single, batch: BatchResponses, now: float
    ) -> list[Event]:
        """Handle one message of a batch; keep its response until the batch is complete."""
        # A request may be answered at once (a Write among its events), or be given to a handler (an
        # entry in `running`). An entry that was there before is another request with the same id:
        # this message was refused, and the entry must not join this batch.
        id = single.id if isinstance(single, jsonrpc.Request | jsonrpc.Malformed) else None
        before = None if id is None else self.running.get(id)
        events = self.handle(single, now)
        running = None if id is None else self.running.get(id)
        if id is not None and running is not None and running is not before:
            batch.open.add(id)
            running.batch = batch
        elif isinstance(single, jsonrpc.Request | jsonrpc.Malformed):
            for event in events:
                if isinstance(event, Write):
                    batch.keep(event.data)
            return [event for event in events if not isinstance(event, Write)]
        return events

    # ---- sent messages

    def call(
        self,
        method: str,
        params: Any,
        *,
        now: float,
        timeout: Timeout | None = None,
        token: Id | None = None,
    ) -> tuple[PendingRequest, bytes]:
        """Open a request of ours; return its entry and the bytes to send.

        `params` is a model of `latest`, UNSET for none. Raises NotOpen, NotOffered, TooMuch,
        Disconnected, EncodeError or StepError; then nothing is opened.
        """
        method = first_name(method)
        terms = self._require_free(method)
        self._gate(method, params, terms)
        body = terms.translation.write("params", method, params)
        return self._send(method, body, terms.translation.revision, now, timeout, token)

    def carry(
        self, method: str, body: bytes, *, now: float, timeout: Timeout, token: Id | None = None
    ) -> tuple[PendingRequest, bytes]:
        """Open a request whose params are JSON of the peer's revision; its result is JSON too.

        The result is checked as any other. No capability is needed for a method that the revision
        does not have. Raises as `call`, but for the errors of encoding.
        """
        terms = self._require_free(method)
        admitted = terms.translation.admitted
        if admitted.get(method) is not terms and method in terms.translation.methods:
            self._gate(method, UNSET, terms)
            admitted[method] = terms
        sent, data = self._send(method, body, terms.translation.revision, now, timeout, token)
        sent.is_carried = True
        return sent, data

    def _require_free(self, method: str) -> Terms:
        """Return the agreed terms. Raises the errors of opening a request."""
        if self.input_ended:
            raise Disconnected(f"{method}: the peer has closed its side, and cannot answer")
        terms = self._open_terms(method)
        if len(self.pending) >= self.limits.in_flight:
            raise TooMuch(f"{self.limits.in_flight} requests are in flight (Limits.in_flight)")
        return terms

    def _send(
        self,
        method: str,
        body: bytes,
        spoken: Revision,
        now: float,
        timeout: Timeout | None,
        token: Id | None = None,
    ) -> tuple[PendingRequest, bytes]:
        id = self._next_id()
        timeout = timeout or Timeout(self.limits.deadline, self.limits.total)
        sent = self.pending.add(id, method, timeout, now, token)
        return sent, jsonrpc.request(id, spoken.wire_name(method), body)

    def notify(self, method: str, params: Any, terms: Terms | None = None) -> bytes:
        """Return the bytes of a notification; empty once the peer has closed its sending side.

        Raises NotOpen, NotOffered, EncodeError or StepError.
        """
        if self.input_ended:
            return b""
        terms, method = terms or self._open_terms(method), first_name(method)
        self._gate(method, params, terms)
        name = terms.translation.revision.wire_name(method)
        return jsonrpc.notification(name, terms.translation.write("params", method, params))

    def answer(self, id: Id, result: Any) -> bytes:
        """End a request of the peer and return its response; `result` is a model.

        The bytes are empty if the request was cancelled, or if the response waits for its batch.
        Raises EncodeError and StepError; the request stays open then.
        """
        running = self.running.get(id)
        if running is None:
            return b""
        return self._finish(id, jsonrpc.response(id, self._result(running, result)))

    def pass_on(self, id: Id, result: bytes) -> bytes:
        """End a request of the peer and return its response; `result` is JSON of its revision.

        The bytes are empty in the same cases as those of `answer`.
        """
        return self._finish(id, jsonrpc.response(id, result)) if id in self.running else b""

    def _result(self, running: RunningRequest, result: Any) -> bytes:
        return running.terms.translation.write("result", running.method, result)

    def refuse(self, id: Id, code: int, message: str, data: Any = None) -> bytes:
        """End a request of the peer and return its error response; `data` is parsed JSON.

        The bytes are empty in the same cases as those of `answer`.
        """
        if (running := self.running.get(id)) is None:
            return b""
        code = error_codes.sendable(code, running.terms.translation.revision.era)
        return self._finish(id, jsonrpc.refusal(id, code, message, data))

    def _finish(self, id: Id, data: bytes) -> bytes:
        running, held = self.running.pop(id), self.held
        counted = running.size
        held.count -= counted  # the same as `release`, in line: this runs for each request
        share = held.share
        share.count -= counted
        share.process.count -= counted
        size = len(data)  # a small response fits in the bytes just freed by its request
        if size > SMALL and (crossed := held.make_room(self.limits, size, self.unsent)):
            why = f"busy: too many answers are not read yet ({crossed})"
            data = jsonrpc.error_response(id, error_codes.BUSY, why)
        return running.batch.add(id, data) if running.batch else data

    def report(
        self, id: Id, progress: float, total: float | None = None, message: str | None = None
    ) -> bytes:
        """Return the bytes of a progress notification about a request of the peer.

        Empty if the request has no progress token, or if `progress` is not above the last value.

        Source: 2025-11-25 basic/utilities/progress, "Behavior Requirements".
        """
        method, running = "notifications/progress", self.running.get(id)
        if running is None or running.terms.token is None or not progress > running.progress:
            return b""
        if method not in running.terms.translation.methods:
            return b""
        running.progress = progress
        params = latest.ProgressNotificationParams(
            progress_token=running.terms.token,
            progress=progress,
            total=UNSET if total is None else total,
            message=UNSET if message is None else message,
        )
        return self.notify(method, params, running.terms)

    def cancel(self, id: Id, reason: str = "") -> bytes:
        """Cancel a request of ours and return the notification; a late answer is ignored.

        Empty if the request is not pending, or is the handshake, which is never cancelled.
        Source: 2025-11-25 basic/utilities/cancellation, "Behavior Requirements".
        """
        sent = self.pending.pop(id)
        if sent is None or sent.method == "initialize" or self.input_ended:
            return b""
        spoken = None if self.agreed is None else self.agreed.translation.revision
        return jsonrpc.cancellation(id, reason, spoken.wire_name(_CANCEL) if spoken else _CANCEL)

    def expire(self, now: float) -> list[Event]:
        """Fail each request of ours whose deadline has passed."""
        return [event for sent in self.pending.late(now) for event in self._late(sent, now)]

    def _late(self, sent: PendingRequest, now: float) -> list[Event]:
        seconds = round(now - sent.started, 2)
        failed = Failed(sent, TimedOut(sent.method, seconds))
        data = self.cancel(sent.id, f"no answer within {seconds:g} s")
        return [Write(data, sent.about), failed] if data else [failed]

    def abandon(self, why: str) -> list[Event]:
        """Cancel all requests of the peer: it no longer waits for their answers."""
        cancelled: list[Event] = [Cancelled(id, why) for id in self.running]
        for id in [*self.running]:
            if (called := self.release(id).called) is not None:
                called.is_cancelled = True
        return cancelled

    def lost(self, why: str = "the peer is gone") -> list[Event]:
        """Close the session: fail our requests and cancel those of the peer."""
        self.state = State.CLOSED
        failed = [Failed(s, Disconnected(f"{s.method}: {why}")) for s in self.pending.drain()]
        return [*self.abandon(why), *failed]

    def _move(self, what: str) -> None:
        self.state = after(self.role, self.state, what)

    def _method(self, terms: Terms, name: str, kind: str) -> Method | None:
        """Return the method if the peer may send it as this kind of message, else None."""
        method = terms.translation.methods.get(name)
        if method is None or method.kind != kind or method.direction.startswith(self.role):
            return None
        return method

    def _require_room(self, frame: jsonrpc.Request) -> None:
        """Raise RpcError if the request reuses an open id or exceeds a limit."""
        if isinstance(frame.id, str) and len(frame.id) > (longest := self.limits.id_chars):
            why = f"an id of more than {longest} characters (Limits.id_chars)"
            raise RpcError(error_codes.INVALID_REQUEST, why)
        if frame.id in self.running:
            raise RpcError(error_codes.INVALID_REQUEST, "a request with that id is in flight")
        if len(self.running) >= (most := self.limits.in_flight):
            raise RpcError(error_codes.BUSY, f"busy: {most} in flight (Limits.in_flight)")
        size = len(frame.params)
        share = self.held.share
        is_tight = share.count + share.process.count > self.limits.process_bytes
        if (size > SMALL or is_tight) and (crossed := self.held.make_room(self.limits, size)):
            raise RpcError(error_codes.BUSY, f"busy: too much is not answered yet ({crossed})")

    def start(
        self, frame: jsonrpc.Request, terms: Terms, called: Cancellable | None = None
    ) -> None:
        """Register a request of the peer as running and count its bytes."""
        size, held = len(frame.params) + REQUEST_BYTES, self.held
        held.count += size  # the same as `change`, in line: this runs for each request
        share = held.share
        share.count += size
        share.process.count += size
        self.running[frame.id] = RunningRequest(frame.method, terms, size, called)

    def release(self, id: Id) -> RunningRequest:
        """Unregister a running request of the peer and return its entry."""
        running, held = self.running.pop(id), self.held
        size = running.size
        held.count -= size
        share = held.share
        share.count -= size
        share.process.count -= size
        return running

    def _open_terms(self, method: str) -> Terms:
        if self.agreed is None or self.state is not State.OPEN:
            raise NotOpen(f"{method}: the session is {self.state.value}")
        return self.agreed

    @abstractmethod
    def _gate(self, method: str, params: Any, terms: Terms) -> None:
        """Raise NotOffered if our message needs a capability that was not negotiated."""


_CANCEL: Final = "notifications/cancelled"
_REMEDIES: Final = (
    (
        "tools/call: $.content: expected array",
        "; a server sends `content` beside `structuredContent`, if only an empty list",
    ),
)
"""Remedies for faults that servers often have, by the beginning of the fault's text."""
_MAY_BE_FAULTY: Final = (jsonrpc.Malformed, jsonrpc.Batch)


def under_first_name(frame: jsonrpc.Request, spoken: Revision) -> jsonrpc.Request:
    """Return a request of a peer of a revision, under its method's first name.

    Raises RpcError for a name that the revision has replaced.
    """
    if not spoken.renamed:
        return frame
    name = spoken.first_name(frame.method)
    if name is None:
        raise rpc_errors.method_not_found(frame.method)
    return structs.replace(frame, method=name)


def _is_faulty(frame: jsonrpc.Frame) -> bool:
    """True if the message, or one of a batch, is malformed."""
    if isinstance(frame, jsonrpc.Batch):
        return any(isinstance(part, jsonrpc.Malformed) for part in frame.frames)
    return isinstance(frame, jsonrpc.Malformed)
