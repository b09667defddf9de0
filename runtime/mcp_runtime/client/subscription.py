"""A subscription to changes on the server; each change comes once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mcp_runtime.core.session.events import Notified
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.revisions import latest as t

What: TypeAlias = Literal["tools", "prompts", "resources", "resource"]


class Change(NamedTuple):
    """A change of a list, or of the resource named by `uri`."""

    what: What
    uri: str | None = None


_LISTS: Final[tuple[What, ...]] = ("tools", "prompts", "resources")
_CHANGES: Final = {f"notifications/{what}/list_changed": Change(what) for what in _LISTS}


class Subscription:
    """An asynchronous iterator, which ends when the server or the client ends the subscription.

    A change repeated before it was taken is given once: it says something is stale, not how often.
    After a time without a connection, every subscribed change is given, and `forget` is called.
    `served` are the changes the server agreed to report.
    """

    def __init__(self, wanted: t.SubscriptionFilter, forget: Callable[[], object]) -> None:
        self.id: Id | None = None
        self.wanted = wanted
        self.served = wanted
        self.acknowledged = asyncio.Event()
        self._changes: dict[Change, None] = {}
        self._changed = asyncio.Event()
        self._error: Exception | None = None
        self._is_over = False
        self._was_served = False
        self._forget = forget

    def deliver(self, event: Notified) -> None:
        if event.method == "notifications/subscriptions/acknowledged":
            self.served = event.params.notifications
            self.acknowledged.set()
            if self._was_served:
                self.report_all_as_changed()
            self._was_served = True
        elif (change := _change(event)) is not None and self._wants(change):
            self._changes[change] = None
            self._changed.set()

    def report_all_as_changed(self) -> None:
        """Give every subscribed change, and forget the cached answers it concerns."""
        if self._is_over:
            return
        self._forget()
        uris = self.wanted.resource_subscriptions
        lists = (Change(what) for what in _LISTS if self._wants(Change(what)))
        resources = (Change("resource", uri) for uri in (() if uris is t.UNSET else uris))
        self._changes.update(dict.fromkeys((*lists, *resources)))
        self._changed.set()

    def end(self, error: Exception | None = None) -> None:
        """End the iteration after the changes that wait, with `error` if there is one."""
        self._is_over, self._error = True, error
        self.acknowledged.set()
        self._changed.set()

    def narrow(self, capabilities: Mapping[str, Any]) -> None:
        """Take the lists out of `served` whose changes a server of these capabilities does not
        report. In the handshake era no message says so.
        """
        wire: dict[str, Any] = t.to_wire(self.wanted)
        for what in _LISTS:
            offered: Mapping[str, Any] = capabilities.get(what) or {}
            if not offered.get("listChanged"):
                wire.pop(f"{what}ListChanged", None)
        self.served = t.from_wire(t.SubscriptionFilter, wire)

    @property
    def refused(self) -> list[What]:
        """The wanted lists whose changes the server does not report."""
        name = "{}_list_changed"
        return [
            what
            for what in _LISTS
            if getattr(self.wanted, name.format(what)) is True
            and getattr(self.served, name.format(what)) is not True
        ]

    def require_accepted(self) -> None:
        """Raise the error with which the server has refused or ended the subscription."""
        if self._error is not None:
            raise self._error

    def _wants(self, change: Change) -> bool:
        if change.what == "resource":
            return change.uri is not None and self._watches(change.uri)
        return getattr(self.wanted, f"{change.what}_list_changed") is True

    def _watches(self, uri: str) -> bool:
        """Return True if this URI, or one above it, is watched."""
        watched = self.wanted.resource_subscriptions
        return watched is not t.UNSET and any(
            uri == each or uri.startswith(each.rstrip("/") + "/") for each in watched
        )

    def __aiter__(self) -> AsyncIterator[Change]:
        return self

    async def __anext__(self) -> Change:
        while not self._changes:
            self.require_accepted()
            if self._is_over:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        change = next(iter(self._changes))
        del self._changes[change]
        return change


def _change(event: Notified) -> Change | None:
    if event.method == "notifications/resources/updated":
        return Change("resource", event.params.uri)
    return _CHANGES.get(event.method)
