"""The context of a request: the identity of its client, and ways for its handler to reach it.

In the handshake era (up to 2025-11-25) `elicit`, `sample` and `roots` send a request to the client.
In the per-request era (from 2026-07-28 on) they become part of a result, and the handler runs again
from its start when the client has answered. A handler therefore asks before it does anything
irreversible. An answer is matched to its question by the order and the content of the questions, or
by the `key` of a question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from secrets import token_urlsafe
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)
from urllib.parse import urlsplit

from msgspec import Struct

from mcp_runtime.auth.server.current import current_token
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.pending import Timeout
from mcp_runtime.core.session.rate_limit import Bucket
from mcp_runtime.core.terms.capabilities import capability_of, declares, require_client
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.errors import NotOffered, RpcError, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import HANDLERS, Era, first_name, latest_calls, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.asking import Asker
from mcp_runtime.server.other_names import CONTEXT_NAMES, with_other_names
from mcp_runtime.server.peer import Peer
from mcp_runtime.server.rules import Switch
from mcp_runtime.shared import elicitation_form, sampling
from mcp_runtime.shared.request_headers import Headers, current_headers
from mcp_runtime.shared.threads import Threads, running_loop
from mcp_runtime.shared.uri_template import is_uri

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
_T = TypeVar("_T")
if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    _L = TypeVarWithDefault("_L", default=Any)
else:
    _L = TypeVar("_L")


def require_page(url: str) -> None:
    """Raise ValueError unless `url` is a URL with https, or leads to this machine."""
    parts = urlsplit(url)
    if not is_uri(url) or not parts.hostname:
        raise ValueError(f"{url[:80]!r} is not a URL")
    if parts.scheme != "https" and parts.hostname not in _LOCAL:
        raise ValueError(f"{url[:80]!r} must use https; only URLs of this machine need not")


_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Elicited(Struct, Generic[_T], frozen=True):
    """The user's reaction to a question; `content` is set only if the user accepted."""

    action: Literal["accept", "decline", "cancel"]
    content: _T | None = None

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


class Asked(TypedDict, total=False):
    """Options of a question: the `key` to recognise its answer by, and the time it may take.

    `timeout` is in seconds, None stands for `Limits.total`; nothing waits in the per-request era.
    """

    key: str | None
    timeout: float | None


