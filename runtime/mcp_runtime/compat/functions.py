"""Turns functions written for `mcp` 1.x and `fastmcp` into native tools, prompts and resources."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from types import NoneType
from typing import Annotated, Any, Final, cast

from msgspec import Struct, field, structs

from mcp_runtime.compat import models
from mcp_runtime.compat.content import for_revision, is_block, plain_json
from mcp_runtime.compat.context import current
from mcp_runtime.compat.errors import ToolError
from mcp_runtime.compat.media import Media
from mcp_runtime.compat.models import Model, wire
from mcp_runtime.compat.shapes import items_of
from mcp_runtime.compat.variadics import named_variadics
from mcp_runtime.json_schema.to_json import BadResult
from mcp_runtime.json_schema.type_adapter import adapter, arms_of, bare
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext
from mcp_runtime.server.functions.input_schema import (
    ArgumentsReader,
    arguments_reader,
)
from mcp_runtime.server.functions.output_schema import StructuredOutput, structured_output
from mcp_runtime.server.functions.parameters import (
    ContextTypes,
    FunctionInfo,
    Parameter,
    inspect_function,
)
from mcp_runtime.server.functions.signature import Signature
from mcp_runtime.server.registry import Tool

_NATIVE: Final = "native__"
"""The keyword by which a wrapper gets the native context."""


class Dependency:
    """A default value that is resolved for each call; clients do not send it."""

    async def resolve(self, stack: AsyncExitStack) -> Any:
        raise NotImplementedError


class Dialect(Struct, frozen=True):
    """The habits in which `mcp` 1.x and `fastmcp` differ."""

    contexts: ContextTypes
    """The classes whose parameter takes the context."""
    context: Callable[[NativeContext], Any]
    content: Callable[[object], list[Model]]
    """Converts the value of a tool to content."""
    description: Callable[[Callable[..., Any]], str]
    failure: Callable[[str, Exception], Exception]
    """Converts an exception of a tool, given by its name, to the exception to raise."""
    in_threads: bool = False
    """True if plain functions run in threads, else on the event loop."""
    structures_objects: bool = False
    """True if an object is structured content of a tool without an output schema too."""
    names_variadics: bool = False
    """True if `*values` and `**options` are parameters with these names, else they are refused."""
    drops_unknown: bool = False
    """True if arguments without a parameter are ignored, else they are refused."""


class Callee(Struct, frozen=True):
    """A function as a peer may call it: with the context and dependencies filled in."""

    function: Callable[..., Any]
    dialect: Dialect
    info: FunctionInfo
    """Its parameters, without the context and the dependencies."""
    context: str | None
    injected: Mapping[str, Dependency] = field(default_factory=dict[str, Dependency])

    async def call(self, native: NativeContext | None, arguments: Mapping[str, Any]) -> Any:
        """Call the function, also outside of a request; then it gets no native context."""
        token = current.set(native)
        try:
            keywords = dict(arguments)
            if self.context is not None:
                keywords[self.context] = self.dialect.context(cast("NativeContext", native))
            async with AsyncExitStack() as stack:
                for name, dependency in self.injected.items():
                    keywords[name] = await dependency.resolve(stack)
                return await self._run(native, keywords)
        finally:
            current.reset(token)

    async def _run(self, native: NativeContext | None, keywords: dict[str, Any]) -> Any:
        if self.dialect.in_threads and native is not None and not self.info.is_async:
            value = await native.in_thread(self.function, **keywords)
        else:
            value = self.function(**keywords)
        return await value if inspect.isawaitable(value) else value


def callee(
    function: Callable[..., Any],
    dialect: Dialect,
    *,
    hidden: frozenset[str] = frozenset(),
    default_type: Any = Any,
) -> Callee:
    """Inspect a function. Raises TypeError if it cannot be called by name.

    Parameters in `hidden`, which need a default, are left to the function.
    """
    function = named_variadics(function) if dialect.names_variadics else function
    info = inspect_function(function, dialect.contexts, default_type)
    injected: dict[str, Dependency] = {}
    kept: list[Any] = []
    for each in info.parameters:
        default = None if each.default is None or not each.default.shown else each.default.make()
        notes = [note for note in each.notes if isinstance(note, Dependency)]
        if isinstance(default, Dependency):
            injected[each.name] = default
        elif notes:
            injected[each.name] = notes[0]
        elif each.name not in hidden:
            kept.append(each)
    info = structs.replace(info, parameters=tuple(kept))
    return Callee(function, dialect, info, info.context, injected)


def is_named(function: Callable[..., Any]) -> str:
    """Return the name of a function. Raises ValueError for a lambda, which has none."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    if name == "<lambda>":
        raise ValueError("give a name for the lambda function")
    return name


# ---- tools


