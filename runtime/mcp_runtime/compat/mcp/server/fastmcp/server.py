"""`FastMCP` of `mcp` 1.x."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp_runtime.compat import http, models
from mcp_runtime.compat.context import (
    current,
)
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.errors import ToolError
from mcp_runtime.compat.generics import Subscriptable
from mcp_runtime.compat.http import Settings
from mcp_runtime.compat.mcp.server.fastmcp.context import Context
from mcp_runtime.compat.mcp.server.fastmcp.features import Manager, Prompt, Resource, Tool, returned
from mcp_runtime.compat.mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp_runtime.compat.mcp.server.lowlevel.server import Server as LowLevelServer
from mcp_runtime.compat.native import NativeServer
from mcp_runtime.compat.routes import Route
from mcp_runtime.compat.tools import Component, FunctionPrompt, FunctionResource, FunctionTool
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import latest as t

log: Final = logging.getLogger("mcp_runtime.compat")

_F = TypeVar("_F", bound=Callable[..., Any])


class FastMCP(Subscriptable):
    """A server whose tools, resources and prompts are functions.

    `host`, `port` and the paths are for HTTP. Arguments without a meaning here are accepted.
    """

    def __init__(
        self,
        name: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[Any] | None = None,
        auth_server_provider: Any = None,
        token_verifier: Any = None,
        event_store: Any = None,
        retry_interval: int | None = None,
        *,
        tools: list[Tool] | None = None,
        lifespan: Callable[[Any], AbstractAsyncContextManager[Any]] | None = None,
        auth: Any = None,
        transport_security: Any = None,
        dependencies: Iterable[str] = (),
        **settings: Any,
    ) -> None:
        from mcp_runtime.compat.auth import bearer_auth

        self.settings = http.settings_of(settings)
        self.settings.others |= {"auth": auth, "transport_security": transport_security}
        _allow(self.settings, transport_security)
        self.dependencies = list(dependencies)
        self._mcp_server = LowLevelServer(
            name or "FastMCP",
            settings.get("version"),
            instructions,
            website_url,
            icons,
            lifespan=None if lifespan is None else lambda _: lifespan(self),
            auth=bearer_auth(auth, token_verifier, auth_server_provider),
        )
        self.native.serve_as(self)
        self._tool_manager = Manager(self._put)
        self._prompt_manager = Manager(self._put)
        self._resource_manager = Manager(self._put)
        for each in tools or ():
            self._put(each)

    @property
    def native(self) -> NativeServer:
        """The native server."""
        return self._mcp_server.native

    @property
    def name(self) -> str:
        return self._mcp_server.name

    @property
    def instructions(self) -> str | None:
        return self._mcp_server.instructions

    @property
    def session_manager(self) -> Any:
        """The manager of HTTP sessions, whose `run()` a surrounding application enters."""
        from mcp_runtime.compat.mcp.server.streamable_http_manager import (
            StreamableHTTPSessionManager,
        )

        return StreamableHTTPSessionManager(self._mcp_server)

    # ---- tools

    def tool(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Any = None,
        icons: Any = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
    ) -> Callable[[_F], _F]:
        """Register a function as a tool. Raises TypeError if the parentheses are missing."""
        if callable(name):
            raise TypeError(
                "The @tool decorator was used incorrectly. Did you forget to call it? Use @tool()"
            )

        def register(function: _F) -> _F:
            self.add_tool(
                function, name, title, description, annotations, icons, meta, structured_output
            )
            return function

        return register

    def add_tool(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Any = None,
        icons: Any = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
    ) -> None:
        """Register a function as a tool; an earlier tool of its name stays."""
        self._put(
            Tool(
                fn,
                name=name,
                title=title,
                description=description,
                annotations=annotations,
                icons=icons,
                meta=meta,
                structured_output=structured_output,
            )
        )

    def _put(self, component: Component) -> Any:
        """Register a feature unless its name is taken; return the feature of its name."""
        manager, put = self._kind(component)
        key = component.key
        if key in manager.items:
            log.warning("%s %s is registered already", type(component).__name__, key)
            return manager.items[key]
        put(component.native)  # type: ignore[attr-defined]
        manager.items[key] = component
        return component

    def _kind(self, component: Component) -> tuple[Manager, Callable[[Any], None]]:
        if isinstance(component, FunctionTool):
            return self._tool_manager, self.native.put_tool
        if isinstance(component, FunctionPrompt):
            return self._prompt_manager, self.native.put_prompt
        return self._resource_manager, self.native.put_resource

    def remove_tool(self, name: str) -> None:
        """Remove a tool. Raises ToolError if there is no such tool."""
        if self._tool_manager.items.pop(name, None) is None:
            raise ToolError(f"Unknown tool: {name}")
        self.native.remove_tool(name)

    # ---- resources and prompts

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        icons: Any = None,
        annotations: Any = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[_F], _F]:
        """Register a function as a resource, or as all resources of a URI template."""
        if callable(uri):
            raise TypeError(
                "The @resource decorator was used incorrectly."
                " Did you forget to call it? Use @resource('uri')"
            )

        def register(function: _F) -> _F:
            options: dict[str, Any] = {"title": title, "icons": icons}
            options |= {"annotations": annotations, "meta": meta}
            self.add_resource(
                Resource(
                    function,
                    uri=uri,
                    name=name,
                    description=description,
                    mime_type=mime_type,
                    **options,
                )
            )
            return function

        return register

    def add_resource(self, resource: FunctionResource) -> None:
        """Register a resource object."""
        self._put(resource)

    def prompt(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Any = None,
    ) -> Callable[[_F], _F]:
        """Register a function as a prompt."""
        if callable(name):
            raise TypeError(
                "The @prompt decorator was used incorrectly."
                " Did you forget to call it? Use @prompt() instead of @prompt"
            )

        def register(function: _F) -> _F:
            self.add_prompt(
                Prompt(function, name=name, title=title, description=description, icons=icons)
            )
            return function

        return register

    def add_prompt(self, prompt: FunctionPrompt) -> None:
        """Register a prompt object."""
        self._put(prompt)

    def completion(self) -> Callable[[_F], _F]:
        """Register the function to complete arguments of all prompts and templates."""
        return self._mcp_server.completion()

    def custom_route(
        self,
        path: str,
        methods: list[str],
        name: str | None = None,
        include_in_schema: bool = True,
    ) -> Callable[[_F], _F]:
        """Register a function of a Starlette request at another path of the HTTP server."""

        def register(function: _F) -> _F:
            self.native.routes.append(Route(path, tuple(methods), function))
            return function

        return register

    # ---- calls in this process

    def get_context(self) -> Context:
        """Return the context of the running request."""
        return Context(native=current.get(), fastmcp=self)

    async def list_tools(self) -> list[Any]:
        return self.native.tools()

    async def list_resources(self) -> list[Any]:
        return self.native.resources()

    async def list_resource_templates(self) -> list[Any]:
        return self.native.resource_templates()

    async def list_prompts(self) -> list[Any]:
        return self.native.prompts()

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool, and return its content, with the structured content if it has any.

        Raises ToolError.
        """
        async with self.native.client() as client:
            try:
                result = await client.call_tool(name, arguments)
            except RemoteError as error:
                raise ToolError(error.message) from error
        if result.is_error is True:
            raise ToolError("".join(getattr(each, "text", "") for each in result.content))
        return returned(result)

    async def read_resource(self, uri: Any) -> Iterable[ReadResourceContents]:
        async with self.native.client() as client:
            contents = await client.read_resource(str(uri))
        return [ReadResourceContents.of(each) for each in contents]

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        async with self.native.client() as client:
            result = await client.get_prompt(name, arguments)
        return models.model("GetPromptResult").of(t.to_wire(result))

    # ---- serving

    def run(self, transport: str = "stdio", mount_path: str | None = None) -> None:
        """Serve until the input ends, or a signal arrives. Raises ValueError."""
        http.run(self.native, transport, self.settings)

    async def run_stdio_async(self) -> None:
        await http.serve(self.native, "stdio", self.settings)

    async def run_sse_async(self, mount_path: str | None = None) -> None:
        await http.serve(self.native, "sse", self.settings)

    async def run_streamable_http_async(self) -> None:
        await http.serve(self.native, "streamable-http", self.settings)

    def streamable_http_app(self) -> Any:
        """Return the ASGI application."""
        return http.application(self.native, self.settings)

    def sse_app(self, mount_path: str | None = None) -> Any:
        """Return the ASGI application, which serves HTTP+SSE too."""
        return http.application(self.native, self.settings, transport="sse")


def _allow(settings: http.Settings, security: Any) -> None:
    """Take the hosts and origins of `TransportSecuritySettings`."""
    if security is None:
        return
    if not getattr(security, "enable_dns_rebinding_protection", True):
        settings.allowed_hosts = ["*"]
        return
    settings.allowed_hosts = [each.removesuffix(":*") for each in security.allowed_hosts]
    settings.allowed_origins = [each.removesuffix(":*") for each in security.allowed_origins]


__all__ = ["Context", "FastMCP", "Settings"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
