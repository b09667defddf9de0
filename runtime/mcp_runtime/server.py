"""A server: what it offers, by decorators, and the one call that serves it.

    server = Server("weather", "1.0.0")

    @server.tool
    async def forecast(city: str, days: int = 1) -> str:
        "What the weather will be."
        return ...

    server.run()

Handlers are written once, against the newest revision; every older one is served too.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast, overload

from msgspec import UNSET, UnsetType, structs

from mcp_runtime.connection import Trace
from mcp_runtime.content import prompt_messages, resource_contents
from mcp_runtime.context import Context
from mcp_runtime.core import codes
from mcp_runtime.core.inputs import KeyRing, StateSealer
from mcp_runtime.core.mirrors import BadMark, Marks, marks
from mcp_runtime.core.offer import ServerOffer
from mcp_runtime.errors import NotOffered, Refuse, SessionError, ToolError
from mcp_runtime.features import (
    Completer,
    Prompt,
    RawTool,
    Registry,
    Resource,
    ResourceTemplate,
    Tool,
    checked,
    converted,
    embeds,
    or_unset,
    require_tool_name,
)
from mcp_runtime.io.wire import Wire
from mcp_runtime.life import Life
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.meta import require_extensions, require_meta
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from mcp_runtime.serving import ServerConnection, StreamConnection
from mcp_runtime.signature import BadArguments, read, read_prompt, read_template
from mcp_runtime.uri import Template, is_uri

if TYPE_CHECKING:
    from mcp_runtime.io.http_server import HttpApp

__all__ = ["Server"]

log: Final = logging.getLogger("mcp_runtime.server")

_F = TypeVar("_F", bound=Callable[..., Any])
Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
Middleware: TypeAlias = Callable[[str, Any, Context, Handler], Awaitable[Any]]
Kind: TypeAlias = Literal["tools", "resources", "prompts", "completions"]


class Server:
    """What is registered here is offered to every client.

    `revisions` are those that are spoken. `keys` seal what travels through clients: give the same
    to all processes that serve one another's clients; without, each process draws its own.
    `offers` are kinds of features that come only later. `ttl_ms` and `cache_scope` tell clients how
    long they may keep lists, and whether they may share them.

    `ping_every` is in seconds: clients on streams that do not answer are given up.

    `lifespan(server)` is entered before the first client is served, and left after the last; what
    it yields is `Context.lifespan`.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[t.Icon] | None = None,
        revisions: Sequence[str] = ALL,
        limits: Limits = DEFAULT,
        keys: Sequence[bytes] | StateSealer | None = None,
        offers: Collection[Kind] = (),
        extensions: Mapping[str, Mapping[str, Any]] | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        lifespan: Callable[[Server], AbstractAsyncContextManager[Any]] | None = None,
        ping_every: float | None = None,
    ) -> None:
        self.info = t.Implementation(
            name=name,
            version=version,
            title=or_unset(title),
            description=or_unset(description),
            website_url=or_unset(website_url),
            icons=or_unset(None if icons is None else list(icons)),
        )
        self.limits = limits
        self.state: Any = None
        self.sealer = _sealer(keys)
        self.ping_every = ping_every
        self.connections: set[ServerConnection] = set()
        self._instructions: str | UnsetType = or_unset(instructions)
        self._revisions = tuple(revisions)
        if ttl_ms < 0:
            raise ValueError(f"ttl_ms is no less than 0, not {ttl_ms}")
        self._offers = set[str](offers)
        require_extensions(extensions or ())
        self._extensions = or_unset(extensions)
        self._hints: dict[str, Any] = {"ttl_ms": ttl_ms, "cache_scope": cache_scope}
        self._lifespan = lifespan
        self._life: Life | None = None
        self._tools: Registry[Tool | RawTool] = Registry("tool")
        self._resources: Registry[Resource] = Registry("resource")
        self._templates: Registry[ResourceTemplate] = Registry("resource template")
        self._prompts: Registry[Prompt] = Registry("prompt")
        self._completers: dict[tuple[str, str], Completer] = {}
        self._middleware: list[Middleware] = []
        self._on_notification: dict[str, list[Callable[..., Any]]] = {}
        self._own: Final[dict[str, Handler]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }
        self._handlers = dict(self._own)
        self._offer: ServerOffer | None = None
        self.offer()

    # ---- what is offered

    def offer(self) -> ServerOffer:
        """What the server says of itself now."""
        if self._offer is None:
            self._offer = ServerOffer(
                info=self.info,
                revisions=self._revisions,
                capabilities=self._capabilities(),
                instructions=self._instructions,
                methods=frozenset(self._handlers.keys() - self._own.keys()),
                hints=self._hints,
                watchable=self._watchable,
            )
        return self._offer

    def _watchable(self, uri: str) -> bool:
        """Whether there is such a resource, as far as it is known here which there are."""
        if self._handlers["resources/read"] is not self._own["resources/read"]:
            return is_uri(uri)
        fits = (template.template.match(uri) for template in self._templates)
        return self._resources.get(uri) is not None or any(found is not None for found in fits)

    def _capabilities(self) -> t.ServerCapabilities:
        """What was declared once stays so, though there be nothing left of it."""
        has = {
            "tools": len(self._tools),
            "resources": len(self._resources) + len(self._templates),
            "prompts": len(self._prompts),
            "completions": len(self._completers),
        }
        self._offers |= {kind for kind, number in has.items() if number}
        changes: dict[str, Any] = {"list_changed": True}
        told: dict[str, Any] = {
            "tools": t.ServerCapabilitiesTools(**changes),
            "resources": t.ServerCapabilitiesResources(**changes, subscribe=True),
            "prompts": t.ServerCapabilitiesPrompts(**changes),
            "completions": {},
        }
        kinds = {kind: value for kind, value in told.items() if kind in self._offers}
        return t.ServerCapabilities(logging={}, extensions=self._extensions, **kinds)

    def _changed(self, what: str) -> None:
        """The list of `what` is another from now on."""
        self._offer = None
        for connection in list(self.connections):
            connection.tell_changed(what)

    def resource_updated(self, uri: str) -> None:
        """Tells those who watch a resource that it has changed. Call it on the event loop."""
        for connection in list(self.connections):
            connection.tell_updated(uri)

    # ---- decorators

    @overload
    def tool(self, function: _F) -> _F: ...
    @overload
    def tool(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: t.ToolAnnotations | None = None,
        icons: Sequence[t.Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[_F], _F]: ...
    def tool(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Offers a function as a tool; its arguments and result are typed by its signature.

        A plain function runs in a thread. What it raises becomes a result that says so to the
        model; `Refuse` becomes an error of the protocol.

        Raises TypeError for a signature without meaning as JSON, ValueError for a name that is
        taken or none.
        """
        return self._decorator(self.add_tool, function, options)

    def add_tool(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: t.ToolAnnotations | None = None,
        icons: Sequence[t.Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """As `tool`; clients are told."""
        signature = read(function, context=Context)
        output = signature.output_schema
        model = t.Tool(
            name=require_tool_name(name or signature.name),
            title=or_unset(title),
            description=or_unset(description or signature.description or None),
            input_schema=t.from_wire(t.ToolInputSchema, signature.input_schema),
            output_schema=UNSET if output is None else t.from_wire(t.ToolOutputSchema, output),
            annotations=or_unset(annotations),
            icons=or_unset(None if icons is None else list(icons)),
            meta=_checked(meta),
        )
        mirrored = _marks(model.name, signature.input_schema)
        self._tools.add(model.name, Tool(model, signature, function, mirrored))
        if embeds(function):
            self._offers.add("resources")
        self._changed("tools")

    def raw_tool(self, model: t.Tool, *, arguments: Any = None) -> Callable[[_F], _F]:
        """Offers a function as the tool that `model` describes, its schemas as they are given.

        The function takes the arguments, checked against the schema, and the Context; with a type
        of msgspec, `arguments`, it takes one of these, and nothing else is checked. Where `model`
        has an output schema, what the function returns is structured content.

        Raises BadSchema for a schema that is none, ValueError as `tool` does and for an
        `x-mcp-header` that clients would refuse.
        """

        def register(function: _F) -> _F:
            schema: Mapping[str, Any] = t.to_wire(model.input_schema)
            require_tool_name(model.name)
            mirrored = _marks(model.name, schema)
            read = checked(schema) if arguments is None else converted(arguments)
            self._tools.add(model.name, RawTool(model, read, function, mirrored))
            self._changed("tools")
            return function

        return register

    def remove_tool(self, name: str) -> None:
        """Clients are told. Raises KeyError."""
        self._tools.remove(name)
        self._changed("tools")

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: t.Annotations | None = None,
        icons: Sequence[t.Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[_F], _F]:
        """Offers what a function returns as a resource, or as all those of a template.

        The variables of a template (RFC 6570) are the function's parameters.
        Raises TypeError, ValueError (TemplateError) as `tool` does.
        """
        options: dict[str, Any] = {
            "title": or_unset(title),
            "mime_type": or_unset(mime_type),
            "annotations": or_unset(annotations),
            "icons": or_unset(None if icons is None else list(icons)),
            "meta": _checked(meta),
        }

        def register(function: _F) -> _F:
            self._add_resource(function, uri, name, description, size, options)
            return function

        return register

    def _add_resource(
        self,
        function: Callable[..., Any],
        uri: str,
        name: str | None,
        description: str | None,
        size: int | None,
        options: dict[str, Any],
    ) -> None:
        template = Template(uri, self.limits)
        signature = read_template(function, context=Context, variables=template.names)
        told: dict[str, Any] = {
            "name": name or signature.name,
            "description": or_unset(description or signature.description or None),
            **options,
        }
        if not template.names and not is_uri(uri):
            raise ValueError(f"{uri[:80]!r} is no URI (RFC 3986), such as notes://today")
        if template.names:
            model = t.ResourceTemplate(uri_template=uri, **told)
            self._templates.add(uri, ResourceTemplate(model, template, signature, function))
        else:
            resource = t.Resource(uri=uri, size=or_unset(size), **told)
            self._resources.add(uri, Resource(resource, signature, function))
        self._changed("resources")

    def remove_resource(self, uri: str) -> None:
        """A resource or a template; clients are told. Raises KeyError."""
        (self._templates if self._templates.get(uri) else self._resources).remove(uri)
        self._changed("resources")

    @overload
    def prompt(self, function: _F) -> _F: ...
    @overload
    def prompt(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[t.Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[_F], _F]: ...
    def prompt(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Offers a function as a prompt; its parameters are strings. Raises as `tool` does."""
        return self._decorator(self.add_prompt, function, options)

    def add_prompt(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[t.Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """As `prompt`; clients are told."""
        signature = read_prompt(function, context=Context)
        arguments = [
            t.PromptArgument(name=each, description=or_unset(said or None), required=needed)
            for each, said, needed in signature.arguments
        ]
        model = t.Prompt(
            name=name or signature.name,
            title=or_unset(title),
            description=or_unset(description or signature.description or None),
            arguments=or_unset(arguments or None),
            icons=or_unset(None if icons is None else list(icons)),
            meta=_checked(meta),
        )
        self._prompts.add(model.name, Prompt(model, signature, function))
        self._changed("prompts")

    def remove_prompt(self, name: str) -> None:
        """Clients are told. Raises KeyError."""
        self._prompts.remove(name)
        self._changed("prompts")

    def completion(self, of: str, argument: str) -> Callable[[_F], _F]:
        """Suggests values for an argument of a prompt, or a variable of a template, by its text.

        The function takes what was typed so far; if it has a parameter `arguments`, also the values
        that were chosen before. It returns the values, best first, or a `CompleteResultCompletion`.
        """

        def register(function: _F) -> _F:
            if (of, argument) in self._completers:
                raise ValueError(f"{argument!r} of {of!r} has completions already")
            is_async = inspect.iscoroutinefunction(function)
            self._completers[of, argument] = Completer(function, is_async, _taken(function))
            self._offer = None
            return function

        return register

    def on(self, method: str) -> Callable[[_F], _F]:
        """Handles a method itself: the function takes its params and the Context, as models.

        Also a method beyond the protocol, whose params and result are JSON objects, and
        notifications, whose functions take params and the connection. Raises ValueError for a
        method that the session handles by itself.
        """
        if method in _OF_THE_SESSION:
            raise ValueError(f"{method} is handled by the session itself")

        def register(function: _F) -> _F:
            if method.startswith("notifications/"):
                self._on_notification.setdefault(method, []).append(function)
            else:
                self._handlers[method] = cast("Handler", function)
                self._offer = None
            return function

        return register

    def middleware(self, function: Middleware) -> Middleware:
        """Around every request: takes method, params, context and the next handler."""
        self._middleware.append(function)
        return function

    def _decorator(
        self,
        add: Callable[..., None],
        function: Callable[..., Any] | None,
        options: dict[str, Any],
    ) -> Any:
        if function is not None:
            add(function, **options)
            return function

        def register(function: _F) -> _F:
            add(function, **options)
            return function

        return register

    def mirrored(self, name: object) -> Marks:
        """The headers that repeat arguments of a tool, with the paths of those."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        return {} if tool is None else tool.mirrored

    # ---- requests

    async def handle(self, method: str, params: Any, ctx: Context) -> Any:
        """The result of a request. Raises Refuse, and what the handler raises."""
        handler = self._handlers.get(method)
        if handler is None:
            raise Refuse(codes.METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
        for around in reversed(self._middleware):
            handler = _around(around, method, handler)
        return await handler(params, ctx)

    def notified(self, method: str, params: Any, connection: ServerConnection) -> None:
        for function in self._on_notification.get(method, ()):
            found = function(params, connection)
            if asyncio.iscoroutine(found):
                connection.spawn(found)

    async def _list_tools(self, params: Any, ctx: Context) -> t.ListToolsResult:
        page, cursor = self._page(self._tools, params)
        return t.ListToolsResult(
            tools=[tool.model for tool in page], next_cursor=cursor, **self._complete_hints()
        )

    async def _call_tool(self, params: Any, ctx: Context) -> Any:
        tool = self._tools.get(params.name)
        if tool is None:
            raise Refuse(codes.INVALID_PARAMS, f"Unknown tool: {params.name[:200]}")
        try:
            arguments: dict[str, Any] = {} if params.arguments is UNSET else params.arguments
            value = await tool.run(arguments, ctx)
        except (BadArguments, ToolError) as error:
            return _failed(str(error))
        except Refuse:
            raise
        except NotOffered as error:
            if ctx.era == "per-request":
                raise
            return _failed(str(error))
        except SessionError as error:
            return _failed(str(error))
        except Exception as error:
            log.exception("tool %s failed", params.name)
            return _failed(f"{type(error).__name__}: {error}")
        return tool.result(value)

    async def _list_resources(self, params: Any, ctx: Context) -> t.ListResourcesResult:
        page, cursor = self._page(self._resources, params)
        shown = [resource.model for resource in page]
        return t.ListResourcesResult(resources=shown, next_cursor=cursor, **self._complete_hints())

    async def _list_templates(self, params: Any, ctx: Context) -> t.ListResourceTemplatesResult:
        page, cursor = self._page(self._templates, params)
        shown = [template.model for template in page]
        return t.ListResourceTemplatesResult(
            resource_templates=shown, next_cursor=cursor, **self._complete_hints()
        )

    async def _read_resource(self, params: Any, ctx: Context) -> t.ReadResourceResult:
        contents = await self.read(params.uri, ctx)
        return t.ReadResourceResult(contents=contents, **self._complete_hints())

    async def read(
        self, uri: str, ctx: Context
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Raises Refuse for a URI that is none of this server's."""
        if len(uri) > self.limits.uri_chars:
            raise Refuse(codes.INVALID_PARAMS, f"a URI of over {self.limits.uri_chars} characters")
        if resource := self._resources.get(uri):
            return _contents(await resource.run(ctx), uri, resource.model, ctx)
        for template in self._templates:
            if (values := template.template.match(uri)) is not None:
                try:
                    value = await template.run(values, ctx)
                except BadArguments:
                    continue
                return _contents(value, uri, template.model, ctx)
        raise _not_found(uri, ctx)

    async def _list_prompts(self, params: Any, ctx: Context) -> t.ListPromptsResult:
        page, cursor = self._page(self._prompts, params)
        shown = [prompt.model for prompt in page]
        return t.ListPromptsResult(prompts=shown, next_cursor=cursor, **self._complete_hints())

    async def _get_prompt(self, params: Any, ctx: Context) -> t.GetPromptResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise Refuse(codes.INVALID_PARAMS, f"Unknown prompt: {params.name[:200]}")
        try:
            value = await prompt.run({} if params.arguments is UNSET else params.arguments, ctx)
        except BadArguments as error:
            raise Refuse(codes.INVALID_PARAMS, f"Invalid params: {error}") from None
        if isinstance(value, t.GetPromptResult):
            return structs.replace(value, messages=prompt_messages(value.messages))
        return t.GetPromptResult(
            messages=prompt_messages(value),
            description=prompt.model.description,
            result_type="complete",
        )

    async def _complete(self, params: Any, ctx: Context) -> t.CompleteResult:
        """Source: 2025-11-25 server/utilities/completion."""
        of, argument = _reference(params.ref), params.argument
        if not self._knows(of, argument.name):
            raise Refuse(
                codes.INVALID_PARAMS, f"Unknown reference: {of[:200]}, {argument.name[:200]}"
            )
        completer = self._completers.get((of, argument.name))
        if completer is None:
            return _completed([], self.limits.completions)
        context = params.context
        chosen: dict[str, str] = {}
        if context is not UNSET and context.arguments is not UNSET:
            chosen = context.arguments
        found = await completer.run(argument.value, chosen, ctx)
        return _completed(found, self.limits.completions)

    def _knows(self, of: str, argument: str) -> bool:
        if prompt := self._prompts.get(of):
            return argument in {name for name, _, _ in prompt.signature.arguments}
        template = self._templates.get(of)
        return (of, argument) in self._completers or (
            template is not None and argument in template.template.names
        )

    def _page(self, registry: Registry[Any], params: Any) -> tuple[list[Any], Any]:
        cursor = UNSET if params is UNSET else params.cursor
        return registry.page(None if cursor is UNSET else cursor, self.limits.page_size)

    def _complete_hints(self) -> dict[str, Any]:
        return {"result_type": "complete", **self._hints}

    # ---- serving

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While the server's `lifespan` is entered: once, for all who are served at one time."""
        if self._lifespan is None:
            yield
            return
        if self._life is None:
            self._life = Life(self._lifespan(self))
        life = self._life
        try:
            self.state = await life.enter()
            yield
        finally:
            if await life.leave():
                self._life = None

    async def serve(self, wire: Wire, *, trace: Trace | None = None) -> None:
        """Serves one client on a wire, until it is gone."""
        await StreamConnection(self, trace=trace).serve(wire)

    async def run_stdio(self, *, trace: Trace | None = None) -> None:
        """Serves standard input and output until the input ends."""
        from mcp_runtime.io.stdio import own_pipes

        async with self.running(), own_pipes(self.limits) as wire:
            await self.serve(wire, trace=trace)

    def asgi(self, **options: Any) -> HttpApp:
        """An ASGI 3 application that serves every era; for `options` see `HttpApp`."""
        from mcp_runtime.io.http_server import HttpApp

        return HttpApp(self, **options)

    def run(self, *, http: str | None = None, trace: Trace | None = None, **options: Any) -> None:
        """Serves until the input ends, or the process is interrupted.

        On standard input and output, or on `http`, such as "127.0.0.1:8000"; then `options` are
        those of `asgi`. Raises ValueError for an address that is none.
        """
        with contextlib.suppress(KeyboardInterrupt):
            if http is None:
                asyncio.run(self.run_stdio(trace=trace))
            else:
                from mcp_runtime.io.uvicorn import serve

                asyncio.run(serve(self.asgi(trace=trace, **options), http))


def _marks(name: str, schema: Mapping[str, Any]) -> Marks:
    """Of a tool's input schema. Raises ValueError for those that clients would refuse."""
    try:
        return marks(schema)
    except BadMark as error:
        raise ValueError(f"tool {name}: {error}") from None


def _around(around: Middleware, method: str, handler: Handler) -> Handler:
    async def call(params: Any, ctx: Context) -> Any:
        return await around(method, params, ctx, handler)

    return call


_OF_THE_SESSION: Final = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
    }
)


def _checked(meta: dict[str, Any] | None) -> dict[str, Any] | UnsetType:
    """Raises ValueError for names that `_meta` cannot have."""
    if meta is None:
        return UNSET
    require_meta(meta)
    return meta


def _sealer(keys: Sequence[bytes] | StateSealer | None) -> StateSealer:
    if keys is None:
        return KeyRing([secrets.token_bytes(32)])
    return KeyRing(keys) if isinstance(keys, Sequence) else keys


def _failed(text: str) -> t.CallToolResult:
    """A result that tells the model what went wrong."""
    return t.CallToolResult(
        content=[t.TextContent(text=text)], is_error=True, result_type="complete"
    )


def _contents(
    value: Any, uri: str, model: Any, ctx: Context
) -> list[t.TextResourceContents | t.BlobResourceContents]:
    """A handler's None says that there is no such resource."""
    if value is None:
        raise _not_found(uri, ctx)
    mime_type = None if model.mime_type is UNSET else model.mime_type
    return resource_contents(value, uri, mime_type)


def _not_found(uri: str, ctx: Context) -> Refuse:
    """Source: 2025-11-25 and 2026-07-28 server/resources, "Error Handling"."""
    code = codes.RESOURCE_NOT_FOUND if ctx.era == "handshake" else codes.INVALID_PARAMS
    return Refuse(code, "Resource not found", {"uri": uri[:2000]})


def _reference(ref: Any) -> str:
    """The name of a prompt, or the URI or template of a resource."""
    return ref.name if isinstance(ref, t.PromptReference) else ref.uri


def _completed(found: Any, most: int) -> t.CompleteResult:
    if not isinstance(found, t.CompleteResultCompletion):
        values = list(found)
        found = t.CompleteResultCompletion(
            values=values[:most], total=len(values), has_more=len(values) > most
        )
    return t.CompleteResult(completion=found, result_type="complete")


def _taken(function: Callable[..., Any]) -> dict[str, str]:
    """What each parameter of a completion's function takes. Raises TypeError."""
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation in (Context, "Context"):
            found[name] = "context"
        else:
            found[name] = "arguments" if name == "arguments" else "value"
    if list(found.values()).count("value") > 1:
        takes = "the value, `arguments`, and a Context"
        raise TypeError(f"{function.__name__}: the function of a completion takes {takes}")
    return found
