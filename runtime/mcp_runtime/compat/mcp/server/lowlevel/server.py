"""The low-level `Server` of `mcp` 1.x, whose handlers are registered by method."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp_runtime.compat import models
from mcp_runtime.compat.content import for_revision
from mcp_runtime.compat.context import RequestContext, current, request_context, require_current
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.errors import UrlElicitationRequiredError, mcp_error
from mcp_runtime.compat.generics import Subscriptable
from mcp_runtime.compat.mcp.server.lowlevel.values import (
    Url,
    checker_of,
    contents_of,
    failed,
    result_of,
    takes_request,
    wrapped,
)
from mcp_runtime.compat.mcp.server.models import InitializationOptions
from mcp_runtime.compat.models import Model, wire
from mcp_runtime.compat.native import HINTS, NativeServer
from mcp_runtime.compat.streams import Stream
from mcp_runtime.errors import RpcError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext
from mcp_runtime.server.decorators import dispatcher_of

log: Final = logging.getLogger("mcp_runtime.compat")
_F = TypeVar("_F", bound=Callable[..., Any])
_Handler = Callable[[Any], Awaitable[Any]]


class NotificationOptions:
    """The lists whose changes a server announces."""

    def __init__(
        self,
        prompts_changed: bool = False,
        resources_changed: bool = False,
        tools_changed: bool = False,
    ) -> None:
        self.prompts_changed = prompts_changed
        self.resources_changed = resources_changed
        self.tools_changed = tools_changed


class Handlers(dict[Any, _Handler]):
    """Handlers by the class of their request; setting one registers it."""

    def __init__(self, register: Callable[[Any, _Handler], None]) -> None:
        super().__init__()
        self._register = register

    def __setitem__(self, request: Any, handler: _Handler) -> None:
        super().__setitem__(request, handler)
        self._register(request, handler)


class Server(Subscriptable):
    """A server with a handler for each method.

    `lifespan(server)` is entered before the first client is served.
    """

    def __init__(
        self,
        name: str,
        version: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[Any] | None = None,
        lifespan: Callable[[Any], AbstractAsyncContextManager[Any]] | None = None,
        *,
        auth: Any = None,
    ) -> None:
        self.lifespan = lifespan or _no_lifespan
        self.native = NativeServer(
            name,
            version or "1.0.0",
            instructions=instructions,
            website_url=website_url,
            icons=None if icons is None else [t.from_wire(t.Icon, wire(each)) for each in icons],
            lifespan=None if lifespan is None else lambda _: lifespan(self),
            auth=auth,
        )
        self._version = version
        self.request_handlers = Handlers(self._handle)
        self.notification_handlers = Handlers(self._handle_notification)
        self._listed: dict[str, Model] = {}
        """The tools of the last list, by name."""
        self._checks: dict[str, Callable[[Any], Any] | None] = {}

    # ---- the offer

    @property
    def name(self) -> str:
        return self.native.info.name

    @name.setter
    def name(self, name: str) -> None:
        self.native.rename(name, self.native.info.version)

    @property
    def version(self) -> str | None:
        return self._version

    @version.setter
    def version(self, version: str) -> None:
        self._version = version
        self.native.rename(self.native.info.name, version)

    @property
    def instructions(self) -> str | None:
        return self.native.instructions

    @instructions.setter
    def instructions(self, instructions: str | None) -> None:
        self.native.instruct(instructions)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the description of the server for `run`."""
        return InitializationOptions(
            server_name=self.name,
            server_version=self._version or "1.0.0",
            capabilities=self.get_capabilities(
                notification_options or NotificationOptions(), experimental_capabilities or {}
            ),
            instructions=self.instructions,
        )

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
    ) -> Any:
        """Return the capabilities; those in `experimental_capabilities` are offered from now on."""
        dispatcher = dispatcher_of(self.native)
        for name in experimental_capabilities or {}:
            dispatcher.features.declare(f"experimental.{name}")
        return models.model("ServerCapabilities")(**t.to_wire(dispatcher.offer().capabilities))

    @property
    def request_context(self) -> RequestContext:
        """The running request. Raises LookupError outside of one."""
        return request_context(require_current())

    # ---- decorators

    def list_tools(self) -> Callable[[_F], _F]:
        """Register the function for the tools."""
        return self._lister("ListToolsRequest", "ListToolsResult", "tools")

    def list_prompts(self) -> Callable[[_F], _F]:
        """Register the function for the prompts."""
        return self._lister("ListPromptsRequest", "ListPromptsResult", "prompts")

    def list_resources(self) -> Callable[[_F], _F]:
        """Register the function for the resources."""
        return self._lister("ListResourcesRequest", "ListResourcesResult", "resources")

    def list_resource_templates(self) -> Callable[[_F], _F]:
        """Register the function for the resource templates."""
        return self._lister(
            "ListResourceTemplatesRequest", "ListResourceTemplatesResult", "resourceTemplates"
        )

    def _lister(self, request: str, result: str, member: str) -> Callable[[_F], _F]:
        def decorate(function: _F) -> _F:
            is_asked = takes_request(function)

            async def handler(message: Any) -> Any:
                listed = await (function(message) if is_asked else function())
                made = models.model(result)
                return listed if isinstance(listed, made) else made(**{member: list(listed)})

            self.request_handlers[models.model(request)] = wrapped(handler)
            return function

        return decorate

    def call_tool(self, *, validate_input: bool = True) -> Callable[[_F], _F]:
        """Register the function behind all tools: it takes the name and the arguments.

        It returns content, structured content, both in a tuple, or a `CallToolResult`. Arguments
        are checked against the listed schema first, if the extra `schemas` is installed.
        """

        def decorate(function: _F) -> _F:
            async def handler(message: Any) -> Any:
                name: str = message.params.name
                arguments: dict[str, Any] = message.params.arguments or {}
                try:
                    fault = await self._fault(name, arguments) if validate_input else None
                    if fault is not None:
                        return failed(f"Input validation error: {fault}")
                    return result_of(await function(name, arguments))
                except UrlElicitationRequiredError:
                    raise
                except Exception as error:
                    return failed(str(error))

            self.request_handlers[models.model("CallToolRequest")] = wrapped(handler)
            return function

        return decorate

    async def _fault(self, name: str, arguments: Any) -> object:
        """Return the reason why arguments do not fit the schema of a listed tool, or None."""
        if name not in self._checks:
            await self._refresh()
        check = self._checks.get(name)
        return None if check is None else check(arguments)

    async def _refresh(self) -> None:
        listing = self.request_handlers.get(models.model("ListToolsRequest"))
        if listing is not None:
            result = await listing(models.model("ListToolsRequest")())
            self._checks = {each.name: checker_of(each.inputSchema) for each in _root(result).tools}

    def read_resource(self) -> Callable[[_F], _F]:
        """Register the function behind all resources: it takes the URI."""

        def decorate(function: _F) -> _F:
            async def handler(message: Any) -> Any:
                uri = message.params.uri
                value = await function(Url(uri))
                items = [value] if isinstance(value, str | bytes) else list(value)
                contents = [contents_of(each, uri) for each in items]
                return models.model("ReadResourceResult")(contents=contents)

            self.request_handlers[models.model("ReadResourceRequest")] = wrapped(handler)
            return function

        return decorate

    def get_prompt(self) -> Callable[[_F], _F]:
        """Register the function for a prompt: it takes the name and the arguments."""
        return self._plain("GetPromptRequest", lambda params: (params.name, params.arguments))

    def set_logging_level(self) -> Callable[[_F], _F]:
        """Register the handler of `logging/setLevel`. Log messages are filtered without it, too."""
        return self._plain("SetLevelRequest", lambda params: (params.level,))

    def subscribe_resource(self) -> Callable[[_F], _F]:
        """Register a function of the URI. Subscriptions are kept without it."""
        return self._plain("SubscribeRequest", lambda params: (Url(params.uri),))

    def unsubscribe_resource(self) -> Callable[[_F], _F]:
        """Register a function of the URI. Subscriptions are kept without it."""
        return self._plain("UnsubscribeRequest", lambda params: (Url(params.uri),))

    def _plain(
        self, request: str, arguments: Callable[[Any], tuple[Any, ...]]
    ) -> Callable[[_F], _F]:
        def decorate(function: _F) -> _F:
            async def handler(message: Any) -> Any:
                return await function(*arguments(message.params))

            self.request_handlers[models.model(request)] = wrapped(handler)
            return function

        return decorate

    def progress_notification(self) -> Callable[[_F], _F]:
        """Accept a function of a client's progress, which is not reported here."""
        return lambda function: function

    def completion(self) -> Callable[[_F], _F]:
        """Register the function to complete arguments: it takes the reference, the argument and
        the context.
        """

        def decorate(function: _F) -> _F:
            async def handler(message: Any) -> Any:
                params = message.params
                completion = await function(params.ref, params.argument, params.context)
                values: Any = {"values": []} if completion is None else completion
                return models.model("CompleteResult")(completion=values)

            self.request_handlers[models.model("CompleteRequest")] = wrapped(handler)
            return function

        return decorate

    # ---- the native server

    def _handle(self, request: type[Model], handler: _Handler) -> None:
        method = request.constants_["method"]
        if method in _BY_THE_SESSION:
            return
        result = _RESULTS.get(method)

        async def handle(params: Any, ctx: NativeContext) -> Any:
            body: dict[str, Any] = {} if params is t.UNSET else t.to_wire(params)
            token = current.set(ctx)
            try:
                answer = await handler(request(method=method, params=body))
            except RpcError:
                raise
            except Exception as error:
                log.exception("%s failed", method)
                raise mcp_error(0, str(error)) from error
            finally:
                current.reset(token)
            json = wire(_root(answer))
            if result is None:
                return {}
            return for_revision(t.from_wire(result, {**json, **_hints(method)}), ctx.revision)

        self.native.on(method, capability=_CAPABILITIES.get(method))(handle)

    def _handle_notification(self, notification: type[Model], handler: _Handler) -> None:
        method = notification.constants_["method"]
        if method in _OF_SESSIONS:
            return

        async def handle(params: Any, connection: Any) -> None:
            body: dict[str, Any] = {} if params is t.UNSET else t.to_wire(params)
            await handler(notification(method=method, params=body))

        self.native.on(method)(handle)

    async def run(
        self,
        read_stream: Any,
        write_stream: Any,
        initialization_options: InitializationOptions | None = None,
        raise_exceptions: bool = False,
        stateless: bool = False,
    ) -> None:
        """Serve the client of the streams, which `stdio_server()` or another transport yields.

        Raises TypeError for streams of other origin.
        """
        if not isinstance(read_stream, Stream):
            raise TypeError(
                f"{read_stream!r:.80} does not come from this package; streams come from"
                " stdio_server(), sse.connect_sse() and the like"
            )
        options = initialization_options
        if options is not None:
            self.native.rename(options.server_name, options.server_version)
            if options.instructions:
                self.native.instruct(options.instructions)
        await read_stream.serve(self.native)


def _no_lifespan(_: Any) -> AbstractAsyncContextManager[Any]:
    empty: dict[str, Any] = {}
    return nullcontext(empty)


_RESULTS: Final[Mapping[str, Any]] = {
    "tools/list": t.ListToolsResult,
    "tools/call": t.CallToolResult,
    "prompts/list": t.ListPromptsResult,
    "prompts/get": t.GetPromptResult,
    "resources/list": t.ListResourcesResult,
    "resources/templates/list": t.ListResourceTemplatesResult,
    "resources/read": t.ReadResourceResult,
    "completion/complete": t.CompleteResult,
}
_CAPABILITIES: Final[Mapping[str, str]] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "completion/complete": "completions",
}
_BY_THE_SESSION: Final = frozenset(
    {"ping", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)
"""Methods answered without a handler."""
_OF_SESSIONS: Final = frozenset(
    {"notifications/progress", "notifications/cancelled", "notifications/initialized"}
)
_CACHED: Final = ("/list", "resources/read")


def _hints(method: str) -> dict[str, Any]:
    return HINTS if method.endswith(_CACHED) else {"resultType": "complete"}


def _root(value: Any) -> Any:
    return getattr(value, "root", value)


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
