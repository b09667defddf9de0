"""What a handler has of its request: who asks, and ways to tell and to ask that client.

A question to the client (`elicit`, `sample`, `roots`) is a request of the server's up to
2025-11-25. From 2026-07-28 on it is part of a result, and the handler is run again from its start
when the answer is there; so a handler asks before it does what must not be done twice. Answers are
known by the order of the questions and what they say, or by the `key` that a question is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, overload
from urllib.parse import urlsplit

from msgspec import UNSET

from mcp_runtime.core import error_codes, http_rules
from mcp_runtime.core.capabilities import declares
from mcp_runtime.core.events import Called
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.pending import Timeout
from mcp_runtime.core.rate_limit import Bucket
from mcp_runtime.core.request_state import Inputs
from mcp_runtime.core.server_session import missing, require_client
from mcp_runtime.errors import NotOffered, RpcError, TooMuch
from mcp_runtime.revisions import Era
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared import elicitation_form, sampling
from mcp_runtime.shared.uri_template import is_uri

if TYPE_CHECKING:
    from mcp_runtime.server.connection import ServerConnection
    from mcp_runtime.server.server import Server

__all__ = ["Context", "Elicited", "InputNeeded"]

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
_T = TypeVar("_T")


def require_page(url: str) -> None:
    """Raises ValueError for what is no URL, or would be sent in the clear beyond this machine."""
    parts = urlsplit(url)
    if not is_uri(url) or not parts.hostname:
        raise ValueError(f"{url[:80]!r} is no URL")
    if parts.scheme != "https" and parts.hostname not in _LOCAL:
        raise ValueError(f"{url[:80]!r}: https is needed, but for this machine")


_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class InputNeeded(BaseException):
    """Ends an attempt whose questions the client must answer first. Not for handlers to catch."""


@dataclass(frozen=True, slots=True)
class Elicited(Generic[_T]):
    """What the user did with a question: `content` is there only where it was accepted."""

    action: Literal["accept", "decline", "cancel"]
    content: _T | None = None

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


class Context:
    """Of one request; its handler gets it by a parameter annotated with this class."""

    def __init__(self, server: Server, connection: ServerConnection, called: Called) -> None:
        self.server = server
        self._connection = connection
        self._called = called
        self._progress_rate: Bucket | None = None
        self.inputs: Inputs | None = None

    # ---- who asks

    @property
    def request_id(self) -> Id:
        return self._called.id

    @property
    def method(self) -> str:
        return self._called.method

    @property
    def revision(self) -> str:
        """That the client speaks."""
        return self._called.terms.crossing.revision.name

    @property
    def era(self) -> Era:
        """Whether a handshake told who the client is, or this request."""
        return self._called.terms.crossing.revision.era

    @property
    def client_info(self) -> Mapping[str, Any] | None:
        """As the client tells it, unverified: for display and logs, not for decisions."""
        return self._called.terms.info

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        return self._called.terms.capabilities

    @property
    def lifespan(self) -> Any:
        """What the server's `lifespan` yielded."""
        return self.server.state

    # ---- telling

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Sends a log message, if the client wants that level; `data` is any JSON value."""
        connection = self._connection
        if connection.log_rate.take(connection.loop.time()):
            sent = connection.server_session.log(
                self._called.id, self._called.terms, level, data, logger
            )
            connection.send(sent, self._called.id)
            await connection.drain()

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
        """Sends how far the work is, if the client wants to know and it has grown."""
        connection = self._connection
        if self._progress_rate is None:
            self._progress_rate = Bucket(connection.session.limits.progress_rate)
        if progress == total or self._progress_rate.take(connection.loop.time()):
            sent = connection.session.report(self._called.id, progress, total, message)
            connection.send(sent, self._called.id)
            await connection.drain()

    # ---- asking

    @overload
    async def elicit(
        self,
        message: str,
        form: type[_T],
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Elicited[_T]: ...
    @overload
    async def elicit(
        self,
        message: str,
        form: Mapping[str, Any],
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Elicited[dict[str, Any]]: ...
    async def elicit(
        self, message: str, form: Any, *, key: str | None = None, timeout: float | None = None
    ) -> Any:
        """Asks the user to fill in a form: a flat class of strings, numbers, booleans and choices.

        Raises NotOffered if the client cannot, TypeError for a form that none could show, TimedOut.
        Source: 2026-07-28 client/elicitation, "Form Mode".
        """
        shown = elicitation_form.form(form)
        params = t.ElicitRequestFormParams(message=message, requested_schema=shown.schema)
        answer = await self._ask(t.ElicitRequest(params=params), key, timeout)
        content = shown.read(answer.content) if answer.action == "accept" else None
        elicited: Elicited[Any] = Elicited(answer.action, content)
        return elicited

    async def elicit_url(
        self,
        message: str,
        url: str,
        *,
        elicitation_id: str = "",
        key: str | None = None,
        timeout: float | None = None,
    ) -> Elicited[None]:
        """Sends the user to a web page; the answer tells only that the user agreed to go.

        Raises NotOffered, ValueError for a URL that is none or not secret on its way, TimedOut.
        Source: 2026-07-28 client/elicitation, "URL Mode".
        """
        params = self._page(message, url, elicitation_id)
        answer = await self._ask(t.ElicitRequest(params=params), key, timeout)
        return Elicited(answer.action)

    def _page(self, message: str, url: str, id: str = "") -> t.ElicitRequestURLParams:
        """Up to 2025-11-25 it is known by an id, until `elicitation_over`."""
        require_page(url)
        extra = {"elicitationId": id or token_urlsafe(16)} if self.era == "handshake" else {}
        return t.ElicitRequestURLParams(message=message, url=url, extra_=extra)

    async def require_urls(self, *pages: tuple[str, str]) -> list[Elicited[None]]:
        """Stops here unless the user visits these pages, each a message and a URL.

        In 2025-11-25 the request is refused with a list of them, and the client may repeat it when
        they were visited: ask only while that is needed. From 2026-07-28 on each is one of
        `elicit_url`. Raises as that does, and RpcError.
        Source: 2025-11-25 client/elicitation, "URL Elicitation Required Error".
        """
        if self.era == "per-request":
            return [await self.elicit_url(message, url) for message, url in pages]
        params = [self._page(message, url) for message, url in pages]
        for each in params:
            require_client("elicitation/create", "elicitation", each, self._called.terms)
        told = {"elicitations": [t.to_wire(each) for each in params]}
        raise RpcError(error_codes.URL_ELICITATION_REQUIRED, "URL elicitation required", told)

    async def elicitation_over(self, elicitation_id: str) -> None:
        """Tells the client that what it visited for `elicit_url` is done, where that is told.

        Source: 2025-11-25 client/elicitation, "Completion Notifications".
        """
        method, revision = (
            "notifications/elicitation/complete",
            self._called.terms.crossing.revision,
        )
        if method in revision.methods:
            make = revision.models.ElicitationCompleteNotificationParams
            await self._connection.notify(method, make(elicitation_id=elicitation_id))

    async def sample(
        self,
        messages: str | Sequence[t.SamplingMessage],
        *,
        max_tokens: int,
        system: str | None = None,
        tools: Sequence[t.Tool] | None = None,
        tool_choice: t.ToolChoice | None = None,
        key: str | None = None,
        timeout: float | None = None,
        **more: Any,
    ) -> t.CreateMessageResult:
        """Asks the client's language model; `more` are other members of the params, by their names.

        Raises NotOffered, also for tools or `include_context` where the client takes none;
        ValueError for uses of tools without their results, TooMuch, RemoteError, TimedOut.
        Source: 2026-07-28 client/sampling.
        """
        if isinstance(messages, str):
            messages = [t.SamplingMessage(role="user", content=t.TextContent(text=messages))]
        params = t.CreateMessageRequestParams(
            messages=list(messages),
            max_tokens=max_tokens,
            system_prompt=UNSET if system is None else system,
            tools=UNSET if tools is None else list(tools),
            tool_choice=UNSET if tool_choice is None else tool_choice,
            **more,
        )
        self._require_sound(params)
        answer: t.CreateMessageResult = await self._ask(
            t.CreateMessageRequest(params=params), key, timeout
        )
        return answer

    def _require_sound(self, params: t.CreateMessageRequestParams) -> None:
        messages, most = params.messages, self.server.limits.tool_rounds
        tools = [] if params.tools is UNSET else params.tools
        fault = sampling.unbalanced(messages) or sampling.unpromised(messages, tools)
        if fault:
            raise ValueError(f"messages: {fault}")
        if sampling.rounds(messages) > most:
            raise TooMuch(f"over {most} rounds of tools (Limits.tool_rounds)")
        if params.include_context in ("thisServer", "allServers"):
            models = self._called.terms.crossing.revision.models
            gated = hasattr(models, "ClientCapabilitiesSampling")
            if gated and not declares(self.client_capabilities, "sampling.context"):
                raise NotOffered("sampling/createMessage", "sampling.context")

    async def roots(self, *, key: str | None = None, timeout: float | None = None) -> list[t.Root]:
        """Where the client says it works, kept until it tells of a change.

        Raises NotOffered, RemoteError, TimedOut.
        """
        connection = self._connection
        if connection.roots is not None and declares(self.client_capabilities, "roots"):
            return list(connection.roots)
        changes = connection.root_changes
        answer: t.ListRootsResult = await self._ask(t.ListRootsRequest(), key, timeout)
        tells = self.era == "handshake" and declares(self.client_capabilities, "roots.listChanged")
        if tells and changes == connection.root_changes:
            connection.roots = answer.roots
        return answer.roots

    async def pause(self, retry: float = 1.0) -> None:
        """Lets go of the connection; the client comes again for the answer in `retry` seconds.

        For long work over Streamable HTTP of 2025-11-25; elsewhere nothing happens.
        """
        if http_rules.primes(self.revision):
            self._connection.interrupt(self._called.id, round(retry * 1000))

    async def read(self, uri: str) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """The contents of a resource of this server. Raises RpcError for one that it has not."""
        return await self.server.read(uri, self)

    def wait(self, awaitable: Awaitable[_T]) -> _T:
        """For handlers that are plain functions, which run in a thread: the awaited value."""

        async def awaited() -> _T:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(awaited(), self._connection.loop).result()

    async def _ask(self, request: Any, key: str | None, timeout: float | None) -> Any:
        terms, session = self._called.terms, self._connection.session
        params = getattr(request, "params", UNSET)
        try:
            require_client(request.method, request.method.partition("/")[0], params, terms)
        except NotOffered as error:
            raise (error if self.inputs is None else missing(error)) from None
        if self.era == "handshake":
            patience = Timeout(timeout or session.limits.total)
            return await self._connection.request(
                request.method, params, patience=patience, about=self._called.id
            )
        if self.inputs is None:
            raise RpcError(-32603, f"{self.method} cannot ask the client")
        answer = self.inputs.answer(self.inputs.key(request, key), request)
        if answer is None:
            raise InputNeeded(request.method)
        return answer
