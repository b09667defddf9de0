"""The life of a client's connection: opened, opened again after its server is gone, closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mcp_runtime.client.connection import ClientConnection
from mcp_runtime.client.options import ClientSettings
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.client.transports import TransportFactory
from mcp_runtime.core.session.events import Notified
from mcp_runtime.errors import (
    Disconnected,
    LocalError,
    NoCommonRevision,
    NotOpen,
    SessionError,
    TimedOut,
)
from mcp_runtime.shared.threads import require_asyncio

log: Final = logging.getLogger("mcp_runtime.client")

_part_of: Final = ContextVar["asyncio.Task[Any] | None"]("_part_of", default=None)
"""The restart running here, or the restart that opened the connection of the running callback."""


@dataclass(eq=False)
class Reconnector:
    """Owns the connection of one client, which may be entered again and again."""

    connect: TransportFactory
    settings: ClientSettings
    notified: Callable[[Notified], None]
    refresh_tools: Callable[[], Awaitable[object]]
    _restarts: int = 0
    _restarting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _restart_task: asyncio.Task[Any] | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _connection: ClientConnection | None = None

    @property
    def connection(self) -> ClientConnection:
        """The current connection. Raises NotOpen."""
        if self._connection is None:
            raise NotOpen("the client is not open: use it in `async with`")
        return self._connection

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.is_gone

    def declare(self, capability: str, settings: Mapping[str, Any]) -> None:
        """Declare a capability at the next opening. Raises LocalError while open."""
        if self._connection is not None:
            raise LocalError(
                "the client is open, and has told its capabilities: register it before"
            )
        offer = self.settings.offer.with_capability(capability, settings)
        self.settings = replace(self.settings, offer=offer)
        self.settings.callbacks.declared = offer.declared

    async def open(self) -> None:
        """Connect. Raises LocalError, NoCommonRevision, and the exceptions of starting the
        server.
        """
        self._forget_lost()
        if self._connection is not None:
            raise LocalError("the client is open already: share it, or make another client")
        require_asyncio()
        self._restarting = asyncio.Lock()  # of this event loop
        try:
            await self._open(self.settings.log_level)
        except BaseException:
            await self.close()
            raise

    async def _open(self, log_level: str | None) -> None:
        try:
            await self._agree(await self._start(log_level))
        except SessionError as error:
            await self._stack.aclose()
            if self._connection is not None:
                error.explain(self._connection.diagnosis(error))
            raise
        await self._restore_log_level()

    async def _start(self, log_level: str | None) -> ClientConnection:
        self._connection = connection = await self.connect(self._stack, self)
        connection.ping_every = self.settings.ping_every
        connection.session.log_level = log_level
        return connection

    async def _agree(self, connection: ClientConnection) -> None:
        """Agree on a revision. A server that does not survive the probe is started again.

        Source: 2026-07-28 basic/transports/stdio, "Backward Compatibility".
        """
        handshake = self.settings.era == "handshake" or self._recalls_handshake(connection)
        started, timeout = connection.loop.time(), connection.open_timeout
        try:
            await connection.open(handshake=handshake)
        except SessionError as error:
            if isinstance(error, TimedOut):
                timeout -= connection.loop.time() - started
            if timeout <= 0 or not self._may_begin_otherwise(connection, error):
                raise
            other = "server/discover" if handshake else "initialize"
            log.info("%s; starting the server once more, with %s", error, other)
            self.settings.memory.remember(connection.server_key, None)
            await self._stack.aclose()
            connection = await self._start(connection.session.log_level)
            await connection.open(handshake=not handshake, timeout=timeout)
        spoken = connection.terms.translation.revision.era
        if spoken == "per-request" or self.settings.finds_out:
            self.settings.memory.remember(connection.server_key, spoken)

    def _recalls_handshake(self, connection: ClientConnection) -> bool:
        mode = self.settings.memory.recall(connection.server_key)
        return mode == "handshake" and bool(self.settings.offer.handshake)

    def _may_begin_otherwise(self, connection: ClientConnection, error: SessionError) -> bool:
        """Return True if the server may be started once more, to begin in the other era's way."""
        offer = self.settings.offer
        has_both = bool(offer.handshake and offer.per_request) and self.settings.era == "auto"
        is_told = isinstance(error, NoCommonRevision)
        return has_both and not is_told and connection.restarts_after_probe

    async def _restore_log_level(self) -> None:
        connection = self.connection
        level = connection.session.log_level
        if level is not None and "logging" in connection.terms.capabilities:
            await connection.set_log_level(level)

    async def restore(self) -> None:
        """Repeat the client's settings to a new session, as the previous one knew them."""
        await self._restore_log_level()
        await self._listen_again()

    def may_restart(self, connection: ClientConnection) -> bool:
        """Return True if the server of this connection, which is gone, may be started again."""
        return connection is self._connection and self._restarts < self.settings.restarts

    async def ensure(self) -> None:
        """Restart a server that is gone, or wait until another caller has restarted it.

        Code that is part of the restart does not wait, such as a callback that answers the new
        server. Raises LocalError on another event loop than the client's.
        """
        if self.connection.loop is not asyncio.get_running_loop():
            raise LocalError(
                "the client belongs to the event loop on which it was opened: call it there, with"
                " asyncio.run_coroutine_threadsafe from a thread, or open another client here"
            )
        restart = self._restart_task
        if restart is not None and _part_of.get() is restart:
            return
        if restart is not None or self.connection.is_gone:
            await self.restart()

    async def restart(self) -> None:
        """Start a server again that is gone, if it may be, and renew the subscriptions.

        After a failed restart, or one whose caller was cancelled, the server still counts as gone.
        Source: 2026-07-28 basic/transports/stdio and basic/patterns/subscriptions.
        """
        async with self._restarting:
            lost = self.connection
            if not lost.is_gone or not self.may_restart(lost):
                return
            self._restarts += 1
            log.warning("the server is gone; starting it again")
            self._restart_task = asyncio.current_task()
            before = _part_of.set(self._restart_task)
            try:
                await self._open_again(lost)
            finally:
                _part_of.reset(before)
                self._restart_task = None

    async def _open_again(self, lost: ClientConnection) -> None:
        try:
            await self._stack.aclose()
            await self._open(lost.session.log_level)
        except BaseException:
            if self._connection is not None:
                self._connection.is_gone = True
                self._connection.subscriptions = lost.subscriptions
            raise
        self.connection.subscriptions = lost.subscriptions
        self.connection.spawn(self._listen_again())  # goes on if the caller is cancelled

    async def _listen_again(self) -> None:
        """Renew the subscriptions; end those that cannot be renewed."""
        connection = self.connection
        for subscription in [*connection.subscriptions]:
            subscription.id = None
            try:
                if subscription in connection.subscriptions:
                    await connection.listen(subscription)
            except Disconnected:
                return  # the next restart renews it
            except SessionError as error:
                subscription.end(error)
            if subscription.id is None:  # else the acknowledgement has said so
                subscription.report_all_as_changed()

    @asynccontextmanager
    async def subscribed(self, subscription: Subscription) -> AsyncGenerator[Subscription]:
        """Ask the server to send these changes, as long as the context is entered."""
        await self.ensure()
        subscriptions = self.connection.subscriptions
        subscriptions.append(subscription)
        try:
            await self.connection.listen(subscription)
            subscription.require_accepted()
            yield subscription
        finally:
            subscriptions.remove(subscription)
            subscription.end()
            if self.is_connected:
                with suppress(SessionError):  # nobody listens any more, whatever the server answers
                    await self.connection.unlisten(subscription)

    def _forget_lost(self) -> None:
        """Forget a connection whose event loop was closed before the client."""
        if self._connection is not None and self._connection.loop.is_closed():
            self._connection, self._stack = None, AsyncExitStack()
            self._restart_task = None

    async def close(self) -> None:
        self._forget_lost()
        connection, self._connection = self._connection, None
        if (restart := self._restart_task) is not None:
            restart.cancel()
            await asyncio.wait([restart])
        if connection is not None:
            connection.end("the client was closed")
        await self._stack.aclose()
        if connection is not None:
            await connection.finished()
