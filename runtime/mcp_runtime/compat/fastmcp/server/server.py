"""`FastMCP` of `fastmcp`."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp_runtime.compat import http, models
from mcp_runtime.compat.context import current
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.errors import (
    McpError,
    NotFoundError,
    ToolError,
    UrlElicitationRequiredError,
)
from mcp_runtime.compat.fastmcp.server.context import Context
from mcp_runtime.compat.fastmcp.server.features import (
    ToolResult,
)
from mcp_runtime.compat.fastmcp.server.middleware.middleware import Middleware, MiddlewareContext
from mcp_runtime.compat.fastmcp.server.mounting import (
    LISTED,
    MODELS,
    PARAMS,
    RESULTS,
    is_named,
    natives,
    prefixed,
    to_native,
)
from mcp_runtime.compat.fastmcp.server.registrar import Registrar
from mcp_runtime.compat.mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp_runtime.compat.mcp.server.lowlevel.server import Server as LowLevelServer
from mcp_runtime.compat.models import wire
from mcp_runtime.compat.native import NativeServer
from mcp_runtime.compat.routes import Route
from mcp_runtime.errors import RemoteError, RpcError
from mcp_runtime.errors import ToolError as NativeToolError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext

if TYPE_CHECKING:
    from mcp_runtime.auth.server.bearer import BearerAuth

log: Final = logging.getLogger("mcp_runtime.compat")
_F = TypeVar("_F", bound=Callable[..., Any])


class FastMCP(Registrar):
    """A server whose tools, resources and prompts are functions.

    Arguments without a meaning here are accepted. `auth` is a provider of `fastmcp.server.auth`, or
    a native `BearerAuth`.
    """

    def __init__(
        self,
        name: str | None = None,
        instructions: str | None = None,
        *,
        version: Any = None,
        website_url: str | None = None,
        icons: list[Any] | None = None,
        auth: Any = None,
        middleware: Sequence[Any] | None = None,
        lifespan: Callable[[Any], Any] | None = None,
        tools: Iterable[Any] | None = None,
        include_tags: Iterable[str] | None = None,
        exclude_tags: Iterable[str] | None = None,
        mask_error_details: bool | None = None,
        on_duplicate: str | None = None,
        on_duplicate_tools: str | None = None,
        **options: Any,
    ) -> None:
        """Raises NotImplementedError for an `auth` that is neither."""
        super().__init__(
            include_tags=include_tags,
            exclude_tags=exclude_tags,
            on_duplicate=on_duplicate or on_duplicate_tools or "warn",
        )
        self.settings = http.settings_of(options)
        self.mask_error_details = bool(mask_error_details)
        self.auth = _auth(auth, self.settings.streamable_http_path)
        self._lifespan = lifespan
        self.lifespan_value: Any = None
        """The value the lifespan yielded, while the server runs."""
        self._mcp_server = LowLevelServer(
            name or "FastMCP",
            None if version is None else str(version),
            instructions,
            website_url,
            icons,
            lifespan=lambda _: self._running(),
            auth=self.auth,
        )
        self.native.serve_as(self)
        self.native.middleware(self._around)
        self.middleware: list[Any] = list(middleware or ())
        for each in tools or ():
            self.add_tool(each)

    def __repr__(self) -> str:
        return f"FastMCP({self.name!r})"

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

    @instructions.setter
    def instructions(self, instructions: str | None) -> None:
        self._mcp_server.instructions = instructions

    @property
    def version(self) -> str | None:
        return self._mcp_server.version

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[Any]:
        """Enter the lifespans of this server and of those mounted on it."""
        async with AsyncExitStack() as stack:
            for child, _ in self._children:
                await stack.enter_async_context(child._running())
            if self._lifespan is not None:
                self.lifespan_value = await stack.enter_async_context(self._lifespan(self))
            yield {} if self.lifespan_value is None else self.lifespan_value

    # ---- middleware

    def add_middleware(self, middleware: Middleware) -> None:
        """Add middleware; the first added is the outermost."""
        self.middleware.append(middleware)

    async def _around(self, method: str, params: Any, ctx: NativeContext, handler: Any) -> Any:
        chain = [*self.middleware, *self._middleware_of_child(method, params)]
        request = PARAMS.get(method)
        if not chain or request is None:
            return await handler(params, ctx)
        token = current.set(ctx)
        try:
            result = await self._chained(chain, request, method, params, ctx, handler)
        except Exception as error:
            if method != "tools/call" or _is_for_the_client(error):
                raise
            raise ToolError(str(error)) from error
        finally:
            current.reset(token)
        return to_native(method, result)

    async def _chained(
        self,
        chain: list[Any],
        request: tuple[str, Any],
        method: str,
        params: Any,
        ctx: NativeContext,
        handler: Any,
    ) -> Any:
        name, native = request
        body: dict[str, Any] = {} if params is t.UNSET else t.to_wire(params)
        meta: dict[str, Any] = body.get("_meta", {})

        async def last(context: MiddlewareContext) -> Any:
            given = {**wire(context.message), **({"_meta": meta} if meta else {})}
            result = await handler(t.from_wire(native, given), ctx)
            return self._to_compat(method, result)

        call_next: Any = last
        for each in reversed(chain):
            call_next = partial(each, call_next=call_next)
        return await call_next(
            MiddlewareContext(
                message=models.model(name).of(body),
                fastmcp_context=Context(self, native=ctx),
                method=method,
            )
        )

    def _middleware_of_child(self, method: str, params: Any) -> Iterator[Any]:
        """Yield the middleware of the mounted server behind a request."""
        name = getattr(params, "name", None) or getattr(params, "uri", None)
        if name is None:
            return
        kind = {"tools/call": "tool", "prompts/get": "prompt"}.get(method, "resource")
        for child, prefix in self._children:
            for other, key, native, *_ in natives(child.native) if child.middleware else ():
                if other == kind and is_named(native, prefixed(kind, key, prefix), name):
                    yield from child.middleware
                    break

    def _to_compat(self, method: str, result: Any) -> Any:
        """Convert a native result to one of `fastmcp`. Raises ToolError for a failed call."""
        if isinstance(result, t.CallToolResult):
            if result.is_error is True:
                texts = [getattr(each, "text", "") for each in result.content]
                raise ToolError("".join(texts))
            return ToolResult.of(result)
        if method in LISTED:
            kind, member, _ = LISTED[method]
            return [
                self._components.get((kind, key)) or models.model(MODELS[kind]).of(t.to_wire(each))
                for each in getattr(result, member)
                for key in [getattr(each, "name" if kind != "resource" else "uri", "")]
            ]
        if isinstance(result, t.InputRequiredResult):
            return result
        return models.model(RESULTS[method]).of(t.to_wire(result))

    # ---- calls in this process

    async def get_tools(self) -> dict[str, Any]:
        """Return the tools by name, those of mounted servers too."""
        return {each.name: self._component("tool", each) for each in self.native.tools()}

    async def list_tools(self, **_: Any) -> list[Any]:
        return list((await self.get_tools()).values())

    async def get_tool(self, name: str, **_: Any) -> Any:
        """Return a tool. Raises NotFoundError."""
        tools = await self.get_tools()
        if name not in tools:
            raise NotFoundError(f"Unknown tool: {name}")
        return tools[name]

    async def get_prompts(self) -> dict[str, Any]:
        return {each.name: self._component("prompt", each) for each in self.native.prompts()}

    async def list_prompts(self, **_: Any) -> list[Any]:
        return list((await self.get_prompts()).values())

    async def get_prompt(self, name: str, **_: Any) -> Any:
        return (await self.get_prompts()).get(name)

    async def get_resources(self) -> dict[str, Any]:
        return {each.uri: self._component("resource", each) for each in self.native.resources()}

    async def list_resources(self, **_: Any) -> list[Any]:
        return list((await self.get_resources()).values())

    async def get_resource_templates(self) -> dict[str, Any]:
        templates: Any = self.native.resource_templates()
        return {each.uriTemplate: self._component("resource", each) for each in templates}

    async def list_resource_templates(self, **_: Any) -> list[Any]:
        return list((await self.get_resource_templates()).values())

    def _component(self, kind: str, model: Any) -> Any:
        """Return the object of a feature; of a mounted server's, the entry of the list."""
        key = model.name
        if kind == "resource":
            key = getattr(model, "uri", None) or model.uriTemplate
        return self._components.get((kind, key), model)

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, **_: Any) -> Any:
        """Call a tool, and return its ToolResult. Raises ToolError, NotFoundError."""
        async with self.native.client() as client:
            try:
                result = await client.call_tool(name, arguments)
            except RemoteError as error:
                raise NotFoundError(error.message) from error
        return self._to_compat("tools/call", result)

    async def read_resource(self, uri: Any, **_: Any) -> Any:
        async with self.native.client() as client:
            contents = await client.read_resource(str(uri))
        return [ReadResourceContents.of(each) for each in contents]

    async def render_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, **_: Any
    ) -> Any:
        async with self.native.client() as client:
            result = await client.get_prompt(name, arguments)
        return models.model("GetPromptResult").of(t.to_wire(result))

    # ---- serving

    def custom_route(
        self, path: str, methods: list[str], name: str | None = None, **_: Any
    ) -> Callable[[_F], _F]:
        """Register a function of a Starlette request at another path of the HTTP server."""

        def register(function: _F) -> _F:
            self._add_route(Route(path, tuple(methods), function))
            return function

        return register

    def _add_route(self, route: Route) -> None:
        self.native.routes.append(route)
        for parent, _ in self._parents:
            parent._add_route(route)

    def run(self, transport: str | None = None, **options: Any) -> None:
        """Serve until the input ends, or a signal arrives. Raises ValueError."""
        settings, path = self._settings(options)
        http.run(self.native, transport or "stdio", settings, path=path)

    async def run_async(self, transport: str | None = None, **options: Any) -> None:
        """Serve on the running event loop. Raises ValueError."""
        settings, path = self._settings(options)
        kind = transport or "stdio"
        await http.serve(self.native, kind, settings, path=path)

    async def run_stdio_async(self, **_: Any) -> None:
        await self.run_async("stdio")

    async def run_http_async(self, transport: str = "http", **options: Any) -> None:
        await self.run_async(transport, **options)

    async def run_sse_async(self, **options: Any) -> None:
        await self.run_async("sse", **options)

    run_streamable_http_async = run_http_async

    def http_app(self, path: str | None = None, transport: str = "http", **_: Any) -> Any:
        """Return the ASGI application."""
        return http.application(self.native, self.settings, transport=transport, path=path)

    def streamable_http_app(self, path: str | None = None, **_: Any) -> Any:
        return self.http_app(path)

    def sse_app(self, path: str | None = None, **_: Any) -> Any:
        return self.http_app(path, "sse")

    def _settings(self, options: dict[str, Any]) -> tuple[http.Settings, str | None]:
        given = {name: each for name, each in options.items() if each is not None}
        path = given.pop("path", None)
        known = http.Settings.__dataclass_fields__.keys() & given.keys()
        return replace(self.settings, **{name: given[name] for name in known}), path


def _is_for_the_client(error: Exception) -> bool:
    """Return True for an error of the protocol; of others in a call the model reads the text."""
    if isinstance(error, McpError):
        return isinstance(error, UrlElicitationRequiredError)
    return isinstance(error, RpcError | NativeToolError)


def _auth(auth: Any, path: str) -> BearerAuth | None:
    if auth is None:
        return None
    from mcp_runtime.auth.server.bearer import BearerAuth

    if isinstance(auth, BearerAuth):
        return auth
    if hasattr(auth, "bearer_auth"):
        protection: BearerAuth = auth.bearer_auth(path)
        return protection
    raise NotImplementedError(
        f"auth={type(auth).__name__}: give a BearerAuth of mcp_runtime with a verifier, such as"
        " JwtVerifier (docs/AUTH.md)"
    )


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
