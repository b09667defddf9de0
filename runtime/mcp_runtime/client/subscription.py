"""What a client hears of changes on the server: what it asked to hear, in order, each once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from mcp_runtime.core.events import Notified
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.revisions import latest as t

__all__ = ["Change", "Subscription"]

What: TypeAlias = Literal["tools", "prompts", "resources", "resource"]


class Change(NamedTuple):
    """Of a list, or of one resource, whose URI it has."""

    what: What
    uri: str | None = None


_LISTS: Final[dict[str, What]] = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}


class Subscription:
    """An asynchronous iterator; it ends when the server or the client ends the subscription.

    A change that comes again before it was taken is given once: it says that something is old, not
    how often. `served` is what the server agreed to tell.
    """

    def __init__(self, wanted: t.SubscriptionFilter) -> None:
        self.id: Id | None = None
        self.wanted = wanted
        self.served = wanted
        self.acknowledged = asyncio.Event()
        self._waiting: dict[Change, None] = {}
        self._news = asyncio.Event()
        self._error: Exception | None = None
        self._over = False

    def heed(self, event: Notified) -> None:
        if event.method == "notifications/subscriptions/acknowledged":
            self.served = event.params.notifications
            self.acknowledged.set()
        elif (change := _change(event)) is not None and self._wants(change):
            self._waiting[change] = None
            self._news.set()

    def end(self, error: Exception | None = None) -> None:
        """`error` is raised where the changes are iterated, after those that wait."""
        self._over, self._error = True, error
        self.acknowledged.set()
        self._news.set()

    def _wants(self, change: Change) -> bool:
        if change.what == "resource":
            return change.uri is not None and self._watches(change.uri)
        wanted: object = getattr(self.wanted, f"{change.what}_list_changed")
        return wanted is True

    def _watches(self, uri: str) -> bool:
        """Whether it is a URI that is watched, or one below it."""
        watched = self.wanted.resource_subscriptions
        return watched is not UNSET and any(
            uri == each or uri.startswith(each.rstrip("/") + "/") for each in watched
        )

    def __aiter__(self) -> AsyncIterator[Change]:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._error is not None:
                raise self._error
            if self._over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        change = next(iter(self._waiting))
        del self._waiting[change]
        return change


def _change(event: Notified) -> Change | None:
    if event.method == "notifications/resources/updated":
        return Change("resource", event.params.uri)
    what = _LISTS.get(event.method)
    return None if what is None else Change(what)
