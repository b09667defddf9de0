"""Builds the output schema of a tool from its return annotation, and its results from values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, MutableSequence, Sequence
from contextlib import suppress
from types import GenericAlias, NoneType
from typing import Annotated, Any, Final, NoReturn, TypeVar, Union, cast, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from mcp_runtime.json_schema.mismatch import Mismatch
from mcp_runtime.json_schema.to_json import PLAIN, BadResult, to_json, to_text
from mcp_runtime.json_schema.type_adapter import TypeAdapter, adapter, arms_of, bare, mentions
from mcp_runtime.json_schema.walk import Schema, alternatives, inline_leaves, refers
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import make
from mcp_runtime.server.functions.content import (
    BINARY,
    BYTES,
    CONTENT,
    blocks,
    is_content,
    is_wire_model,
    require_no_content,
)
from mcp_runtime.server.functions.parameters import FunctionInfo

_RESULTS: Final = (*CONTENT, t.CallToolResult, t.PromptMessage)
_UNKNOWN: Final = (Any, object)
_LISTS: Final = (list, tuple, Sequence, MutableSequence, Collection)
_LOOSE: Final = (*_UNKNOWN, *_LISTS, dict, Mapping, MutableMapping)
"""Types whose values may look like the JSON of content: unknown types, mappings, and lists with
items of unknown type.
"""


class StructuredOutput(Struct, frozen=True):
    """The structured content of a handler; `is_wrapped` if its value is the member `result`.

    `may_be_content` if a value may be a list of content instead: then no schema is declared, since
    every result would have to fit it. `is_loose` if content could pass for JSON in a value.
    """

    name: str
    adapter: TypeAdapter
    schema: Schema
    is_wrapped: bool
    may_be_content: bool = False
    is_loose: bool = False

    def write(self, value: object) -> Any:
        """Convert a value to structured content. Raises BadResult if it does not fit the schema."""
        if value.__class__ not in PLAIN and (self.is_loose or isinstance(value, CONTENT)):
            with suppress(RecursionError):  # of which the adapter says more
                require_no_content(value)
        try:
            content = self.adapter.write(value)
        except Mismatch as mismatch:
            raise self._bad(mismatch) from None
        return {"result": content} if self.is_wrapped else content

    def check(self, content: Any) -> None:
        """Raise BadResult if structured content, parsed JSON, does not fit the schema."""
        try:
            self.adapter.read(self._value(content))
        except Mismatch as mismatch:
            raise self._bad(mismatch) from None

    def _value(self, content: Any) -> Any:
        if not self.is_wrapped:
            return content
        if isinstance(content, dict):
            members = cast("dict[str, Any]", content)
            if members.keys() == {"result"}:
                return members["result"]
        raise Mismatch("$", 'expected an object whose one member is "result"')

    def _bad(self, mismatch: Mismatch) -> BadResult:
        return BadResult(f"{self.name} returned what its output schema does not allow: {mismatch}")


def structured_output(info: FunctionInfo) -> StructuredOutput | None:
    """Return the structured output of a function; None if its annotation says nothing of one.

    Raises TypeError for a type that has no form in JSON.
    """
    refuse_bytes(info)
    _refuse_buried(info, info.returns)
    annotation = _structured_type(info.returns)
    if annotation is None:
        return None
    try:
        writer = adapter(annotation, output=True)
    except TypeError as error:
        raise TypeError(
            f"{info.name}() returns what has no form in JSON: {str(error).splitlines()[0]};"
            " annotate it with a type that has, or with Any"
        ) from error
    body = dict(writer.schema)
    inline_leaves(body)
    defs = body.pop("$defs", {})
    is_wrapped = any(each.get("type") != "object" for each in alternatives(body, defs))
    return StructuredOutput(
        info.name,
        writer,
        _object(body, defs, is_wrapped),
        is_wrapped,
        may_be_content=any(_is_open_list(bare(arm)) for arm in arms_of(annotation)),
        is_loose=_is_loose(annotation),
    )


def _refuse_buried(info: FunctionInfo, annotation: Any) -> None:
    """Raise TypeError for content inside anything but a list: it would be written as JSON."""
    for arm in arms_of(annotation):
        plain = bare(arm)
        if get_origin(plain) in _LISTS:
            for each in get_args(plain):
                _refuse_buried(info, each)
        elif not _is_content(plain):
            for each in mentions(plain, lambda each: not is_wire_model(each)):
                if each in CONTENT:
                    raise TypeError(
                        f"{info.name}() returns {each.__name__} inside of another value, where it"
                        " would be JSON and no content; return it alone, or in a list"
                    )


def refuse_bytes(info: FunctionInfo) -> None:
    """Raise TypeError if the return annotation has bytes as a result, or refers to itself."""
    try:
        has_bytes = _has_bytes(info.returns)
    except RecursionError:
        why = "returns a type that holds itself, as only a class can here; annotate it with Any"
        raise TypeError(f"{info.name}() {why}") from None
    if has_bytes:
        raise TypeError(f"{info.name}() returns bytes: {BYTES}")


def _has_bytes(annotation: Any) -> bool:
    plain = [bare(arm) for arm in arms_of(annotation)]
    lists = [each for each in plain if _is_content(each)]
    return any(each in BINARY for each in plain) or any(
        _has_bytes(item) for each in lists for item in get_args(each)
    )


def _structured_type(annotation: Any) -> Any:
    """Return the type of the structured content; None if the annotation names none.

    `Annotated[CallToolResult, T]` names T for the content of the result.
    """
    if bare(annotation) is t.CallToolResult and get_origin(annotation) is Annotated:
        return next(
            (n for n in annotation.__metadata__ if isinstance(n, type | GenericAlias)), None
        )
    arms = [arm for arm in arms_of(annotation) if bare(arm) is not t.InputRequiredResult]
    plain = [bare(arm) for arm in arms]
    if any(isinstance(each, TypeVar) or each in _UNKNOWN or _is_content(each) for each in plain):
        return None
    if all(each in (None, NoneType, str, NoReturn) for each in plain):
        return None
    return annotation if len(arms) == len(arms_of(annotation)) else Union[tuple(arms)]  # noqa: UP007 - of a tuple


def _is_content(plain: Any) -> bool:
    """Return True if a type is content, or a list whose items may be content."""
    if get_origin(plain) in _LISTS:
        return any(_is_content(bare(arm)) for each in get_args(plain) for arm in arms_of(each))
    return isinstance(plain, type) and issubclass(plain, _RESULTS)


def _is_loose(annotation: Any) -> bool:
    """Return True if the JSON of content may fit a type somewhere."""
    mentioned = list(mentions(annotation))
    typed = {get_origin(each) for each in mentioned} & {*_LISTS}
    return any(
        isinstance(each, TypeVar) or (each in _LOOSE and each not in typed) for each in mentioned
    )


def _is_open_list(plain: Any) -> bool:
    """Return True if a type is a list whose items may be anything, content too."""
    if plain in _LISTS:
        return True
    return get_origin(plain) in _LISTS and any(
        bare(arm) in _UNKNOWN or isinstance(bare(arm), TypeVar) or _is_open_list(bare(arm))
        for each in get_args(plain)
        for arm in arms_of(each)
    )


def _object(body: Schema, defs: Schema, is_wrapped: bool) -> Schema:
    """A schema with an object at the root, which every revision accepts."""
    if is_wrapped:
        body = {"properties": {"result": body}, "required": ["result"]}
        body["additionalProperties"] = False
    elif "$ref" in body:
        name = body.pop("$ref").rpartition("/")[2]
        body = {**defs[name], **body}
        if not refers({**body, "$defs": defs}, name):
            defs = {other: one for other, one in defs.items() if other != name}
    return {"type": "object", **body, **({"$defs": defs} if defs else {})}


# ---- results


def tool_result(
    value: object, output: StructuredOutput | None
) -> t.CallToolResult | t.InputRequiredResult:
    """Convert a tool's return value to its result, with an output schema or without.

    A result of `types` passes, its structured content as JSON. Raises BadResult if this content
    does not fit the output schema or is missing, and for a value no content block can hold.
    """
    if isinstance(value, t.InputRequiredResult):
        return value
    if isinstance(value, t.CallToolResult):
        return _check_result(value, None if output is None or output.may_be_content else output)
    if output is None or (output.may_be_content and is_content(value)):
        return _content(value)
    return _with_structure(output.write(value))


def failed_call(text: str) -> t.CallToolResult:
    """Return a result whose text tells the model about the error. Characters JSON cannot hold are
    escaped.
    """
    sendable = text.encode(errors="backslashreplace").decode()
    return t.CallToolResult(
        content=[t.TextContent(text=sendable)], is_error=True, result_type="complete"
    )


def raw_result(value: object, *, is_structured: bool) -> t.CallToolResult | t.InputRequiredResult:
    """Return the result of a tool whose schemas were given.

    Raises BadResult for a value no content block can hold.
    """
    if isinstance(value, t.CallToolResult | t.InputRequiredResult):
        return value
    if not is_structured:
        return _content(value)
    require_no_content(value)
    return _with_structure(to_json(value))


def _content(value: object) -> t.CallToolResult:
    return t.CallToolResult(content=blocks(value), result_type="complete")


def _with_structure(value: Any) -> t.CallToolResult:
    """A result with structured content, and the same as text for clients that read only text."""
    text = [make(t.TextContent, text=to_text(value))]
    result: t.CallToolResult = make(
        t.CallToolResult, content=text, structured_content=value, result_type="complete"
    )
    return result


def _check_result(result: t.CallToolResult, output: StructuredOutput | None) -> t.CallToolResult:
    if result.structured_content is t.UNSET:
        if output is None or result.is_error is True:
            return result
        raise BadResult("$.structuredContent: expected what the output schema says, found none")
    structured = to_json(result.structured_content)
    if output is not None and result.is_error is not True:
        output.check(structured)
    return replace(result, structured_content=structured)
