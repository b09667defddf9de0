"""The `Server` class: register features with decorators, then serve them with one call.

    server = Server("weather", "1.0.0")

    @server.tool
    async def forecast(city: str, days: int = 1) -> str:
        "Forecasts the weather."
        return ...

    server.run()

Handlers are written once, against the newest revision; clients of every older revision are served
too.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from socket import socket
from typing import TYPE_CHECKING, Any, Final, Literal

from mcp_runtime.core.session.request_state import KeyRing, StateSealer
from mcp_runtime.core.terms.extension import Extension, Extensions
from mcp_runtime.core.terms.negotiation import ServerOffer
from mcp_runtime.core.terms.tolerances import OF_ARGUMENTS, strictness
from mcp_runtime.doors import open_door
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.option_checks import texts
from mcp_runtime.revisions import ALL, UNSET
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.server.dispatcher import ServerDispatcher
from mcp_runtime.server.extension import attach
from mcp_runtime.server.lifespan import Lifespan
from mcp_runtime.server.methods import ProtocolMethods
from mcp_runtime.server.other_names import SERVER_NAMES, with_other_names
from mcp_runtime.server.registry import Features, Kind, or_unset
from mcp_runtime.server.rules import Switch
from mcp_runtime.shared import runner
from mcp_runtime.shared.connection import Trace
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.auth.server.bearer import BearerAuth
    from mcp_runtime.server.http.app import HttpApp

log: Final = logging.getLogger("mcp_runtime")

_KEYS: Final = "MCP_STATE_KEYS"
_NO_NAMES: Final = frozenset[str]()
_OPTIONS_ELSEWHERE: Final = frozenset(("transport", "host", "port"))


@with_other_names(SERVER_NAMES)
class Server(Decorators):
    """A server: every client is offered the features registered here.

    `revisions` are the revisions the server speaks. `keys` seal the state that travels through
    clients: pass the same keys to all processes that serve one another's clients, or name them in
    the environment (MCP_STATE_KEYS: hexadecimal, the newest first, separated by commas); without
    keys, each process draws its own. `offers` declares kinds of features before the first one is
    registered. `ttl_ms` and `cache_scope` tell clients how long they may cache lists, and whether
    caches may be shared. `extensions` of the protocol are declared and served.

    `ping_every` is in seconds: in revisions with pings, a client on a stream is disconnected if it
    does not answer a ping.

    `auth` lets HTTP requests in only with a token for this server; other transports are not asked
    for one. `hide_forbidden_tools` leaves tools out of a list whose scopes the token lacks.

    `show_errors` is for development: clients, and so their models, read the text of unexpected
    exceptions. Without it they get a reference to the log.

    Small mistakes of clients with a clear meaning are repaired, and counted in `forgiven`;
    `strict=True`, or the names of tolerances, refuses them. `strict_arguments` refuses arguments of
    tools given as JSON text, and null for absent arguments (docs/TOLERANCES.md).

    `lifespan(server)` is entered before the first client is served, and left after the last; the
    value it yields is `Context.lifespan`.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[t.Icon] | None = None,
        revisions: Sequence[str] = ALL,
        limits: Limits = DEFAULT,
        keys: Sequence[bytes] | StateSealer | None = None,
        offers: Collection[Kind] = (),
        extensions: Sequence[Extension] = (),
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        lifespan: Callable[[Server], AbstractAsyncContextManager[Any]] | None = None,
        ping_every: float | None = None,
        auth: BearerAuth | None = None,
        hide_forbidden_tools: bool = False,
        show_errors: bool = False,
        strict: bool | Collection[str] = False,
        strict_arguments: bool = False,
    ) -> None:
        if ttl_ms < 0:
            raise ValueError(f"ttl_ms must be 0 or more, not {ttl_ms}")
        features = Features(offers)
        hints = {"ttl_ms": ttl_ms, "cache_scope": cache_scope}
        protocol = ProtocolMethods(features, limits, hints, hides_forbidden=hide_forbidden_tools)
        protocol.show_errors = show_errors
        dispatcher = ServerDispatcher(
            protocol, limits, _sealer(keys), ping_every=ping_every, knows_clients=auth is not None
        )
        super().__init__(dispatcher)
        self.info = t.Implementation(
            name=name,
            version=version,
            title=or_unset(title),
            description=or_unset(description),
            website_url=or_unset(website_url),
            icons=UNSET if icons is None else list(icons),
        )
        self._draws_keys: Final = keys is None and not os.environ.get(_KEYS)
        self.auth: Final = auth
        dispatcher.lifespan = None if lifespan is None else Lifespan(partial(lifespan, self))
        dispatcher.begin(
            ServerOffer(
                info=self.info,
                revisions=texts("revisions", revisions),
                capabilities=features.capabilities(),
                extensions=Extensions(extensions, revisions),
                instructions=or_unset(instructions),
                hints=hints,
                can_subscribe=dispatcher.can_subscribe,
                filters=features.filters,
                strict=strictness(strict) | (OF_ARGUMENTS if strict_arguments else _NO_NAMES),
            )
        )
        attach(self, extensions)

    @property
    def show_errors(self) -> bool:
        """True if clients read the text of unexpected exceptions."""
        return self._dispatcher.show_errors

    @show_errors.setter
    def show_errors(self, shows: bool) -> None:
        self._dispatcher.protocol.show_errors = shows

    @property
    def forgiven(self) -> Counter[str]:
        """How often each tolerance was used for clients, by its name."""
        return self._dispatcher.forgiven

    # ---- enabled features

    def enable(self, *names: str, tags: Iterable[str] = (), only: bool = False) -> None:
        """Enable features that `disable` has disabled: of these names, and with one of these tags.

        With `only`, every other feature is disabled. Clients are notified of changed lists.
        Raises ValueError for an unknown name.
        """
        self._dispatcher.switch(Switch(True, names, tags, only))

    def disable(self, *names: str, tags: Iterable[str] = ()) -> None:
        """Disable features: clients neither see nor reach them, as if they were not registered.

        A name is that of a tool, a prompt, a resource or a template, or the URI of one of the last
        two. A tag disables features registered later, too. The
        last call about a feature counts. Raises ValueError for an unknown name.
        """
        self._dispatcher.switch(Switch(False, names, tags))

    # ---- notifications to all clients

    def resource_updated(self, uri: str, *, principal: str | None = None) -> None:
        """Notify the subscribers of a changed resource; only those of `principal`, if it is given.

        Anyone may subscribe to a URI of the server: its handler decides who may read the resource.
        """
        self._dispatcher.resource_updated(uri, principal)

    def publish(
        self,
        method: str,
        params: Any,
        member: str,
        value: str | bool,
        *,
        principal: str | None = None,
    ) -> None:
        """Send a notification of the protocol or of an extension to its subscribers.

        These are clients with `value` in `member` of their filter, or True where the member is a
        switch, acting for `principal` unless it is None. `params` are a model. Raises ValueError
        for an unknown method, NotOffered if the server does not declare its capability.
        """
        self._dispatcher.publish(method, params, member, value, principal)

    # ---- other servers

    def mount(self, prefix: str, source: object, **hooks: Any) -> None:
        """Serve the features of another server beside the own ones, under names with a prefix.

        `source` is a `Server`, a `Client` (its transport is used, and its options are not), a URL,
        or the words of a command; an `Upstream` (of `mcp_runtime.bridge`) also renames tools and
        chooses among them. A tool `find` becomes `prefix_find`, a resource `note://a` becomes
        `note://prefix/a`. The server's middleware sees the calls. Questions of the other server go
        to the client. `hooks` are `allow`, `rewrite` and `observe`, as of `Bridge`.

        Call it before the server has clients. Raises ValueError for a name that both servers have,
        and for a malformed prefix; TypeError for another source; LocalError if it is too late.
        """
        open_door("Server.mount")(self, prefix, source, **hooks)

    # ---- serving

    def running(self) -> AbstractAsyncContextManager[object]:
        """Return a context that keeps the server's `lifespan` entered; contexts that are open
        together share a single lifespan.
        """
        return self._dispatcher.running()

    async def serve(self, wire: Wire, *, trace: Trace | None = None, grace: float = 0.0) -> None:
        """Serve one client on a wire, until the client is gone.

        Requests that run when the input ends have `grace` seconds; then they are cancelled without
        an answer.
        """
        await ServerWireConnection(self._dispatcher, trace=trace).serve(wire, grace)

    def accept(self, wire: Wire) -> ServerWireConnection:
        """Start to serve one client on a wire, and return the connection.

        Await its `wait_until_gone()` at the end; until then the server has no task that waits for
        the client.
        """
        connection = ServerWireConnection(self._dispatcher)
        connection.begin(wire)
        return connection

    async def run_stdio(self, *, trace: Trace | None = None) -> None:
        """Serve standard input and output; `Limits.eof_wait` is the grace at the end of input."""
        from mcp_runtime.transports.stdio import own_pipes

        async with self.running(), own_pipes(self.limits) as wire:
            await self.serve(wire, trace=trace, grace=self.limits.eof_wait)

    def asgi(self, **options: Any) -> HttpApp:
        """Return an ASGI 3 application that serves clients of every era; `options` as for
        `HttpApp`.

        `auth` defaults to the server's own.
        """
        from mcp_runtime.server.http.app import HttpApp

        options.setdefault("auth", self.auth)
        if options.get("store") is not None and self._draws_keys:
            log.warning(
                "this process has its own keys: its requestState and tasks can be read by no other "
                "process, nor after a restart; give Server(keys=...), or set %s",
                _KEYS,
            )
        if routes := self._dispatcher.routes:
            from mcp_runtime.server.http.route import Routes

            own = {path: Routes(functions) for path, functions in routes.items()}
            options["documents"] = {**own, **(options.get("documents") or {})}
        return HttpApp(self._dispatcher, **options)

    def run(
        self,
        *others: object,
        http: str | socket | None = None,
        root_path: str = "",
        started: Callable[[str], object] = lambda url: None,
        trace: Trace | None = None,
        **options: Any,
    ) -> None:
        """Serve until the input ends, or the process gets SIGINT or SIGTERM.

        Without `http`, standard input and output are served. `http` is an address such as
        "127.0.0.1:8000", or a listening socket; then `options` are those of `asgi`, `root_path` is
        the prefix of the path a proxy cuts off, and `started` is called with the URL as soon as it
        is served.

        Raises NotInstalled without the extra `http`, ValueError for a malformed address, TypeError
        for `transport`, `host`, `port` and the name of a transport, which other libraries take.
        """
        slips = [*map(repr, others), *sorted(_OPTIONS_ELSEWHERE & options.keys())]
        if slips:
            names = ", ".join(slips)
            raise TypeError(
                f'{names}: run() serves stdio, and run(http="127.0.0.1:8000") serves HTTP'
            )
        wait = self.limits.close_wait
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            if http is None:
                runner.run(runner.run_until_terminated(self.run_stdio(trace=trace)), wait)
            else:
                from mcp_runtime.server.http.uvicorn import new_loop, serve

                app = self.asgi(trace=trace, **options)
                runner.run(serve(app, http, started, root_path), wait, new_loop)


def _sealer(keys: Sequence[bytes] | StateSealer | None) -> StateSealer:
    if keys is None:
        return KeyRing(_keys_of_environment() or [secrets.token_bytes(32)])
    return KeyRing(keys) if isinstance(keys, Sequence) else keys


def _keys_of_environment() -> list[bytes]:
    """Read the keys from the environment. Raises ValueError unless they are hexadecimal."""
    try:
        return [bytes.fromhex(key) for key in os.environ.get(_KEYS, "").split(",") if key]
    except ValueError:
        raise ValueError(f"{_KEYS} has a key that is not hexadecimal") from None
