"""What a handler promises: the JSON Schema of its structured content, and what writes that."""

from __future__ import annotations

from types import GenericAlias, NoneType
from typing import Annotated, Any, Final, NoReturn, TypeVar, Union, get_args, get_origin

from mcp_runtime.json_schema.type_adapter import Schema, TypeAdapter, adapter, arms_of, bare, refers
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.functions.content import CONTENT
from mcp_runtime.server.functions.parameters import Facts

__all__ = ["promise"]

_RESULTS: Final = (*CONTENT, t.CallToolResult, t.PromptMessage)
_UNSAID: Final = (Any, object, bytes, bytearray, memoryview)
_LISTS: Final = (list, tuple)


def promise(facts: Facts) -> tuple[TypeAdapter | None, Schema | None, bool]:
    """What writes structured content, its schema, and whether that is wrapped into an object.

    None where nothing is promised. Raises TypeError.
    """
    annotation = _structured(facts.returns)
    if annotation is None:
        return None, None, False
    try:
        found = adapter(annotation, output=True)
    except TypeError as error:
        raise TypeError(
            f"{facts.name}() returns what has no form in JSON: {str(error).splitlines()[0]};"
            " annotate it with a type that has, or with Any"
        ) from error
    body = dict(found.schema)
    defs = body.pop("$defs", {})
    is_wrapped = not _is_object(body, defs)
    return found, _root(body, defs, is_wrapped), is_wrapped


def _structured(annotation: Any) -> Any:
    """The type of the structured content; None if it is not said.

    `Annotated[CallToolResult, T]` says T for what is in the result.
    """
    if bare(annotation) is t.CallToolResult and get_origin(annotation) is Annotated:
        return next(
            (n for n in annotation.__metadata__ if isinstance(n, type | GenericAlias)), None
        )
    arms = [arm for arm in arms_of(annotation) if bare(arm) is not t.InputRequiredResult]
    plain = [bare(arm) for arm in arms]
    if any(isinstance(each, TypeVar) or each in _UNSAID or _is_content(each) for each in plain):
        return None
    if all(each in (None, NoneType, str, NoReturn) for each in plain):
        return None
    return annotation if len(arms) == len(arms_of(annotation)) else Union[tuple(arms)]  # noqa: UP007


def _is_content(plain: Any) -> bool:
    """Content, or a list of what may be content."""
    if get_origin(plain) in _LISTS:
        return any(_is_content(bare(arm)) for each in get_args(plain) for arm in arms_of(each))
    return isinstance(plain, type) and issubclass(plain, _RESULTS)


def _is_object(schema: Schema, defs: Schema) -> bool:
    if "$ref" in schema:
        return _is_object(defs[schema["$ref"].rpartition("/")[2]], defs)
    arms = schema.get("anyOf") or schema.get("oneOf")
    if arms:
        return all(_is_object(arm, defs) for arm in arms)
    return schema.get("type") == "object"


def _root(body: Schema, defs: Schema, is_wrapped: bool) -> Schema:
    """An object at the root, as every revision takes it."""
    if is_wrapped:
        body = {"properties": {"result": body}, "required": ["result"]}
        body["additionalProperties"] = False
    elif "$ref" in body:
        name = body.pop("$ref").rpartition("/")[2]
        body = {**defs[name], **body}
        defs = defs if refers(body, defs, name) else {n: d for n, d in defs.items() if n != name}
    return {"type": "object", **body, **({"$defs": defs} if defs else {})}
