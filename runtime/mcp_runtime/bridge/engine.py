"""The engine of a bridge: it serves clients of any revision with servers of any revision.

Each message is read in the revision of its sender, and written in the revision of its receiver.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from mcp_runtime.bridge.carrier import Carrier
from mcp_runtime.bridge.features import (
    NO_COMPLETION,
    feature,
    is_declared_completion,
    unknown_feature,
)
from mcp_runtime.bridge.hooks import Access, Allow, Crossing, Observe, Rewrite
from mcp_runtime.bridge.link import Link
from mcp_runtime.bridge.links import Links, has_session
from mcp_runtime.bridge.listing import LISTS, Listing
from mcp_runtime.bridge.losses import tell
from mcp_runtime.bridge.names import FEATURES, Kind
from mcp_runtime.bridge.ongoing import Ongoing, Parked, identity, new_id, resumed_id
from mcp_runtime.bridge.param_headers import WantedHeaders
from mcp_runtime.bridge.sending import Sending, as_client_error, as_task
from mcp_runtime.bridge.upstream import Upstream
from mcp_runtime.bridge.watching import Watching
from mcp_runtime.client.client import Client
from mcp_runtime.client.subscription import Change
from mcp_runtime.core.terms.capabilities import declares
from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import ToolError, counted
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import revision
from mcp_runtime.server.asking import InputNeeded
from mcp_runtime.server.context import Context
from mcp_runtime.server.functions.output_schema import failed_call
from mcp_runtime.server.methods import Handler
from mcp_runtime.server.peer import Peer
from mcp_runtime.shared.connection import Carrier as Carry

if TYPE_CHECKING:
    from mcp_runtime.bridge.tasks import KeptTasks

log: Final = logging.getLogger("mcp_runtime.bridge")

_DECLARED: Final = (
    "tools.listChanged",
    "resources.listChanged",
    "resources.subscribe",
    "prompts.listChanged",
)

_SERVED: Final = ("tools", "resources", "prompts", "completions", "logging")
"""Capabilities the bridge itself serves; requests that need others are passed on, or refused."""


class Facade(Protocol):
    """The server in front of an engine: it puts the engine's features to clients."""

    def put(self, method: str, handler: Handler, /) -> None:
        """Answer a method with a handler."""

    def carry_by(self, make: Callable[[Mapping[str, object]], Carry], /) -> None:
        """Let a carrier take requests, made with the handlers in use."""

    def declare(self, capability: str, /) -> None:
        """Declare a capability, a dotted path."""

    def announce(self, list_: str, /) -> None:
        """Notify clients of a changed list."""

    def resource_updated(self, uri: str, *, principal: str | None) -> None:
        """Notify the subscribers of a changed resource."""

    def is_watched(self, uri: str, /) -> bool:
        """Return True if a client has subscribed to a resource."""
        ...

    def describe(self, info: t.Implementation | None, instructions: str, /) -> None:
        """Set the description for the next clients."""

    def declare_passed(self, spoken: str, capabilities: Mapping[str, Any], /) -> None:
        """Declare capabilities whose requests are passed on, to clients of a revision."""


