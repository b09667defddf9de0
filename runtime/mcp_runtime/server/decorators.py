"""The decorators and methods that register tools, resources, prompts and handlers."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Unpack, cast, get_origin, overload

from msgspec import structs

from mcp_runtime.core.http.header_checks import ParamHeaders
from mcp_runtime.core.session.server_session import ANSWERED_AT_ONCE
from mcp_runtime.core.session.subscriptions import SERVED_MEMBERS
from mcp_runtime.core.terms.meta_names import require_meta
from mcp_runtime.json_schema.client_rules import objections
from mcp_runtime.json_schema.header_annotations import BadParamHeader, param_headers
from mcp_runtime.json_schema.type_adapter import is_path
from mcp_runtime.option_checks import texts
from mcp_runtime.revisions import first_name
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.dispatcher import ServerDispatcher
from mcp_runtime.server.functions.output_schema import tool_result
from mcp_runtime.server.functions.parameters import annotations_of
from mcp_runtime.server.functions.signature import Signature, read, read_prompt, read_template
from mcp_runtime.server.methods import Handler, Middleware
from mcp_runtime.server.registry import (
    Completer,
    Feature,
    RawTool,
    ResourceTemplate,
    Tool,
    checking_reader,
    converting_reader,
    embeds,
    require_tool_name,
)
from mcp_runtime.server.tool_option import CallTimeout, ToolOption, calling
from mcp_runtime.shared.uri_template import Template, is_uri

if TYPE_CHECKING:
    from mcp_runtime.server.routes import RouteFunction
    from mcp_runtime.shared.calls import OnCall, OnSession

log: Final = logging.getLogger("mcp_runtime.server.server")

_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R", bound="RouteFunction")
_M = TypeVar("_M", t.Tool, t.Prompt, t.Resource, t.ResourceTemplate)

_ANSWERED_BY_THE_SESSION: Final = frozenset(
    {
        *ANSWERED_AT_ONCE,
        "initialize",
        "subscriptions/listen",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
    }
)


class FeatureOptions(TypedDict, total=False):
    """Members of a feature in lists, and its tags, which clients do not see.

    Name and description default to the function's own.
    """

    name: str | None
    title: str | None
    description: str | None
    icons: Sequence[t.Icon] | None
    meta: dict[str, Any] | None
    tags: Iterable[str]


class ToolOptions(FeatureOptions, total=False):
    """The keyword arguments of `Server.tool`, which documents them."""

    annotations: t.ToolAnnotations | None
    scopes: Iterable[str]
    options: Sequence[ToolOption]
    rerun: bool
    timeout: float | None


class ResourceOptions(FeatureOptions, total=False):
    """The keyword arguments of `Server.resource`."""

    mime_type: str | None
    size: int | None
    annotations: t.Annotations | None


class Decorators:
    """Registers features, and handlers of methods beside those in `handlers`."""

    def __init__(self, dispatcher: ServerDispatcher) -> None:
        self._dispatcher: Final = dispatcher
        self._features: Final = dispatcher.features
        self.limits: Final = dispatcher.limits

    @overload
    def tool(self, function: _F) -> _F: ...
    @overload
    def tool(self, **options: Unpack[ToolOptions]) -> Callable[[_F], _F]: ...
    def tool(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Register a function as a tool; its signature types the arguments and the result.

        A plain function runs in a thread. `ToolError` becomes a result whose text the model reads,
        `RpcError` a protocol error. For any other exception the model gets a reference, and the log
        has the details (see `Server(show_errors=True)`).

        On a server with `auth`, `scopes` are the scopes an HTTP client's token needs for this tool,
        beside those of every request. `options` are the additions of extensions to the tool.

        A call that takes more than `timeout` seconds ends with an error for the model; a plain
        function runs on in its thread. Questions to the client count.

        With `rerun` another process on the same store may run a call again if the first process
        died; set it only for a function that may run twice.

        Raises TypeError for a signature JSON cannot express, ValueError for a name already taken or
        malformed.
        """
        return _decorate(self.add_tool, function, options)

    def add_tool(self, function: Callable[..., Any], **options: Unpack[ToolOptions]) -> None:
        """Register as `tool` does, also while the server runs: then clients are notified."""
        signature = read(function, context=Context)
        schema, output = signature.input_schema, signature.output
        scopes, added = texts("scopes", options.pop("scopes", ())), options.pop("options", ())
        rerun, timeout = options.pop("rerun", False), options.pop("timeout", None)
        tags = _pop_tags(options)
        if timeout is not None:
            added = (CallTimeout(timeout), *added)
        model = _make(
            t.Tool,
            input_schema=t.from_wire(t.ToolInputSchema, schema),
            output_schema=t.UNSET
            if output is None or output.may_be_content
            else t.from_wire(t.ToolOutputSchema, output.schema),
            **_members(signature, options),
        )
        mirrored = _marks(require_tool_name(model.name), schema)
        result = partial(tool_result, output=output)
        tool = Tool(model, signature, function, mirrored, result)
        self._add_tool(tool, scopes, added, rerun, tags)
        if embeds(signature.info.returns):
            self._features.kinds.add("resources")
        self._dispatcher.announce_change("tools")

    def _add_tool(
        self,
        tool: Tool | RawTool,
        scopes: tuple[str, ...],
        options: Sequence[ToolOption],
        rerun: bool,
        tags: tuple[str, ...] = (),
    ) -> None:
        """Add the tool's scopes and options first: calls may arrive as soon as the tool is
        added.
        """
        features, model = self._features, tool.model
        for option in options:
            model = option.register(model)
        features.tools.require_free(model.name)
        for objection in objections(t.to_wire(model)):
            log.warning("tool %s: %s", model.name, objection)
        if options and not features.options:
            handlers = self._dispatcher.handlers
            handlers["tools/call"] = calling(features.options, handlers["tools/call"])
        if options:
            features.options[model.name] = tuple(options)
        if rerun:
            features.reruns.add(model.name)
        if scopes:
            features.scopes[model.name] = scopes
        tool = structs.replace(tool, model=model) if options else tool
        features.tools.add(model.name, tool, tags, features.rules)

    def raw_tool(
        self,
        tool: t.Tool | Mapping[str, Any],
        *,
        arguments: Any = None,
        scopes: Iterable[str] = (),
        options: Sequence[ToolOption] = (),
        rerun: bool = False,
        tags: Iterable[str] = (),
    ) -> Callable[[_F], _F]:
        """Register a function as a tool with given schemas: a model, or its JSON.

        The function takes the arguments, checked against the schema, and the Context. If
        `arguments` is a type msgspec can convert to, the function takes a value of this type, and
        the schema is not checked. If the tool has an output schema, the function returns structured
        content.

        Raises DecodeError for JSON of no tool, BadSchema for an invalid schema, TypeError for a
        function that does not take the two, NotInstalled, ValueError as `tool` does and for an
        `x-mcp-header` clients would refuse.
        """
        model = tool if isinstance(tool, t.Tool) else t.from_wire(t.Tool, tool)

        def register(function: _F) -> _F:
            schema: Mapping[str, Any] = t.to_wire(model.input_schema)
            _require_takes_two(function, require_tool_name(model.name))
            mirrored = _marks(model.name, schema)
            read = checking_reader(schema) if arguments is None else converting_reader(arguments)
            raw = RawTool(model, read, function, mirrored)
            self._add_tool(raw, texts("scopes", scopes), options, rerun, texts("tags", tags))
            self._dispatcher.announce_change("tools")
            return function

        return register

    def remove_tool(self, name: str) -> None:
        """Remove a tool; clients are notified. Raises KeyError."""
        self._features.remove("tools", name)
        self._features.options.pop(name, None)
        self._features.reruns.discard(name)
        self._features.scopes.pop(name, None)
        self._dispatcher.announce_change("tools")

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[_F], _F]:
        """Register a function that returns a resource, or any resource of a URI template.

        The variables of a template (RFC 6570) are the function's parameters. The function returns
        text, bytes, contents of `types`, or a value to write as JSON; None if the resource does not
        exist. An absolute path, or a value with a `..` segment, is refused: see `AnyPath`. Raises
        TypeError and ValueError (TemplateError) as `tool` does.
        """

        if not isinstance(cast("object", uri), str):
            raise TypeError('a resource needs its URI: @server.resource("notes://today")')

        def register(function: _F) -> _F:
            self._add_resource(function, uri, options)
            return function

        return register

    def _add_resource(
        self, function: Callable[..., Any], uri: str, options: ResourceOptions
    ) -> None:
        template, tags = Template(uri, self.limits), _pop_tags(options)
        signature = read_template(function, context=Context, variables=template.names)
        members = _members(signature, options)
        if template.names:
            template = Template(uri, self.limits, signature.any_path)
            members.pop("size", None)
            model = _make(t.ResourceTemplate, uri_template=uri, **members)
            of_uris = ResourceTemplate(model, signature, function, template)
            if signature.choices:
                self._features.kinds.add("completions")
            self._features.resource_templates.add(uri, of_uris, tags, self._features.rules)
        elif not is_uri(uri):
            raise ValueError(f"{uri[:80]!r} is not a URI (RFC 3986), such as notes://today")
        else:
            resource = _make(t.Resource, uri=uri, **members)
            feature = Feature(resource, signature, function)
            self._features.resources.add(uri, feature, tags, self._features.rules)
        self._dispatcher.announce_change("resources")

    def remove_resource(self, uri: str) -> None:
        """Remove a resource or a template; clients are notified. Raises KeyError."""
        is_template = uri in self._features.resource_templates.registered
        self._features.remove("resource_templates" if is_template else "resources", uri)
        self._dispatcher.announce_change("resources")

    @overload
    def prompt(self, function: _F) -> _F: ...
    @overload
    def prompt(self, **options: Unpack[FeatureOptions]) -> Callable[[_F], _F]: ...
    def prompt(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Register a function as a prompt. Raises as `tool` does.

        Its parameters are read from text: strings, numbers, bools, enums and `Literal`s, and the
        values of the last three are suggested to clients. It returns a text, a message, or a list
        of these; a message is a `PromptMessage`, or a pair of role and content.
        """
        return _decorate(self.add_prompt, function, options)

    def add_prompt(self, function: Callable[..., Any], **options: Unpack[FeatureOptions]) -> None:
        """Register as `prompt` does, also while the server runs: then clients are notified."""
        signature = read_prompt(function, context=Context)
        properties = signature.input_schema["properties"]
        arguments = [
            t.PromptArgument(
                name=each.name,
                description=properties[each.name].get("description") or t.UNSET,
                required=each.default is None,
            )
            for each in signature.info.parameters
        ]
        tags = _pop_tags(options)
        members = _members(signature, options)
        model = _make(t.Prompt, arguments=arguments or t.UNSET, **members)
        if signature.choices:
            self._features.kinds.add("completions")
        feature = Feature(model, signature, function)
        self._features.prompts.add(model.name, feature, tags, self._features.rules)
        self._dispatcher.announce_change("prompts")

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt; clients are notified. Raises KeyError."""
        self._features.remove("prompts", name)
        self._dispatcher.announce_change("prompts")

    def completion(self, of: str, argument: str) -> Callable[[_F], _F]:
        """Register a function that suggests values for an argument of a prompt, or a variable of
        a template.

        The function takes the text typed so far; a parameter named `arguments` receives the values
        chosen before. It returns values, best first, or a `CompleteResultCompletion`.

        Raises TypeError as `tool` does, ValueError if the prompt or template has no such argument.
        """

        def register(function: _F) -> _F:
            if not isinstance(cast("object", of), str):
                raise TypeError(f"{of!r} is not text; give the name of a prompt or a URI template")
            arguments = self._features.arguments_of(of)
            if arguments is not None and argument not in arguments:
                has = ", ".join(arguments) or "none"
                raise ValueError(f"{of!r} has no argument {argument!r}; it has: {has}")
            if (of, argument) in self._features.completers:
                raise ValueError(f"{argument!r} of {of!r} has a completion already")
            is_async, parameters = inspect.iscoroutinefunction(function), _parameter_roles(function)
            path = next(filter(is_path, annotations_of(function).values()), None)
            completer = Completer(function, is_async, parameters, path)
            self._features.completers[of, argument] = completer
            self._dispatcher.announce_change()
            return function

        return register

    def on(self, method: str, *, capability: str | None = None) -> Callable[[_F], _F]:
        """Register the handler of a method: it takes the params, a model, and the Context.

        The method may be one the protocol does not define; its params and result are JSON
        objects. The handler of a notification takes the params and the connection. `capability` is
        declared to clients, such as "skills", or "experimental.acme": without it they may not ask.

        Raises ValueError for a method the session answers by itself, and for a capability that
        no server can have.
        """
        if first_name(method) in _ANSWERED_BY_THE_SESSION:
            raise ValueError(f"{method} cannot have a handler: the session answers it by itself")
        if capability:
            self._features.declare(capability)

        def register(function: _F) -> _F:
            name = first_name(method)
            if name.startswith("notifications/"):
                self._dispatcher.notification_handlers.setdefault(name, []).append(function)
            else:
                self._dispatcher.handlers[name] = cast("Handler", function)
                self._dispatcher.announce_change()
            return function

        return register

    def subscription(self, member: str) -> Callable[[_F], _F]:
        """Register the function that accepts a member of a subscription's filter.

        It takes the wanted value and the principal, "" for nobody, and returns the part that this
        client will be notified of. Use it for members of a newer revision, beside `publish`.

        Raises ValueError for a member that the server serves by itself.
        """
        if member in SERVED_MEMBERS:
            raise ValueError(f"{member}: the server serves this member of the filter by itself")

        def register(function: _F) -> _F:
            self._features.filters[member] = function
            self._dispatcher.announce_change()
            return function

        return register

    def middleware(self, function: Middleware) -> Middleware:
        """Register a function that wraps each request, except the requests the session answers
        itself.

        The function takes the method, the params, the Context and the next handler, and returns the
        result of `await handler(params, ctx)`, or another result.
        """
        self._dispatcher.middleware.append(function)
        return function

    def route(self, method: str, path: str) -> Callable[[_R], _R]:
        """Register an async function for a path beside the endpoint, such as ("GET", "/health").

        It takes a `RouteRequest` and returns a text, bytes, a value to write as JSON, or a `Reply`
        (of `mcp_runtime.server.routes`). Everyone may ask, without a token, with any Host; only
        web pages may not, unless the method is GET or HEAD. Applications made from now on serve it.

        Raises ValueError for a path without its slash, or that has such a function already.
        """
        if not path.startswith("/"):
            raise ValueError(f"{path!r} is not the path of a URL: begin it with a slash")
        routes, name = self._dispatcher.routes, method.upper()
        if name in routes.get(path, {}):
            raise ValueError(f"{name} {path} has a function already")

        def register(function: _R) -> _R:
            routes.setdefault(path, {})[name] = function
            return function

        return register

    def on_call(self, hook: OnCall) -> OnCall:
        """Register a hook around each request, of a client or of this server.

        The hook gets a `Call` (of `mcp_runtime.shared.calls`) and returns a context manager, which
        is entered before the params are read and left when the outcome is known. It sees refused
        requests too, which no middleware sees, and cannot change an answer.
        """
        self._dispatcher.hooks.on_call += (hook,)
        return hook

    def on_session(self, hook: OnSession) -> OnSession:
        """Register a hook around each session that opens from now on; it gets the `Link`."""
        self._dispatcher.hooks.on_session += (hook,)
        return hook


def dispatcher_of(server: Decorators) -> ServerDispatcher:
    """Return the private object behind a server, for extensions and endpoints."""
    return server._dispatcher  # pyright: ignore[reportPrivateUsage]  # the one way to it


def _decorate(
    add: Callable[..., None], function: Callable[..., Any] | None, options: dict[str, Any]
) -> Any:
    def register(function: _F) -> _F:
        add(function, **options)
        return function

    if isinstance(function, str):
        raise TypeError(f"give the decorator a name as an option: name={function!r}")
    return register if function is None else register(function)


def _pop_tags(options: FeatureOptions) -> tuple[str, ...]:
    return texts("tags", options.pop("tags", ()))


def _members(signature: Signature, options: FeatureOptions) -> dict[str, Any]:
    """Convert options to members of a model. Raises ValueError for a name `_meta` cannot have.

    Name and description default to those of the function.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    given["name"] = given.get("name") or signature.info.name
    given["description"] = given.get("description") or signature.info.doc.description or t.UNSET
    if "icons" in given:
        given["icons"] = list(given["icons"])
    require_meta(given.get("meta", {}))
    return given


def _make(model: type[_M], **members: Any) -> _M:
    """Make the model of a feature. Raises TypeError, with the feature's name, if the newest
    revision requires a member that neither the function nor an option gives.
    """
    try:
        return model(**members)
    except TypeError as error:
        fault = str(error)
        lacks = "description" in fault and members["description"] is t.UNSET
        advice = "; write a docstring, or give `description`" if lacks else ""
        what = f"{model.__name__} {members['name']!r}"
        raise TypeError(f"{what}: {fault}{advice}") from None


def _marks(name: str, schema: Mapping[str, Any]) -> ParamHeaders:
    """Return the parameter headers of an input schema. Raises ValueError if clients would refuse
    one.
    """
    try:
        return param_headers(dict(schema))
    except BadParamHeader as error:
        raise ValueError(f"tool {name}: {error}") from None


def _require_takes_two(function: Callable[..., Any], tool: str) -> None:
    """Raise TypeError unless the function takes the arguments and the Context."""
    try:
        inspect.signature(function).bind({}, None)
    except TypeError as error:
        rule = "its function is called with the arguments and the Context"
        raise TypeError(f"tool {tool}: {rule}: {error}") from None
    except ValueError:  # a compiled function may not say what it takes
        pass


def _parameter_roles(function: Callable[..., Any]) -> dict[str, str]:
    """Map each parameter of a completion's function to its role. Raises TypeError."""
    parameters: dict[str, str] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        name_of = annotation.partition("[")[0] if isinstance(annotation, str) else ""
        if (get_origin(annotation) or annotation) is Context or name_of == "Context":
            parameters[name] = "context"
        else:
            parameters[name] = "arguments" if name == "arguments" else "value"
    if list(parameters.values()).count("value") > 1:
        rule = "takes the value, and may take `arguments` and a Context"
        raise TypeError(f"{function.__name__}: the function of a completion {rule}")
    return parameters
