"""The life of a connection over HTTP: opened, opened again, and the server's own stream.

Source: 2025-11-25, 2025-06-18 and 2025-03-26 basic/transports, "Session Management" and "Listening
for Messages from the Server"; 2024-11-05 basic/transports.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, Final

from mcp_runtime.client.connection import ConnectionOwner
from mcp_runtime.client.http.backoff import Backoff
from mcp_runtime.client.http.event_stream import EventStream, may_pass
from mcp_runtime.client.http.exchange import Exchanges
from mcp_runtime.client.http.http import HttpSender
from mcp_runtime.client.http.legacy_sse import LegacySse
from mcp_runtime.client.http.server_facts import ServerFacts
from mcp_runtime.client.server_memory import Mode
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.core.session.events import Opened
from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import BadStatus, Disconnected, NotOpen, RemoteError, SessionError, TimedOut
from mcp_runtime.limits import Limits

log: Final = logging.getLogger("mcp_runtime.client")

_CLOSED: Final = "the client was closed"


class _Renewal:
    """The renewal of a subscription whose stream broke: the times of the last and the next
    attempt.
    """

    def __init__(self, limits: Limits) -> None:
        self.backoff = Backoff("a subscription", limits)
        self.asked = 0.0
        self.task: asyncio.Task[None] | None = None


class HttpConnection(Exchanges):
    """A connection to the server of one URL."""

    def __init__(self, owner: ConnectionOwner, http: HttpSender, facts: ServerFacts) -> None:
        super().__init__(owner, http, facts)
        self._stream: EventStream | None = None
        self._listening: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._gave_up_listening = False
        self.remembered_by = str(http.url.copy_with(query=None))
        self._losses = Backoff("a session", self.settings.limits)
        self._renewals: dict[Subscription, _Renewal] = {}
        self._is_closed = False

    # ---- opening and closing

    async def open(self, *, handshake: bool = False, timeout: float | None = None) -> None:
        if self._facts.mode is None:
            self._facts.mode = self.settings.memory.recall(self.remembered_by)
        until = self.clock + (self.open_timeout if timeout is None else timeout)
        if self._facts.mode is None or handshake:
            await self._begin(until, handshake=handshake)
            return
        try:
            await self._begin(until, handshake=self._facts.mode != "per-request")
        except TimedOut:
            raise
        except SessionError:
            self._set_mode(None)
            await self._begin(until, handshake=False)

    @contextmanager
    def authorizing(self) -> Generator[None]:
        """Pause the timeout of the probe inside the `with` block: a server that asks for a token
        has answered.
        """
        self.session.hold_probe()
        try:
            yield
        finally:
            self.session.resume_probe(self.loop.time())
            self._watch_pending()

    def _set_mode(self, mode: Mode | None) -> None:
        self._facts.mode = mode
        if mode != "handshake" or self.settings.finds_out:
            self.settings.memory.remember(self.remembered_by, mode)

    async def _begin(self, until: float, *, handshake: bool) -> None:
        """Open a session by a time of `clock`. Raises as `open` does."""
        self._reset()
        self.is_gone = False
        if self._facts.mode == "HTTP+SSE":
            await self._find_endpoint(until - self.clock)
        try:
            await super().open(handshake=handshake, timeout=max(0.0, until - self.clock))
        except SessionError:
            self._cancel_abandoned()
            raise
        if self._probe is not None and not self._is_per_request:
            self._probe.cancel()
        if self._stream is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stream.is_open.wait(), self.session.limits.stream_wait)

    def _reset(self) -> None:
        """Forget the state of a session that is over."""
        if self._listening is not None:
            self._listening.cancel()
        self._session_id, self._url, self._initializing = "", self._http.url, None
        self._stream, self._listening, self._gave_up_listening = None, None, False

    def _cancel_abandoned(self) -> None:
        """Cancel the exchanges for which nobody waits."""
        for id, exchange in self._exchanges.items():
            if id not in self.session.pending:
                exchange.cancel()

    def _on_open(self, event: Opened) -> None:
        if event.terms.translation.revision.era == "per-request":
            self._set_mode("per-request")
        elif self._facts.mode != "HTTP+SSE":
            self._set_mode("handshake")
            self._start_listening()
        super()._on_open(event)

    async def _ensure_open(self) -> None:
        """Open a lost session, or its stream, again. Raises as `open` does."""
        if self._is_closed:
            raise NotOpen(_CLOSED)
        if self._gave_up_listening:
            self._gave_up_listening = False
            self._start_listening()
        if not self._is_open:
            async with self._opening:
                if not self._is_open:
                    await self._reopen()

    async def _renew(self, lost: str) -> None:
        async with self._opening:
            if not self._is_open or self._session_id == lost:
                self.handle(self.session.abandon("the server has ended the session"))
                await self._reopen()

    async def _reopen(self) -> None:
        if self._is_closed:
            raise NotOpen(_CLOSED)
        before = self.session.agreed
        await self._begin(self.clock + self.open_timeout, handshake=True)
        after = self.session.agreed
        if before and after and before.translation.revision != after.translation.revision:
            log.warning("the server speaks %s now", after.translation.revision.name)
        self.spawn(self.owner.restore())

    async def close(self) -> None:
        self._is_closed = True
        self._end_session_watch()
        if not self._opened.done():
            self._opened.set_exception(NotOpen(_CLOSED))
            self._opened.exception()  # perhaps nobody waits for it
        renewals = [each.task for each in self._renewals.values() if each.task is not None]
        tasks = [*self._exchanges.values(), *self._posts, *renewals]
        if self._listening is not None:
            tasks.append(self._listening)
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(SessionError, TimeoutError):
                if self._session_id:
                    async with asyncio.timeout(self.session.limits.close_wait):
                        await self._delete_session()
        finally:
            await self._http.close()

    async def _delete_session(self) -> None:
        async with self._http.send("DELETE", self._url, self._session_headers()) as response:
            log.debug("ended the session: HTTP %d", response.status)

    # ---- requests

    async def request(self, method: str, params: Any, **options: Any) -> Any:
        await self._ensure_open()
        try:
            result = await super().request(method, params, **options)
        except RemoteError as error:
            is_mismatch = error.code == error_codes.HEADER_MISMATCH and method == "tools/call"
            if not (is_mismatch and self._is_per_request):
                raise
            await self.owner.refresh_tools()
            result = await super().request(method, params, **options)
        has_headers = method == "tools/list" and self._is_per_request
        return self._facts.usable(result) if has_headers else result

    async def notify(self, method: str, params: Any) -> None:
        await self._ensure_open()
        await super().notify(method, params)

    # ---- the server's own stream

    def _start_listening(self) -> None:
        self._stream = self._new_stream()
        self._listening = self.loop.create_task(self._listen(self._stream))

    async def _listen(self, stream: EventStream) -> None:
        """Follow the server's own stream, if it has one, as long as the session lives."""
        if self._initializing is not None:
            await asyncio.wait((self._initializing,))
        session_id, started = self._session_id, self.loop.time()
        try:
            await stream.listen()
        except SessionError as error:
            status = error.status if isinstance(error, BadStatus) else None
            if status and not stream.is_open.is_set():
                log.debug("the server has no stream of its own: %s", error)
            elif stream.lost_session and session_id:
                self._losses.note_lifetime(self.loop.time() - started)
                await self._renew_later(session_id)
            else:
                self._give_up_listening(error)
        finally:
            stream.is_open.set()

    async def _renew_later(self, lost: str) -> None:
        """Wait longer and longer, in case the server forgets each session."""
        try:
            await self._losses.pause(soon=True)
        except Disconnected as error:
            self._give_up_listening(error)
        else:
            self.spawn(self._renew_to_listen(lost))

    async def _renew_to_listen(self, lost: str) -> None:
        try:
            await self._renew(lost)
        except SessionError as error:
            self._give_up_listening(error)

    def _give_up_listening(self, error: SessionError) -> None:
        """End the subscriptions; the next call tries to listen again."""
        log.warning("lost the server's own stream: %s", error)
        self._end_subscriptions(error)
        self._gave_up_listening = True

    # ---- subscriptions

    def _stream_ended(self, done: asyncio.Future[Any], subscription: Subscription) -> None:
        """Renew a subscription whose stream broke off; end it if the server ended it.

        Source: 2026-07-28 basic/patterns/subscriptions.
        """
        error = None if done.cancelled() else done.exception()
        is_wanted = subscription in self.subscriptions and subscription.acknowledged.is_set()
        if is_wanted and may_pass(error) and not self._is_closed:
            renewal = self._renewals.setdefault(subscription, _Renewal(self.settings.limits))
            renewal.task = self.loop.create_task(self._listen_again(subscription, renewal, error))
        else:
            super()._stream_ended(done, subscription)

    async def _listen_again(
        self, subscription: Subscription, renewal: _Renewal, broke: BaseException | None
    ) -> None:
        """Ask once more for a subscription whose stream broke before the server ended it."""
        renewal.backoff.note_lifetime(self.loop.time() - renewal.asked)
        try:
            await renewal.backoff.pause()
            renewal.asked = self.loop.time()
            self._send_listen(subscription)
        except SessionError as error:
            error.__cause__ = broke
            subscription.end(error)

    async def unlisten(self, subscription: Subscription) -> None:
        renewal = self._renewals.pop(subscription, None)
        if renewal is not None and renewal.task is not None:
            renewal.task.cancel()
        await super().unlisten(subscription)

    # ---- HTTP+SSE

    async def _legacy_sse_fault(self) -> SessionError | None:
        try:
            await self._find_endpoint(self.open_timeout)
        except SessionError as error:
            log.debug("the server does not speak HTTP+SSE: %s", error)
            return error.__cause__ if isinstance(error.__cause__, SessionError) else error
        self._set_mode("HTTP+SSE")
        return None

    async def _find_endpoint(self, seconds: float) -> None:
        """Open the one stream, which names where messages are posted. Raises SessionError."""
        stream = LegacySse(self._http, self._receive, self.session.limits)
        self._listening = self.loop.create_task(self._listen_legacy(stream))
        try:
            self._url = await self.in_time(stream.endpoint, seconds)
        except (SessionError, TimeoutError) as error:
            self._reset()
            raise Disconnected(str(error) or "no HTTP+SSE stream in time") from error

    async def _listen_legacy(self, stream: LegacySse) -> None:
        why = await stream.listen()
        if stream.is_named and self._facts.mode == "HTTP+SSE" and not self._is_closed:
            self.lost(why)
