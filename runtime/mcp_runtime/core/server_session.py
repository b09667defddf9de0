"""The server's side: a handshake for those who bring one, and requests that stand for themselves.

Both are answered on one stream. A request whose `_meta` names a revision is served by that alone;
`initialize` begins a session, whose terms hold for the requests that name none.

Source: 2025-11-25 basic/lifecycle; 2026-07-28 basic/index, "_meta", and basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, cast

import msgspec
from msgspec import UNSET

from mcp_runtime.core import error_codes, jsonrpc, peek
from mcp_runtime.core.capabilities import declares, needed, required
from mcp_runtime.core.events import Called, Event, Ignored, Opened, Terms, Write
from mcp_runtime.core.jsonrpc import UNREADABLE, Id, Notification, Request
from mcp_runtime.core.lifecycle import SERVER, State
from mcp_runtime.core.negotiation import ServerOffer, heard
from mcp_runtime.core.session import Running, Session
from mcp_runtime.core.subscriptions import Subscriptions
from mcp_runtime.core.translation import Translation
from mcp_runtime.errors import NotOffered, RpcError
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import (
    Context,
    DecodeError,
    Method,
    StepError,
    latest,
    parse,
    revision,
)

__all__ = ["LEVELS", "ServerSession", "missing", "require_client"]

LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Of log messages, rising. Source: 2025-11-25 server/utilities/logging, "Log Levels"."""


_dump: Final = msgspec.json.Encoder().encode


