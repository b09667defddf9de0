"""What a handler's Python signature says: as JSON Schema, and as readers of what a peer gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final, cast

from mcp_runtime.json_schema.to_json import BadResult, to_json
from mcp_runtime.json_schema.type_adapter import Mismatch, Schema, TypeAdapter, arms_of, bare
from mcp_runtime.revisions import is_json
from mcp_runtime.server.functions.input_schema import Arguments, BadArguments, take
from mcp_runtime.server.functions.output_schema import promise
from mcp_runtime.server.functions.parameters import Facts, Header, read_facts

__all__ = [
    "BadArguments",
    "BadResult",
    "Header",
    "PromptSignature",
    "Signature",
    "TemplateSignature",
    "read",
    "read_prompt",
    "read_template",
]


@dataclass(frozen=True, slots=True)
class Signature:
    """Of a tool. `context` is the name of the parameter that takes the Context."""

    name: str
    description: str
    input_schema: Schema
    output_schema: Schema | None
    context: str | None
    is_async: bool
    _given: Arguments = field(repr=False)
    _promised: TypeAdapter | None = field(repr=False)
    _is_wrapped: bool = field(repr=False)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments, the defaults of those that are absent among them.

        Raises BadArguments.
        """
        return self._given.read(given)

    def structured(self, value: object) -> Any:
        """The JSON that fits the output schema; what is no object stands under `result`.

        Raises BadResult if the value is not what the handler's annotation says.
        """
        if self._promised is None:
            return to_json(value)
        try:
            found = self._promised.write(value)
        except Mismatch as mismatch:
            raise self._broken(mismatch) from None
        return {"result": found} if self._is_wrapped else found

    def check(self, structured: Any) -> None:
        """Raises BadResult if structured content, as parsed JSON, does not fit the schema."""
        if self._promised is None:
            return
        try:
            self._promised.read(self._unwrapped(structured))
        except Mismatch as mismatch:
            raise self._broken(mismatch) from None

    def _unwrapped(self, structured: Any) -> Any:
        if not self._is_wrapped:
            return structured
        if isinstance(structured, dict):
            members = cast("dict[str, Any]", structured)
            if members.keys() == {"result"}:
                return members["result"]
        raise Mismatch("$", 'expected an object whose one member is "result"')

    def _broken(self, mismatch: Mismatch) -> BadResult:
        return BadResult(f"{self.name} returned what it does not promise: {mismatch}")


@dataclass(frozen=True, slots=True)
class PromptSignature:
    """Of a prompt. `arguments` are names, descriptions ("" for none), and whether required."""

    name: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    context: str | None
    is_async: bool
    _given: Arguments = field(repr=False)

    def read(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Keyword arguments. Raises BadArguments."""
        return self._given.read(given)


@dataclass(frozen=True, slots=True)
class TemplateSignature:
    """Of the handler of a resource template, whose variables are strings on the wire."""

    name: str
    description: str
    context: str | None
    is_async: bool
    _given: Arguments = field(repr=False)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments, numbers and truth values read from their text.

        Raises BadArguments.
        """
        found = self._given.read(given)
        for name, value in found.items():
            if not is_json(value):
                raise BadArguments(f"$.{name}: expected a finite number, found another")
        return found


def read(function: Callable[..., Any], *, context: type[Any] | tuple[type[Any], ...]) -> Signature:
    """The signature of a tool; `context` are the classes whose parameter takes the Context.

    Raises TypeError for what cannot be called by name, or has no form in JSON.
    """
    facts = read_facts(function, context)
    given, schema = take(facts)
    promised, output, is_wrapped = promise(facts)
    return Signature(
        facts.name,
        facts.doc.description,
        schema,
        output,
        facts.context,
        facts.is_async,
        given,
        promised,
        is_wrapped,
    )


def read_prompt(
    function: Callable[..., Any], *, context: type[Any] | tuple[type[Any], ...]
) -> PromptSignature:
    """The signature of a prompt. Raises TypeError, for parameters that are no strings too."""
    facts = read_facts(function, context, otherwise=str)
    for each in facts.parameters:
        if {bare(arm) for arm in arms_of(each.annotation)} - {str, NoneType}:
            facts.refuse(each.name, "is no string", "annotate it with str: prompts take text only")
    given, schema = take(facts)
    told = {name: found.get("description", "") for name, found in schema["properties"].items()}
    arguments = tuple(
        (each.name, told[each.name], each.default is None) for each in facts.parameters
    )
    return PromptSignature(
        facts.name, facts.doc.description, arguments, facts.context, facts.is_async, given
    )


def read_template(
    function: Callable[..., Any],
    *,
    context: type[Any] | tuple[type[Any], ...],
    variables: Iterable[str],
) -> TemplateSignature:
    """The signature of a resource template's handler, which takes the template's variables.

    Raises TypeError, also if parameters and variables differ, or text cannot say a type.
    """
    facts = read_facts(function, context, otherwise=str)
    _match(facts, frozenset(variables))
    given, schema = take(facts, strict=False)
    for name, found in schema["properties"].items():
        if not _is_text(found, schema.get("$defs", {})):
            facts.refuse(name, "cannot be read from text", "annotate it with str, int, float, bool")
    return TemplateSignature(
        facts.name, facts.doc.description, facts.context, facts.is_async, given
    )


# ---- templates


def _match(facts: Facts, variables: frozenset[str]) -> None:
    names = {each.name for each in facts.parameters}
    for each in facts.parameters:
        if each.name not in variables and each.default is None:
            facts.refuse(each.name, "is no variable of the template", "add it, or give a default")
    if missing := sorted(variables - names):
        raise TypeError(
            f"{facts.name}() does not take the template's variable {missing[0]};"
            " add a parameter of that name"
        )


_SCALARS: Final = frozenset(("string", "integer", "number", "boolean", "null"))


def _is_text(schema: Schema, defs: Schema) -> bool:
    """Whether text can say it, or several texts."""
    if "$ref" in schema:
        return _is_text(defs[schema["$ref"].rpartition("/")[2]], defs)
    if arms := schema.get("anyOf"):
        return all(_is_text(arm, defs) for arm in arms)
    if schema.get("type") == "array":
        return _is_text(schema.get("items", {}), defs)
    return schema.get("type") in _SCALARS or "enum" in schema