class Engine:
    """Serves the features of upstream servers through a facade; `Bridge` documents the options.

    With `needs_one`, clients wait until one server is there.
    """

    _facade: Facade

    def __init__(
        self,
        upstreams: Mapping[str, Upstream],
        *,
        allow: Allow | None,
        rewrite: Rewrite | None,
        observe: Observe | None,
        limits: Limits,
        needs_one: bool,
        tasks: KeptTasks | None = None,
    ) -> None:
        self.limits: Final = limits
        self._links: Final = {name: Links(name, each, self) for name, each in upstreams.items()}
        self._allow, self._rewrite, self._observe = allow, rewrite, observe
        self._needs_one = needs_one
        self._tasks = tasks
        self.client_extensions: Final = () if tasks is None else tasks.client_extensions
        self._expected: Mapping[str, Any] = {}
        self._parked = Parked(limits)
        self._wanted = WantedHeaders(limits)
        self.watching: Final = Watching(self._links, self._is_watched, limits)
        self._peers: set[object] = set()
        self._instructions: dict[str, str] = {}
        self._described: set[str] = set()
        self.listing: Final = Listing(self._links, self._is_allowed, limits)

    def serve(self, facade: Facade) -> None:
        """Put the handlers of requests into the facade."""
        self._facade = facade
        for method in LISTS:
            facade.put(method, self._wrap(method, self.listing.handler(method)))
        for method in (*FEATURES, "completion/complete"):
            forward = self._call if method == "tools/call" else self._forward
            facade.put(method, self._wrap(method, forward))
        if self._rewrite is None and self._tasks is None:
            tell = None if self._observe is None else self._tell
            facade.carry_by(
                partial(Carrier, self._links, allow=self._allow, meet=self._meet, tell=tell)
            )

    # ---- its life

    def expect(self, capabilities: Mapping[str, Any]) -> None:
        """Start the servers for a client with these capabilities."""
        self._expected = capabilities

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Open a link to each server, together; go on without the failed and the late ones."""
        opening = {
            asyncio.create_task(links.open_first(self._expected)) for links in self._links.values()
        }
        try:
            await self._await_servers(opening)
            yield
        finally:
            for task in opening:
                task.cancel()
            self._parked.close()
            await asyncio.gather(
                *opening, *(links.close() for links in self._links.values()), return_exceptions=True
            )

    async def _await_servers(self, opening: set[asyncio.Task[None]]) -> None:
        """Wait `Limits.bridge_wait` for all servers, then for one: without any there is no offer.

        A server has `Limits.first_answer` to come. A missing one may offer every kind of feature.
        """
        _, late = await asyncio.wait(opening, timeout=self.limits.bridge_wait)
        if late:
            log.warning("%s behind the bridge not there yet", counted(len(late), "server"))
        while late and self._needs_one and not self._described:
            _, late = await asyncio.wait(late, return_when=asyncio.FIRST_COMPLETED)
        if len(self._described) < len(self._links):
            for path in _DECLARED:
                self._facade.declare(path)

    def on_open(self, link: Link, client: Client) -> None:
        """Announce the features of a server to clients whose lists were made without it."""
        declared, is_known = client.server_capabilities, link.name in self._described
        for path in _DECLARED:
            kind, _, change = path.partition(".")
            if declares(declared, kind):
                self._facade.declare(path)
                if change == "listChanged" and (link.is_late or not is_known):
                    self._facade.announce(kind)
        if not is_known:
            self._describe(link, client)

    def _describe(self, link: Link, client: Client) -> None:
        """Describe a server to the next clients."""
        self._described.add(link.name)
        declared = client.server_capabilities
        spoken = revision(client.revision).methods["completion/complete"]
        if declares(declared, spoken.capability):
            self._facade.declare("completions")
        if len(self._links) == 1:
            self._facade.describe(client.server_info, client.instructions or "")
            if self._rewrite is None and self._tasks is None:
                passed = {name: each for name, each in declared.items() if name not in _SERVED}
                self._facade.declare_passed(client.revision, passed)
        elif client.instructions:
            self._instructions[link.name] = f"{link.name}: {client.instructions}"
            texts = [self._instructions[n] for n in self._links if n in self._instructions]
            self._facade.describe(None, "\n\n".join(texts))

    # ---- requests

    def _wrap(self, method: str, handler: Any) -> Any:
        """Wrap a handler: errors become the client's, and `observe` is called."""

        async def handle(params: Any, ctx: Context) -> Any:
            if has_session(ctx):
                self._meet(ctx.peer)
            if method == "tools/list":
                self._wanted.forget(principal=ctx.principal)
            is_told = self._observe is not None or log.isEnabledFor(logging.INFO)
            sending = Sending(method, ctx, self._tasks, is_told=is_told)
            code: int | None = None
            try:
                result = await handler(params, ctx, sending)
                if not sending.is_task:
                    sending.lose("result", result, ctx.revision)
            except Exception as error:
                refusal = as_client_error(error, sending)
                code = getattr(refusal, "code", error_codes.INTERNAL_ERROR)
                if isinstance(refusal, ToolError) and method == "tools/call":
                    return failed_call(str(refusal))
                if is_declared_completion(method, ctx) and code == error_codes.METHOD_NOT_FOUND:
                    code = None
                    return NO_COMPLETION
                raise refusal from None
            else:
                return self._tasks.show_support(method, result, ctx) if self._tasks else result
            finally:
                if is_told:
                    self._tell(sending.crossing(code))

        return handle

    def _tell(self, crossing: Crossing) -> None:
        tell(crossing)
        if self._observe is not None:
            try:
                self._observe(crossing)
            except Exception:
                log.exception("observe failed")

    def _meet(self, peer: Peer) -> None:
        """Close a client's links when its connection ends."""
        if peer not in self._peers:
            self._peers.add(peer)
            peer.on_end(lambda: self._forget(peer))

    def _forget(self, peer: object) -> None:
        self._peers.discard(peer)
        for links in self._links.values():
            links.close_of(peer)

    async def _call(self, params: Any, ctx: Context, sending: Sending) -> Any:
        """Pass a call of a tool on, as a task if its client wants one."""
        tasks = self._tasks
        if tasks is None or not tasks.is_wanted(params, ctx):
            return await self._forward(params, ctx, sending)
        sending.lose_task()

        async def run(params: Any, task: Context) -> Any:
            return await self._forward(tasks.without_wish(params), task, sending, begun_by=ctx)

        sending.is_task = True
        return await tasks.begin(params, ctx, as_task(run, sending))

    async def _forward(
        self, params: Any, ctx: Context, sending: Sending, *, begun_by: Context | None = None
    ) -> Any:
        """Pass a request on, and return its result; `begun_by` is the request that began a task."""
        links, params = await self._route(params, ctx, sending)
        if sending.method == "tools/call":
            await self._wanted.check(links, params, ctx)
        if self._rewrite is not None:
            params = self._rewrite("params", sending.method, params, links.name)
        ongoing = await self._resume(params, ctx, sending)
        if ongoing is None:
            ongoing = await self._begin(links, params, ctx, sending, begun_by or ctx)
        leaves = begun_by is None and self._tasks is not None and self._tasks.are_taken(ctx)
        try:
            result = await ongoing.drive(ctx, leaves=leaves)
        except InputNeeded:
            self._parked.park(ongoing)
            raise
        finally:
            sending.server = ongoing.spoken
        if result is ongoing:
            return await self._leave(ongoing, links, params, ctx, sending)
        return self._returned(result, links, sending)

    async def _leave(
        self, ongoing: Ongoing, links: Links, params: Any, ctx: Context, sending: Sending
    ) -> Any:
        """Make a task of a request which is one at its server, and return the answer to it."""

        async def run(_: Any, task: Context) -> Any:
            return self._returned(await ongoing.drive(task), links, sending)

        tasks = cast("KeptTasks", self._tasks)
        sending.is_task = True
        try:
            return await tasks.begin(params, ctx, as_task(run, sending))
        except BaseException:
            ongoing.cancel()
            raise

    def _returned(self, result: Any, links: Links, sending: Sending) -> Any:
        """Return a result with public names, as `rewrite` leaves it."""
        result = links.upstream.names.result(result)
        if self._rewrite is not None:
            result = self._rewrite("result", sending.method, result, links.name)
        return result

    async def _route(self, params: Any, ctx: Context, sending: Sending) -> tuple[Links, Any]:
        """Return the links to the server of a feature, and params with its own name there.

        Raises RpcError if no server has the name, or `allow` refuses.
        """
        kind, name, rename = feature(sending.method, params)
        sending.name = name
        for links in self._links.values():
            own = links.upstream.names.own(kind, name)
            if own is not None and await self._is_allowed(kind, name, links.name, ctx):
                sending.upstream = links.name
                return links, params if own == name else rename(own)
        raise unknown_feature(kind, name, ctx)

    async def _is_allowed(self, kind: Kind, name: str, upstream: str, ctx: Context | Link) -> bool:
        if self._allow is None:
            return True
        principal = ctx.owner.principal if isinstance(ctx, Link) else ctx.principal
        answer = self._allow(Access(kind, name, upstream, principal))
        return answer if isinstance(answer, bool) else await answer

    async def _begin(
        self, links: Links, params: Any, ctx: Context, sending: Sending, owner: Context
    ) -> Ongoing:
        link = await links.of(owner)
        id = resumed_id(params) or new_id()
        ongoing = Ongoing(id, partial(identity, sending.method, params, ctx.principal), ctx)
        ongoing.start(lambda: sending.send(link, ongoing, params))
        link.begin(ongoing)
        ongoing.task.add_done_callback(
            lambda task: links.release(
                link, answered=not task.cancelled() and task.exception() is None
            )
        )
        return ongoing

    async def _resume(self, params: Any, ctx: Context, sending: Sending) -> Ongoing | None:
        """Return the request waiting for this attempt; None if it must be sent anew."""
        id = resumed_id(params)
        if id is None:
            return None
        return self._parked.take(id, identity(sending.method, params, ctx.principal))

    # ---- changes

    def on_change(self, link: Link, change: Change) -> None:
        """Pass a change of an upstream server on to the clients of the link's principal."""
        if change.what == "tools":
            self._wanted.forget(server=link.name)
        if change.what != "resource":
            self._facade.announce(change.what)
        elif change.uri is not None:
            uri = link.upstream.names.public("resource", change.uri)
            if uri is not None:
                principal = link.owner.principal or None
                self._facade.resource_updated(uri, principal=principal)

    def _is_watched(self, uri: str) -> bool:
        return self._facade.is_watched(uri)

    def uris_of(self, link: Link) -> Iterable[str]:
        """Return the URIs clients watch, by the own names of the link's server."""
        return self.watching.uris_of(link)

    async def may_watch(self, link: Link, uri: str) -> bool:
        public = link.upstream.names.public("resource", uri)
        return public is not None and await self._is_allowed("resource", public, link.name, link)

    def announce_roots(self, params: Any, peer: Any) -> Any:
        """Pass `notifications/roots/list_changed` on; handles the notification."""

        async def tell_servers() -> None:
            for links in self._links.values():
                for link in [link for link in links.open if link.owner.peer is peer]:
                    await link.announce_roots()

        return tell_servers()
