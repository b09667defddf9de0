"""The server in front of a bridge: it has no features of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from mcp_runtime.bridge.first_message import FirstMessage
from mcp_runtime.errors import Disconnected
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.server import Server
from mcp_runtime.shared.connection import Carrier, Trace
from mcp_runtime.shared.uri_template import is_uri
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.auth.server.bearer import BearerAuth
    from mcp_runtime.server.extension import ServerExtension
    from mcp_runtime.server.http.app import HttpApp


class FrontOptions(TypedDict, total=False):
    """The options of `Server` for the front of a bridge."""

    instructions: str
    revisions: Sequence[str]
    keys: Sequence[bytes]
    extensions: Sequence[ServerExtension]
    auth: BearerAuth | None
    ttl_ms: int
    cache_scope: Literal["public", "private"]
    ping_every: float | None
    strict: bool


class Front(Server):
    """A server whose handlers are a bridge's; without a `name` it takes its only server's.

    `watch` is called with each URI of a subscription, and refuses it with False;
    `running` makes the context entered while clients are served; `expect` is called before it with
    the capabilities of the only client.
    """

    def __init__(
        self,
        name: str,
        watch: Callable[[str], bool],
        running: Callable[[], AbstractAsyncContextManager[Any]],
        expect: Callable[[Mapping[str, Any]], None],
        limits: Limits,
        options: FrontOptions,
    ) -> None:
        self._expect = expect
        self._passes = True
        self._is_named = bool(name)
        self._is_instructed = "instructions" in options
        super().__init__(
            name or "mcp-bindgen bridge",
            "1",
            limits=limits,
            lifespan=lambda server: running(),
            **options,
        )

        def can_subscribe(uri: str) -> bool:
            return is_uri(uri) and watch(uri)

        self._dispatcher.change(can_subscribe=can_subscribe)

    async def run_stdio(self, *, trace: Trace | None = None) -> None:
        """Serve standard input and output, as `Server.run_stdio`."""
        from mcp_runtime.transports.stdio import own_pipes

        async with own_pipes(self.limits) as wire:
            await self.serve_alone(wire, trace=trace, grace=self.limits.eof_wait)

    async def serve_alone(
        self, wire: Wire, *, trace: Trace | None = None, grace: float = 0.0
    ) -> None:
        """Serve one client on a wire, and nobody else: the servers start for its capabilities."""
        first = FirstMessage(wire, self.limits.line_bytes)
        with suppress(Disconnected):
            self._expect(await first.capabilities())
            async with self.running():
                await self.serve(first, trace=trace, grace=grace)

    def put(self, method: str, handler: Callable[..., Any]) -> None:
        """Answer a method with a handler."""
        self.on(method)(handler)

    def carry_by(self, make: Callable[[Mapping[str, object]], Carrier]) -> None:
        """Let a carrier take requests, made with the handlers put here."""
        self._dispatcher.carrier = make(dict(self._dispatcher.handlers))

    def declare_passed(self, spoken: str, capabilities: Mapping[str, Any]) -> None:
        """Declare capabilities of the server to clients on streams, which speak its revision."""
        if self._passes:
            self._dispatcher.change(passed={spoken: capabilities})

    def asgi(self, **options: Any) -> HttpApp:
        """Return the application; over HTTP nothing is passed on unread."""
        self._passes = False
        self._dispatcher.change(passed={})
        return super().asgi(**options)

    def declare(self, capability: str) -> None:
        """Declare a capability, a dotted path."""
        self._features.declare(capability)
        self._dispatcher.announce_change()

    def announce(self, list_: str) -> None:
        """Notify clients of a changed list."""
        self._dispatcher.announce_change(list_)

    def is_watched(self, uri: str) -> bool:
        """Return True if a client has subscribed to a resource."""
        return self._dispatcher.is_watched(uri)

    def describe(self, info: t.Implementation | None, instructions: str) -> None:
        """Set the description for the next clients, unless the author has given one."""
        if info is not None and not self._is_named:
            self.info = info
            self._dispatcher.change(info=info)
        if instructions and not self._is_instructed:
            self._dispatcher.change(instructions=instructions)
