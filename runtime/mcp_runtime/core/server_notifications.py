"""What a server tells its client unasked: changes, log messages, notifications of extensions.

Source: 2026-07-28 basic/patterns/subscriptions and server/utilities/logging.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import UNSET

from mcp_runtime.core import jsonrpc
from mcp_runtime.core.capabilities import declares
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.lifecycle import State
from mcp_runtime.core.log_levels import LEVELS, require_level
from mcp_runtime.core.running import Running
from mcp_runtime.core.subscriptions import LISTS, Change, Notice, Subscriptions
from mcp_runtime.core.translation import Terms
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest

_dump: Final = msgspec.json.Encoder().encode


class ServerNotifications(ABC):
    """The part of a server's session that sends notifications."""

    state: State
    input_ended: bool
    limits: Limits
    running: dict[Id, Running]

    principal = ""
    """The user or service that the client acts for; empty for nobody."""
    log_level: str | None = None
    """The level that the client has set for the session."""
    _declared: Mapping[str, Any] = MappingProxyType({})

    @abstractmethod
    def notify(self, method: str, params: Any, terms: Terms | None = None) -> bytes:
        """A notification of ours."""

    @abstractmethod
    def answer(self, id: Id, result: Any) -> bytes:
        """The response to a request."""

    @cached_property
    def subscriptions(self) -> Subscriptions:
        return Subscriptions(self.limits.subscriptions)

    def about(self, change: Change) -> list[bytes]:
        """The notifications of a change, for those who subscribed to it."""
        if self.input_ended or change.principal not in (None, self.principal):
            return []
        if change.notice is not None:
            return self._published(change.notice)
        if uri := change.uri:
            method, subscriptions = "notifications/resources/updated", self.subscriptions
            make = partial(latest.ResourceUpdatedNotificationParams, uri=uri)
            is_watched = uri in subscriptions.watched
            return self._changed(method, make, subscriptions.of_uri(uri), is_watched)
        if (what := change.list) not in LISTS:
            return []
        method, streams = f"notifications/{what}/list_changed", self.subscriptions.of_list(what)
        is_declared = declares(self._declared, f"{what}.listChanged")
        return self._changed(method, latest.NotificationParams, streams, is_declared)

    def _changed(
        self, method: str, make: Callable[..., Any], streams: Iterable[Id], in_session: bool
    ) -> list[bytes]:
        """A notification on each stream, and one in the session of a handshake."""
        sent = [
            self.notify(method, make(meta=tagged(id)), self.running[id].terms) for id in streams
        ]
        if in_session and self.state is State.OPEN:
            sent.append(self.notify(method, make()))
        return sent

    def _published(self, notice: Notice) -> list[bytes]:
        method, params, sent = notice.method, notice.params, list[bytes]()
        for id in self.subscriptions.of_member(notice.member, notice.value):
            if method in self.running[id].terms.translation.methods:
                meta = {**params.get("_meta", {}), "io.modelcontextprotocol/subscriptionId": id}
                sent.append(jsonrpc.notification(method, _dump({**params, "_meta": meta})))
        return sent

    def log(self, id: Id, terms: Terms, level: str, data: Any, logger: object = None) -> bytes:
        """A log message about a request; empty if the client does not want that level.

        Raises ValueError for an unknown level. In the per-request era a request that was answered
        or cancelled has no more log messages. Source: 2026-07-28 server/utilities/logging.
        """
        require_level(level)
        if not isinstance(logger, str | None):
            raise TypeError(f"the name of a logger is text, not {type(logger).__name__}")
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
        """Ends the open subscriptions of the client with a result.

        With `cancelling` a notification comes first, where subscriptions share a channel that the
        client still writes to.

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


def tagged(id: Id) -> latest.NotificationMetaObject:
    return latest.NotificationMetaObject(subscription_id=id)
