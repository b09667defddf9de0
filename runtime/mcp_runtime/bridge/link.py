"""A connection from a bridge to one upstream server, on behalf of one client or of several."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, NamedTuple, Protocol

from mcp_runtime.bridge.ongoing import Ongoing, Running
from mcp_runtime.bridge.upstream import Upstream
from mcp_runtime.client.client import Client
from mcp_runtime.client.connection import ClientConnection
from mcp_runtime.client.extension import ClientExtension
from mcp_runtime.client.subscription import Change
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.subscriptions import LISTS
from mcp_runtime.core.terms.capabilities import declares
from mcp_runtime.core.wire import error_codes
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import NotReached, RpcError, SessionError, TimedOut
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import revision
from mcp_runtime.server.context import Context

log: Final = logging.getLogger("mcp_runtime.bridge")


class Unavailable(RpcError):
    """A server is not there; the reason is in the log, since it may name a command or a URL."""

    def __init__(self, name: str) -> None:
        why = f"{name} is not available; the log says why"
        super().__init__(error_codes.INTERNAL_ERROR, why)


class Owner(NamedTuple):
    """The client for which a link is open.

    `peer` is its connection, None if several requests share the link; `capabilities` are its own,
    as parsed JSON.
    """

    peer: object | None
    principal: str
    capabilities: Mapping[str, Any]


class LinkUser(Protocol):
    """What a link needs of its bridge."""

    @property
    def limits(self) -> Limits: ...
    @property
    def client_extensions(self) -> Sequence[ClientExtension]:
        """The extensions which the bridge itself serves, whatever the owner declares."""
        ...

    def on_open(self, link: Link, client: Client, /) -> None:
        """Handle the opening of a link."""

    def on_change(self, link: Link, change: Change, /) -> None:
        """Handle a change at the upstream server."""

    def uris_of(self, link: Link, /) -> Iterable[str]:
        """Return the URIs clients watch, by the upstream server's own names."""
        ...

    async def may_watch(self, link: Link, uri: str, /) -> bool:
        """Return True if the link's owner may watch a resource, by the server's own URI."""
        ...


