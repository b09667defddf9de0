"""The client's session: negotiates the revision, then sends requests.

It sends `server/discover` in our newest revision first. Any other error than a list of revisions
means a server of the handshake era, and the session goes on with `initialize`.

Source: 2026-07-28 basic/versioning and basic/transports/stdio, "Backward Compatibility"; 2025-11-25
basic/lifecycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET

from mcp_runtime.core.session.events import Called, Event, Failed, Ignored, Opened, Write
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.session.pending import PendingRequest, Timeout
from mcp_runtime.core.session.session import Session, under_first_name
from mcp_runtime.core.terms.capabilities import declares, needed
from mcp_runtime.core.terms.negotiation import ClientOffer, common_revision, initialize_result
from mcp_runtime.core.terms.role import CLIENT
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.core.terms.translation import Terms, translation
from mcp_runtime.core.wire import error_codes, jsonrpc, peek, rpc_errors
from mcp_runtime.core.wire.jsonrpc import UNREADABLE, ErrorResponse, Id, Request
from mcp_runtime.core.wire.lines import TooLong
from mcp_runtime.errors import (
    BadAnswer,
    NoCommonRevision,
    NotOffered,
    RemoteError,
    RpcError,
    SessionError,
    TimedOut,
    TooMuch,
)
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import Context, DecodeError, Revision, StepError, latest, revision

_MAX_ATTEMPTS: Final = 6
"""The number of revisions proposed before the session gives up."""
_dump: Final = msgspec.json.Encoder().encode


class ClientSession(Session):
    """A session with one server; `open` starts it."""

    role = CLIENT

    def __init__(
        self, offer: ClientOffer, *, next_id: Callable[[], Id], limits: Limits = DEFAULT
    ) -> None:
        tolerances = Tolerances(CLIENT, offer.strict)
        super().__init__(next_id=next_id, limits=limits, tolerances=tolerances)
        self.offer = offer
        self.instructions: str | None = None
        self.failure: SessionError | None = None
        """The reason for which the session did not open."""
        self.shakes_hands_late = False
        """True: send `initialize` on the same connection if `server/discover` gets no answer."""
        self.is_unread: Callable[[], bool] = lambda: False
        """Returns True while the server has not read its input: it is still starting."""
        self._was_unread = False
        self._open_timeout = limits.deadline
        self._proposed: list[str] = []
        self._opening: Final[dict[str, Callable[[PendingRequest, bytes, float], list[Event]]]] = {
            "server/discover": self._handle_discovery,
            "initialize": self._handle_initialize_result,
        }

    # ---- opening

    def open(self, now: float, *, handshake: bool = False, timeout: float | None = None) -> bytes:
        """Open the session, or open it again; return the first message.

        `handshake` skips `server/discover`. `timeout` is the time for the whole opening, in
        seconds. Requests in flight stay open. Raises NoCommonRevision if none of our revisions can
        open.
        """
        self.state, self.failure, self._proposed, self._was_unread = State.NEW, None, [], False
        self._open_timeout = self.limits.deadline if timeout is None else timeout
        if self.offer.per_request and not handshake:
            return self._discover(self.offer.per_request[0], now)
        if not self.offer.handshake:
            raise NoCommonRevision(self.offer.newest_first, ["a handshake only"])
        return self._initialize(self.offer.handshake[0], now)

    def _discover(self, version: str, now: float, last: float | None = None) -> bytes:
        """Return a `server/discover`; `last` is the deadline of opening, None if it begins now."""
        self._move("send server/discover")
        self._proposed.append(version)
        terms = self._per_request_terms(revision(version), None, {})
        params = latest.RequestParams(meta=self.meta(version))
        spoken, method = terms.translation.revision, "server/discover"
        body = terms.translation.write("params", method, params)
        timeout = Timeout(self._probe_timeout, self._remaining_seconds(now, last))
        return self._send(method, body, spoken, now=now, timeout=timeout)[1]

    def _remaining_seconds(self, now: float, last: float | None) -> float:
        return self._open_timeout if last is None else max(0.0, last - now)

    def hold_probe(self) -> None:
        """Move the probe's deadline to that of the opening: the server wants a token first."""
        for sent in self._probes():
            sent.due = sent.last

    def resume_probe(self, now: float) -> None:
        """Restart the probe's deadline: it is sent again with a token."""
        for sent in self._probes():
            sent.extend(now)

    def _probes(self) -> list[PendingRequest]:
        return self.pending.of("server/discover")

    @property
    def _probe_timeout(self) -> float:
        """Seconds to wait for `server/discover`; fewer for the first if a handshake can follow."""
        if len(self._proposed) > 1 or not self.offer.handshake:
            return self._open_timeout
        return min(self.limits.probe, self._open_timeout / 4)

    def _initialize(self, version: str, now: float, last: float | None = None) -> bytes:
        """Return an `initialize`; `last` is the deadline of opening, None if it begins now."""
        self._move("send initialize")
        self._proposed.append(version)
        body = _dump(self.offer.propose(version))
        left = self._remaining_seconds(now, last)
        spoken = revision(version)
        return self._send("initialize", body, spoken, now=now, timeout=Timeout(left, left))[1]

    def _handle_answer(self, sent: PendingRequest, result: bytes, now: float) -> list[Event]:
        if not self._opens(sent):
            return super()._handle_answer(sent, result, now)
        try:
            return self._opening[sent.method](sent, result, now)
        except NoCommonRevision as error:
            return self._give_up(sent, error)
        except (DecodeError, StepError, *UNREADABLE) as error:
            return self._bad_answer(sent, error, now)

    def _bad_answer(self, sent: PendingRequest, why: object, now: float) -> list[Event]:
        if sent.method not in self._opening or self.state is State.OPEN:
            return super()._bad_answer(sent, why, now)
        if sent.method == "server/discover":
            return self._fall_back(sent, why, now)
        return self._give_up(sent, BadAnswer(f"{sent.method}: {why}"))

    def _handle_discovery(self, sent: PendingRequest, result: bytes, now: float) -> list[Event]:
        """Choose a revision from the server's list.

        Source: 2026-07-28 server/discover, "Response".
        """
        version = next(r for r in self._proposed if r in self.offer.per_request)
        result, discovered = self.tolerances.decode(
            revision(version), "result", sent.method, result
        )
        chosen = common_revision(self.offer, discovered.supported_versions)
        if chosen is None:
            raise NoCommonRevision(self.offer.newest_first, discovered.supported_versions)
        if chosen.era == "handshake":
            return [Write(self._initialize(chosen.name, now, sent.last))]
        body = msgspec.json.decode(result)
        info = body.get("_meta", {}).get("io.modelcontextprotocol/serverInfo")
        return self._open(
            "receive server/discover result",
            self._per_request_terms(chosen, info, body["capabilities"]),
            body.get("instructions"),
        )

    def _handle_initialize_result(
        self, sent: PendingRequest, result: bytes, now: float
    ) -> list[Event]:
        version = peek.protocol_version(result)
        if version not in self.offer.handshake:
            raise NoCommonRevision(self.offer.newest_first, [version])
        spoken = revision(version)
        result, _ = self.tolerances.decode(spoken, "result", "initialize", result)
        body = initialize_result(result, self.tolerances)
        context = Context(
            client_info=latest.to_wire(self.offer.info),
            client_capabilities=self.offer.declared,
            server_info=body["serverInfo"],
        )
        theirs = body["capabilities"]
        spoken_with = translation(spoken, context, self.tolerances, self.offer.extensions, theirs)
        terms = Terms(spoken_with, body["serverInfo"], theirs)
        self._move("receive initialize result")
        opened = self._open("send notifications/initialized", terms, body.get("instructions"))
        return [Write(jsonrpc.notification("notifications/initialized")), *opened]

    def _open(self, move: str, terms: Terms, instructions: str | None) -> list[Event]:
        self._move(move)
        self.agreed, self.instructions = terms, instructions
        return [Opened(terms)]

    def _per_request_terms(
        self, spoken: Revision, info: Mapping[str, Any] | None, capabilities: Mapping[str, Any]
    ) -> Terms:
        extensions = self.offer.extensions
        spoken_with = translation(spoken, Context(), self.tolerances, extensions, capabilities)
        return Terms(spoken_with, info, capabilities)

    def _handle_error(self, sent: PendingRequest, frame: ErrorResponse, now: float) -> list[Event]:
        if not self._opens(sent):
            return super()._handle_error(sent, frame, now)
        supported = peek.supported_versions(frame.data)
        if sent.method == "initialize" and not supported:
            return self._give_up(sent, RemoteError(frame.code, frame.message))
        if sent.method == "server/discover" and not (
            supported and frame.code in error_codes.MODERN
        ):
            return self._fall_back(sent, f"{frame.message} ({frame.code})", now)
        return self._try_again(sent, supported, now)

    def _try_again(self, sent: PendingRequest, supported: list[str], now: float) -> list[Event]:
        """Propose one of the revisions named by the server."""
        chosen = common_revision(self.offer, supported)
        if chosen is None or len(self._proposed) >= _MAX_ATTEMPTS:
            return self._give_up(sent, NoCommonRevision(self.offer.newest_first, supported))
        again = self._discover if chosen.era == "per-request" else self._initialize
        return [Write(again(chosen.name, now, sent.last))]

    def _on_error_response(self, frame: ErrorResponse, now: float) -> list[Event]:
        """Handle an error; without an id it answers the opening request, if no other is pending."""
        if frame.id is None and self.state is State.ASKED and len(self.pending) == 1:
            (sent,) = self.pending.drain()
            return self._handle_error(sent, frame, now)
        return super()._on_error_response(frame, now)

    def _fall_back(self, sent: PendingRequest, why: object, now: float) -> list[Event]:
        """Continue with a handshake: the answer is not that of a per-request server."""
        if self.state is not State.ASKED:
            return [Ignored(f"server/discover: {why}")]
        if self.offer.handshake:
            return [Write(self._initialize(self.offer.handshake[0], now, sent.last))]
        ours = self.offer.newest_first
        return self._give_up(sent, NoCommonRevision(ours, ["a handshake only"], f"{why}"))

    def answer_with_error(self, id: Id, frame: ErrorResponse, now: float) -> list[Event]:
        """Treat an error as the answer to request `id`, whatever id the error has."""
        sent = self.pending.pop(id)
        return [] if sent is None else self._handle_error(sent, frame, now)

    def fail_request(
        self, id: Id, error: SessionError, now: float, *, is_old: bool = False
    ) -> list[Event]:
        """Fail a request of ours.

        With `is_old` the failure is typical of servers of the handshake era: a failed
        `server/discover` then continues with `initialize`.
        """
        sent = self.pending.pop(id)
        if sent is None:
            return []
        if is_old and self._opens(sent) and sent.method == "server/discover":
            return self._fall_back(sent, error, now)
        return self._give_up(sent, error)

    def _opens(self, sent: PendingRequest) -> bool:
        return sent.method in self._opening and self.state is not State.OPEN

    def _late(self, sent: PendingRequest, now: float) -> list[Event]:
        if not self._opens(sent):
            return super()._late(sent, now)
        # A late probe has three meanings. The server has not read it: wait on. It read the probe
        # and is silent: an old server, so shake hands where the connection allows that. Otherwise
        # no other way to open is left.
        is_probe = sent.method == "server/discover"
        if is_probe and now < sent.last and self._is_starting():
            sent.extend(now)
            return []
        self.pending.pop(sent.id)
        late = TimedOut(sent.method, round(now - sent.started, 2))
        if is_probe and now < sent.last and self.shakes_hands_late and self.offer.handshake:
            return self._fall_back(sent, late, now)
        if is_probe and not self.shakes_hands_late and not self.offer.handshake:
            return self._fall_back(sent, late, now)
        return self._give_up(sent, late)

    def _is_starting(self) -> bool:
        """True if the probe was unread at its last deadline, or still is.

        A server which has just read the probe gets the full time for its answer.
        """
        was_unread, self._was_unread = self._was_unread, self.is_unread()
        return was_unread or self._was_unread

    # ---- requests of the server

    def _handle_request(self, frame: Request) -> list[Event]:
        """Handle a request of the server; ignore it in the per-request era, which has none.

        Source: 2026-07-28 basic/transports/stdio.
        """
        if self.agreed is not None and self.agreed.translation.revision.era == "per-request":
            return [Ignored(f"a request of the server, {frame.method[:200]}")]
        if self.agreed is not None:
            frame = under_first_name(frame, self.agreed.translation.revision)
        if frame.method == "ping":
            return [Write(jsonrpc.response(frame.id, b"{}"))]
        method = None if self.agreed is None else self._method(self.agreed, frame.method, "request")
        if self.agreed is None or method is None:
            raise rpc_errors.method_not_found(frame.method)
        self._require_room(frame)
        self._require_own(frame, method.capability)
        token = peek.request_params(frame.params or b"{}").meta.progress_token
        terms = msgspec.structs.replace(self.agreed, token=None if token is UNSET else token)
        called = Called(frame.id, frame.method, frame.params, terms)
        self.start(frame, terms, called)
        return [called]

    def _require_own(self, frame: Request, capability: str) -> None:
        """Raise RpcError if the request needs a capability not declared by us."""
        if not declares(self.offer.declared, capability):
            raise rpc_errors.method_not_found(frame.method, capability)
        params = _objects.decode(frame.params) if frame.params else {}
        for path in needed(frame.method, capability, params):
            if not declares(self.offer.declared, path):
                raise RpcError(error_codes.INVALID_PARAMS, f"the client does not offer `{path}`")

    @property
    def message_bytes(self) -> int:
        return self.limits.answer_bytes

    def too_long(self, line: TooLong, answers: Sequence[Id] | None = None) -> list[Event]:
        """Fail the request whose answer is above the limit.

        If the answer's id is unreadable, fail every request it may belong to: `answers` has the ids
        of the requests answered on the message's stream, None for all pending requests.
        """
        super().too_long(line)
        id = peek.response_id(line.head, line.tail)
        if id is peek.ANOTHER:
            return []
        if id is not None:
            answers = [cast("Id", id)]
        elif line.tail is None and (answers is None or len(answers) > 1):
            return []
        error = TooMuch(f"an answer of more than {line.limit} bytes (Limits.answer_bytes)")
        failed = self.pending.drain() if answers is None else map(self.pending.pop, answers)
        return [each for sent in failed if sent for each in self._give_up(sent, error)]

    def _give_up(self, sent: PendingRequest, error: SessionError) -> list[Event]:
        """Fail a request; close the session if it was the opening request."""
        if self._opens(sent):
            self.state, self.failure = State.CLOSED, error
        return [Failed(sent, error)]

    def _may_report_error(self, id: Id | None) -> bool:
        """True in the handshake era, for an error with an id."""
        era = self.agreed.translation.revision.era if self.agreed else "per-request"
        return id is not None and era == "handshake"

    # ---- requests of the client

    def meta(
        self,
        version: str | None = None,
        token: Id | None = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        """Return the `_meta` of a request of the per-request era, with the members of `extra`."""
        spoken = version or (self.agreed.translation.revision.name if self.agreed else None)
        return latest.RequestMetaObject(
            progress_token=UNSET if token is None else token,
            protocol_version=spoken or self.offer.newest_first[0],
            client_info=self.offer.info,
            client_capabilities=self.offer.capabilities,
            log_level=UNSET if self.log_level is None else cast("Any", self.log_level),
            **({"extra_": dict(extra)} if extra else {}),
        )

    log_level: str | None = None
    """The lowest level of log messages wanted by requests of the per-request era."""

    def _gate(self, method: str, params: Any, terms: Terms) -> None:
        known = terms.translation.methods.get(method)
        if known is None:
            owner = self.offer.extensions.owner(method)
            what = "it" if owner is None else f"the extension {owner.identifier}"
            missing = f"{what} in {terms.translation.revision.name}"
            raise NotOffered(method, "", "server", missing=missing)
        theirs = known.direction == "client-to-server" and known.kind == "request"
        roots = {"roots": {"listChanged": self.offer.roots_change}}
        declared = terms.capabilities if theirs else {**self.offer.declared, **roots}
        if known.direction != "both" and not declares(declared, known.capability):
            raise NotOffered(method, known.capability, "server" if theirs else "client")


_objects: Final = msgspec.json.Decoder(dict[str, Any])
