"""Carries requests as they are between a client and a server of the same revision.

Params and results stay bytes: they are checked, and nothing is converted. The id, a progress token
that is taken, and the name of a feature with a prefix are all that changes. A request for which
more is to be done is left to the bridge's handlers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Raw, Struct, UnsetType, field, json

from mcp_runtime.bridge.hooks import Access, Allow, Crossing
from mcp_runtime.bridge.link import Link
from mcp_runtime.bridge.links import Links
from mcp_runtime.bridge.names import FEATURES, Kind
from mcp_runtime.bridge.ongoing import ask_client
from mcp_runtime.bridge.sending import as_client_error
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.pending import PendingRequest
from mcp_runtime.core.session.rate_limit import Bucket
from mcp_runtime.core.wire import error_codes
from mcp_runtime.core.wire.jsonrpc import UNREADABLE, Id
from mcp_runtime.errors import RpcError, SessionError, ToolError
from mcp_runtime.revisions import DecodeError
from mcp_runtime.server.connection import ServerConnection
from mcp_runtime.server.context import Context
from mcp_runtime.server.functions.output_schema import failed_call


class _Meta(Struct):
    token: Id | UnsetType = field(default=UNSET, name="progressToken")


class _Params(Struct):
    """The members of params by which a request finds its server."""

    name: str = ""
    uri: str = ""
    meta: _Meta = field(default_factory=_Meta, name="_meta")


_peek: Final = json.Decoder(_Params).decode
_members: Final = json.Decoder(dict[str, Raw]).decode


class _Route(NamedTuple):
    """The server of a request, and the public and the own name of the request's feature."""

    links: Links
    kind: Kind
    name: str
    own: str
    token: Id | UnsetType


class Carrier:
    """Takes requests of clients on streams, and carries those which need no conversion.

    `handlers` are the bridge's, by method: a request is left to another handler. `meet` is called
    with each connection, `tell` with the report of each request.
    """

    def __init__(
        self,
        servers: Mapping[str, Links],
        handlers: Mapping[str, object],
        allow: Allow | None,
        meet: Callable[[ServerConnection], object],
        tell: Callable[[Crossing], object] | None,
    ) -> None:
        self.servers: Final = servers
        self.tell: Final = tell
        self._handlers = handlers
        self._allow = allow
        self._meet = meet

    def __call__(self, called: Called, connection: ServerConnection) -> bool:
        """Carry a request; return False if a handler must serve it."""
        if called.method not in FEATURES and called.method in connection.server.handlers:
            return False
        if not self._is_bare(called, connection):
            return False
        route = self._route(called, connection)
        if route is None:
            return False
        self._meet(connection)
        link = route.links.open_link(connection, called.terms.capabilities)
        if link is None:
            opening = self._open(called, connection, route)
            connection.take(called, connection.loop.create_task(opening))
            return True
        return self._carry(called, connection, link, route)

    def _is_bare(self, called: Called, connection: ServerConnection) -> bool:
        """Return False if a hook, a middleware or another handler wants to see the request."""
        server = connection.server
        return (
            not connection.hooks.on_call
            and not server.middleware
            and server.handlers.get(called.method) is self._handlers.get(called.method)
        )

    def _route(self, called: Called, connection: ServerConnection) -> _Route | None:
        """Find the server of a request; None if it is refused, or not found."""
        try:
            params = _peek(called.params or b"{}")
        except UNREADABLE:
            return None
        if called.method not in FEATURES:
            return self._route_method(called.method, connection, params.meta.token)
        kind, member = FEATURES[called.method]
        name = getattr(params, member)
        for links in self.servers.values():
            own = name if links.is_plain else links.upstream.names.own(kind, name)
            if own is not None and self._is_allowed(kind, name, links, connection):
                return _Route(links, kind, name, own, params.meta.token)
        return None

    def _route_method(
        self, method: str, connection: ServerConnection, token: Id | UnsetType
    ) -> _Route | None:
        """Return the only server for a method that the bridge does not know."""
        for links in self.servers.values() if len(self.servers) == 1 else ():
            if self._is_allowed("method", method, links, connection):
                return _Route(links, "method", method, method, token)
        return None

    def _is_allowed(
        self, kind: Kind, name: str, links: Links, connection: ServerConnection
    ) -> bool:
        if self._allow is None:
            return True
        answer = self._allow(Access(kind, name, links.name, connection.principal))
        if asyncio.iscoroutine(answer):
            answer.close()  # the handler calls it again, and waits
        return answer is True

    async def _open(self, called: Called, connection: ServerConnection, route: _Route) -> None:
        """Carry a request once its link is open."""
        with suppress(RpcError, SessionError):  # raised again in the handler
            link = await route.links.of(connection.context(called))
            await link.client(link.limits.deadline)
            if self._carry(called, connection, link, route):
                return
        await connection.run_handler(called)

    def _carry(
        self, called: Called, connection: ServerConnection, link: Link, route: _Route
    ) -> bool:
        """Send a request on; return False if its server speaks another revision, or refuses."""
        upstream, translation = link.connection, called.terms.translation
        if upstream is None or upstream.terms.translation.revision is not translation.revision:
            return False
        if upstream.hooks.on_call or not connection.admits(called):
            return False
        token = None if route.token is UNSET else link.free_token(route.token)
        carriage = Carriage(self, called, connection, link, route)
        try:
            body = translation.check("params", called.method, called.params)
            body = _replace(called.method, body, route, token)
            carriage.sent = upstream.carry(called.method, body, carriage, token=token)
            carriage.sent.is_open = "extensions" in called.terms.capabilities
        except (DecodeError, SessionError):
            return False
        if token is not None:
            carriage.sent.on_progress = carriage.report
        connection.take(called, carriage)
        link.carrying(carriage, called)
        return True