def tool(
    called: Callee,
    members: Mapping[str, Any],
    *,
    structured: bool | None = None,
    output_schema: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Tool:
    """Return the native tool of a function; `members` are those of the listed tool.

    `timeout` is in seconds. With `structured=False` it has no output schema; `output_schema`
    replaces that of its annotation. Raises TypeError for parameters without a form in JSON.
    """
    reader = reader_of(called)
    schema = reader.schema
    if called.dialect.drops_unknown:
        schema = {name: each for name, each in schema.items() if name != "additionalProperties"}
    output = None if structured is False or output_schema else _output(called.info)
    shown = output_schema or (None if output is None else output.schema)
    model = t.from_wire(t.Tool, {"inputSchema": schema, **given_members(members)})
    if shown is not None:
        model = t.from_wire(t.Tool, {**t.to_wire(model), "outputSchema": wire(shown)})
    read = partial(_read_known, reader) if called.dialect.drops_unknown else reader.read
    convert = partial(
        tool_result,
        content=called.dialect.content,
        output=output,
        structures_objects=called.dialect.structures_objects and structured is not False,
    )
    return Tool(
        model,
        Signature(native_info(called.info), schema, read),
        failing(called, model.name, convert, timeout),
        {},
        _same,
    )


def given_members(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: wire(each) for name, each in members.items() if each is not None}


def _same(value: Any) -> Any:
    return value


def native_info(info: FunctionInfo) -> FunctionInfo:
    return structs.replace(info, context=_NATIVE, is_async=True, returns=None)


def reader_of(called: Callee) -> ArgumentsReader:
    info = structs.replace(called.info, context=None, returns=None)
    try:
        return arguments_reader(info, strict=False)
    except TypeError:
        kept = tuple(map(_readable, info.parameters))
        return arguments_reader(structs.replace(info, parameters=kept), strict=False)


def _readable(parameter: Parameter) -> Parameter:
    """Leave a type to pydantic if msgspec cannot read it; one unknown to both is any JSON."""
    for annotation in (parameter.annotation, _for_pydantic(parameter.annotation)):
        try:
            adapter(annotation)
        except TypeError:
            continue
        return structs.replace(parameter, annotation=annotation)
    return structs.replace(parameter, annotation=Any)


def _for_pydantic(annotation: Any) -> Any:
    try:
        from pydantic import Field
    except ModuleNotFoundError:
        return Any
    return Annotated[annotation, Field()]


def _read_known(reader: ArgumentsReader, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments with a parameter, and ignore others. Raises BadArguments."""
    known = reader.schema["properties"]
    return reader.read({name: each for name, each in arguments.items() if name in known})


def failing(
    called: Callee, name: str, convert: Callable[[object], Any], timeout: float | None = None
) -> Callable[..., Awaitable[Any]]:
    """Wrap a call: the wrapper raises the failures of the dialect."""

    async def call(**keywords: Any) -> Any:
        native = keywords.pop(_NATIVE)
        try:
            async with asyncio.timeout(timeout):
                value = await called.call(native, keywords)
            return for_revision(convert(value), native.revision)
        except TimeoutError as error:
            if timeout is None:
                raise called.dialect.failure(name, error) from error
            raise ToolError(f"Tool {name!r} timed out after {timeout}s") from error
        except Exception as error:
            raise called.dialect.failure(name, error) from error

    return call


def _output(info: FunctionInfo) -> StructuredOutput | None:
    """Return the output of an annotation; None for content, and for types without JSON.

    Text has one too: `{"result": "…"}`.
    """
    arms = [bare(arm) for arm in arms_of(info.returns)]
    if any(arm in (None, NoneType, Any, object) for arm in arms) and len(arms) == 1:
        return None
    try:
        if all(arm in (str, None, NoneType) for arm in arms):
            text = adapter(info.returns, output=True)
            schema = {"properties": {"result": text.schema}, "required": ["result"]}
            return StructuredOutput(info.name, text, {"type": "object", **schema}, True)
        output = structured_output(info)
    except (TypeError, RecursionError):
        return None
    return None if output is None or output.may_be_content else output


def tool_result(
    value: object,
    *,
    content: Callable[[object], list[Model]],
    output: StructuredOutput | None = None,
    structures_objects: bool = False,
) -> Any:
    """Convert the value of a tool to a native result. Raises BadResult if it breaks the schema."""
    if isinstance(value, t.CallToolResult | t.InputRequiredResult):
        return value
    if isinstance(value, Model) and type(value).__name__ == "CallToolResult":
        return native_result(t.CallToolResult, value)
    if isinstance(value, ToolValue):
        return value.result()
    if output is None and isinstance(value, str):
        text: list[Any] = [t.TextContent(text=value)]
        return t.CallToolResult(content=text, result_type="complete")
    result: dict[str, Any] = {"content": wire(content(value))}
    if output is not None:
        result["structuredContent"] = _structured(output, value)
    elif structures_objects and isinstance(json := _object(value), dict):
        result["structuredContent"] = json
    return t.from_wire(t.CallToolResult, {**result, "resultType": "complete"})


def _object(value: object) -> Any:
    """Return the JSON of an object; None for content, and for plain values."""
    is_plain = value is None or isinstance(value, str | int | float | bytes | Media)
    if is_plain or is_block(value) or items_of(value) is not None:
        return None
    return plain_json(value)


def _structured(output: StructuredOutput, value: object) -> Any:
    """Convert a value to structured content; a dict stands for a model of the same members."""
    try:
        return output.write(value)
    except BadResult:
        json = plain_json(value)
        written = {"result": json} if output.is_wrapped else json
        output.check(written)
        return written


class ToolValue:
    """A result of a tool with its content and structured content apart."""

    def result(self) -> Any:
        """Return the value of a tool as a tool result of this runtime."""
        raise NotImplementedError


def native_result(cls: Any, value: Any) -> Any:
    """Convert a result of `mcp.types` to a model of the newest revision."""
    return t.from_wire(cls, {**wire(value), "resultType": "complete"})


__all__ = [
    "Callee",
    "Dependency",
    "Dialect",
    "ToolValue",
    "callee",
    "is_block",
    "is_named",
    "models",
    "native_result",
    "tool",
    "tool_result",
]
