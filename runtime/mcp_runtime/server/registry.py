"""Registered features: each has a model, which lists show, and the function to serve it."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from pathlib import PurePath
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec import UNSET, Struct, ValidationError, convert

from mcp_runtime.core.http.header_checks import ParamHeaders
from mcp_runtime.core.session.subscriptions import LISTS
from mcp_runtime.core.terms.tolerances import NULL_ARGUMENT, TEXT_ARGUMENT
from mcp_runtime.core.wire import rpc_errors
from mcp_runtime.json_schema.argument_repairs import repair_arguments
from mcp_runtime.json_schema.walk import Schema
from mcp_runtime.option_checks import texts
from mcp_runtime.revisions import LATEST, DecodeError, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.functions.content import Embedded
from mcp_runtime.server.functions.input_schema import BadArguments
from mcp_runtime.server.functions.output_schema import raw_result
from mcp_runtime.server.functions.signature import Signature
from mcp_runtime.server.tool_option import ToolOption
from mcp_runtime.server.visibility import Registry, Switchable
from mcp_runtime.shared.safe_path import path_fault
from mcp_runtime.shared.uri_template import Template

_Read = TypeVar("_Read")
_Model = TypeVar("_Model", t.Tool, t.Prompt, t.Resource, t.ResourceTemplate)

Kind: TypeAlias = Literal["tools", "resources", "prompts", "completions"]

_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def or_unset(value: object) -> Any:
    """Return the value for a member of a model: UNSET, which leaves the member out, for None."""
    return UNSET if value is None else value


def embeds(returns: Any) -> bool:
    """Return True if a return annotation names embedded resources.

    Source: 2025-11-25 server/tools, "Embedded Resources".
    """
    return returns in (Embedded, t.EmbeddedResource) or any(map(embeds, get_args(returns)))


async def _run_in_thread(
    function: Callable[..., Any], keywords: Mapping[str, Any], ctx: Context
) -> Any:
    """Return the value of a plain function, which runs in a thread, beside the event loop."""
    value = await ctx.in_thread(function, **keywords)
    return await value if asyncio.iscoroutine(value) else value


def _read_again(
    read: Callable[[Any], _Read],
    schema: Schema,
    arguments: Mapping[str, Any],
    ctx: Context,
    error: BadArguments,
) -> _Read:
    """Repair arguments that do not fit, as far as tolerances allow, and read them again.

    Raises `error` if nothing can be repaired, and BadArguments if the repaired arguments do not
    fit.
    """
    peer = ctx.peer
    repaired, parsed, absent = repair_arguments(
        schema,
        arguments,
        texts=peer.forgives(TEXT_ARGUMENT),
        nulls=peer.forgives(NULL_ARGUMENT),
    )
    if not (parsed or absent):
        raise error
    value = read(repaired)
    for name, paths in ((TEXT_ARGUMENT, parsed), (NULL_ARGUMENT, absent)):
        if paths:
            peer.forgive(name, f"{ctx.method}: {', '.join(paths[:5])}"[:200])
    return value


class Feature(Struct, Generic[_Model], frozen=True):
    """A tool, prompt, resource or template: its model in lists, and its function."""

    model: _Model
    signature: Signature
    function: Callable[..., Any]

    def run(self, arguments: Mapping[str, Any], ctx: Context) -> Awaitable[Any]:
        """Run the function with `arguments`. Raises BadArguments, and the exceptions of the
        function.
        """
        info = self.signature.info
        try:
            keywords = self.signature.read(arguments)
        except BadArguments as error:
            keywords = self._read_again(arguments, ctx, error)
        if info.context is not None:
            keywords[info.context] = ctx
        if info.is_async:
            value: Awaitable[Any] = self.function(**keywords)
            return value
        return _run_in_thread(self.function, keywords, ctx)

    def _read_again(
        self, arguments: Mapping[str, Any], ctx: Context, error: BadArguments
    ) -> dict[str, Any]:
        """Repair the arguments and return keyword arguments. Raises BadArguments."""
        raise error


class Tool(Feature[t.Tool], frozen=True):
    """A tool whose schemas were derived from its function's signature."""

    mirrored: ParamHeaders
    result: Callable[[Any], Any]
    """Converts the function's return value to the result. Raises BadResult."""

    def _read_again(
        self, arguments: Mapping[str, Any], ctx: Context, error: BadArguments
    ) -> dict[str, Any]:
        signature = self.signature
        return _read_again(signature.read, signature.input_schema, arguments, ctx, error)