def _replace(method: str, body: bytes, route: _Route, token: Id | None) -> bytes:
    """Replace the public name in params, and a progress token which is taken."""
    if route.own == route.name and token == (None if route.token is UNSET else route.token):
        return body
    members: dict[str, Any] = _members(body)
    if route.own != route.name:
        members[FEATURES[method][1]] = route.own
    if token is not None:
        members["_meta"] = {**_members(members["_meta"]), "progressToken": token}
    return json.encode(members)


class Carriage(asyncio.Future[Any]):
    """A request on its way.

    Both connections have it: the one to the client as the request's task, and the one to the server
    as the caller who waits for the answer. The answer goes on as soon as it is set.
    """

    sent: PendingRequest
    is_driven = True
    _ctx: Context | None = None
    _rate: Bucket | None = None

    def __init__(
        self,
        carrier: Carrier,
        called: Called,
        connection: ServerConnection,
        link: Link,
        route: _Route,
    ) -> None:
        super().__init__(loop=connection.loop)
        self.called: Final = called
        self._carrier, self._connection = carrier, connection
        self._link, self._route = link, route
        self._began = perf_counter()

    @property
    def method(self) -> str:
        return self.called.method

    @property
    def name(self) -> str:
        return self._route.name

    @property
    def upstream(self) -> str:
        return self._route.links.name

    @property
    def ctx(self) -> Context:
        if self._ctx is None:
            self._ctx = self._connection.context(self.called)
        return self._ctx

    async def ask(self, method: str, params: Any) -> Any:
        """Ask the client in the handshake era, as `Ongoing.ask` does."""
        return await ask_client(self.ctx, method, params, None)

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass progress on, within the limit of the rate."""
        connection = self._connection
        if self._rate is None:
            self._rate = Bucket(self._link.limits.progress_rate)
        if progress == total or self._rate.allow(connection.loop.time()):
            connection.report_at_once(self.called, progress, total, message)

    def set_result(self, result: Any) -> None:
        """Pass an answer on; `result` is JSON."""
        self._end(None, answered=True)
        names = self._route.links.upstream.names
        if names.prefix and _may_name_resources(result):
            translation = self._link.opened.connection.terms.translation
            result = names.result(translation.read("result", self.method, result))
        self._connection.pass_on(self.called, result)
        super().set_result(None)

    def set_exception(self, error: Any) -> None:
        """Pass an error on."""
        refusal = as_client_error(error, self)
        self._end(getattr(refusal, "code", error_codes.INTERNAL_ERROR), answered=False)
        if isinstance(refusal, ToolError) and self.method == "tools/call":
            self._connection.pass_on(self.called, failed_call(str(refusal)))
        else:
            if not isinstance(refusal, RpcError):
                refusal = RpcError(error_codes.INTERNAL_ERROR, str(refusal))
            self._connection.pass_error(self.called, refusal)
        super().set_result(None)

    def cancel(self, msg: Any = None) -> bool:
        """Cancel the request at its server, too."""
        if not self.done():
            self._end(None, answered=False)
            if (upstream := self._link.connection) is not None:
                upstream.give_up(self.sent, "the client has cancelled it")
        return super().cancel(msg)

    def _end(self, error: int | None, *, answered: bool) -> None:
        """Take the request off its link, and report it."""
        self._link.running.pop(self, None)
        self._route.links.release(self._link, answered=answered)
        if self._carrier.tell is not None:
            revision = self.called.terms.translation.revision.name
            self._carrier.tell(
                Crossing(
                    method=self.method,
                    name=self.name,
                    upstream=self.upstream,
                    principal=self._connection.principal,
                    client=revision,
                    server=revision,
                    seconds=perf_counter() - self._began,
                    error=error,
                    losses=(),
                )
            )


def _may_name_resources(result: bytes) -> bool:
    """Return True if a result may have a URI of a resource; `\\u` may hide it."""
    return b"resource" in result or b"uri" in result or b"\\u" in result