class ServerSession(Session):
    """One client. `offer()` is what the server says of itself at the time."""

    role = SERVER

    def __init__(
        self,
        offer: Callable[[], ServerOffer],
        *,
        next_id: Callable[[], Id],
        limits: Limits = DEFAULT,
    ) -> None:
        super().__init__(next_id=next_id, limits=limits)
        self.offer = offer
        self.stateless = False
        """Whether there is no handshake here: each request stands for itself."""
        self.guard: Callable[[Request, str], None] | None = None
        """Sees a request and the revision that it tells, and may raise RpcError."""
        self.log_level: str | None = None
        """The level that the client has set for the session."""
        self.subscriptions = Subscriptions(limits.subscriptions)
        self._declared: Mapping[str, Any] = {}
        self._crossings: dict[str, Translation] = {}

    # ---- requests

    def _on_request(self, frame: Request, now: float) -> list[Event]:
        terms = None
        try:
            if (terms := self._terms(frame)) is None:
                return self._before(frame)
            self._require_room(frame)
            return self._admit(frame, terms)
        except RpcError as refusal:
            era = "handshake" if terms is None else terms.crossing.revision.era
            code = error_codes.sendable(refusal.code, era)
            return [_refusal(frame.id, code, refusal.message, refusal.data)]
        except (DecodeError, StepError, *UNREADABLE) as error:
            return [_refusal(frame.id, error_codes.INVALID_PARAMS, f"Invalid params: {error}")]

    def _require_room(self, frame: Request) -> None:
        if frame.id in self.running:
            raise RpcError(error_codes.INVALID_REQUEST, "a request with that id is in flight")
        if len(self.running) >= self.limits.in_flight:
            raise RpcError(
                error_codes.BUSY, f"busy: {self.limits.in_flight} requests are in flight"
            )

    def _terms(self, frame: Request) -> Terms | None:
        """What the request itself tells, or the handshake did; None before there was one."""
        meta = peek.request_meta(frame.params)
        token = None if meta.progress_token is UNSET else meta.progress_token
        if isinstance(meta.protocol_version, str):
            return self._told(frame, meta, meta.protocol_version, token)
        if self.agreed is None or token is None:
            return self.agreed
        return msgspec.structs.replace(self.agreed, token=token)

    def _told(
        self, frame: Request, meta: peek.RequestMeta, version: str, token: Id | None
    ) -> Terms:
        if not isinstance(meta.client_capabilities, dict):
            raise RpcError(
                error_codes.INVALID_PARAMS, "Invalid params: `_meta` has no clientCapabilities"
            )
        if self.guard is not None:
            self.guard(frame, version)
        offer = self.offer()
        if version not in offer.per_request:
            data = {"supported": list(offer.newest_first), "requested": version}
            raise RpcError(error_codes.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        if meta.log_level is not UNSET and meta.log_level not in LEVELS:
            raise RpcError(
                error_codes.INVALID_PARAMS, "Invalid params: `_meta` has an unknown logLevel"
            )
        info = None if meta.client_info is UNSET else meta.client_info
        level = None if meta.log_level is UNSET else meta.log_level
        capabilities = cast("dict[str, Any]", meta.client_capabilities)
        return Terms(self._crossing(version), info, capabilities, token, level)

    def _crossing(self, version: str) -> Translation:
        """For a revision without handshake, whose messages carry all that others need."""
        if version not in self._crossings:
            self._crossings[version] = Translation(revision(version), Context(), self.tolerances)
        return self._crossings[version]

    def _before(self, frame: Request) -> list[Event]:
        """A request that tells no revision, where no handshake did."""
        if self.stateless:
            raise RpcError(
                error_codes.INVALID_PARAMS, "Invalid params: `_meta` has no protocolVersion"
            )
        if frame.method == "ping" and self.offer().handshake:
            return [Write(jsonrpc.answer(frame.id, b"{}"))]
        if frame.method == "initialize":
            return self._initialize(frame)
        lacks_meta = bool(self.offer().per_request)
        code = error_codes.INVALID_PARAMS if lacks_meta else error_codes.INVALID_REQUEST
        why = "neither `initialize` nor a protocolVersion in `_meta` has told the revision"
        raise RpcError(code, why)

    def _admit(self, frame: Request, terms: Terms) -> list[Event]:
        if frame.method == "initialize" and self.agreed is not None:
            raise RpcError(error_codes.INVALID_REQUEST, "the session is initialized already")
        method = terms.crossing.revision.methods.get(frame.method)
        if not self._may_send(method, "request") or method is None:
            self._require_extra(frame.method)
        else:
            self._require_offered(method)
            if own := self._own.get(frame.method):
                return own(self, frame, terms)
        self.running[frame.id] = Running(frame.method, terms)
        return [Called(frame.id, frame.method, frame.params, terms)]

    def _require_extra(self, method: str) -> None:
        if method not in self.offer().methods:
            raise RpcError(error_codes.METHOD_NOT_FOUND, f"Method not found: {method[:200]}")

    def _require_offered(self, method: Method) -> None:
        offer = self.offer()
        if not offer.has(method.capability) and method.name not in offer.methods:
            why = (
                f"Method not found: {method.name} needs `{method.capability}`, which is not offered"
            )
            raise RpcError(error_codes.METHOD_NOT_FOUND, why)

    # ---- the session's own methods

    def _initialize(self, frame: Request) -> list[Event]:
        offer, spoken = self.offer(), self._spoken(frame)
        self.tolerances.decode(revision(spoken), "params", "initialize", frame.params or b"{}")
        asked = heard(frame.params, spoken)
        self._move("send initialize result")
        context = Context(
            client_info=asked["clientInfo"],
            client_capabilities=asked["capabilities"],
            server_info=latest.to_wire(offer.info),
        )
        crossing = Translation(revision(spoken), context, self.tolerances)
        self.agreed = Terms(crossing, asked["clientInfo"], asked["capabilities"])
        self._declared = offer.declared
        return [Write(jsonrpc.answer(frame.id, _dump(offer.initialized(spoken))))]

    def _spoken(self, frame: Request) -> str:
        """The revision that was asked for, or our newest. Raises RpcError if we have none."""
        asked = peek.protocol_version(frame.params or b"{}")
        ours = self.offer().handshake
        if not ours:
            data = {"supported": list(self.offer().newest_first), "requested": asked}
            raise RpcError(error_codes.INVALID_PARAMS, "Unsupported protocol version", data)
        return asked if asked in ours else ours[0]

    def _ping(self, frame: Request, terms: Terms) -> list[Event]:
        terms.crossing.read_params(frame.method, frame.params)
        return [Write(jsonrpc.answer(frame.id, b"{}"))]

    def _discover(self, frame: Request, terms: Terms) -> list[Event]:
        terms.crossing.read_params(frame.method, frame.params)
        result = self.offer().discovered()
        body = terms.crossing.write_result(frame.method, result)
        return [Write(jsonrpc.answer(frame.id, body))]

    def _set_level(self, frame: Request, terms: Terms) -> list[Event]:
        self.log_level = terms.crossing.read_params(frame.method, frame.params).level
        return [Write(jsonrpc.answer(frame.id, b"{}"))]

    def _subscribe(self, frame: Request, terms: Terms) -> list[Event]:
        params = terms.crossing.read_params(frame.method, frame.params)
        if not self.offer().watchable(params.uri):
            data = {"uri": params.uri[:2000]}
            raise RpcError(error_codes.RESOURCE_NOT_FOUND, "Resource not found", data)
        self.subscriptions.watch(params.uri)
        return [Write(jsonrpc.answer(frame.id, b"{}"))]

    def _unsubscribe(self, frame: Request, terms: Terms) -> list[Event]:
        params = terms.crossing.read_params(frame.method, frame.params)
        self.subscriptions.unwatch(params.uri)
        return [Write(jsonrpc.answer(frame.id, b"{}"))]

    def _listen(self, frame: Request, terms: Terms) -> list[Event]:
        """Source: 2026-07-28 basic/patterns/subscriptions, "Acknowledgment"."""
        params = terms.crossing.read_params(frame.method, frame.params)
        kept = self.subscriptions.listen(frame.id, params.notifications, self.offer())
        self.running[frame.id] = Running(frame.method, terms)
        told = latest.SubscriptionsAcknowledgedNotificationParams(
            notifications=kept, meta=_tagged(frame.id)
        )
        data = self.notify("notifications/subscriptions/acknowledged", told, terms)
        return [Write(data)]

    _own: ClassVar[Mapping[str, Callable[[Any, Request, Terms], list[Event]]]] = {
        "ping": _ping,
        "server/discover": _discover,
        "logging/setLevel": _set_level,
        "resources/subscribe": _subscribe,
        "resources/unsubscribe": _unsubscribe,
        "subscriptions/listen": _listen,
    }

    def _result(self, running: Running, result: Any) -> bytes:
        """Each result of the per-request era has a type and names the server.

        Source: 2026-07-28 basic/index, "_meta" and "Result Types".
        """
        body = super()._result(running, result)
        if running.terms.crossing.revision.era == "handshake":
            return body
        if isinstance(result, dict) or getattr(result, "meta", UNSET) is not UNSET:
            return self._signed(parse(body))
        return b"%b,%b" % (body[:-1], self.offer().signature)

    def _signed(self, result: Any) -> bytes:
        """A result that may lack a type, and has its own say of `_meta`."""
        info = {"io.modelcontextprotocol/serverInfo": latest.to_wire(self.offer().info)}
        meta = {**info, **result.get("_meta", {})}
        return _dump({"resultType": "complete", **result, "_meta": meta})

    # ---- notifications

    def _on_notification(self, frame: Notification, now: float) -> list[Event]:
        if frame.method != "notifications/initialized":
            return self._heeded(super()._on_notification(frame, now))
        if self.agreed is None or self.state is not State.AGREED:
            return [Ignored("notifications/initialized has no place here")]
        self._move("receive notifications/initialized")
        return [Opened(self.agreed)]

    def _heeded(self, events: list[Event]) -> list[Event]:
        """A subscription ends with its request."""
        for id in self.subscriptions.open - self.running.keys():
            self.subscriptions.end(id)
        return events

    def lost(self, why: str = "the peer is gone") -> list[Event]:
        return self._heeded(super().lost(why))

    # ---- what the server tells

    def changed(self, what: str) -> list[bytes]:
        """Tells that the list of `tools`, `prompts` or `resources` has changed, to who listens."""
        method = f"notifications/{what}/list_changed"
        sent = [
            self.notify(method, latest.NotificationParams(meta=_tagged(id)), self.running[id].terms)
            for id in self.subscriptions.of_list(what)
        ]
        if self.state is State.OPEN and declares(self._declared, f"{what}.listChanged"):
            sent.append(self.notify(method, latest.NotificationParams()))
        return sent

    def updated(self, uri: str) -> list[bytes]:
        """Tells that a resource has changed, to who watches it."""
        method = "notifications/resources/updated"
        make = latest.ResourceUpdatedNotificationParams
        sent = [
            self.notify(method, make(uri=uri, meta=_tagged(id)), self.running[id].terms)
            for id in self.subscriptions.of_uri(uri)
        ]
        if self.state is State.OPEN and uri in self.subscriptions.watched:
            sent.append(self.notify(method, make(uri=uri)))
        return sent

    def log(self, id: Id, terms: Terms, level: str, data: Any, logger: object = None) -> bytes:
        """A log message about a request; empty where the client wants none of that level.

        Raises ValueError for an unknown level. In the per-request era there is none when the
        request is answered or cancelled. Source: 2026-07-28 server/utilities/logging.
        """
        if level not in LEVELS:
            raise ValueError(f"{level!r} is no level of log messages: {', '.join(LEVELS)}")
        if not isinstance(logger, str | None):
            raise TypeError(f"the name of a logger is text, not {type(logger).__name__}")
        running = self.running.get(id)
        least = self.log_level
        if terms.crossing.revision.era == "per-request":
            if running is None or running.terms is not terms or terms.log_level is None:
                return b""
            least = terms.log_level
        if least is not None and LEVELS.index(level) < LEVELS.index(least):
            return b""
        params: Any = latest.LoggingMessageNotificationParams(
            level=level,  # type: ignore[arg-type]
            data=data,
            logger=UNSET if logger is None else logger,
        )
        return self.notify("notifications/message", params, terms)

    def end_subscriptions(self, *, cancelling: bool = True) -> list[bytes]:
        """Ends those of the client's streams that are open, in good order.

        `cancelling` tells so before, where streams share a channel.

        Source: 2026-07-28 basic/patterns/subscriptions, "Graceful Closure", and cancellation.
        """
        sent: list[bytes] = []
        for id in sorted(self.subscriptions.open, key=repr):
            if cancelling:
                body = _dump({"requestId": id, "reason": "the server ends"})
                sent.append(jsonrpc.notification("notifications/cancelled", body))
            meta = latest.SubscriptionsListenResultMetaObject(subscription_id=id)
            result = latest.SubscriptionsListenResult(meta=meta, result_type="complete")
            sent.append(self.answer(id, result))
            self.subscriptions.end(id)
        return sent

    def _gate(self, method: str, params: Any, terms: Terms) -> None:
        known = terms.crossing.revision.methods.get(method)
        if known is None:
            raise NotOffered(method, f"it in {terms.crossing.revision.name}")
        if known.kind == "notification":
            self._require_declared(known, terms)
        else:
            require_client(method, known.capability, params, terms)

    def _require_declared(self, method: Method, terms: Terms) -> None:
        """By us, or by the client where it is about what the client does."""
        sides = self.offer().declared, terms.capabilities
        is_declared = any(declares(side, method.capability) for side in sides)
        if method.direction != "both" and not is_declared:
            raise NotOffered(method.name, f"{method.capability}: the server declares none")


def require_client(method: str, capability: str, params: Any, terms: Terms) -> None:
    """Raises NotOffered for what the client has not declared."""
    told: Mapping[str, Any] = {} if params is UNSET else latest.to_wire(params)
    for path in needed(method, capability, told):
        if not declares(terms.capabilities, path):
            raise NotOffered(method, path)


def missing(error: NotOffered) -> RpcError:
    """The error for a request that cannot be served without what its client has not declared.

    Source: 2026-07-28 basic/index, "Error Codes".
    """
    data = {"requiredCapabilities": required(error.capability)}
    why = f"the client does not declare `{error.capability}`"
    return RpcError(error_codes.MISSING_CLIENT_CAPABILITY, why, data)


def _tagged(id: Id) -> latest.NotificationMetaObject:
    return latest.NotificationMetaObject(subscription_id=id)


def _refusal(id: Id, code: int, message: str, data: Any = None) -> Write:
    return Write(jsonrpc.refusal(id, code, message, b"" if data is None else _dump(data)))