class Link:
    """One open client of an upstream server, with the requests running on it.

    It declares exactly the capabilities of its owner, whose answers it passes on.
    """

    def __init__(self, name: str, upstream: Upstream, owner: Owner, user: LinkUser) -> None:
        self.name: Final = name
        self.upstream: Final = upstream
        self.owner = owner
        self.running: dict[Running, None] = {}
        """Requests under way, the newest last."""
        self.failure: BaseException | None = None
        self.tokens: Final = count(1)
        """Progress tokens."""
        self.limits: Final = user.limits
        self._user = user
        self._last: Context | None = None
        self._connection: ClientConnection | None = None
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._over = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._began = asyncio.get_running_loop().time()
        self._opened.add_done_callback(lambda opened: opened.exception())
        self.task = asyncio.get_running_loop().create_task(self._live())

    # ---- its life

    async def client(self, timeout: float) -> Client:
        """Return the client once it is open. Raises Unavailable, and TimedOut."""
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.shield(self._opened)
        except TimeoutError:
            raise TimedOut(f"the start of {self.name}", timeout) from None
        except SessionError:
            raise Unavailable(self.name) from None

    @property
    def is_open(self) -> bool:
        return self._opened.done() and self.failure is None and not self.is_dead

    @property
    def is_late(self) -> bool:
        """True once lists are made without a server which is not there yet."""
        waited = asyncio.get_running_loop().time() - self._began
        return waited >= self.limits.bridge_wait

    @property
    def has_worked(self) -> bool:
        """True once the server was there, even if it is gone now."""
        return self._opened.done() and self._opened.exception() is None

    @property
    def is_fresh(self) -> bool:
        """True if no request of a client has used the link."""
        return self._last is None

    @property
    def is_dead(self) -> bool:
        """True if the server is gone, or never came."""
        if not self._opened.done():
            return self.task.done()
        return self.failure is not None or not self.opened.is_connected

    @property
    def shares(self) -> bool:
        """True if requests of strangers may run at one time, since each names its questions."""
        return self.is_open and revision(self.opened.revision).era == "per-request"

    def close(self) -> None:
        """Close the connection, in its own task."""
        self._over.set()
        if not self._opened.done():
            self.task.cancel()

    async def _live(self) -> None:
        try:
            async with self._make_client() as client:
                self._opened.set_result(client)
                self._user.on_open(self, client)
                listening = asyncio.create_task(self._listen(client))
                await self._over.wait()
                await _end([listening, *self._watching.values()])
        except Exception as error:
            self.failure = error if isinstance(error, SessionError) else NotReached(str(error))
            if not self._opened.done():
                self._opened.set_exception(self.failure)

    def _make_client(self) -> Client:
        declared = self.owner.capabilities
        modes = [m for m in ("form", "url") if declares(declared, f"elicitation.{m}")]
        options: dict[str, Any] = {
            "name": "mcp-bindgen bridge",
            "limits": self._user.limits,
            "timeout": self._user.limits.total,
            "validate": False,
            "log_level": "debug",
            "extensions": self._user.client_extensions,
            "on_log": self._pass_log,
            "on_elicitation_complete": self._pass_visit,
        }
        if declares(declared, "sampling"):
            options["on_sample"] = self._asker("sampling/createMessage")
            options["sample_tools"] = declares(declared, "sampling.tools")
        if modes:
            options |= {"on_elicit": self._asker("elicitation/create"), "elicit_modes": modes}
        if declares(declared, "roots"):
            options["roots"] = self._roots
        return self.upstream.connect(**options)

    # ---- questions and messages of the server

    def begin(self, ongoing: Ongoing) -> None:
        """Count a request as running until its task ends."""
        self.running[ongoing] = None
        ongoing.task.add_done_callback(lambda _: self.running.pop(ongoing, None))

    def use(self, ctx: Context) -> None:
        """Remember the newest request of the owner: messages which belong to none go to it."""
        self._last = ctx

    def carrying(self, carried: Running, called: Called) -> None:
        """Count a carried request as running, until it is removed from `running`."""
        self.running[carried] = None
        last = self._last
        if last is None or last.called.terms.translation is not called.terms.translation:
            self._last = carried.ctx

    def free_token(self, wish: Id) -> Id:
        """Return the progress token of a request: the wish, or another one if it is taken."""
        pending = self.opened.connection.session.pending
        while pending.has_token(wish):
            wish = next(self.tokens)
        return wish

    @property
    def connection(self) -> ClientConnection | None:
        """The connection to the server; None while it is not open."""
        if self._connection is None or self._connection.is_gone:
            self._connection = self.opened.connection if self.is_open else None
        return self._connection

    @property
    def opened(self) -> Client:
        """The client, once the link is open."""
        return self._opened.result()

    def _asker(self, method: str) -> Callable[[Any], Any]:
        async def ask(params: Any) -> Any:
            return await self._ask(method, params)

        return ask

    async def _roots(self) -> list[t.Root]:
        answer: t.ListRootsResult = await self._ask("roots/list", t.UNSET)
        return answer.roots

    async def _ask(self, method: str, params: Any) -> Any:
        """Ask the owner in its newest request. Raises RpcError if nothing of it runs."""
        for ongoing in reversed(self.running):
            return await ongoing.ask(method, params)
        if self._last is not None and self._last.era == "handshake":
            return await self._last.ask(method, params)
        raise RpcError(error_codes.INTERNAL_ERROR, f"{method}: no request of a client is running")

    def _context(self) -> Context | None:
        """Return the request to which messages of the server belong; None while it is parked."""
        for ongoing in reversed(self.running):
            return ongoing.ctx if ongoing.is_driven else None
        last = self._last
        return last if last is not None and last.era == "handshake" else None

    def _pass_log(self, params: t.LoggingMessageNotificationParams) -> None:
        ctx = self._context()
        if ctx is not None:
            logger = None if params.logger is t.UNSET else params.logger
            ctx.peer.log_at_once(ctx.called, params.level, params.data, logger)

    def _pass_visit(self, elicitation_id: str) -> None:
        ctx = self._context()
        if ctx is not None:
            ctx.peer.spawn(ctx.elicitation_over(elicitation_id))

    async def announce_roots(self) -> None:
        if self.is_open and declares(self.owner.capabilities, "roots"):
            await self.opened.roots_changed()

    # ---- changes

    async def _listen(self, client: Client) -> None:
        self.watch(self._user.uris_of(self))
        declared = client.server_capabilities
        tools, prompts, resources = (declares(declared, f"{each}.listChanged") for each in LISTS)
        if not (tools or prompts or resources):
            return
        with suppress(SessionError):
            async with client.listen(tools=tools, prompts=prompts, resources=resources) as changes:
                async for change in changes:
                    self._user.on_change(self, change)

    def watch(self, uris: Iterable[str]) -> None:
        """Subscribe to resources, by their own URIs, which are not subscribed yet."""
        if not self.is_open:
            return
        client = self.opened
        if declares(client.server_capabilities, "resources.subscribe"):
            for uri in uris:
                if uri not in self._watching:
                    self._watching[uri] = asyncio.create_task(self._watch(client, uri))

    def unwatch(self, uri: str) -> None:
        """End the subscription to a resource."""
        if (task := self._watching.pop(uri, None)) is not None:
            task.cancel()

    async def _watch(self, client: Client, uri: str) -> None:
        try:
            if not await self._user.may_watch(self, uri):
                return
            async with client.listen(uris=[uri]) as changes:
                async for change in changes:
                    self._user.on_change(self, change)
        except SessionError as error:
            log.info("%s: the subscription to %.200s ends: %s", self.name, uri, error)
            self._watching.pop(uri, None)


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    listed = [*tasks]
    for task in listed:
        task.cancel()
    await asyncio.gather(*listed, return_exceptions=True)
