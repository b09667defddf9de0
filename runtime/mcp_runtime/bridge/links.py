"""The open links of a bridge to one upstream server: opened on demand, closed when unused."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import json

from mcp_runtime.bridge.backoff import Backoff
from mcp_runtime.bridge.link import Link, LinkUser, Owner, Unavailable
from mcp_runtime.bridge.names import Names
from mcp_runtime.bridge.upstream import Upstream
from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import RpcError, SessionError
from mcp_runtime.server.context import Context

log: Final = logging.getLogger("mcp_runtime.bridge")

_ANYBODY: Final = Owner(None, "", {})


class Links:
    """The links to one upstream server, at most `Limits.bridge_links` at a time.

    A client with a session has a link of its own. Without sessions, clients with the same principal
    and capabilities share one; clients without a principal share it only while nothing can be asked
    of them, or where each question names its request.
    """

    def __init__(self, name: str, upstream: Upstream, user: LinkUser) -> None:
        self.name: Final = name
        self.upstream: Final = upstream
        self.is_plain: Final = upstream.names == Names()
        """True if clients see the server's own names."""
        self.open: dict[Link, bytes] = {}
        """The links by age, each with the key of its owner."""
        self._user = user
        self._backoff = Backoff(user.limits.bridge_backoff, user.limits.bridge_links)
        self._freed = asyncio.Event()
        self._logged = ""
        """The last failure in the log since the server has answered."""

    async def open_first(self, capabilities: Mapping[str, Any]) -> None:
        """Open the bridge's own link. If it fails, that is logged, and the next request tries."""
        with suppress(SessionError, RpcError):
            await self._link(Owner(None, "", capabilities)).client(self._user.limits.first_answer)

    async def of(self, ctx: Context, *, asks: bool = True) -> Link:
        """Return the link for a request; without `asks` its server cannot ask the client.

        Raises RpcError if the server is not available, or too many links are in use.
        """
        owner = _owner(ctx)
        is_exclusive = ctx.era == "per-request" and ctx.peer.is_anonymous
        if is_exclusive and not asks and not self._has_idle(owner):
            owner = _ANYBODY
        deadline = asyncio.get_running_loop().time() + self._user.limits.deadline
        while (link := self._free(owner, is_exclusive)) is None:
            self._freed.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._freed.wait()
            except TimeoutError:
                why = f"{self.name}: all of its links are in use (Limits.bridge_links)"
                raise RpcError(error_codes.BUSY, why) from None
        link.use(ctx)
        return link

    def _has_idle(self, owner: Owner) -> bool:
        """Return True if a link is there for the owner: its server knows what its calls did."""
        key = _key(owner)
        return any(
            of == key and link.is_open and (not link.running or link.shares)
            for link, of in self.open.items()
        )

    def open_link(self, peer: object, capabilities: Mapping[str, Any]) -> Link | None:
        """Return the open link of a client with a session; None if there is none."""
        for link in self.open:
            owner = link.owner
            if owner.peer is peer and owner.capabilities == capabilities:
                return link if link.connection is not None else None
        return None

    def _free(self, owner: Owner, is_exclusive: bool) -> Link | None:
        """Return a link to use at once; None if the limit is reached."""
        key = _key(owner)
        for link, of in [*self.open.items()]:
            if link.is_dead:
                self._note_failure(link)
            elif of == key and (not is_exclusive or not link.running or link.shares):
                return link
        if (claimed := self._claim(owner, key)) is not None:
            return claimed
        if len(self.open) >= self._user.limits.bridge_links and not self._close_unused():
            return None
        return self._link(owner)

    def _claim(self, owner: Owner, key: bytes) -> Link | None:
        """Give a client with a session the link the bridge began with, if nobody has used it."""
        for link in self.open if owner.peer is not None else ():
            if link.is_fresh and link.owner == owner._replace(peer=None):
                link.owner = owner
                self.open[link] = key
                return link
        return None

    def _close_unused(self) -> bool:
        """Close the oldest link without a session and without requests; return False if there is
        none.
        """
        for link in self.open:
            if link.owner.peer is None and not link.running:
                self._remove(link)
                return True
        return False

    def _link(self, owner: Owner) -> Link:
        key = _key(owner)
        if not self._backoff.admits(key, asyncio.get_running_loop().time()):
            raise Unavailable(self.name)
        link = Link(self.name, self.upstream, owner, self._user)
        self.open[link] = key
        link.task.add_done_callback(lambda _: self._on_end(link))
        return link

    def _on_end(self, link: Link) -> None:
        if link.failure is not None:
            self._note_failure(link)
        self._remove(link)

    def _note_failure(self, link: Link) -> None:
        """Wait before the server is started again, longer after each failure."""
        if link in self.open:
            if link.failure is not None:
                self._log(str(link.failure))
            now = asyncio.get_running_loop().time()
            self._backoff.fail(self.open[link], now, worked=link.has_worked)
            self._remove(link)

    def _log(self, failure: str) -> None:
        """Log a failure: as a warning first, and as information when a new try ends alike."""
        level = logging.INFO if failure == self._logged else logging.WARNING
        self._logged = failure
        log.log(level, "%s is not available: %s", self.name, failure)

    def release(self, link: Link, *, answered: bool) -> None:
        """Note the end of a request on a link, and wake the requests waiting for one."""
        if answered and link in self.open:
            self._logged = ""
            self._backoff.forget(self.open[link])
        self._freed.set()

    def _remove(self, link: Link) -> None:
        self.open.pop(link, None)
        link.close()
        self._freed.set()

    def close_of(self, peer: object) -> None:
        """Close the links of a client whose connection has ended."""
        for link in [*self.open]:
            if link.owner.peer is peer:
                self._remove(link)
        self._backoff.forget_all_of(b"[%d," % id(peer))

    async def close(self) -> None:
        tasks = [link.task for link in self.open]
        for link in [*self.open]:
            self._remove(link)
        await asyncio.gather(*tasks, return_exceptions=True)


def has_session(ctx: Context) -> bool:
    """Return True if the connection of a request is its client's alone, for many requests."""
    return ctx.era == "handshake" or not (ctx.peer.principal or ctx.peer.is_anonymous)


def _owner(ctx: Context) -> Owner:
    peer = ctx.peer if has_session(ctx) else None
    return Owner(peer, ctx.principal, dict(ctx.client_capabilities))


def _key(owner: Owner) -> bytes:
    peer = 0 if owner.peer is None else id(owner.peer)
    return json.encode([peer, owner.principal, owner.capabilities], order="deterministic")