class ServerView(Protocol):
    """The part of a server a context uses."""

    @property
    def limits(self) -> Limits: ...

    @property
    def threads(self) -> Threads: ...

    @property
    def state(self) -> Any: ...

    async def read(
        self, uri: str, ctx: Context, /
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Return the contents of a resource. Raises RpcError if the server has no such resource."""
        ...

    def resource_updated(self, uri: str, /) -> None:
        """Notify the subscribers of a changed resource."""
        ...

    def announce_change(self, *lists: str) -> None:
        """Notify the clients of changed lists."""
        ...


@with_other_names(CONTEXT_NAMES)
class Context(Generic[_L]):
    """The context of one request; a handler receives it in a parameter annotated `Context`, or
    `Context[T]` if the server's `lifespan` yields a T.
    """

    params: Any = t.UNSET
    """The params of the request, as a model of the newest revision."""
    _progress_rate: Bucket | None = None

    def __init__(
        self, server: ServerView, peer: Peer, called: Called, asker: Asker | None = None
    ) -> None:
        self.server = server
        self._asker = asker
        self.peer = peer
        """The connection to the client, for extensions."""
        self.called = called
        """The request as its session has read it, for extensions."""
        self.token: Final = current_token.get()
        """The subject, scopes and claims of the client's token; None on a server without
        authorization.

        The raw token is absent, so a handler cannot pass it on to a service it was not issued for.
        """

    # ---- the request and its client

    @property
    def request_id(self) -> Id:
        return self.called.id

    @property
    def method(self) -> str:
        return self.called.method

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the request, as JSON of the newest revision; unverified.

        It has what that revision requires also where an older client did not send it: `revision`,
        `client_info` and `client_capabilities` tell what the client is.
        """
        meta = getattr(self.params, "meta", t.UNSET)
        return {} if meta is t.UNSET else t.to_wire(meta)

    @property
    def revision(self) -> str:
        """The revision the client speaks."""
        return self.called.terms.translation.revision.name

    @property
    def era(self) -> Era:
        """ "handshake" if the revision opens a session with `initialize`, else "per-request"."""
        return self.called.terms.translation.revision.era

    @property
    def client_info(self) -> t.Implementation | None:
        """The client's own, unverified words: for display and logs, not for decisions."""
        return self.called.terms.implementation

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        return self.called.terms.capabilities

    @property
    def extensions(self) -> Mapping[str, Mapping[str, Any]]:
        """The client's settings by extension, of the extensions that both sides have."""
        shared = self.called.terms.translation.extensions
        theirs = self.client_capabilities.get("extensions", {})
        return {one.identifier: theirs[one.identifier] for one in shared}

    def require_extension(self, identifier: str) -> None:
        """Raise RpcError (-32021) if the client has not declared an extension."""
        if identifier not in self.extensions:
            raise rpc_errors.missing_extension(identifier)

    @property
    def principal(self) -> str:
        """The user or service found by your authentication; empty for an anonymous client.

        With `auth` it names the subject of the token and its issuer, in one text.
        """
        return self.peer.principal

    @property
    def headers(self) -> Headers:
        """The headers of the HTTP request, by name in lower case; none on other transports.

        They are the client's own words, unverified, and gone when the request has ended. In a
        session that several processes share, a request which another process has received comes
        without them.
        """
        return Headers(current_headers())

    @property
    def lifespan(self) -> _L:
        """The value the server's `lifespan` yielded."""
        value: _L = self.server.state
        return value

    # ---- features of the session

    async def enable(self, *names: str, tags: Iterable[str] = (), only: bool = False) -> None:
        """Enable features for this session alone, also those that the server has disabled.

        Arguments are as for `Server.enable`; unused tags are ignored. The client is
        notified of changed lists. Raises NotOffered in the per-request era, which has no
        sessions: there a list depends on nothing else than the client's authorization.
        """
        await self._switch(Switch(True, names, tags, only))

    async def disable(self, *names: str, tags: Iterable[str] = ()) -> None:
        """Disable features for this session alone. Raises as `enable`."""
        await self._switch(Switch(False, names, tags))

    async def _switch(self, switch: Switch) -> None:
        if self.era == "per-request":
            what = "ctx.enable" if switch.enables else "ctx.disable"
            raise NotOffered(what, "", "client", missing=f"a session in {self.revision}")
        await self.peer.switch(switch)

    # ---- notifications

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Send a log message if the client wants that level; `data` is any JSON value."""
        await self.peer.log(self.called, level, data, logger)

    async def debug(self, data: Any) -> None:
        await self.log("debug", data)

    async def info(self, data: Any) -> None:
        await self.log("info", data)

    async def warning(self, data: Any) -> None:
        await self.log("warning", data)

    async def error(self, data: Any) -> None:
        await self.log("error", data)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send progress, if the client asked for it and `progress` has grown. NaN is never sent.

        The unit of `progress` and `total` is yours; `total` is None if unknown. Raises ValueError
        for an infinite number, whether the client asked for progress or not.
        """
        if progress != progress:
            return
        t.ProgressNotificationParams(
            progress_token=0,
            progress=progress,
            total=t.UNSET if total is None else total,
            message=t.UNSET if message is None else message,
        )
        if self._progress_rate is None:
            self._progress_rate = Bucket(self.server.limits.progress_rate)
        if progress == total or self._progress_rate.allow(self.peer.loop.time()):
            await self.peer.report(self.called, progress, total, message)

    # ---- questions to the client

    @overload
    async def elicit(
        self, message: str, form: type[_T], **asked: Unpack[Asked]
    ) -> Elicited[_T]: ...
    @overload
    async def elicit(
        self, message: str, form: Mapping[str, Any], **asked: Unpack[Asked]
    ) -> Elicited[dict[str, Any]]: ...
    async def elicit(self, message: str, form: Any, **asked: Unpack[Asked]) -> Any:
        """Ask the user to fill in a form: a flat class of strings, numbers, booleans and choices.
        A type of one value, such as `bool` or an enum, is a form with that value alone.

        Raises NotOffered if the client cannot show forms, TypeError if no client could show this
        one, TimedOut.
        Source: 2026-07-28 client/elicitation, "Form Mode".
        """
        shown = elicitation_form.form(form)
        params = t.ElicitRequestFormParams(message=message, requested_schema=shown.schema)
        answer = await self._ask(t.ElicitRequest(params=params), **asked)
        content = shown.read(answer.content) if answer.action == "accept" else None
        elicited: Elicited[Any] = Elicited(answer.action, content)
        return elicited

    async def elicit_url(
        self, message: str, url: str, *, elicitation_id: str = "", **asked: Unpack[Asked]
    ) -> Elicited[None]:
        """Send the user to a web page; the answer says only whether the user agreed to go.

        Raises NotOffered, ValueError for a URL that is malformed or not https, TimedOut.
        Source: 2026-07-28 client/elicitation, "URL Mode".
        """
        params = self._page(message, url, elicitation_id)
        answer = await self._ask(t.ElicitRequest(params=params), **asked)
        return Elicited(answer.action)

    def _page(self, message: str, url: str, id: str = "") -> t.ElicitRequestURLParams:
        """Return the request to visit a page; in the handshake era it has an id, for
        `elicitation_over`.
        """
        require_page(url)
        extra = {"elicitationId": id or token_urlsafe(16)} if self.era == "handshake" else {}
        return t.ElicitRequestURLParams(message=message, url=url, extra_=extra)

    async def require_urls(
        self, *pages: tuple[str, str] | tuple[str, str, str]
    ) -> list[Elicited[None]]:
        """Require that the user visits web pages, each given as a message, a URL and maybe an id.

        In the handshake era this refuses the request with the list of pages, and the client may
        repeat the request after the visits; call it only while a visit is still missing. In the
        per-request era it calls `elicit_url` for each page. Raises as `elicit_url`, and RpcError.
        Source: 2025-11-25 client/elicitation, "URL Elicitation Required Error".
        """
        if self.era == "per-request":
            return [await self.elicit_url(message, url) for message, url, *_ in pages]
        params = [self._page(*page) for page in pages]
        for page in params:
            require_client("elicitation/create", "elicitation", page, self.client_capabilities)
        data = {"elicitations": [t.to_wire(page) for page in params]}
        raise RpcError(error_codes.URL_ELICITATION_REQUIRED, "URL elicitation required", data)

    async def elicitation_over(self, elicitation_id: str) -> None:
        """Notify the client of a complete visit, if its revision has a message for it.

        `elicitation_id` is the id given to `elicit_url` or `require_urls`.

        Source: 2025-11-25 client/elicitation, "Completion Notifications".
        """
        method = "notifications/elicitation/complete"
        revision = self.called.terms.translation.revision
        if method in revision.methods:
            make = revision.models.ElicitationCompleteNotificationParams
            await self.peer.notify(method, make(elicitation_id=elicitation_id))

    async def sample(
        self,
        messages: str | Sequence[t.SamplingMessage],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        tools: Sequence[t.Tool] | None = None,
        tool_choice: t.ToolChoice | None = None,
        key: str | None = None,
        timeout: float | None = None,
        **more: Any,
    ) -> t.CreateMessageResult:
        """Ask the client's language model; `more` are other members of the request's params.

        Raises NotOffered, also if the client does not support the tools or `include_context`;
        ValueError for a tool use without its result; TooMuch, RemoteError, TimedOut.
        Source: 2026-07-28 client/sampling.
        """
        if isinstance(messages, str):
            messages = [t.SamplingMessage(role="user", content=t.TextContent(text=messages))]
        params = t.CreateMessageRequestParams(
            messages=list(messages),
            max_tokens=max_tokens,
            system_prompt=t.UNSET if system_prompt is None else system_prompt,
            tools=t.UNSET if tools is None else list(tools),
            tool_choice=t.UNSET if tool_choice is None else tool_choice,
            **more,
        )
        self._require_sound(params)
        request = t.CreateMessageRequest(params=params)
        answer: t.CreateMessageResult = await self._ask(request, key=key, timeout=timeout)
        return answer

    def _require_sound(self, params: t.CreateMessageRequestParams) -> None:
        messages, most = params.messages, self.server.limits.tool_rounds
        tools = [] if params.tools is t.UNSET else params.tools
        fault = sampling.fault_in_rounds(messages) or sampling.fault_in_results(messages, tools)
        if fault:
            raise ValueError(f"messages: {fault}")
        if sampling.rounds(messages) > most:
            raise TooMuch(f"over {most} rounds of tools (Limits.tool_rounds)")
        if params.include_context in ("thisServer", "allServers"):
            models = self.called.terms.translation.revision.models
            gated = hasattr(models, "ClientCapabilitiesSampling")
            if gated and not declares(self.client_capabilities, "sampling.context"):
                raise NotOffered("sampling/createMessage", "sampling.context", "client")

    async def roots(self, **asked: Unpack[Asked]) -> list[t.Root]:
        """Return the client's roots, remembered until the client reports a change.

        Raises NotOffered, RemoteError, TimedOut.
        """
        peer, capabilities = self.peer, self.client_capabilities
        if peer.roots is not None and declares(capabilities, "roots"):
            return list(peer.roots)
        changes = peer.root_changes
        answer: t.ListRootsResult = await self._ask(t.ListRootsRequest(), **asked)
        reports = self.era == "handshake" and declares(capabilities, "roots.listChanged")
        if reports and changes == peer.root_changes:
            peer.roots = answer.roots
        return answer.roots

    async def ask(self, method: str, params: Any = t.UNSET, **asked: Unpack[Asked]) -> Any:
        """Send a request to the client and return its answer, a model of `types`.

        For requests of the protocol which have no method here, such as those of a newer revision;
        `calls` has them with their types. `params` are a model, or their JSON object.

        Raises ValueError for a method that no server sends, DecodeError for other params,
        NotOffered if the client lacks the capability or its revision the method, RemoteError,
        TimedOut.
        """
        handled = revision(HANDLERS)
        known = handled.methods.get(first_name(method))
        if known is None or known.kind != "request" or known.direction == "client-to-server":
            raise ValueError(f"{method!r} is not a request that a server sends in {HANDLERS}")
        if isinstance(params, dict):
            params = t.from_wire(handled.type_of("params", known.name), params)
        members = {} if params is t.UNSET else {"params": params}
        return await self._ask(getattr(t, known.message)(**members), **asked)

    @property
    def calls(self) -> latest_calls.ServerCalls:
        """The requests and notifications of a server, typed: `await ctx.calls.elicit(params)`."""
        return Calls(self)

    async def pause(self, retry: float = 1.0) -> None:
        """Close the response; the client reconnects for the answer after `retry` seconds.

        For long work over Streamable HTTP of 2025-11-25; elsewhere it does nothing.
        """
        if self.called.terms.translation.revision.primed_streams:
            self.peer.interrupt(self.called.id, round(retry * 1000))

    async def read(self, uri: str) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Return the contents of a resource of this server. Raises RpcError if there is none."""
        return await self.server.read(uri, self)

    async def in_thread(self, function: Callable[..., _T], /, *args: Any, **given: Any) -> _T:
        """Run a plain function in one of the server's threads, and return its value.

        Raises the exceptions of `function`. If the request is cancelled the function runs on, since
        a thread cannot be ended.
        """
        room = self.peer.thread_room
        value: _T = await self.server.threads.run(room, function, *args, **given)
        return value

    def wait(self, awaitable: Awaitable[_T]) -> _T:
        """Wait for an awaitable, in a handler running in a thread; return its result.

        Raises the exceptions of the awaitable, and RuntimeError on the event loop, where it would
        block itself.
        """
        if running_loop() is self.peer.loop:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()
            raise RuntimeError("ctx.wait is for plain functions; in an async one write await")

        async def await_result() -> _T:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(await_result(), self.peer.loop).result()

    async def _ask(
        self, request: Any, *, key: str | None = None, timeout: float | None = None
    ) -> Any:
        params, method = getattr(request, "params", t.UNSET), first_name(request.method)
        if method not in self.called.terms.translation.methods:
            raise NotOffered(method, "", "client", missing=f"it in {self.revision}")
        require_client(method, capability_of(method), params, self.client_capabilities)
        if self._asker is not None:
            return await self._asker.ask(request, key, timeout)
        if self.era == "per-request":
            raise RpcError(error_codes.INTERNAL_ERROR, f"{self.method} cannot ask the client")
        wait = Timeout(self.server.limits.total if timeout is None else timeout)
        return await self.peer.request(method, params, timeout=wait, about=self.called.id)


def answers_so_far(ctx: Context) -> Mapping[str, Any]:
    """Return the answers the client has given to questions of a request so far, by key."""
    asker = ctx._asker  # pyright: ignore[reportPrivateUsage]  # the one way to it
    return {} if asker is None else asker.answers


class Calls(latest_calls.ServerCalls):
    """Every message of a server in the handlers' revision, sent about one request."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def request(self, method: str, params: object) -> object:
        return await self._context.ask(method, t.UNSET if params is None else params)

    async def notify(self, method: str, params: object) -> None:
        called, params = self._context.called, t.UNSET if params is None else params
        await self._context.peer.notify_about(called, method, params)
