"""What both roles do: requests in flight both ways, progress, cancellation, batches, errors.

    session.receive(chunk, now)     bytes, cut anywhere, to events
    session.take(message, now)      one message to events
    session.call(…) → Sent, bytes   and answer, refuse, notify, cancel: bytes to send

Nothing is sent by the session itself. Times are seconds on the caller's clock.

Source: 2025-11-25 basic/index and basic/utilities; 2026-07-28 basic/patterns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import msgspec

from mcp_runtime.core import error_codes, jsonrpc, peek
from mcp_runtime.core.events import (
    Answered,
    Event,
    Failed,
    GaveUp,
    Ignored,
    Notified,
    Progressed,
    Terms,
    Write,
)
from mcp_runtime.core.jsonrpc import (
    UNREADABLE,
    Batch,
    ErrorResponse,
    Frame,
    Id,
    Malformed,
    Notification,
    Request,
    Response,
    Single,
)
from mcp_runtime.core.lifecycle import Role, State, after
from mcp_runtime.core.lines import Lines, TooLong
from mcp_runtime.core.pending import Pending, Sent, Timeout
from mcp_runtime.core.tolerances import Tolerances
from mcp_runtime.errors import BadAnswer, Disconnected, NotOpen, RemoteError, TimedOut, TooMuch
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import UNSET, DecodeError, Method, StepError, latest, parse

__all__ = ["Running", "Session"]

_dump: Final = msgspec.json.Encoder().encode
_MAX_REASON: Final = 1000


@dataclass(slots=True)
class _Together:
    """The answers to a batch, sent when the last is there."""

    open: set[Id] = field(default_factory=set[Id])
    answers: list[bytes] = field(default_factory=list[bytes])
    is_read: bool = False

    def add(self, id: Id, data: bytes) -> bytes:
        self.open.discard(id)
        self.answers += [data] if data else []
        return self.all()

    def all(self) -> bytes:
        is_done = self.is_read and not self.open
        return jsonrpc.together(self.answers) if is_done and self.answers else b""


@dataclass(slots=True)
class Running:
    """A request of the peer that is worked on."""

    method: str
    terms: Terms
    progress: float = float("-inf")
    batch: _Together | None = None


class Session(ABC):
    """One peer. `agreed` are the terms of the handshake, or of our own requests."""

    role: Role
    _on_frame: ClassVar[dict[type, Callable[[Any, Any, float], list[Event]]]]

    def __init__(self, *, next_id: Callable[[], Id], limits: Limits = DEFAULT) -> None:
        self.tolerances = Tolerances(self.role)
        self.limits = limits
        self.state = State.NEW
        self.agreed: Terms | None = None
        self.pending = Pending()
        self.running: dict[Id, Running] = {}
        self.watch: Callable[[bytes], object] | None = None
        """Sees each message that arrives."""
        self._next_id = next_id
        self._lines = Lines(limits.line_bytes)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._on_frame = {
            Request: cls._on_request,
            Notification: cls._on_notification,
            Response: cls._on_answer,
            ErrorResponse: cls._on_refusal,
            Malformed: cls._on_malformed,
            Batch: cls._on_batch,
        }

    # ---- what arrives

    def receive(self, chunk: bytes, now: float) -> Iterator[Event]:
        """What the lines that end in `chunk` mean."""
        for line in self._lines.feed(chunk):
            if isinstance(line, TooLong):
                yield from self._too_long(line)
            else:
                yield from self.take(line, now)

    def take(self, message: bytes, now: float) -> list[Event]:
        """What one message, without a line end, means."""
        return self.on(self.read(message), now)

    def read(self, message: bytes) -> Frame:
        """What one message, without a line end, is."""
        if self.watch is not None:
            self.watch(message)
        batches = self.agreed is not None and self.agreed.crossing.revision.batches
        return jsonrpc.read(message, batch=self.limits.batch if batches else 0)

    def on(self, frame: Frame, now: float) -> list[Event]:
        """What a message means."""
        return self._on_frame[type(frame)](self, frame, now)

    @abstractmethod
    def _on_request(self, frame: Request, now: float) -> list[Event]: ...

    def _on_notification(self, frame: Notification, now: float) -> list[Event]:
        try:
            return self._notified(frame, now)
        except (DecodeError, StepError) as error:
            return [Ignored(f"{frame.method}: {error}")]

    def _notified(self, frame: Notification, now: float) -> list[Event]:
        if frame.method == "notifications/cancelled":
            return self._cancelled(frame.params)
        if self.agreed is None or not self._may_send(self._method(frame.method), "notification"):
            return [Ignored(f"{frame.method} has no place here")]
        params = self.agreed.crossing.read_params(frame.method, frame.params)
        if frame.method == "notifications/progress":
            return self._progressed(params, now)
        return [Notified(frame.method, params)]

    def _cancelled(self, raw: bytes) -> list[Event]:
        try:
            cancelled = peek.cancellation(raw)
        except UNREADABLE as error:
            return [Ignored(f"notifications/cancelled: {error}")]
        id = cancelled.request_id
        running = self.running.get(id)
        if running is None or running.method == "initialize":
            return [Ignored(f"a cancellation of {id!r}, which is not in flight")]
        del self.running[id]
        late = running.batch.add(id, b"") if running.batch else b""
        gave_up = GaveUp(id, cancelled.reason[:_MAX_REASON])
        return [Write(late, id), gave_up] if late else [gave_up]

    def _progressed(self, params: Any, now: float) -> list[Event]:
        sent = self.pending.progressed(params.progress_token, params.progress, now)
        if sent is None:
            return [Ignored(f"progress on {params.progress_token!r}, which asks for none")]
        return [Progressed(sent, params)]

    def _on_answer(self, frame: Response, now: float) -> list[Event]:
        sent = self.pending.take(frame.id)
        if sent is None:
            return [Ignored(f"an answer to {frame.id!r}, which is not open")]
        return self._answered(sent, frame.result, now)

    def _answered(self, sent: Sent, result: bytes, now: float) -> list[Event]:
        assert self.agreed is not None
        try:
            return [Answered(sent, self.agreed.crossing.read_result(sent.method, result))]
        except (DecodeError, StepError) as error:
            return self._misanswered(sent, error, now)

    def _misanswered(self, sent: Sent, why: object, now: float) -> list[Event]:
        """What came as the answer to a request of ours is none."""
        return [Failed(sent, BadAnswer(f"{sent.method}: {why}"))]

    def _on_refusal(self, frame: ErrorResponse, now: float) -> list[Event]:
        sent = None if frame.id is None else self.pending.take(frame.id)
        if sent is None:
            return [Ignored(f"an error for {frame.id!r}: {frame.message[:200]} ({frame.code})")]
        return self._refused(sent, frame, now)

    def _refused(self, sent: Sent, frame: ErrorResponse, now: float) -> list[Event]:
        try:
            data = parse(frame.data) if frame.data else None
        except DecodeError as error:
            return self._misanswered(sent, error, now)
        return [Failed(sent, RemoteError(frame.code, frame.message, data))]

    def _on_malformed(self, frame: Malformed, now: float) -> list[Event]:
        sent = self.pending.take(frame.id) if frame.is_response and frame.id is not None else None
        if sent is not None:
            return self._misanswered(sent, frame.message, now)
        if frame.is_response or not self._may_complain(frame.id):
            return [Ignored(frame.message)]
        return [Write(jsonrpc.refusal(frame.id, frame.code, frame.message))]

    def _too_long(self, line: TooLong) -> list[Event]:
        why = f"a line of more than {line.limit} bytes"
        return self._on_malformed(Malformed(None, error_codes.INVALID_REQUEST, why), 0)

    def _may_complain(self, id: Id | None) -> bool:
        """Whether an error may be sent, in the peer's revision, for what has that id."""
        return id is not None or self.agreed is None or self.agreed.crossing.revision.idless_errors

    def _on_batch(self, frame: Batch, now: float) -> list[Event]:
        """Source: 2025-03-26 basic/index, "Batching"."""
        events: list[Event] = []
        together = _Together()
        for single in frame.frames:
            if isinstance(single, Request) and single.method == "initialize":
                single = Malformed(
                    single.id, error_codes.INVALID_REQUEST, "initialize is never batched"
                )
            events += self._on_member(single, together, now)
        together.is_read = True
        answers = together.all()
        return [*events, Write(answers)] if answers else events

    def _on_member(self, single: Single, together: _Together, now: float) -> list[Event]:
        """What is said at once to a request, or to what is none, is told together with the rest."""
        id = single.id if isinstance(single, Request | Malformed) else None
        before = None if id is None else self.running.get(id)
        events = self._on_frame[type(single)](self, single, now)
        running = None if id is None else self.running.get(id)
        if id is not None and running is not None and running is not before:
            together.open.add(id)
            running.batch = together
        elif isinstance(single, Request | Malformed):
            together.answers += [event.data for event in events if isinstance(event, Write)]
            return [event for event in events if not isinstance(event, Write)]
        return events

    # ---- what is sent

    def call(
        self,
        method: str,
        params: Any,
        *,
        now: float,
        patience: Timeout | None = None,
        token: Id | None = None,
    ) -> tuple[Sent, bytes]:
        """A request of ours; `params` is a model of the newest revision, UNSET for none.

        Raises NotOpen, NotOffered, TooMuch, EncodeError, StepError; then nothing is sent.
        """
        terms = self._open_terms(method)
        if len(self.pending) >= self.limits.in_flight:
            raise TooMuch(f"{self.limits.in_flight} requests are in flight (Limits.in_flight)")
        self._gate(method, params, terms)
        body = terms.crossing.write_params(method, params)
        return self._send(method, body, now=now, patience=patience, token=token)

    def _send(
        self,
        method: str,
        body: bytes,
        *,
        now: float,
        patience: Timeout | None = None,
        token: Id | None = None,
    ) -> tuple[Sent, bytes]:
        id = self._next_id()
        patience = patience or Timeout(self.limits.deadline, self.limits.total)
        sent = self.pending.add(id, method, patience, now, token)
        return sent, jsonrpc.request(id, method, body)

    def notify(self, method: str, params: Any, terms: Terms | None = None) -> bytes:
        """A notification of ours. Raises NotOpen, NotOffered, EncodeError, StepError."""
        terms = terms or self._open_terms(method)
        self._gate(method, params, terms)
        return jsonrpc.notification(method, terms.crossing.write_params(method, params))

    def answer(self, id: Id, result: Any) -> bytes:
        """`result` is a model; empty where nothing is to be sent, or not yet.

        Raises EncodeError and StepError; the request is open then as before.
        """
        running = self.running.get(id)
        if running is None:
            return b""
        return self._finish(id, jsonrpc.answer(id, self._result(running, result)))

    def _result(self, running: Running, result: Any) -> bytes:
        return running.terms.crossing.write_result(running.method, result)

    def refuse(self, id: Id, code: int, message: str, data: Any = None) -> bytes:
        """`data` is parsed JSON; empty where nothing is to be sent, or not yet."""
        if (running := self.running.get(id)) is None:
            return b""
        code = error_codes.sendable(code, running.terms.crossing.revision.era)
        raw = b"" if data is None else _dump(data)
        return self._finish(id, jsonrpc.refusal(id, code, message, raw))

    def _finish(self, id: Id, data: bytes) -> bytes:
        running = self.running.pop(id)
        return running.batch.add(id, data) if running.batch else data

    def report(
        self, id: Id, progress: float, total: float | None = None, message: str | None = None
    ) -> bytes:
        """Progress on a request of the peer; empty where none is wanted, or it is no progress.

        Source: 2025-11-25 basic/utilities/progress, "Behavior Requirements".
        """
        running = self.running.get(id)
        if running is None or running.terms.token is None or not progress > running.progress:
            return b""
        running.progress = progress
        params = latest.ProgressNotificationParams(
            progress_token=running.terms.token,
            progress=progress,
            total=UNSET if total is None else total,
            message=UNSET if message is None else message,
        )
        return self.notify("notifications/progress", params, running.terms)

    def cancel(self, id: Id, reason: str = "") -> bytes:
        """Gives up a request of ours; empty where there is nothing to send.

        The handshake is never cancelled. A late answer is ignored.
        Source: 2025-11-25 basic/utilities/cancellation, "Behavior Requirements".
        """
        sent = self.pending.take(id)
        if sent is None or sent.method == "initialize":
            return b""
        body: dict[str, Any] = {"requestId": id} | ({"reason": reason} if reason else {})
        return jsonrpc.notification("notifications/cancelled", _dump(body))

    def expired(self, now: float) -> list[Event]:
        """What is late has failed."""
        return [event for sent in self.pending.late(now) for event in self._late(sent, now)]

    def _late(self, sent: Sent, now: float) -> list[Event]:
        seconds = now - sent.started
        failed = Failed(sent, TimedOut(sent.method, seconds))
        data = self.cancel(sent.id, f"no answer within {seconds:g} s")
        return [Write(data, sent.about), failed] if data else [failed]

    def abandon(self, why: str) -> list[Event]:
        """The peer's requests will have no answer: it has forgotten them."""
        gone: list[Event] = [GaveUp(id, why) for id in self.running]
        self.running.clear()
        return gone

    def lost(self, why: str = "the peer is gone") -> list[Event]:
        """The stream has ended: what is in flight, both ways, will not be answered."""
        self.state = State.CLOSED
        return self.abandon(why) + [
            Failed(sent, Disconnected(why)) for sent in self.pending.drain()
        ]

    # ---- rules

    def _move(self, what: str) -> None:
        self.state = after(self.role, self.state, what)

    def _method(self, name: str) -> Method | None:
        """As the agreed revision has it."""
        return None if self.agreed is None else self.agreed.crossing.revision.methods.get(name)

    def _may_send(self, method: Method | None, kind: str) -> bool:
        """Whether the peer may send that."""
        directions = _RECEIVED[self.role]
        return method is not None and method.kind == kind and method.direction in directions

    def _open_terms(self, method: str) -> Terms:
        if self.agreed is None or self.state is not State.OPEN:
            raise NotOpen(f"{method}: the session is {self.state.value}")
        return self.agreed

    @abstractmethod
    def _gate(self, method: str, params: Any, terms: Terms) -> None:
        """Raises NotOffered for what needs a capability that was not negotiated."""


_RECEIVED: Final[dict[Role, frozenset[str]]] = {
    "client": frozenset(("both", "server-to-client")),
    "server": frozenset(("both", "client-to-server")),
}
"""The directions of what a role receives."""
