"""`ClientSession` of `mcp` 1.x."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from mcp_runtime.client.client import Client
from mcp_runtime.compat import models
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.errors import mcp_error
from mcp_runtime.compat.mcp.client.transports import Connection
from mcp_runtime.compat.models import Model, wire
from mcp_runtime.errors import Disconnected, RemoteError, RpcError, TimedOut
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.revisions import latest as t

SamplingFnT = Callable[..., Awaitable[Any]]
ElicitationFnT = SamplingFnT
ListRootsFnT = SamplingFnT
LoggingFnT = SamplingFnT
MessageHandlerFnT = SamplingFnT


class ClientSession:
    """A client on the streams of a transport. `initialize()` connects.

    Results have the members of `mcp.types`. Errors of the server are McpError.
    """

    def __init__(
        self,
        read_stream: Any,
        write_stream: Any = None,
        read_timeout_seconds: timedelta | None = None,
        sampling_callback: SamplingFnT | None = None,
        elicitation_callback: ElicitationFnT | None = None,
        list_roots_callback: ListRootsFnT | None = None,
        logging_callback: LoggingFnT | None = None,
        message_handler: MessageHandlerFnT | None = None,
        client_info: Any = None,
        **_: Any,
    ) -> None:
        """Raises TypeError for streams of other packages."""
        if not isinstance(read_stream, Connection):
            raise TypeError(
                f"{read_stream!r:.80} does not come from this package; streams come from"
                " stdio_client(), streamablehttp_client() and sse_client()"
            )
        self._callbacks = sampling_callback, elicitation_callback, list_roots_callback
        self._logging = logging_callback
        self._messages = message_handler
        timeout = None if read_timeout_seconds is None else read_timeout_seconds.total_seconds()
        info = {"name": "mcp", "version": "1"} if client_info is None else wire(client_info)
        self._client = Client(
            read_stream.factory,
            name=info["name"],
            version=info["version"],
            revisions=[each for each in ALL if revision(each).era == "handshake"],
            on_sample=self._sample if sampling_callback else None,
            on_elicit=self._elicit if elicitation_callback else None,
            roots=self._roots if list_roots_callback else None,
            on_log=self._log if logging_callback or message_handler else None,
            timeout=timeout,
            cache=False,
        )
        self._entered = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._entered:
            await self._client.__aexit__(*exception)

    async def initialize(self) -> Model:
        """Connect, and return the server's description of itself."""
        self._entered = True
        try:
            await self._client.__aenter__()
        except BaseException:
            self._entered = False
            raise
        client = self._client
        return models.model("InitializeResult")(
            protocolVersion=client.revision,
            capabilities=dict(client.server_capabilities),
            serverInfo=dict(client.terms.info or {"name": "", "version": ""}),
            instructions=client.instructions,
        )

    def get_server_capabilities(self) -> Model:
        return models.model("ServerCapabilities")(**self._client.server_capabilities)

    # ---- requests

    async def _answer(self, result: str, work: Awaitable[Any]) -> Model:
        """Convert a native result. Raises McpError."""
        try:
            json = t.to_wire(await work)
        except RemoteError as error:
            raise mcp_error(error.code, error.message, error.data) from error
        except TimedOut as error:
            raise mcp_error(408, str(error)) from error
        except Disconnected as error:
            raise mcp_error(-32000, str(error)) from error
        return models.model(result).of(json)

    async def _page(self, method: str, result: str, cursor: Any, params: Any) -> Model:
        given: Any = getattr(params, "cursor", None) or cursor
        body = {} if given is None else {"cursor": given}
        return await self._answer(result, self._client.request(method, body))

    async def list_tools(self, cursor: str | None = None, *, params: Any = None) -> Model:
        return await self._page("tools/list", "ListToolsResult", cursor, params)

    async def list_resources(self, cursor: str | None = None, *, params: Any = None) -> Model:
        return await self._page("resources/list", "ListResourcesResult", cursor, params)

    async def list_resource_templates(
        self, cursor: str | None = None, *, params: Any = None
    ) -> Model:
        result = "ListResourceTemplatesResult"
        return await self._page("resources/templates/list", result, cursor, params)

    async def list_prompts(self, cursor: str | None = None, *, params: Any = None) -> Model:
        return await self._page("prompts/list", "ListPromptsResult", cursor, params)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: timedelta | None = None,
        progress_callback: Callable[..., Any] | None = None,
        *,
        meta: dict[str, Any] | None = None,
    ) -> Model:
        """Call a tool; a failed call has a result, too. Raises McpError."""
        timeout = None if read_timeout_seconds is None else read_timeout_seconds.total_seconds()
        work = self._client.call_tool(
            name, arguments, timeout=timeout, on_progress=progress_callback, meta=meta
        )
        return await self._answer("CallToolResult", work)

    async def read_resource(self, uri: Any) -> Model:
        work = self._client.request("resources/read", {"uri": str(uri)})
        return await self._answer("ReadResourceResult", work)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Model:
        return await self._answer("GetPromptResult", self._client.get_prompt(name, arguments))

    async def complete(
        self, ref: Any, argument: dict[str, str], context_arguments: dict[str, str] | None = None
    ) -> Model:
        body: dict[str, Any] = {"ref": wire(ref), "argument": argument}
        if context_arguments:
            body["context"] = {"arguments": context_arguments}
        work = self._client.request("completion/complete", body)
        return await self._answer("CompleteResult", work)

    async def send_ping(self) -> Model:
        await self._client.ping()
        return models.model("EmptyResult")()

    async def set_logging_level(self, level: str) -> Model:
        await self._client.set_log_level(level)
        return models.model("EmptyResult")()

    async def subscribe_resource(self, uri: Any) -> Model:
        return await self._answer(
            "EmptyResult", self._client.request("resources/subscribe", {"uri": str(uri)})
        )

    async def unsubscribe_resource(self, uri: Any) -> Model:
        return await self._answer(
            "EmptyResult", self._client.request("resources/unsubscribe", {"uri": str(uri)})
        )

    async def send_roots_list_changed(self) -> None:
        await self._client.roots_changed()

    # ---- requests of the server

    async def _asked(self, index: int, params: str | None, native: Any, result: Any) -> Any:
        """Ask a callback, and convert its answer. Raises RpcError for an error."""
        callback: Any = self._callbacks[index]
        arguments = [] if params is None else [models.model(params)(**t.to_wire(native))]
        answer = await callback(None, *arguments)
        if type(answer).__name__ == "ErrorData":
            raise RpcError(answer.code, answer.message, answer.data)
        return t.from_wire(result, wire(answer))

    async def _sample(self, params: t.CreateMessageRequestParams) -> t.CreateMessageResult:
        answer: t.CreateMessageResult = await self._asked(
            0, "CreateMessageRequestParams", params, t.CreateMessageResult
        )
        return answer

    async def _elicit(self, params: t.ElicitRequestParams) -> t.ElicitResult:
        is_page = isinstance(params, t.ElicitRequestURLParams)
        name = "ElicitRequestURLParams" if is_page else "ElicitRequestFormParams"
        answer: t.ElicitResult = await self._asked(1, name, params, t.ElicitResult)
        return answer

    async def _roots(self) -> list[t.Root | str]:
        answer: t.ListRootsResult = await self._asked(2, None, None, t.ListRootsResult)
        return [*answer.roots]

    def _log(self, params: t.LoggingMessageNotificationParams) -> None:
        shown = models.model("LoggingMessageNotificationParams")(**t.to_wire(params))
        if self._logging is not None:
            self._client.connection.spawn(_awaited(self._logging(shown)))
        if self._messages is not None:
            notification = models.model("LoggingMessageNotification")(
                method="notifications/message", params=shown
            )
            self._client.connection.spawn(_awaited(self._messages(notification)))


async def _awaited(work: Awaitable[Any]) -> None:
    await work


__all__ = ["ClientSession", "Mapping"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
