"""The server's session, in both eras: with a handshake, or with self-contained requests.

One stream may carry both. A request whose `_meta` names a revision is served by that revision
alone; `initialize` begins a session, whose revision holds for all requests without such a `_meta`.

Source: 2025-11-25 basic/lifecycle; 2026-07-28 basic/index, "_meta", basic/versioning,
basic/patterns/subscriptions and server/utilities/logging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, Final

import msgspec
from msgspec import UNSET

from mcp_runtime.core.session.events import Called, Event, Ignored, Opened, Write
from mcp_runtime.core.session.held import PARSED, HeldBytes
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.session.pending import Pending
from mcp_runtime.core.session.running_requests import RunningRequest
from mcp_runtime.core.session.session import Session, under_first_name
from mcp_runtime.core.session.subscriptions import (
    LISTS,
    Change,
    Notice,
    Subscriptions,
    other_members,
)
from mcp_runtime.core.terms.capabilities import declares, require_client
from mcp_runtime.core.terms.extension import accepted
from mcp_runtime.core.terms.log_levels import LEVELS, require_level
from mcp_runtime.core.terms.negotiation import ServerOffer, initialize_params
from mcp_runtime.core.terms.role import SERVER
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.core.terms.translation import Terms, Translations, translation
from mcp_runtime.core.wire import error_codes, jsonrpc, peek, rpc_errors
from mcp_runtime.core.wire.jsonrpc import Id, Notification, Request
from mcp_runtime.errors import NotOffered, RpcError
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import (
    HANDLERS,
    Context,
    Method,
    Revision,
    latest,
    parse,
    revision,
)

ANSWERED_AT_ONCE: Final = (
    "ping",
    "server/discover",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
)
"""Methods answered by the session itself, without a handler, once a revision is known."""
_dump: Final = msgspec.json.Encoder().encode


class ServerSession(Session):
    """A session with one client. `offer()` returns the server's declaration at this moment."""

    role = SERVER
    has_handshake: ClassVar = True
    """False if clients may not send `initialize`: each request must name its revision."""
    begins_anew = True
    """True if a second `initialize` starts again and ends all open requests, False if it is
    refused."""
    is_anonymous = False
    """True for a client without authentication among several clients of the server."""
    principal = ""
    """The user or service on whose behalf the client acts; empty if unknown."""
    log_level: str | None = None
    """The level set by `logging/setLevel` for the session."""
    _declared: Mapping[str, Any] = MappingProxyType({})
    _agreed_bytes = 0
    """The bytes counted for the client's info and capabilities."""

    def __init__(
        self,
        offer: Callable[[], ServerOffer],
        *,
        next_id: Callable[[], Id],
        limits: Limits = DEFAULT,
        translations: Translations | None = None,
        pending: Pending | None = None,
        held: HeldBytes | None = None,
    ) -> None:
        translations = translations or Translations(Tolerances(SERVER, offer().strict))
        super().__init__(
            next_id=next_id,
            limits=limits,
            tolerances=translations.tolerances,
            pending=pending,
            held=held,
        )
        self.offer = offer
        self._translations = translations

    @cached_property
    def subscriptions(self) -> Subscriptions:
        return Subscriptions(self.limits, self.held)

    # ---- requests

    def _handle_request(self, frame: Request) -> list[Event]:
        offer, params = self.offer(), peek.request_params(frame.params or b"{}")
        version, token = params.meta.protocol_version, params.meta.progress_token
        if isinstance(version, str):
            terms: Terms | None = self._per_request_terms(frame, params, version, offer)
        elif self.agreed is None or token is UNSET:
            terms = self.agreed
        else:
            terms = msgspec.structs.replace(self.agreed, token=token)
        era = "handshake" if terms is None else terms.translation.revision.era
        if terms is None or (frame.method == "initialize" and era == "handshake"):
            return self._before_handshake(frame)
        try:
            self._require_room(frame)
            return self._admit(under_first_name(frame, terms.translation.revision), terms, offer)
        except RpcError as refusal:
            refusal.code = error_codes.sendable(refusal.code, era)
            raise

    def _check(self, frame: Request, params: peek.RequestParams, version: str) -> None:
        """Raise RpcError if a self-contained request must not be served; here all are served."""

    def _per_request_terms(
        self, frame: Request, params: peek.RequestParams, version: str, offer: ServerOffer
    ) -> Terms:
        meta = params.meta
        capabilities: Any = meta.client_capabilities
        if capabilities.__class__ is not dict:  # `isinstance` would need a `cast`: a call more
            raise rpc_errors.invalid_params("`_meta` has no clientCapabilities")
        self._check(frame, params, version)
        if version not in offer.per_request:
            data = {"supported": list(offer.newest_first), "requested": version}
            raise RpcError(error_codes.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        if meta.log_level is not UNSET and meta.log_level not in LEVELS:
            raise rpc_errors.invalid_params("`_meta` has an unknown logLevel")
        spoken = self._translations.of(version, offer.extensions, capabilities)
        return Terms(
            spoken,
            None if meta.client_info is UNSET else meta.client_info,
            capabilities,
            None if meta.progress_token is UNSET else meta.progress_token,
            None if meta.log_level is UNSET else meta.log_level,
            offer.signature(version),
        )

    def _revision_of(self, frame: Request | Notification) -> Revision:
        if (version := peek.named_version(frame.params)) in self.offer().per_request:
            return revision(version)
        if self.agreed is None and frame.method == "initialize" and self.offer().handshake:
            return revision(self._choose_revision(peek.proposed_version(frame.params)))
        return super()._revision_of(frame)

    def _before_handshake(self, frame: Request) -> list[Event]:
        """Answer a request without a revision, before any handshake."""
        if not self.has_handshake:
            raise rpc_errors.invalid_params("`_meta` has no protocolVersion")
        if frame.method == "ping" and self.offer().handshake:
            return [Write(jsonrpc.response(frame.id, b"{}"))]
        if frame.method == "initialize":
            return self._initialize(frame)
        lacks_meta = bool(self.offer().per_request)
        code = error_codes.INVALID_PARAMS if lacks_meta else error_codes.INVALID_REQUEST
        why = "neither `initialize` nor a protocolVersion in `_meta` has named the revision"
        raise RpcError(code, why)

    def _admit(self, frame: Request, terms: Terms, offer: ServerOffer) -> list[Event]:
        # The checks depend on the method and the offer only. `admitted` remembers the offer by
        # which a method passed them: any change of the server makes a new offer, and a new check.
        admitted = terms.translation.admitted
        if admitted.get(frame.method) is not offer:
            method = self._method(terms, frame.method, "request")
            if method is None:
                self._require_registered(frame.method, terms)
            else:
                self._require_offered(method, terms)
                if frame.method == "subscriptions/listen":
                    return self._listen(frame, terms)
                if frame.method in ANSWERED_AT_ONCE:
                    return [Write(jsonrpc.response(frame.id, self._answer_at_once(frame, terms)))]
            admitted[frame.method] = offer
        called = Called(frame.id, frame.method, frame.params, terms)
        self.start(frame, terms, called)
        return [called]

    def _require_registered(self, method: str, terms: Terms) -> None:
        offer, spoken = self.offer(), terms.translation.revision.name
        owner = offer.extensions.owner(method)
        if spoken in offer.passed:
            return
        if method not in offer.methods or (owner is not None and spoken not in owner.revisions):
            raise rpc_errors.method_not_found(method)
        if owner is not None:
            raise rpc_errors.missing_extension(owner.identifier)

    def _require_offered(self, method: Method, terms: Terms) -> None:
        offer = self.offer()
        passed = offer.passed.get(terms.translation.revision.name, {})
        is_declared = any(declares(side, method.capability) for side in (offer.declared, passed))
        if not is_declared and method.name not in offer.methods:
            raise rpc_errors.method_not_found(method.name, method.capability)

    # ---- methods answered by the session

    def _initialize(self, frame: Request) -> list[Event]:
        if len(frame.params) > (limit := self.limits.initialize_bytes):
            raise rpc_errors.invalid_params(f"more than {limit} bytes (Limits.initialize_bytes)")
        offer = self.offer()
        spoken = self._choose_revision(peek.protocol_version(frame.params or b"{}"))
        body = frame.params or b"{}"
        body, _ = self.tolerances.decode(revision(spoken), "params", "initialize", body)
        params = initialize_params(body, spoken, self.tolerances)
        # Only now, with valid params: a faulty second `initialize` must not end the first session.
        ended = [] if self.agreed is None else self._reset()
        self._move("send initialize result")
        context = Context(
            client_info=params["clientInfo"],
            client_capabilities=params["capabilities"],
            server_info=latest.to_wire(offer.info),
        )
        theirs = params["capabilities"]
        self.agreed = Terms(
            translation(revision(spoken), context, self.tolerances, offer.extensions, theirs),
            params["clientInfo"],
            theirs,
        )
        self._declared = offer.declared
        self._keep(PARSED * len(frame.params))
        result = offer.initialize_result(spoken, anonymous=self.is_anonymous)
        return [*ended, Write(jsonrpc.response(frame.id, _dump(result)))]

    def _reset(self) -> list[Event]:
        """End all open requests and subscriptions: another client begins on the same stream.

        A bridge in front of the server may reuse its stream for the next client.
        """
        if not self.begins_anew:
            raise RpcError(error_codes.INVALID_REQUEST, "the session is initialized already")
        ended = self.lost("the client has sent another `initialize`")
        self.state, self.log_level = State.NEW, None
        self.subscriptions.watch_only(())
        return ended

    def _choose_revision(self, proposed: str) -> str:
        """Return the proposed revision if it is ours, else our newest.

        Raises RpcError if none of our revisions has a handshake.
        """
        ours = self.offer().handshake
        if not ours:
            data = {"supported": list(self.offer().newest_first), "requested": proposed}
            raise RpcError(error_codes.INVALID_PARAMS, "Unsupported protocol version", data)
        return proposed if proposed in ours else ours[0]

    def _answer_at_once(self, frame: Request, terms: Terms) -> bytes:
        """Answer a method of ANSWERED_AT_ONCE; return the result as JSON."""
        params = terms.translation.read("params", frame.method, frame.params)
        match frame.method:
            case "server/discover":
                return terms.translation.write(
                    "result", frame.method, self.offer().discover_result()
                )
            case "logging/setLevel":
                self.log_level = params.level
            case "resources/subscribe":
                self._subscribe(params.uri)
            case "resources/unsubscribe":
                self.subscriptions.unwatch(params.uri)
            case _:
                pass
        return b"{}"

    def _subscribe(self, uri: str) -> None:
        if not self.offer().can_subscribe(uri):
            raise rpc_errors.resource_not_found(uri)
        self.subscriptions.watch(uri)

    def _listen(self, frame: Request, terms: Terms) -> list[Event]:
        """Open a subscription stream.

        Source: 2026-07-28 basic/patterns/subscriptions, "Acknowledgment".
        """
        params = terms.translation.read("params", frame.method, frame.params)
        wanted = params.notifications
        offer, others = self.offer(), other_members(wanted)
        more = accepted(terms.translation.extensions, others, self.principal)
        for name in others.keys() & offer.filters.keys():
            more[name] = offer.filters[name](others[name], self.principal)
        kept = self.subscriptions.listen(frame.id, wanted, offer, more)
        self.start(frame, terms)
        acknowledged = latest.SubscriptionsAcknowledgedNotificationParams(
            notifications=kept, meta=stream_tag(frame.id)
        )
        return [Write(self.notify("notifications/subscriptions/acknowledged", acknowledged, terms))]

    def _result(self, running: RunningRequest, result: Any) -> bytes:
        """Return the result as JSON; in the per-request era with its type and the server's name.

        Source: 2026-07-28 basic/index, "_meta" and "Result Types".
        """
        terms = running.terms
        body = terms.translation.write("result", running.method, result)
        if not terms.signature:
            return body
        if isinstance(result, dict) or getattr(result, "meta", UNSET) is not UNSET:
            return self._sign(parse(body), parse(b"{%b" % terms.signature))
        return b"%b,%b" % (body[:-1], terms.signature)

    def _sign(self, result: Any, signature: Any) -> bytes:
        """Return a result with the server's name in its `_meta`, and a type if it has none.

        A result passed on from another server carries the other name until here.
        """
        meta = {**result.get("_meta", {}), **signature["_meta"]}
        return _dump({"resultType": "complete", **result, "_meta": meta})

    # ---- notifications

    def _on_notification(self, frame: Notification, now: float) -> list[Event]:
        if frame.method != "notifications/initialized":
            return self._end_subscriptions(super()._on_notification(frame, now))
        if self.agreed is None or self.state is not State.AGREED:
            return [Ignored("notifications/initialized is not expected now")]
        self._move("receive notifications/initialized")
        return [Opened(self.agreed)]

    def _end_subscriptions(self, events: list[Event]) -> list[Event]:
        """End each subscription whose request has ended."""
        for id in self.subscriptions.open - self.running.keys():
            self.subscriptions.end(id)
        return events

    def lost(self, why: str = "the peer is gone") -> list[Event]:
        ended = self._end_subscriptions(super().lost(why))
        self._keep(0)
        self.subscriptions.watch_only(())
        return ended

    def _keep(self, agreed_bytes: int) -> None:
        self.held.change(agreed_bytes - self._agreed_bytes)
        self._agreed_bytes = agreed_bytes

    # ---- notifications of changes and logs

    def about(self, change: Change) -> list[bytes]:
        """Return the notifications of a change for the subscriptions of this client."""
        if self.input_ended or change.principal not in (None, self.principal):
            return []
        if change.notice is not None:
            return self._publish(change.notice)
        if uri := change.uri:
            method, subscriptions = "notifications/resources/updated", self.subscriptions
            make = partial(latest.ResourceUpdatedNotificationParams, uri=uri)
            is_watched = uri in subscriptions.watched
            return self._notices_of_change(method, make, subscriptions.of_uri(uri), is_watched)
        if (what := change.list) not in LISTS:
            return []
        method, streams = f"notifications/{what}/list_changed", self.subscriptions.of_list(what)
        is_declared = declares(self._declared, f"{what}.listChanged")
        return self._notices_of_change(method, latest.NotificationParams, streams, is_declared)

    def _notices_of_change(
        self, method: str, make: Callable[..., Any], streams: Iterable[Id], in_session: bool
    ) -> list[bytes]:
        """Return one notification per subscribed stream, and one more for a handshake session.

        A client whose revision lacks the notification gets none.
        """
        open_terms = {id: self.running[id].terms for id in streams}
        sent = [
            self.notify(method, make(meta=stream_tag(id)), terms)
            for id, terms in open_terms.items()
            if method in terms.translation.methods
        ]
        agreed = self.agreed if in_session and self.state is State.OPEN else None
        if agreed is not None and method in agreed.translation.methods:
            sent.append(self.notify(method, make()))
        return sent

    def _publish(self, notice: Notice) -> list[bytes]:
        method, params, sent = notice.method, notice.params, list[bytes]()
        handled = revision(HANDLERS)
        for id in self.subscriptions.of_member(notice.member, notice.value):
            terms = self.running[id].terms
            if method not in terms.translation.methods:
                continue
            meta = {**params.get("_meta", {}), "io.modelcontextprotocol/subscriptionId": id}
            tagged_params = {**params, "_meta": meta}
            if method in handled.methods:
                model = latest.from_wire(handled.type_of("params", method), tagged_params)
                sent.append(self.notify(method, model, terms))
            else:
                name = terms.translation.revision.wire_name(method)
                sent.append(jsonrpc.notification(name, _dump(tagged_params)))
        return sent

    def log(self, id: Id, terms: Terms, level: str, data: Any, logger: object = None) -> bytes:
        """Return the bytes of a log message about a request; empty if the client filters its level.

        They are empty too if the client's revision has no log messages, and in the per-request era
        once the request is answered or cancelled.
        Raises ValueError for an unknown level, TypeError if `logger` is neither text nor None.
        Source: 2026-07-28 server/utilities/logging.
        """
        require_level(level)
        if not isinstance(logger, str | None):
            raise TypeError(f"the name of a logger is text, not {type(logger).__name__}")
        if "notifications/message" not in terms.translation.methods:
            return b""
        running = self.running.get(id)
        least = self.log_level
        if terms.translation.revision.era == "per-request":
            if running is None or running.terms is not terms or terms.log_level is None:
                return b""
            least = terms.log_level
        if least is not None and LEVELS.index(level) < LEVELS.index(least):
            return b""
        params: Any = latest.LoggingMessageNotificationParams(
            level=level,  # type: ignore[arg-type]  # one of LEVELS
            data=data,
            logger=UNSET if logger is None else logger,
        )
        return self.notify("notifications/message", params, terms)

    def end_subscriptions(self, *, cancelling: bool = True) -> list[bytes]:
        """End each open subscription with a result; return the messages to send.

        With `cancelling` a cancellation precedes each result: it is needed where subscriptions
        share a channel on which the client still sends.

        Source: 2026-07-28 basic/patterns/subscriptions, "Graceful Closure", and cancellation.
        """
        sent: list[bytes] = []
        for id in sorted(self.subscriptions.open, key=repr):
            if cancelling and not self.input_ended:
                sent.append(jsonrpc.cancellation(id, "the server ends"))
            meta = latest.SubscriptionsListenResultMetaObject(subscription_id=id)
            result = latest.SubscriptionsListenResult(meta=meta, result_type="complete")
            sent.append(self.answer(id, result))
            self.subscriptions.end(id)
        return sent

    def _gate(self, method: str, params: Any, terms: Terms) -> None:
        known = terms.translation.methods.get(method)
        if known is None:
            missing = f"it in {terms.translation.revision.name}"
            raise NotOffered(method, "", "client", missing=missing)
        if known.kind == "notification":
            self._require_declared(known, terms)
        else:
            require_client(method, known.capability, params, terms.capabilities)

    def _require_declared(self, method: Method, terms: Terms) -> None:
        """Raise NotOffered if neither side has declared the notification's capability."""
        sides = self.offer().declared, terms.capabilities
        is_declared = any(declares(side, method.capability) for side in sides)
        if method.direction != "both" and not is_declared:
            raise NotOffered(method.name, method.capability, "server")


def stream_tag(id: Id) -> latest.NotificationMetaObject:
    return latest.NotificationMetaObject(subscription_id=id)
