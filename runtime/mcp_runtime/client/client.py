"""The client: calls a server's methods, and answers the server's requests.

    async with Client.stdio([sys.executable, "server.py"]) as client:
        result = await client.call_tool("forecast", {"city": "Oslo"})

Params and results are models of the newest revision, whatever revision the server speaks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar, Unpack

from mcp_runtime.client.cache import Cache
from mcp_runtime.client.callbacks import (
    OPTIONS,
    Approve,
    ClientCallbacks,
    OnElicit,
    OnSample,
    Roots,
    is_approved,
    plain,
)
from mcp_runtime.client.connection import ClientConnection
from mcp_runtime.client.options import (
    ClientOptions,
    ClientSettings,
    OnElicitationComplete,
    OnLog,
    RequestOptions,
)
from mcp_runtime.client.output_schemas import OutputSchemas
from mcp_runtime.client.reconnect import Reconnector
from mcp_runtime.client.requests import Calls, ClientRequests, narrow_to_not_found
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.client.tool_result import ToolFailed, ToolResult, tool_result
from mcp_runtime.client.transports import (
    LocalServer,
    TransportFactory,
    child_process,
    in_memory,
    over_wire,
)
from mcp_runtime.core.session.events import Notified
from mcp_runtime.core.terms.extension import Extension, Extensions
from mcp_runtime.core.terms.negotiation import ClientOffer
from mcp_runtime.core.terms.tolerances import Problem, strictness
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.doors import open_door
from mcp_runtime.errors import NotApproved, NotOffered, RemoteError
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.option_checks import members, texts
from mcp_runtime.revisions import ALL, HANDLERS, Method, first_name, latest_calls, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import OnProgress, Trace

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

    from mcp_runtime.auth.client.oauth import OAuth
    from mcp_runtime.shared.calls import OnCall, OnSession
    from mcp_runtime.transports.child_process import Stderr
    from mcp_runtime.transports.wire import Wire


_F = TypeVar("_F", bound=Callable[..., Any])


class Client:
    """A client of one server: `Client(server)` in this process, `Client.stdio`, `Client.http`.

    `on_sample`, `on_elicit` and `roots` answer requests of the server, and declare the capability.
    `extensions` are the protocol extensions of the client. `approve(method, params)` decides about
    each of these requests, and about each call of a tool. `timeout` is how many seconds to wait for
    an answer, the first one too; progress restarts it, up to `Limits.total`. `message_bytes` is how
    large an answer may be (`Limits.answer_bytes`). The client asks the server for its revisions;
    with `era="handshake"` a handshake begins at once. With `cache`, lists and resources are kept
    for as long as the server allows. With `validate`, structured results are checked against the
    listed output schemas, if the extra `schemas` is installed; with `validate="strict"` its absence
    is an error. Small mistakes of servers with a clear meaning are repaired, and counted in
    `forgiven`; `strict=True`, or the names of tolerances, refuses them (docs/TOLERANCES.md). A page
    whose URL has none of the `elicit_schemes` is refused, and `on_elicit` is not called. `on_log`
    gets each log message, and is a plain function; so is `on_elicitation_complete`, which gets the
    id of a page when the user's visit is complete (2025-11-25). With `ping_every`, a server that
    leaves a ping without an answer counts as gone, in revisions with pings. A server that is gone
    is started again, at most `restarts` times, and its subscriptions are renewed.
    """

    def __init__(
        self,
        server: LocalServer | TransportFactory,
        *,
        name: str = "mcp-bindgen",
        version: str = "1",
        revisions: Sequence[str] = ALL,
        era: Literal["auto", "handshake"] = "auto",
        on_sample: OnSample | None = None,
        sample_tools: bool = False,
        on_elicit: OnElicit | None = None,
        elicit_modes: Sequence[Literal["form", "url"]] = ("form",),
        elicit_schemes: Sequence[str] = ("https", "http"),
        roots: Roots | None = None,
        extensions: Sequence[Extension] = (),
        approve: Approve | None = None,
        on_log: OnLog | None = None,
        on_elicitation_complete: OnElicitationComplete | None = None,
        log_level: str | None = None,
        timeout: float | None = None,
        validate: bool | Literal["strict"] = True,
        strict: bool | Collection[str] = False,
        cache: bool = True,
        ping_every: float | None = None,
        restarts: int = 0,
        message_bytes: int | None = None,
        limits: Limits = DEFAULT,
        trace: Trace | None = None,
    ) -> None:
        limits = limits if message_bytes is None else replace(limits, answer_bytes=message_bytes)
        self.limits: Final = limits
        schemes = frozenset(texts("elicit_schemes", elicit_schemes))
        self._callbacks = ClientCallbacks(on_sample, on_elicit, roots, approve, limits, schemes)
        offer = ClientOffer(
            info=t.Implementation(name=name, version=version),
            revisions=texts("revisions", revisions),
            capabilities=self._callbacks.capabilities(sample_tools, elicit_modes),
            extensions=Extensions(extensions, revisions),
            roots_change=roots is not None,
            strict=strictness(strict),
        )
        settings = ClientSettings(
            offer=offer,
            era=era,
            callbacks=self._callbacks,
            limits=limits,
            timeout=timeout,
            log_level=log_level,
            ping_every=ping_every,
            restarts=restarts,
            trace=trace,
        )
        self._approve, self._on_log = approve, plain("on_log", on_log)
        self._on_elicitation_complete = plain("on_elicitation_complete", on_elicitation_complete)
        self._cache = Cache(limits, keeps=cache)
        self._output_schemas = OutputSchemas(is_strict=validate == "strict") if validate else None
        self._reconnector = Reconnector(
            server if callable(server) else in_memory(server),
            settings,
            notified=self._handle_notification,
            refresh_tools=lambda: self.list_tools(anew=True),
        )
        self._requests = ClientRequests(self._reconnector, self._cache)
        self._on_notification: dict[str, list[Callable[[Any], object]]] = {}

    @classmethod
    def stdio(
        cls,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stderr: Stderr = "show",
        **options: Unpack[ClientOptions],
    ) -> Self:
        """Start `command` as a child process, without a shell; it ends with the client.

        It gets few names of our environment, and `env`. Its standard error is shown on ours without
        control characters; `stderr` may be "inherit", "capture" or "drop" instead, or a function
        that is called with it, and then no error quotes it. Other `options` are those of the class.
        """
        return cls(child_process(command, env=env, cwd=cwd, stderr=stderr), **options)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        proxy: str | None = None,
        trust_env: bool = False,
        auth: OAuth | None = None,
        **options: Unpack[ClientOptions],
    ) -> Self:
        """Connect to a URL, by Streamable HTTP of any revision or by HTTP+SSE.

        `headers` go with each request. `auth` authorizes them where the server asks for it; without
        it, a protected server's 401 is a BadStatus. `proxy` is the URL of a proxy, `tls` checks
        certificates. With `trust_env` the environment is the default of these two: HTTP_PROXY,
        HTTPS_PROXY, ALL_PROXY and NO_PROXY (a proxy is never used for the loopback), SSL_CERT_FILE
        and SSL_CERT_DIR. Redirects are followed within the origin. Other `options` are those of the
        class.

        Raises NotInstalled without the extra `http`, and, once entered, ValueError for a URL of
        another scheme than HTTP, an invalid proxy, or unreadable certificates.
        """
        from mcp_runtime.client.http.transport import over_http

        factory = over_http(
            url, headers=headers, tls=tls, proxy=proxy, trust_env=trust_env, auth=auth
        )
        return cls(factory, **options)

    @classmethod
    def wire(cls, connect: Callable[[], Awaitable[Wire]], **options: Unpack[ClientOptions]) -> Self:
        """Connect over a transport of your own: `connect` opens a wire for each connection.

        Other `options` are those of the class. Once entered, raises the exceptions of `connect`.
        """
        return cls(over_wire(connect), **options)

    @classmethod
    def from_config(cls, path: str | Path, **options: Unpack[ClientOptions]) -> Self:
        """Return one client of all servers of an `mcp.json`, each with its name as a prefix.

        Other `options` are those of the class. Raises ConfigError (of `mcp_runtime.bridge`) for an
        unusable file, and OSError for an unreadable one.
        """
        return cls(open_door("Client.from_config")(path), **options)

    # ---- the connection

    @property
    def transport(self) -> TransportFactory:
        """How the client reaches its server."""
        return self._reconnector.connect

    async def __aenter__(self) -> Self:
        """Connect to the server. Raises Disconnected, NoCommonRevision, and the exceptions of
        starting the server.
        """
        await self._reconnector.open()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._reconnector.close()

    @property
    def connection(self) -> ClientConnection:
        """The open connection. Raises NotOpen before the client is entered and after it is left."""
        return self._reconnector.connection

    @property
    def is_connected(self) -> bool:
        return self._reconnector.is_connected

    @property
    def terms(self) -> Terms:
        """The terms agreed with the server. Raises NotOpen."""
        return self.connection.terms

    @property
    def revision(self) -> str:
        """The revision both sides speak."""
        return self.terms.translation.revision.name

    @property
    def server_info(self) -> t.Implementation | None:
        """The server's own words about itself, unverified: for display and logs, not for
        decisions.
        """
        return self.terms.implementation

    @property
    def server_capabilities(self) -> Mapping[str, Any]:
        return self.terms.capabilities

    @property
    def instructions(self) -> str | None:
        return self.connection.session.instructions

    @property
    def forgiven(self) -> Mapping[str, int]:
        """The number of uses of each tolerance for this server, by name (docs/TOLERANCES.md)."""
        return self.connection.session.tolerances.counts

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Items left out of the server's answers because they did not fit their type.

        Each says the method, the item's name, the path and the reason. Logged once as a warning.
        """
        return tuple(self.connection.session.tolerances.problems)

    # ---- requests

    async def list_tools(self, *, anew: bool = False) -> list[t.Tool]:
        """Return the tools of all pages; `anew` asks the server even if the cache is still
        fresh.
        """
        if anew:
            self._cache.drop("tools/list")
        tools: list[t.Tool] = await self._requests.pages("tools/list", "tools")
        if self._output_schemas is not None:
            self._output_schemas.replace_all(tools)
        return tools

    async def list_resources(self) -> list[t.Resource]:
        """Return the resources of all pages."""
        return await self._requests.pages("resources/list", "resources")

    async def list_resource_templates(self) -> list[t.ResourceTemplate]:
        """Return the resource templates of all pages."""
        return await self._requests.pages("resources/templates/list", "resource_templates")

    async def list_prompts(self) -> list[t.Prompt]:
        """Return the prompts of all pages."""
        return await self._requests.pages("prompts/list", "prompts")

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        raise_on_error: bool = False,
    ) -> ToolResult:
        """Call a tool. A result that `is_error` is returned too: it is for the model to read. With
        `raise_on_error` it is raised instead, as the `result` of a ToolFailed.

        `timeout` is in seconds. `on_progress` gets the progress, the total and the message; the
        last two may be None. If it is async, its calls run in order, and end before the result is
        returned. `meta` is added to the `_meta` of the request.

        Raises RemoteError, BadAnswer (also for structured content that does not fit the schema
        that the tool was listed with), TimedOut, TooMuch, NotApproved, Disconnected. With
        `validate="strict"`, raises NotInstalled before anything is sent if the result could not be
        checked.
        """
        if self._output_schemas is not None:
            self._output_schemas.require_checkable(name)
        params = t.CallToolRequestParams(
            name=name,
            arguments=t.UNSET if arguments is None else members("arguments", arguments),
            meta=self._requests.meta(on_progress, meta),
        )
        if self._approve is not None and not await is_approved(self._approve, "tools/call", params):
            raise NotApproved(f"the call of {name} was not approved")
        answer = await self._requests.call_tool(
            self, params, timeout=timeout, on_progress=on_progress
        )
        if self._output_schemas is not None:
            await self._output_schemas.require(name, answer)
        result = tool_result(answer)
        if raise_on_error and result.is_error is True:
            raise ToolFailed(name, result)
        return result

    async def read_resource(
        self, uri: str, *, timeout: float | None = None, meta: Mapping[str, Any] | None = None
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Return the contents of a resource. Raises NotFound if there is no such resource, and the
        exceptions of `call_tool`.
        """
        params = t.ReadResourceRequestParams(uri=uri, meta=self._requests.meta(meta=meta))
        result: t.ReadResourceResult
        try:
            result = await self._requests.answer("resources/read", params, timeout=timeout)
        except RemoteError as error:
            raise narrow_to_not_found(error, uri) from None
        return [*result.contents]

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> t.GetPromptResult:
        """Return the messages of a prompt with these arguments."""
        params = t.GetPromptRequestParams(
            name=name,
            arguments=t.UNSET if arguments is None else members("arguments", arguments),
            meta=self._requests.meta(meta=meta),
        )
        result: t.GetPromptResult = await self._requests.answer(
            "prompts/get", params, timeout=timeout
        )
        return result

    async def complete(
        self,
        ref: t.PromptReference | t.ResourceTemplateReference,
        argument: str,
        value: str,
        *,
        chosen: Mapping[str, str] | None = None,
    ) -> t.CompleteResultCompletion:
        """Return suggestions for an argument; `chosen` are the arguments with a value already."""
        context = t.CompleteRequestParamsContext(arguments=dict(chosen)) if chosen else t.UNSET
        params = t.CompleteRequestParams(
            ref=ref,
            argument=t.CompleteRequestParamsArgument(name=argument, value=value),
            context=context,
            meta=self._requests.meta(),
        )
        result: t.CompleteResult = await self._requests.request("completion/complete", params)
        return result.completion

    async def ping(self) -> None:
        """Send a ping and wait for the answer. Raises NotOffered if the revision has none (from
        2026-07-28 on).
        """
        await self._requests.request("ping", t.UNSET)

    async def set_log_level(self, level: str) -> None:
        """Ask for log messages of at least this level from now on. Raises ValueError."""
        await self._reconnector.ensure()
        await self.connection.set_log_level(level)

    async def set_roots(self, roots: Roots) -> None:
        """Replace the roots, and tell the server. Raises NotOffered if there never were any."""
        if self._callbacks.roots is None:
            raise NotOffered("roots/list", "roots: it was created without them", "client")
        self._callbacks.set_roots(roots)
        await self.roots_changed()

    async def roots_changed(self) -> None:
        """Tell the server to ask for the roots again, if the revision has a message for that."""
        method = "notifications/roots/list_changed"
        if method in self.terms.translation.revision.methods:
            await self.connection.notify(method, t.UNSET)

    def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool = False,
        uris: Sequence[str] = (),
        more: Mapping[str, Sequence[str] | bool] | None = None,
    ) -> AbstractAsyncContextManager[Subscription]:
        """Subscribe to changes of these lists, and of resources by URI, as long as the context is
        entered.

        `Subscription.served` says which of them the server agreed to report. `more` are other
        members of the filter, of a newer revision or of an extension; `on` handles their
        notifications. Raises DecodeError for members of another type.
        Source: 2026-07-28 basic/patterns/subscriptions; 2025-11-25 server/resources.
        """
        known = t.SubscriptionFilter(
            tools_list_changed=tools or t.UNSET,
            prompts_list_changed=prompts or t.UNSET,
            resources_list_changed=resources or t.UNSET,
            resource_subscriptions=[*texts("uris", uris)] or t.UNSET,
        )
        wanted = t.from_wire(t.SubscriptionFilter, {**(more or {}), **t.to_wire(known)})
        return self._reconnector.subscribed(Subscription(wanted, self._cache.clear))

    def on(self, method: str, *, settings: Mapping[str, Any] | None = None) -> Callable[[_F], _F]:
        """Register the handler of a request or a notification of the server.

        Use it for methods of the protocol that no option of `Client` names, such as those of a
        newer revision. The handler of a request is async: it takes the params, a model, and returns
        the result, a model or its JSON. Its capability is declared, with `settings`, to servers.
        The handler of a notification is a plain function of the params; there may be several.

        Raises ValueError for a method that no server sends, or that an option of `Client` handles;
        LocalError for a request while the client is open, since capabilities are told at the start.
        """
        known = self._sent_by_server(first_name(method))

        def register(function: _F) -> _F:
            if known.kind == "notification":
                handler = plain(f"the handler of {method}", function)
                self._on_notification.setdefault(known.name, []).append(handler)
            else:
                self._reconnector.declare(known.capability, settings or {})
                self._callbacks.handle(method, function)
            return function

        return register

    def _sent_by_server(self, method: str) -> Method:
        """Return a method that a server may send. Raises ValueError for another one."""
        if method in OPTIONS:
            raise ValueError(f"{method}: give Client the option {OPTIONS[method]}")
        extensions = self._reconnector.settings.offer.extensions
        of_extensions = {m.name: m for one in extensions for m in one.methods.values()}
        known = {**revision(HANDLERS).methods, **of_extensions}.get(method)
        if known is None or (known.kind == "request" and known.direction == "client-to-server"):
            raise ValueError(f"{method!r} is not a message that a server sends in {HANDLERS}")
        return known

    def on_call(self, hook: OnCall) -> OnCall:
        """Register a hook around each request, of this client or of its server.

        The hook gets a `Call` (of `mcp_runtime.shared.calls`) and returns a context manager, which
        is entered before the request is sent or handled and left when its outcome is known. Calls
        that begin from now on are seen; openings are not, for the session answers them itself.
        """
        self._reconnector.settings.hooks.on_call += (hook,)
        return hook

    def on_session(self, hook: OnSession) -> OnSession:
        """Register a hook around each session that opens from now on; it gets the `Link`."""
        self._reconnector.settings.hooks.on_session += (hook,)
        return hook

    async def responses(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers of the callbacks to requests for input, by the same keys."""
        return await self._callbacks.responses(requests)

    @property
    def calls(self) -> latest_calls.ClientCalls:
        """Every method of the newest revision, typed; `params` need `meta=client.meta()`."""
        return Calls(self._requests, self._reconnector)

    def meta(self) -> t.RequestMetaObject:
        """Return the `meta` of typed params; those of another revision are given as a dict
        instead.
        """
        meta: t.RequestMetaObject = self._requests.meta()
        return meta

    async def request(self, method: str, params: Any, **options: Unpack[RequestOptions]) -> Any:
        """Send one request and return its result. If `params` is a dict, the `_meta` it needs is
        added. Raises as `call_tool` does.
        """
        return await self._requests.request(first_name(method), params, **options)

    def _handle_notification(self, event: Notified) -> None:
        self._cache.drop_stale(event)
        for handler in self._on_notification.get(event.method, ()):
            handler(event.params)
        if event.method == "notifications/message" and self._on_log is not None:
            self._on_log(event.params)
        visited = self._on_elicitation_complete
        if event.method == "notifications/elicitation/complete" and visited is not None:
            visited(event.params.elicitation_id)
