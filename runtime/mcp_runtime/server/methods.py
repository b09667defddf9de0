"""The handlers of the protocol's own methods, which serve the registered features."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec import UNSET, structs

from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import NotOffered, RpcError, SessionError, ToolError
from mcp_runtime.json_schema.to_json import BadResult
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import EncodeError, StepError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.functions.content import prompt_messages, resource_contents, suggestions
from mcp_runtime.server.functions.input_schema import BadArguments
from mcp_runtime.server.functions.output_schema import failed_call
from mcp_runtime.server.list_digests import CHECKED, HAS_DIGESTS, ListDigests
from mcp_runtime.server.registry import Features, RawTool, Tool
from mcp_runtime.server.tool_option import show
from mcp_runtime.server.visibility import Registry
from mcp_runtime.shared.failures import alone, describe, parts_of, record_failure

log: Final = logging.getLogger("mcp_runtime.server.server")

Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
Middleware: TypeAlias = Callable[[str, Any, Context, Handler], Awaitable[Any]]


def around(middleware: Middleware, method: str, handler: Handler) -> Handler:
    """`handler`, wrapped in `middleware`; its ToolError is the result of a call, as a tool's is."""

    async def call(params: Any, ctx: Context) -> Any:
        try:
            return await middleware(method, params, ctx, handler)
        except ToolError as error:
            if method != "tools/call":
                raise
            return failed_call(str(error))

    return call


