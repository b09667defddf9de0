"""A client: asks a server, and answers what the server asks of it.

    async with Client.stdio([sys.executable, "server.py"]) as client:
        result = await client.call_tool("forecast", {"city": "Oslo"})

What is asked and answered is in the newest revision's models, whatever the server speaks.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from msgspec import UNSET

from mcp_runtime.client.cache import Cache
from mcp_runtime.client.callbacks import Approve, ClientCallbacks, OnElicit, OnSample, Roots
from mcp_runtime.client.connection import ClientConnection
from mcp_runtime.client.output_schemas import OutputSchemas
from mcp_runtime.client.reconnect import Reconnector
from mcp_runtime.client.requests import Calls, ClientRequests, not_found, require_known_type
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.client.transports import TransportFactory, child, in_memory
from mcp_runtime.core.events import Notified, Terms
from mcp_runtime.core.negotiation import ClientOffer
from mcp_runtime.core.pending import Timeout
from mcp_runtime.errors import NotApproved, NotOffered, NotOpen, RemoteError
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import ALL, latest_calls
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import OnProgress, Trace

if TYPE_CHECKING:
    import ssl

    from mcp_runtime.server.server import Server

__all__ = ["Client"]

OnLog: TypeAlias = Callable[[t.LoggingMessageNotificationParams], object]


class Client:
    """Of one server: `Client(server)` in this process, through real bytes, or `Client.stdio(…)`.

    `on_sample`, `on_elicit` and `roots` serve what the server asks, and declare that they do;
    `approve(method, params)` is asked before each of these, and before each call of a tool.
    `timeout` is for each answer, in seconds; progress restarts it, up to `Limits.total`. With
    `cache` lists and resources are asked for anew only when the server's time for them is over, or
    a change was told.
    A server that does not answer pings, every `ping_every` seconds, counts as gone; one that is
    gone is started anew `restarts` times, and its subscriptions are made again.
    """

    def __init__(
        self,
        server: Server | TransportFactory,
        *,
        name: str = "mcp-bindgen",
        version: str = "1",
        revisions: Sequence[str] = ALL,
        on_sample: OnSample | None = None,
        sample_tools: bool = False,
        on_elicit: OnElicit | None = None,
        elicit_modes: Sequence[Literal["form", "url"]] = ("form",),
        roots: Roots | None = None,
        approve: Approve | None = None,
        on_log: OnLog | None = None,
        log_level: str | None = None,
        timeout: float | None = None,
        validate: bool = True,
        cache: bool = True,
        ping_every: float | None = None,
        restarts: int = 0,
        limits: Limits = DEFAULT,
        trace: Trace | None = None,
    ) -> None:
        self.limits = limits
        self.answering = ClientCallbacks(on_sample, on_elicit, roots, approve, limits)
        capabilities = self.answering.capabilities(sample_tools, elicit_modes)
        self.offer = ClientOffer(
            info=t.Implementation(name=name, version=version),
            revisions=tuple(revisions),
            capabilities=capabilities,
            roots_change=roots is not None,
        )
        self._approve = approve
        self._on_log = on_log
        self.timeout = limits.deadline if timeout is None else timeout
        self._validate = validate
        self._cache = Cache(limits.cached if cache else 0)
        self._asking = ClientRequests(self, self._cache)
        self.trace = trace
        self.life = Reconnector(
            self,
            server if callable(server) else in_memory(server),
            restarts=restarts,
            ping_every=ping_every,
            log_level=log_level,
        )
        self._outputs = OutputSchemas()

    @classmethod
    def stdio(
        cls,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stderr: Any = "inherit",
        **options: Any,
    ) -> Self:
        """Starts `command` as a child process, without a shell; it ends with the client.

        It gets few names of our environment, and `env`. Other `options` are those of the class.
        """
        return cls(child(command, env=env, cwd=cwd, stderr=stderr), **options)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        proxy: str | None = None,
        **options: Any,
    ) -> Self:
        """The server of a URL, by Streamable HTTP of any revision or by HTTP+SSE.

        `headers` go with each request. No proxy and no certificates are taken from the environment;
        redirections are followed within the origin. Other `options` are those of the class. Raises
        NotInstalled without the extra `http`, and ValueError for what is no such URL once it is
        entered.
        """
        from mcp_runtime.client.http import opener

        return cls(opener(url, headers=headers, tls=tls, proxy=proxy), **options)

    # ---- its life

    async def __aenter__(self) -> Self:
        """Raises Disconnected, NoCommonRevision, and what starting the server raises."""
        await self.life.begin()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.life.end()

    @property
    def connection(self) -> ClientConnection:
        """Raises NotOpen."""
        return self.life.connection

    @property
    def terms(self) -> Terms:
        """That were agreed with the server. Raises NotOpen."""
        terms = self.connection.session.agreed
        if terms is None:
            raise NotOpen("the session is not open")
        return terms

    @property
    def revision(self) -> str:
        """That both speak."""
        return self.terms.crossing.revision.name

    @property
    def server_info(self) -> Mapping[str, Any] | None:
        """As the server tells it, unverified: for display and logs, not for decisions."""
        return self.terms.info

    @property
    def server_capabilities(self) -> Mapping[str, Any]:
        return self.terms.capabilities

    @property
    def instructions(self) -> str | None:
        return self.connection.session.instructions

    @property
    def forgiven(self) -> Mapping[str, int]:
        """How often the server was forgiven a member, by its name."""
        return self.connection.session.tolerances.counts

    # ---- what a client asks

    async def list_tools(self, *, anew: bool = False) -> list[t.Tool]:
        """All of them, page by page; `anew` also where those that are kept still hold."""
        if anew:
            self._cache.drop("tools/list")
        tools: list[t.Tool] = await self._asking.pages("tools/list", "tools")
        if self._validate:
            self._outputs.listed(tools)
        return tools

    async def list_resources(self) -> list[t.Resource]:
        """All of them, page by page."""
        return await self._asking.pages("resources/list", "resources")

    async def list_resource_templates(self) -> list[t.ResourceTemplate]:
        """All of them, page by page."""
        return await self._asking.pages("resources/templates/list", "resource_templates")

    async def list_prompts(self) -> list[t.Prompt]:
        """All of them, page by page."""
        return await self._asking.pages("prompts/list", "prompts")

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> t.CallToolResult:
        """A result that `is_error` is one too: it is for the model to read.

        Raises RemoteError, BadAnswer (also for structured content that does not fit the schema
        that the tool was listed with), TimedOut, NotApproved, Disconnected. Raises NotInstalled before
        anything is sent, if results of such a tool cannot be checked without the extra `schemas`.
        """
        self._outputs.require_checkable(name)
        params = t.CallToolRequestParams(
            name=name,
            arguments=UNSET if arguments is None else dict(arguments),
            meta=self._asking.meta(on_progress, meta),
        )
        if self._approve is not None and not await self._approve("tools/call", params):
            raise NotApproved(f"the call of {name} was not approved")
        result: t.CallToolResult = await self._asking.answer(
            "tools/call", params, timeout=timeout, on_progress=on_progress
        )
        await self._outputs.require(name, result)
        return result

    async def read_resource(
        self, uri: str, *, timeout: float | None = None, meta: Mapping[str, Any] | None = None
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Raises NotFound where the server has no such resource, and as `call_tool` does."""
        params = t.ReadResourceRequestParams(uri=uri, meta=self._asking.meta(meta=meta))
        result: t.ReadResourceResult
        try:
            result = await self._asking.answer("resources/read", params, timeout=timeout)
        except RemoteError as refused:
            raise not_found(refused, uri) from None
        return [*result.contents]

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> t.GetPromptResult:
        params = t.GetPromptRequestParams(
            name=name,
            arguments=UNSET if arguments is None else dict(arguments),
            meta=self._asking.meta(meta=meta),
        )
        result: t.GetPromptResult = await self._asking.answer(
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
        """Suggestions for an argument; `chosen` are the arguments that are decided already."""
        context = t.CompleteRequestParamsContext(arguments=dict(chosen)) if chosen else UNSET
        params = t.CompleteRequestParams(
            ref=ref,
            argument=t.CompleteRequestParamsArgument(name=argument, value=value),
            context=context,
            meta=self._asking.meta(),
        )
        result: t.CompleteResult = await self.request("completion/complete", params)
        return result.completion

    async def ping(self) -> None:
        """Raises NotOffered where the revision has none (from 2026-07-28 on)."""
        await self.request("ping", UNSET)

    async def set_log_level(self, level: str) -> None:
        """Least level of the log messages that are wanted from now on."""
        self.connection.session.log_level = level
        if self._has("logging/setLevel"):
            revision = self.terms.crossing.revision
            params = revision.models.SetLevelRequestParams(level=level)
            await self.request("logging/setLevel", params)

    async def set_roots(self, roots: Roots) -> None:
        """Other roots from now on; the server is told, where the revision has that.

        Raises NotOffered for a client that was made without any.
        """
        if self.answering.roots is None:
            raise NotOffered("roots/list", "roots: the client was made without")
        self.answering.roots = roots
        await self.roots_changed()

    async def roots_changed(self) -> None:
        """Tells the server to ask for the roots again, where the revision has that."""
        if self._has("notifications/roots/list_changed"):
            await self.connection.notify("notifications/roots/list_changed", UNSET)

    @asynccontextmanager
    async def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool = False,
        uris: Sequence[str] = (),
    ) -> AsyncGenerator[Subscription]:
        """Changes of the lists named, and of the resources with these URIs, while it is entered.

        What the server does not tell of is not in `Subscription.served`.
        Source: 2026-07-28 basic/patterns/subscriptions; 2025-11-25 server/resources.
        """
        wanted = t.SubscriptionFilter(
            tools_list_changed=tools or UNSET,
            prompts_list_changed=prompts or UNSET,
            resources_list_changed=resources or UNSET,
            resource_subscriptions=list(uris) or UNSET,
        )
        changes = Subscription(wanted)
        listening = self.connection.listening
        listening.append(changes)
        try:
            await self.connection.listen(changes)
            yield changes
        finally:
            listening.remove(changes)
            if self.life.is_connected:
                await self.connection.unlisten(changes)

    @property
    def calls(self) -> latest_calls.ClientCalls:
        """Every method of the newest revision, typed; `params` need `meta=client.meta()`."""
        return Calls(self)

    def meta(self) -> t.RequestMetaObject:
        """What the params of a request have as `meta`."""
        found: t.RequestMetaObject = self._asking.meta()
        return found

    async def request(
        self,
        method: str,
        params: Any,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """One request, as it is: a result may ask for input. Raises as `call_tool` does."""
        await self.life.ensure()
        token = None
        if params is not UNSET and on_progress is not None:
            token = params.meta.progress_token
            token = None if token is UNSET else token
        patience = Timeout(timeout or self.timeout, self.limits.total, progress_counts=True)
        result = await self.connection.request(
            method, params, patience=patience, token=token, on_progress=on_progress
        )
        return require_known_type(method, result)

    def _has(self, method: str) -> bool:
        return method in self.terms.crossing.revision.methods

    def notified(self, event: Notified) -> None:
        self._cache.heed(event)
        if event.method == "notifications/message" and self._on_log is not None:
            self._on_log(event.params)
