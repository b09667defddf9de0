"""A client: asks a server, and answers what the server asks of it.

    async with Client.stdio([sys.executable, "server.py"]) as client:
        result = await client.call_tool("forecast", {"city": "Oslo"})

What is asked and answered is in the newest revision's models, whatever the server speaks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, TypeAlias

from msgspec import UNSET, structs

from mcp_runtime.answering import Answering, Approve, OnElicit, OnSample, Roots
from mcp_runtime.cache import Cache, cache_key
from mcp_runtime.calling import ClientConnection, ClientOnWire
from mcp_runtime.changes import Changes
from mcp_runtime.connection import OnProgress, Trace
from mcp_runtime.core import codes
from mcp_runtime.core.events import Notified, Terms
from mcp_runtime.core.offer import ClientOffer
from mcp_runtime.core.pending import Patience
from mcp_runtime.errors import (
    BadAnswer,
    NotApproved,
    NotFound,
    NotOffered,
    NotOpen,
    Refused,
    TooMuch,
)
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.meta import require_meta
from mcp_runtime.outputs import Outputs
from mcp_runtime.revisions import ALL, latest_calls
from mcp_runtime.revisions import latest as t

if TYPE_CHECKING:
    import ssl

    from mcp_runtime.server import Server

__all__ = ["Client"]

log: Final = logging.getLogger("mcp_runtime.client")
OnLog: TypeAlias = Callable[[t.LoggingMessageNotificationParams], object]


class Opener(Protocol):
    """Reaches a server: the connection, which lives as long as what it entered on `stack`."""

    async def __call__(self, stack: AsyncExitStack, client: Client) -> ClientConnection: ...


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
        server: Server | Opener,
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
        self.answering = Answering(on_sample, on_elicit, roots, approve, limits)
        capabilities = self.answering.capabilities(sample_tools, elicit_modes)
        self.offer = ClientOffer(
            info=t.Implementation(name=name, version=version),
            revisions=tuple(revisions),
            capabilities=capabilities,
            roots_change=roots is not None,
        )
        self._open: Opener = server if callable(server) else _in_memory(server)
        self._approve = approve
        self._on_log = on_log
        self._log_level = log_level
        self._timeout = limits.deadline if timeout is None else timeout
        self._validate = validate
        self._caches = cache
        self._cache = Cache(limits.cached)
        self.trace = trace
        self._ping_every = ping_every
        self._restarts = restarts
        self._restarting = asyncio.Lock()
        self._revival: asyncio.Task[Any] | None = None
        self._tokens = count(1)
        self._stack = AsyncExitStack()
        self._connection: ClientConnection | None = None
        self._outputs = Outputs()

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

        async def open(stack: AsyncExitStack, client: Client) -> ClientConnection:
            from mcp_runtime.io.child import spawn

            child = await spawn(command, env=env, cwd=cwd, stderr=stderr, limits=client.limits)
            stack.push_async_callback(child.close)
            return ClientOnWire(client, child)

        return cls(open, **options)

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
        from mcp_runtime.over_http import opener

        return cls(opener(url, headers=headers, tls=tls, proxy=proxy), **options)

    # ---- its life

    async def __aenter__(self) -> Self:
        """Raises Disconnected, NoCommonRevision, and what starting the server raises."""
        try:
            await self._connect()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def _connect(self) -> None:
        self._connection = connection = await self._open(self._stack, self)
        connection.ping_every = self._ping_every
        connection.session.log_level = self._log_level
        await connection.open()
        if self._log_level is not None and "logging" in self.server_capabilities:
            await self.set_log_level(self._log_level)

    def restarts(self, connection: ClientConnection) -> bool:
        """Whether the server, which is gone, may be started anew."""
        return connection is self._connection and self._restarts > 0

    async def revive(self) -> None:
        """Starts a server anew that is gone, as often as it may be, and listens again.

        Source: 2026-07-28 basic/transports/stdio and basic/patterns/subscriptions.
        """
        async with self._restarting:
            gone = self.connection
            if not gone.is_gone or not self.restarts(gone):
                return
            self._restarts -= 1
            log.warning("the server is gone: it is started anew")
            self._revival = asyncio.current_task()
            try:
                await self._stack.aclose()
                await self._connect()
                self.connection.listening = gone.listening
                for changes in gone.listening:
                    await self._listen(changes)
            finally:
                self._revival = None

    async def __aexit__(self, *exception: object) -> None:
        connection, self._connection = self._connection, None
        if (revival := self._revival) is not None:
            revival.cancel()
            await asyncio.wait([revival])
        if connection is not None:
            connection.end("the client was closed")
        await self._stack.aclose()
        if connection is not None:
            await connection.finished()

    async def restore(self) -> None:
        """Tells a new session what the last one was told."""
        level = self.connection.session.log_level
        if level is not None and "logging" in self.server_capabilities:
            await self.set_log_level(level)
        for changes in self.connection.listening:
            if changes.wanted.resource_subscriptions is not UNSET:
                await self._watch(changes.wanted.resource_subscriptions, "subscribe")

    @property
    def connection(self) -> ClientConnection:
        """Raises NotOpen."""
        if self._connection is None:
            raise NotOpen("the client is not open: use it in `async with`")
        return self._connection

    @property
    def _terms(self) -> Terms:
        terms = self.connection.session.agreed
        if terms is None:
            raise NotOpen("the session is not open")
        return terms

    @property
    def revision(self) -> str:
        """That both speak."""
        return self._terms.crossing.revision.name

    @property
    def server_info(self) -> Mapping[str, Any] | None:
        """As the server tells it, unverified: for display and logs, not for decisions."""
        return self._terms.info

    @property
    def server_capabilities(self) -> Mapping[str, Any]:
        return self._terms.capabilities

    @property
    def instructions(self) -> str | None:
        return self.connection.session.instructions

    @property
    def forgiven(self) -> Mapping[str, int]:
        """How often the server was forgiven a member, by its name."""
        return self.connection.session.tolerances.counts

    # ---- what a client asks

    async def list_tools(self) -> list[t.Tool]:
        """All of them, page by page."""
        tools: list[t.Tool] = await self._all("tools/list", "tools")
        if self._validate:
            self._outputs.listed(tools)
        return tools

    async def list_resources(self) -> list[t.Resource]:
        """All of them, page by page."""
        return await self._all("resources/list", "resources")

    async def list_resource_templates(self) -> list[t.ResourceTemplate]:
        """All of them, page by page."""
        return await self._all("resources/templates/list", "resource_templates")

    async def list_prompts(self) -> list[t.Prompt]:
        """All of them, page by page."""
        return await self._all("prompts/list", "prompts")

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

        Raises Refused, BadAnswer (also for structured content that does not fit the schema which
        the tool was listed with), TimedOut, NotApproved, Disconnected. Raises NotInstalled before
        anything is sent, if results of such a tool cannot be checked without the extra `schemas`.
        """
        self._outputs.require_checkable(name)
        params = t.CallToolRequestParams(
            name=name,
            arguments=UNSET if arguments is None else dict(arguments),
            meta=self._meta(on_progress, meta),
        )
        if self._approve is not None and not await self._approve("tools/call", params):
            raise NotApproved(f"the call of {name} was not approved")
        result: t.CallToolResult = await self._insist(
            "tools/call", params, timeout=timeout, on_progress=on_progress
        )
        await self._outputs.require(name, result)
        return result

    async def read_resource(
        self, uri: str, *, timeout: float | None = None, meta: Mapping[str, Any] | None = None
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Raises NotFound where the server has no such resource, and as `call_tool` does."""
        params = t.ReadResourceRequestParams(uri=uri, meta=self._meta(meta=meta))
        result: t.ReadResourceResult
        try:
            result = await self._insist("resources/read", params, timeout=timeout)
        except Refused as refused:
            raise _not_found(refused, uri) from None
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
            meta=self._meta(meta=meta),
        )
        result: t.GetPromptResult = await self._insist("prompts/get", params, timeout=timeout)
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
            meta=self._meta(),
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
            revision = self._terms.crossing.revision
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
    ) -> AsyncGenerator[Changes]:
        """Changes of the lists named, and of the resources with these URIs, while it is entered.

        What the server does not tell of is not in `Changes.served`.
        Source: 2026-07-28 basic/patterns/subscriptions; 2025-11-25 server/resources.
        """
        wanted = t.SubscriptionFilter(
            tools_list_changed=tools or UNSET,
            prompts_list_changed=prompts or UNSET,
            resources_list_changed=resources or UNSET,
            resource_subscriptions=list(uris) or UNSET,
        )
        changes = Changes(wanted)
        listening = self.connection.listening
        listening.append(changes)
        try:
            await self._listen(changes)
            yield changes
        finally:
            listening.remove(changes)
            if (connection := self._connection) is not None and not connection.is_gone:
                await self._unlisten(changes, connection)

    async def _listen(self, changes: Changes) -> None:
        if self._has("subscriptions/listen"):
            await self._stream(changes)
        else:
            await self._watch(changes.wanted.resource_subscriptions, "subscribe")

    async def _unlisten(self, changes: Changes, connection: ClientConnection) -> None:
        if changes.id is not None:
            connection.send(connection.session.cancel(changes.id, "no longer wanted"))
        else:
            await self._watch(changes.wanted.resource_subscriptions, "unsubscribe")

    async def _stream(self, changes: Changes) -> None:
        connection = self.connection
        changes.acknowledged.clear()
        params = t.SubscriptionsListenRequestParams(notifications=changes.wanted, meta=self._meta())
        connection.start_listening(params, changes)
        await asyncio.wait_for(changes.acknowledged.wait(), self._timeout)

    async def _watch(self, uris: Sequence[str] | t.Unset, verb: str) -> None:
        models = self._terms.crossing.revision.models
        make = (
            models.SubscribeRequestParams
            if verb == "subscribe"
            else models.UnsubscribeRequestParams
        )
        for uri in () if uris is UNSET else uris:
            await self.request(f"resources/{verb}", make(uri=uri))

    @property
    def calls(self) -> latest_calls.ClientCalls:
        """Every method of the newest revision, typed; `params` need `meta=client.meta()`."""
        return _Calls(self)

    def meta(self) -> t.RequestMetaObject:
        """What the params of a request have as `meta`."""
        found: t.RequestMetaObject = self._meta()
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
        if self.connection.is_gone and self._revival is not asyncio.current_task():
            await self.revive()
        token = None
        if params is not UNSET and on_progress is not None:
            token = params.meta.progress_token
            token = None if token is UNSET else token
        patience = Patience(timeout or self._timeout, self.limits.total, progress_counts=True)
        result = await self.connection.request(
            method, params, patience=patience, token=token, on_progress=on_progress
        )
        return _of_known_type(method, result)

    # ---- how it asks

    def _has(self, method: str) -> bool:
        return method in self._terms.crossing.revision.methods

    def _meta(
        self, on_progress: OnProgress | None = None, meta: Mapping[str, Any] | None = None
    ) -> Any:
        """Raises ValueError for names that `_meta` cannot have."""
        token = None if on_progress is None else next(self._tokens)
        require_meta(meta or {})
        return self.connection.session.meta(token=token, extra=meta or {})

    async def _all(self, method: str, member: str, *, again: bool = False) -> list[Any]:
        """Of every page. Raises TooMuch, BadAnswer for a cursor that comes again."""
        found: list[Any] = []
        cursor: Any = UNSET
        seen: set[str] = set()
        for _ in range(self.limits.pages):
            params = t.PaginatedRequestParams(cursor=cursor, meta=self._meta())
            try:
                page = await self._fetch(method, params)
            except Refused as refused:
                if again or cursor is UNSET or not self._is_stale(method, refused):
                    raise
                return await self._all(method, member, again=True)
            found += getattr(page, member)
            cursor = page.next_cursor
            if cursor is UNSET:
                return found
            if cursor in seen:
                raise BadAnswer(f"{method}: the cursor {cursor[:80]!r} comes a second time")
            seen.add(cursor)
        raise TooMuch(f"{method}: over {self.limits.pages} pages (Limits.pages)")

    async def _fetch(
        self,
        method: str,
        params: Any,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """The server's answer, or the one that is kept and fresh."""
        key = cache_key(method, params) if self._caches else None
        if key is None:
            return await self.request(method, params, timeout=timeout, on_progress=on_progress)
        clock = self.connection.loop.time
        kept = self._cache.get(method, key, clock())
        if kept is not None:
            return kept
        result = await self.request(method, params, timeout=timeout, on_progress=on_progress)
        if not isinstance(result, t.InputRequiredResult):
            self._cache.put(method, key, result, clock())
        return result

    def _is_stale(self, method: str, refused: Refused) -> bool:
        """Whether a cursor was refused that came from pages which were kept; these are given up.

        Source: 2026-07-28 server/utilities/caching, "Pagination".
        """
        return refused.code == codes.INVALID_PARAMS and self._cache.drop(method)

    async def _insist(
        self,
        method: str,
        params: Any,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Until the result asks for no more input. Source: 2026-07-28 basic/patterns/mrtr."""
        first = params
        for _ in range(self.limits.input_rounds):
            result = await self._fetch(method, params, timeout=timeout, on_progress=on_progress)
            if not isinstance(result, t.InputRequiredResult):
                return result
            responses = await self.answering.responses(result)
            params = structs.replace(
                first,
                meta=self._meta(on_progress, first.meta.extra_),
                input_responses=responses,
                request_state=result.request_state,
            )
        raise TooMuch(f"{method}: over {self.limits.input_rounds} rounds (Limits.input_rounds)")

    def notified(self, event: Notified) -> None:
        self._cache.heed(event)
        if event.method == "notifications/message" and self._on_log is not None:
            self._on_log(event.params)


def _not_found(refused: Refused, uri: str) -> Refused:
    """NotFound, if the error on reading `uri` says that.

    Up to 2025-11-25 it has a code of its own; after that it is told by its data.
    """
    told = refused.data == {"uri": uri} and refused.code == codes.INVALID_PARAMS
    is_it = told or refused.code == codes.RESOURCE_NOT_FOUND
    return NotFound(refused.code, refused.message, refused.data) if is_it else refused


def _of_known_type(method: str, result: Any) -> Any:
    """Raises BadAnswer for a kind of result that is not known.

    Source: 2026-07-28 basic/index, "Result Types".
    """
    told = getattr(result, "result_type", "complete")
    if told != "complete" and not isinstance(result, t.InputRequiredResult):
        raise BadAnswer(f"{method}: a result of type {str(told)[:80]!r}")
    return result


def _in_memory(server: Server) -> Opener:
    """The server in this process, through bytes."""

    async def open(stack: AsyncExitStack, client: Client) -> ClientConnection:
        from mcp_runtime.io.memory import pair

        ours, theirs = pair(client.limits)
        await stack.enter_async_context(server.running())
        served = asyncio.create_task(server.serve(theirs))

        async def close() -> None:
            await ours.close()
            await served

        stack.push_async_callback(close)
        return ClientOnWire(client, ours)

    return open


class _Calls(latest_calls.ClientCalls):
    def __init__(self, client: Client) -> None:
        self._client = client

    async def request(self, method: str, params: object) -> object:
        return await self._client.request(method, params)

    async def notify(self, method: str, params: object) -> None:
        await self._client.connection.notify(method, UNSET if params is None else params)
