"""The client's session: finds out which revision the server speaks, then sends requests.

The newest revision is tried first, with `server/discover`. A server that does not know that method
wants a handshake, whatever it answers.

Source: 2026-07-28 basic/versioning and basic/transports/stdio, "Backward Compatibility";
2025-11-25 basic/lifecycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET

from mcp_runtime.core import error_codes, jsonrpc, peek, refusals
from mcp_runtime.core.capabilities import declares, needed
from mcp_runtime.core.events import Called, Event, Failed, Ignored, Opened, Write
from mcp_runtime.core.jsonrpc import UNREADABLE, ErrorResponse, Id, Request
from mcp_runtime.core.lifecycle import State
from mcp_runtime.core.lines import TooLong
from mcp_runtime.core.negotiation import ClientOffer, common_revision, initialize_result
from mcp_runtime.core.pending import Sent, Timeout
from mcp_runtime.core.role import CLIENT
from mcp_runtime.core.session import Session
from mcp_runtime.core.tolerances import Tolerances
from mcp_runtime.core.translation import Terms, translation
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
"""How many revisions are proposed before the session gives up."""
_dump: Final = msgspec.json.Encoder().encode


class ClientSession(Session):
    """A session with one server, which starts with `open`."""

    role = CLIENT

    def __init__(
        self, offer: ClientOffer, *, next_id: Callable[[], Id], limits: Limits = DEFAULT
    ) -> None:
        tolerances = Tolerances(CLIENT, offer.strict)
        super().__init__(next_id=next_id, limits=limits, tolerances=tolerances)
        self.offer = offer
        self.instructions: str | None = None
        self.failure: SessionError | None = None
        """Why the session did not open."""
        self.shakes_hands_late = False
        """Whether to shake hands on the same connection when `server/discover` has no answer."""
        self.is_unread: Callable[[], bool] = lambda: False
        """Whether the server has not even read what was sent: it is still starting."""
        self._was_unread = False
        self._open_timeout = limits.deadline
        self._proposed: list[str] = []
        self._opening: Final[dict[str, Callable[[Sent, bytes, float], list[Event]]]] = {
            "server/discover": self._discovered,
            "initialize": self._initialized,
        }

    # ---- opening

    def open(self, now: float, *, handshake: bool = False, timeout: float | None = None) -> bytes:
        """The first message; `handshake` skips `server/discover`. Called again, it opens anew.

        `timeout` is how many seconds the answer may take. Requests in flight stay so. Raises
        NoCommonRevision if no revision of ours can open.
        """
        self.state, self.failure, self._proposed, self._was_unread = State.NEW, None, [], False
        self._open_timeout = self.limits.deadline if timeout is None else timeout
        if self.offer.per_request and not handshake:
            return self._discover(self.offer.per_request[0], now)
        if not self.offer.handshake:
            raise NoCommonRevision(self.offer.newest_first, ["a handshake only"])
        return self._initialize(self.offer.handshake[0], now)

    def _discover(self, version: str, now: float, last: float | None = None) -> bytes:
        """`last` is when opening must be over; without it, it begins now."""
        self._move("send server/discover")
        self._proposed.append(version)
        terms = self._per_request_terms(revision(version), None, {})
        params = latest.RequestParams(meta=self.meta(version))
        body = terms.translation.write("params", "server/discover", params)
        timeout = Timeout(self._probe_timeout, self._left(now, last))
        return self._send("server/discover", body, now=now, timeout=timeout)[1]

    def _left(self, now: float, last: float | None) -> float:
        return self._open_timeout if last is None else max(0.0, last - now)

    def hold_probe(self) -> None:
        """The server wants a token first: it is there, and need not answer the probe soon."""
        for sent in self._probes():
            sent.due = sent.last

    def resume_probe(self, now: float) -> None:
        """The probe is sent again with a token, and has its whole time once more."""
        for sent in self._probes():
            sent.extend(now)

    def _probes(self) -> list[Sent]:
        return self.pending.of("server/discover")

    @property
    def _probe_timeout(self) -> float:
        """How long to wait for `server/discover`: for the first less, if a handshake can follow."""
        if len(self._proposed) > 1 or not self.offer.handshake:
            return self._open_timeout
        return min(self.limits.probe, self._open_timeout / 4)

    def _initialize(self, version: str, now: float, last: float | None = None) -> bytes:
        """`last` is when opening must be over; without it, it begins now."""
        self._move("send initialize")
        self._proposed.append(version)
        body = _dump(self.offer.offered(version))
        left = self._left(now, last)
        return self._send("initialize", body, now=now, timeout=Timeout(left, left))[1]

    def _answered(self, sent: Sent, result: bytes, now: float) -> list[Event]:
        if not self._opens(sent):
            return super()._answered(sent, result, now)
        try:
            return self._opening[sent.method](sent, result, now)
        except NoCommonRevision as error:
            return self._give_up(sent, error)
        except (DecodeError, StepError, *UNREADABLE) as error:
            return self._bad_answer(sent, error, now)

    def _bad_answer(self, sent: Sent, why: object, now: float) -> list[Event]:
        if sent.method not in self._opening or self.state is State.OPEN:
            return super()._bad_answer(sent, why, now)
        if sent.method == "server/discover":
            return self._fall_back(sent, why, now)
        return self._give_up(sent, BadAnswer(f"{sent.method}: {why}"))

    def _discovered(self, sent: Sent, result: bytes, now: float) -> list[Event]:
        """Source: 2026-07-28 server/discover, "Response"."""
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
        return self._opened(
            "receive server/discover result",
            self._per_request_terms(chosen, info, body["capabilities"]),
            body.get("instructions"),
        )

    def _initialized(self, sent: Sent, result: bytes, now: float) -> list[Event]:
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
        opened = self._opened("send notifications/initialized", terms, body.get("instructions"))
        return [Write(jsonrpc.notification("notifications/initialized")), *opened]

    def _opened(self, move: str, terms: Terms, instructions: str | None) -> list[Event]:
        self._move(move)
        self.agreed, self.instructions = terms, instructions
        return [Opened(terms)]

    def _per_request_terms(
        self, spoken: Revision, info: Mapping[str, Any] | None, capabilities: Mapping[str, Any]
    ) -> Terms:
        extensions = self.offer.extensions
        spoken_with = translation(spoken, Context(), self.tolerances, extensions, capabilities)
        return Terms(spoken_with, info, capabilities)

    def _refused(self, sent: Sent, frame: ErrorResponse, now: float) -> list[Event]:
        if not self._opens(sent):
            return super()._refused(sent, frame, now)
        supported = peek.supported_versions(frame.data)
        if sent.method == "initialize" and not supported:
            return self._give_up(sent, RemoteError(frame.code, frame.message))
        if sent.method == "server/discover" and not (
            supported and frame.code in error_codes.MODERN
        ):
            return self._fall_back(sent, f"{frame.message} ({frame.code})", now)
        return self._try_again(sent, supported, now)

    def _try_again(self, sent: Sent, supported: list[str], now: float) -> list[Event]:
        """Proposes one of the revisions that the server has named."""
        chosen = common_revision(self.offer, supported)
        if chosen is None or len(self._proposed) >= _MAX_ATTEMPTS:
            return self._give_up(sent, NoCommonRevision(self.offer.newest_first, supported))
        again = self._discover if chosen.era == "per-request" else self._initialize
        return [Write(again(chosen.name, now, sent.last))]

    def _on_error_response(self, frame: ErrorResponse, now: float) -> list[Event]:
        """An error without an id answers the only request that can be open before a session is."""
        if frame.id is None and self.state is State.ASKED and len(self.pending) == 1:
            (sent,) = self.pending.drain()
            return self._refused(sent, frame, now)
        return super()._on_error_response(frame, now)

    def _fall_back(self, sent: Sent, why: object, now: float) -> list[Event]:
        """Opens with a handshake: no server of the per-request era answers so."""
        if self.state is not State.ASKED:
            return [Ignored(f"server/discover: {why}")]
        if self.offer.handshake:
            return [Write(self._initialize(self.offer.handshake[0], now, sent.last))]
        ours = self.offer.newest_first
        return self._give_up(sent, NoCommonRevision(ours, ["a handshake only"], f"{why}"))

    def refused(self, id: Id, frame: ErrorResponse, now: float) -> list[Event]:
        """Takes an error as the answer to a request, whatever id it has."""
        sent = self.pending.pop(id)
        return [] if sent is None else self._refused(sent, frame, now)

    def failed(
        self, id: Id, error: SessionError, now: float, *, is_old: bool = False
    ) -> list[Event]:
        """Fails a request of ours; `is_old` if servers of the handshake era fail so."""
        sent = self.pending.pop(id)
        if sent is None:
            return []
        if is_old and self._opens(sent) and sent.method == "server/discover":
            return self._fall_back(sent, error, now)
        return self._give_up(sent, error)

    def _opens(self, sent: Sent) -> bool:
        return sent.method in self._opening and self.state is not State.OPEN

    def _late(self, sent: Sent, now: float) -> list[Event]:
        if not self._opens(sent):
            return super()._late(sent, now)
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
        """Whether the server had not read the probe when it was last late, or still has not.

        One that has just read it has as long for its answer as one that read it at once.
        """
        was_unread, self._was_unread = self._was_unread, self.is_unread()
        return was_unread or self._was_unread

    # ---- requests of the server

    def _requested(self, frame: Request) -> list[Event]:
        """Ignored in the per-request era, whose servers send no requests.

        Source: 2026-07-28 basic/transports/stdio.
        """
        if self.agreed is not None and self.agreed.translation.revision.era == "per-request":
            return [Ignored(f"a request of the server, {frame.method[:200]}")]
        if frame.method == "ping":
            return [Write(jsonrpc.response(frame.id, b"{}"))]
        method = None if self.agreed is None else self._method(self.agreed, frame.method, "request")
        if self.agreed is None or method is None:
            raise refusals.method_not_found(frame.method)
        self._require_room(frame)
        self._require_own(frame, method.capability)
        token = peek.request_params(frame.params or b"{}").meta.progress_token
        terms = msgspec.structs.replace(self.agreed, token=None if token is UNSET else token)
        called = Called(frame.id, frame.method, frame.params, terms)
        self.start(frame, terms, called)
        return [called]

    def _require_own(self, frame: Request, capability: str) -> None:
        """Raises RpcError if the request needs a capability that we have not declared."""
        if not declares(self.offer.declared, capability):
            raise refusals.method_not_found(frame.method, capability)
        params = _objects.decode(frame.params) if frame.params else {}
        for path in needed(frame.method, capability, params):
            if not declares(self.offer.declared, path):
                raise RpcError(error_codes.INVALID_PARAMS, f"the client does not offer `{path}`")

    @property
    def message_bytes(self) -> int:
        return self.limits.answer_bytes

    def too_long(self, line: TooLong, answers: Sequence[Id] | None = None) -> list[Event]:
        """An answer over the limit fails its request; if it is not known which, all that it may be.

        `answers` are the requests that the message's stream may answer, None for every one.
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

    def _give_up(self, sent: Sent, error: SessionError) -> list[Event]:
        """That request has no answer, nor will the session open if it needs one."""
        if self._opens(sent):
            self.state, self.failure = State.CLOSED, error
        return [Failed(sent, error)]

    def _may_report_error(self, id: Id | None) -> bool:
        """No error is sent in the per-request era, and none without an id in any."""
        era = self.agreed.translation.revision.era if self.agreed else "per-request"
        return id is not None and era == "handshake"

    # ---- requests of the client

    def meta(
        self,
        version: str | None = None,
        token: Id | None = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        """The `_meta` of a request of the per-request era, and `extra` beside it."""
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
    """The lowest level of log messages that requests of the per-request era ask for."""

    def _gate(self, method: str, params: Any, terms: Terms) -> None:
        known = terms.translation.methods.get(method)
        if known is None:
            owner = self.offer.extensions.owner(method)
            what = "it" if owner is None else f"the extension {owner.identifier}"
            raise NotOffered(method, f"{what} in {terms.translation.revision.name}", "server")
        theirs = known.direction == "client-to-server" and known.kind == "request"
        roots = {"roots": {"listChanged": self.offer.roots_change}}
        declared = terms.capabilities if theirs else {**self.offer.declared, **roots}
        if known.direction != "both" and not declares(declared, known.capability):
            raise NotOffered(method, known.capability, "server" if theirs else "client")


_objects: Final = msgspec.json.Decoder(dict[str, Any])