class ResourceTemplate(Feature[t.ResourceTemplate], frozen=True):
    """The resources whose URIs match a template."""

    template: Template


class RawTool(Struct, frozen=True):
    """A tool with a given schema. Its function takes the value `read` returns for the arguments."""

    model: t.Tool
    read: Callable[[dict[str, Any]], Any]
    function: Callable[[Any, Context], Any]
    mirrored: ParamHeaders

    async def run(self, arguments: Mapping[str, Any], ctx: Context) -> Any:
        """Run the function with `arguments`. Raises BadArguments, and the exceptions of the
        function.
        """
        try:
            read = self.read(dict(arguments))
        except BadArguments as error:
            schema: Schema = t.to_wire(self.model.input_schema)
            read = _read_again(self.read, schema, arguments, ctx, error)
        if inspect.iscoroutinefunction(self.function):
            return await self.function(read, ctx)
        return await ctx.in_thread(self.function, read, ctx)

    def result(self, value: Any) -> Any:
        """Convert a value to a result. Raises BadResult if it is no content."""
        return raw_result(value, is_structured=self.model.output_schema is not UNSET)


def checking_reader(schema: Mapping[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a reader: it returns valid arguments unchanged, and raises BadArguments for others.

    Raises BadSchema.
    """
    from mcp_runtime.json_schema.validator import checker

    check = checker(schema)

    def read(arguments: dict[str, Any]) -> dict[str, Any]:
        if (fault := check(arguments)) is not None:
            raise BadArguments(fault)
        return arguments

    return read


def converting_reader(type: Any) -> Callable[[dict[str, Any]], Any]:
    """Return a reader: it converts arguments to a type of msgspec, or raises BadArguments."""

    def read(arguments: dict[str, Any]) -> Any:
        try:
            return convert(arguments, type)
        except ValidationError as error:
            raise BadArguments(str(error)) from None

    return read


class Completer(Struct, frozen=True):
    """Suggests values of one argument; `parameters` gives the role of each parameter.

    `path` is the class of the path if the function takes the value as a path.
    """

    function: Callable[..., Any]
    is_async: bool
    parameters: Mapping[str, str]
    path: type[PurePath] | None = None

    async def run(self, value: str, others: Mapping[str, str], ctx: Context) -> Any:
        """Run the function for `value`. Raises RpcError for a path out of its folder, and the
        function's exceptions.
        """
        typed: Any = value
        if self.path is not None:
            if why := path_fault(value):
                raise rpc_errors.invalid_params(f"the value {why}")
            typed = self.path(value)
        values = {"value": typed, "arguments": others, "context": ctx}
        keywords = {name: values[what] for name, what in self.parameters.items()}
        if self.is_async:
            return await self.function(**keywords)
        return await _run_in_thread(self.function, keywords, ctx)


def require_tool_name(name: str) -> str:
    """Return a valid name of a tool. Raises ValueError for any other.

    Source: 2025-11-25 server/tools, "Tool Names".
    """
    if not _TOOL_NAME.fullmatch(name):
        rule = "a name has 1 to 128 of the characters A-Z a-z 0-9 _ - ."
        raise ValueError(f"{name!r} cannot be the name of a tool: {rule}")
    return name


def _with(declared: dict[str, Any], paths: Mapping[str, bool]) -> dict[str, Any]:
    """Capabilities as parsed JSON, with those of dotted paths: true, or an empty object."""
    for path, is_true in paths.items():
        *outer, last = path.split(".")
        inner = declared
        for name in outer:
            inner = inner.setdefault(name, {})
        inner.setdefault(last, is_true or {})
    return declared


class Features(Switchable):
    """All features of a server. Each of `kinds` is declared even while it has no feature."""

    def __init__(self, kinds: Collection[Kind] = ()) -> None:
        self.kinds = set(texts("offers", kinds, get_args(Kind)))
        self.tools: Registry[Tool | RawTool] = Registry("tool")
        self.resources: Registry[Feature[t.Resource]] = Registry("resource")
        self.resource_templates: Registry[ResourceTemplate] = Registry("resource template")
        self.prompts: Registry[Feature[t.Prompt]] = Registry("prompt")
        self.completers: dict[tuple[str, str], Completer] = {}
        self.options: dict[str, Sequence[ToolOption]] = {}
        """The options of tools, by the name of the tool."""
        self.filters: dict[str, Callable[[Any, str], Any]] = {}
        """The functions that accept members of a subscription's filter, by member."""
        self.reruns = set[str]()
        """The tools whose calls may be run again."""
        self.scopes: dict[str, tuple[str, ...]] = {}
        """The scopes a call needs, by name of the tool. A tool that needs none is absent."""
        self._of_methods: dict[str, bool] = {}

    def declare(self, capability: str) -> None:
        """Declare the capability of a method, a dotted path. Raises ValueError for any other.

        It is an empty object, or true where the newest revision wants that.
        """
        models = revision(LATEST).models
        fault: DecodeError | None = None
        for is_true in (False, True):
            try:
                models.from_wire(models.ServerCapabilities, _with({}, {capability: is_true}))
            except DecodeError as error:
                fault = error
            else:
                self._of_methods[capability] = is_true
                return
        raise ValueError(f"{capability!r} is not a capability of a server: {fault}")

    def capabilities(self) -> t.ServerCapabilities:
        """Build the capabilities of the server. A kind stays declared when its last feature is
        removed.
        """
        counts = {
            "tools": len(self.tools.registered),
            "resources": len(self.resources.registered) + len(self.resource_templates.registered),
            "prompts": len(self.prompts.registered),
            "completions": len(self.completers),
        }
        self.kinds |= {kind for kind, count in counts.items() if count}
        kinds = {kind: value for kind, value in _DECLARED.items() if kind in self.kinds}
        declared = _with(t.to_wire(t.ServerCapabilities(logging={}, **kinds)), self._of_methods)
        return t.from_wire(t.ServerCapabilities, declared)

    def list_digests(self) -> dict[str, str]:
        """Return a digest of each list, by its name. Other processes compare them."""
        digests = {list_: blake2b(digest_size=8) for list_ in LISTS}
        for list_, registry in (
            ("tools", self.tools),
            ("prompts", self.prompts),
            ("resources", self.resources),
            ("resources", self.resource_templates),
        ):
            for each in registry.values():
                digests[list_].update(t.encode(each.model))
        return {list_: digest.hexdigest() for list_, digest in digests.items()}

    def arguments_of(self, prompt_or_template: str) -> Collection[str] | None:
        """Return the names whose values can be completed; None if no such feature is registered."""
        if prompt := self.prompts.get(prompt_or_template):
            return [each.name for each in prompt.signature.info.parameters]
        template = self.resource_templates.get(prompt_or_template)
        return None if template is None else template.template.names

    def choices(self, prompt_or_template: str, argument: str, typed: str) -> list[str]:
        """Return the values an argument's type lists that begin with `typed`, in either case."""
        of = prompt_or_template
        feature: Feature[Any] | None = self.prompts.get(of) or self.resource_templates.get(of)
        listed = () if feature is None else feature.signature.choices.get(argument, ())
        return [each for each in listed if each.lower().startswith(typed.lower())]

    def path_fault(self, prompt_or_template: str, values: Mapping[str, str]) -> str | None:
        """Return the reason why a value to complete may not be used as a path; None if all may."""
        of = prompt_or_template
        feature: Feature[Any] | None = self.prompts.get(of) or self.resource_templates.get(of)
        guarded = values.keys() if "{" in of else frozenset[str]()
        signature = None if feature is None else feature.signature
        for name in guarded if signature is None else values.keys() & signature.guarded:
            any_path = signature is not None and name in signature.any_path
            if why := path_fault(values[name], any_path=any_path):
                return f"{name} {why}"
        return None

    def knows(self, uri: str) -> bool:
        """Return True if `uri` is a registered resource, or matches a template."""
        templates = [each.template for each in self.resource_templates.values()]
        return uri in self.resources or any(each.match(uri) is not None for each in templates)


_DECLARED: Final[dict[str, Any]] = {
    "tools": t.ServerCapabilitiesTools(list_changed=True),
    "resources": t.ServerCapabilitiesResources(list_changed=True, subscribe=True),
    "prompts": t.ServerCapabilitiesPrompts(list_changed=True),
    "completions": {},
}
