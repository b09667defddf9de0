"""Signatures of tools, prompts and resource templates, made from Python functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct, field

from mcp_runtime.json_schema.walk import Schema, alternatives
from mcp_runtime.revisions import is_json
from mcp_runtime.server.functions.input_schema import (
    ArgumentsReader,
    BadArguments,
    arguments_reader,
)
from mcp_runtime.server.functions.output_schema import (
    StructuredOutput,
    refuse_bytes,
    structured_output,
)
from mcp_runtime.server.functions.parameters import ContextTypes, FunctionInfo, inspect_function


class Signature(Struct, frozen=True):
    """The arguments of a handler; `output` describes the structured result if the return annotation
    names one.
    """

    info: FunctionInfo
    input_schema: Schema
    read: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Keyword arguments, with the defaults of those that are absent. Raises BadArguments."""
    output: StructuredOutput | None = None
    any_path: frozenset[str] = frozenset()
    """The parameters that take absolute paths."""
    guarded: frozenset[str] = frozenset()
    """The arguments of a prompt that are paths, and all variables of a template."""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The texts of an enum, a `Literal` or a bool, by the argument of a prompt or a template."""


def read(function: Callable[..., Any], *, context: ContextTypes) -> Signature:
    """Return the signature of a tool; `context` are the classes whose parameter takes the Context.

    Raises TypeError for a function that cannot be called by name, or a type without a JSON form.
    """
    info = inspect_function(function, context)
    reader = arguments_reader(info)
    return Signature(info, reader.schema, reader.read, structured_output(info))


def read_prompt(function: Callable[..., Any], *, context: ContextTypes) -> Signature:
    """Return the signature of a prompt, whose arguments arrive as texts. Raises TypeError as
    `read`, and for a type that no text can hold.
    """
    info = inspect_function(function, context, default_type=str)
    refuse_bytes(info)
    reader = arguments_reader(info, strict=False)
    _require_texts(info, reader.schema, {each.name for each in info.parameters})
    return Signature(
        info,
        reader.schema,
        partial(_read_text, reader),
        any_path=_any(info),
        guarded=frozenset(reader.guarded),
        choices=_choices(reader.schema),
    )


def read_template(
    function: Callable[..., Any], *, context: ContextTypes, variables: Iterable[str]
) -> Signature:
    """Return the signature of the function behind a resource template, which takes its variables.

    Raises TypeError, also if parameters and variables differ, or text cannot hold a type.
    """
    info = inspect_function(function, context, default_type=str)
    names = frozenset(variables)
    _match(info, names)
    reader = arguments_reader(info, strict=False)
    _require_texts(info, reader.schema, names)
    return Signature(
        info,
        reader.schema,
        partial(_read_text, reader),
        any_path=_any(info),
        guarded=names,
        choices=_choices(reader.schema),
    )


def _any(info: FunctionInfo) -> frozenset[str]:
    return frozenset(each.name for each in info.parameters if each.takes_any_path)


# ---- templates and prompts


def _require_texts(info: FunctionInfo, schema: Schema, names: Collection[str]) -> None:
    """Raise TypeError for a parameter of these whose type no text can hold."""
    for name, each in schema["properties"].items():
        if name in names and not _is_text(each, schema.get("$defs", {})):
            remedy = "annotate it with str, int, float, bool, an enum or a Literal"
            info.refuse(name, "cannot be read from text", remedy)


def _choices(schema: Schema) -> dict[str, tuple[str, ...]]:
    defs = schema.get("$defs", {})
    listed = {
        name: tuple(text for arm in alternatives(each, defs) for text in _texts(arm))
        for name, each in schema["properties"].items()
    }
    return {name: texts for name, texts in listed.items() if texts}


def _texts(schema: Schema) -> Iterable[str]:
    if schema.get("type") == "boolean":
        return ("true", "false")
    return [str(each) for each in schema.get("enum", ()) if each is not None]


def _read_text(reader: ArgumentsReader, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Read variables as `read` does, with numbers and truth values converted from text."""
    keywords = reader.read(variables)
    for name in variables:
        if isinstance(keywords[name], float) and not is_json(keywords[name]):
            raise BadArguments(f"$.{name}: expected a finite number, found another")
    return keywords


def _match(info: FunctionInfo, variables: frozenset[str]) -> None:
    names = {each.name for each in info.parameters}
    for each in info.parameters:
        if each.name not in variables and each.default is None:
            info.refuse(each.name, "is not a variable of the template", "add it, or give a default")
    if missing := sorted(variables - names):
        raise TypeError(
            f"{info.name}() does not take the template's variable {missing[0]};"
            " add a parameter of that name"
        )


_SCALARS: Final = frozenset(("string", "integer", "number", "boolean", "null"))


def _is_text(schema: Schema, defs: Schema) -> bool:
    """Return True if one text can hold the value."""
    return all(
        each.get("type") in _SCALARS or "enum" in each for each in alternatives(schema, defs)
    )