class ProtocolMethods:
    """Handlers by method; `hints` tell clients how long they may cache a result.

    `hides_forbidden` leaves tools out of lists if the client's token may not call them.
    """

    show_errors = False
    """True if the model gets the text of unexpected exceptions."""

    def __init__(
        self,
        features: Features,
        limits: Limits,
        hints: Mapping[str, Any],
        *,
        hides_forbidden: bool = False,
    ) -> None:
        self.features: Final = features
        self._hides_forbidden = hides_forbidden
        self._limits = limits
        self._hints: Mapping[str, Any] = {"result_type": "complete", **hints}
        methods: dict[str, Handler] = {
            "tools/call": self.call_tool,
            "resources/read": self.read_resource,
            "prompts/get": self.get_prompt,
            "completion/complete": self.complete,
        }
        self._digests: Final = ListDigests({m: partial(self._shown, m) for m in _LISTS})
        if HAS_DIGESTS:
            methods.update({each: self._digests.signal(methods[each]) for each in CHECKED})
        self.methods: Final[Mapping[str, Handler]] = {
            **{method: self._lister(method, *names) for method, names in _LISTS.items()},
            **methods,
        }

    def _lister(self, method: str, kind: str, result: Callable[..., Any]) -> Handler:
        """List the features of a kind in pages."""
        show = self._show(method)

        async def list_page(params: Any, ctx: Context) -> Any:
            registry: Registry[Any] = getattr(self._features_for(ctx), kind)
            cursor = UNSET if params is UNSET else params.cursor
            page, after = registry.page(None if cursor is UNSET else cursor, self._limits.page_size)
            models = [model for each in page if (model := show(each, ctx)) is not None]
            digest = {"digest": self._digests.digest(method, ctx)} if HAS_DIGESTS else _NO_DIGEST
            return result(**{kind: models}, next_cursor=after, **digest, **self._hints)

        return list_page

    def _features_for(self, ctx: Context) -> Features:
        rules = ctx.peer.rules
        return self.features.seen_by(rules) if rules else self.features

    def _show(self, method: str) -> Callable[[Any, Context], Any]:
        """Return the function that shows a feature in a list; None hides it."""
        return self._shown_tool if method == "tools/list" else _model_of

    def _shown(self, method: str, ctx: Context) -> list[Any]:
        """Return the models of all features in a list, as this client sees them."""
        show, registry = self._show(method), getattr(self._features_for(ctx), _LISTS[method][0])
        shown = (show(each, ctx) for each in list(registry.values()))
        return [model for model in shown if model is not None]

    def _shown_tool(self, tool: Tool | RawTool, ctx: Context) -> t.Tool | None:
        token = ctx.token if self._hides_forbidden else None
        needed = self.features.scopes.get(tool.model.name, ())
        if token is not None and not token.scopes.issuperset(needed):
            return None
        return show(tool.model, self.features.options.get(tool.model.name, ()), ctx)

    async def call_tool(self, params: Any, ctx: Context) -> Any:
        rules = ctx.peer.rules
        tools = self.features.seen_by(rules).tools if rules else self.features.tools
        tool = tools.get(params.name)
        if tool is None:
            seen = (each for each in tools.values() if self._shown_tool(each, ctx))
            raise _unknown("tool", params.name, (each.model.name for each in seen))
        try:
            arguments: dict[str, Any] = {} if params.arguments is UNSET else params.arguments
            return tool.result(await tool.run(arguments, ctx))
        except Exception as error:
            return self._failed_call(params.name, alone(error), ctx)

    def _failed_call(self, tool: str, error: BaseException, ctx: Context) -> t.CallToolResult:
        """Return the result of a call whose tool raised `error`. Raise protocol errors again."""
        lacks = isinstance(error, NotOffered) and error.who == "client" and error.capability
        if isinstance(error, RpcError) or (lacks and ctx.era == "per-request"):
            raise error
        if isinstance(error, _UNSENDABLE):
            log.error("tool %s: %s", tool, error)
            return failed_call(f"tool {tool}: {error}")
        return failed_call("; ".join(self._texts_for_model(tool, error)))

    def _texts_for_model(self, tool: str, error: BaseException) -> Iterator[str]:
        """Yield the texts of an exception a model may read; of a group, those of its parts."""
        parts = _leaves(error)
        yield from (str(each) for each in parts if isinstance(each, _SPEAKING))
        if not all(isinstance(each, _SPEAKING) for each in parts):
            reference = record_failure(log, f"tool {tool} failed", error)
            why = f"the log of the server says why (reference {reference})"
            yield describe(error) if self.show_errors else f"tool {tool} failed; {why}"

    async def read_resource(self, params: Any, ctx: Context) -> t.ReadResourceResult:
        contents = await self.read(params.uri, ctx)
        return t.ReadResourceResult(contents=contents, **self._hints)

    async def read(
        self, uri: str, ctx: Context
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Return the contents of a resource. Raises RpcError if there is no resource with this
        URI.
        """
        if len(uri) > self._limits.uri_chars:
            why = f"a URI of more than {self._limits.uri_chars} characters (Limits.uri_chars)"
            raise RpcError(error_codes.INVALID_PARAMS, why)
        features = self._features_for(ctx)
        if resource := features.resources.get(uri):
            return _contents(await resource.run({}, ctx), uri, resource.model, ctx)
        refused: str | None = None
        for template in list(features.resource_templates.values()):
            if (values := template.template.values(uri)) is None:
                continue
            if fault := template.template.fault(values):
                log.warning("resources/read of %s is refused: %s", template.template.text, fault)
                refused = refused or fault
                continue
            try:
                value = await template.run(values, ctx)
            except BadArguments:
                continue
            return _contents(value, uri, template.model, ctx)
        raise _not_found_error(uri, ctx, refused)

    async def get_prompt(self, params: Any, ctx: Context) -> t.GetPromptResult:
        prompts = self._features_for(ctx).prompts
        prompt = prompts.get(params.name)
        if prompt is None:
            raise _unknown("prompt", params.name, prompts)
        try:
            value = await prompt.run({} if params.arguments is UNSET else params.arguments, ctx)
        except BadArguments as error:
            raise rpc_errors.invalid_params(error) from None
        if isinstance(value, t.GetPromptResult):
            return structs.replace(value, messages=prompt_messages(value.messages))
        return t.GetPromptResult(
            messages=prompt_messages(value),
            description=prompt.model.description,
            result_type="complete",
        )

    async def complete(self, params: Any, ctx: Context) -> t.CompleteResult:
        """Return suggestions for an argument. Raises RpcError for an unknown prompt, template or
        argument.

        Source: 2025-11-25 server/utilities/completion.
        """
        of, argument = _reference_name(params.ref), params.argument
        features = self._features_for(ctx)
        if not _can_complete(features, of, argument.name):
            why = f"Unknown reference: {of[:200]}, {argument.name[:200]}"
            raise RpcError(error_codes.INVALID_PARAMS, why)
        completer = features.completers.get((of, argument.name))
        values: Any = features.choices(of, argument.name, argument.value)
        chosen = _earlier_arguments(params.context)
        if fault := features.path_fault(of, {**chosen, argument.name: argument.value}):
            raise rpc_errors.invalid_params(fault)
        if completer is not None:
            values = await completer.run(argument.value, chosen, ctx)
        return _completion_result(values, self._limits.completions)


def _can_complete(features: Features, of: str, argument: str) -> bool:
    if (of, argument) in features.completers:
        return not features.hides(of)
    return argument in (features.arguments_of(of) or ())


_LISTS: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "tools/list": ("tools", t.ListToolsResult),
    "resources/list": ("resources", t.ListResourcesResult),
    "resources/templates/list": ("resource_templates", t.ListResourceTemplatesResult),
    "prompts/list": ("prompts", t.ListPromptsResult),
}
"""By method of a list: the kind of its features, and its result."""
_NO_DIGEST: Final[Mapping[str, str]] = {}
_UNSENDABLE: Final = (BadResult, EncodeError, StepError)
"""Exceptions saying why a result, or a message of a running handler, cannot be sent."""
_SPEAKING: Final = (BadArguments, ToolError, SessionError)
"""Exceptions whose text is meant for the model."""


def _model_of(feature: Any, _: Context) -> Any:
    return feature.model


def _unknown(kind: str, name: str, known: Iterable[str]) -> RpcError:
    """Return the error for an unknown tool or prompt. Its text suggests a similar name."""
    from difflib import get_close_matches

    shortened = name[:200]
    meant = [f" (did you mean {each}?)" for each in get_close_matches(shortened, known, 1)]
    return RpcError(error_codes.INVALID_PARAMS, f"Unknown {kind}: {shortened}{''.join(meant)}")


def _leaves(error: BaseException) -> list[BaseException]:
    """Return the exceptions of a group and of the groups in it; any other is its own."""
    parts = parts_of(error)
    return [leaf for each in parts for leaf in _leaves(each)] if parts else [error]


def _contents(
    value: Any, uri: str, model: Any, ctx: Context
) -> list[t.TextResourceContents | t.BlobResourceContents]:
    """Convert a handler's return value to contents. None means: no such resource."""
    if value is None:
        raise _not_found_error(uri, ctx)
    mime_type = None if model.mime_type is UNSET else model.mime_type
    return resource_contents(value, uri, mime_type)


def _not_found_error(uri: str, ctx: Context, why: str | None = None) -> RpcError:
    """Return the error for an unknown resource, with the code of the client's era.

    Source: 2025-11-25 and 2026-07-28 server/resources, "Error Handling".
    """
    code = error_codes.RESOURCE_NOT_FOUND if ctx.era == "handshake" else error_codes.INVALID_PARAMS
    return rpc_errors.resource_not_found(uri, code, why)


def _reference_name(ref: object) -> str:
    """Return the prompt or template a completion is for. Raises RpcError for any other
    reference.
    """
    if isinstance(ref, t.PromptReference):
        return ref.name
    if isinstance(ref, t.ResourceTemplateReference):
        return ref.uri
    raise rpc_errors.invalid_params(f"this server completes nothing of a {type(ref).__name__}")


def _earlier_arguments(context: Any) -> dict[str, str]:
    """Return the arguments chosen before, from the params of `completion/complete`."""
    if context is UNSET or context.arguments is UNSET:
        return {}
    arguments: dict[str, str] = context.arguments
    return arguments


def _completion_result(values: Any, limit: int) -> t.CompleteResult:
    if isinstance(values, t.CompleteResultCompletion):
        return t.CompleteResult(completion=values, result_type="complete")
    listed = suggestions(values)
    completion = t.CompleteResultCompletion(
        values=listed[:limit], total=len(listed), has_more=len(listed) > limit
    )
    return t.CompleteResult(completion=completion, result_type="complete")
