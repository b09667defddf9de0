"""What a handler's Python signature says: as JSON Schema, and as readers of what a peer gives."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType, GenericAlias, NoneType
from typing import (
    Annotated,
    Any,
    Final,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta, Struct

from mcp_runtime.adapters import (
    Adapter,
    Misfit,
    Native,
    Schema,
    adapter,
    arms_of,
    bare,
    join,
    mentions,
    native_schema,
)
from mcp_runtime.content import CONTENT
from mcp_runtime.core.mirrors import SAFE, TOKEN
from mcp_runtime.docstring import Docstring, read_docstring
from mcp_runtime.revisions import is_json
from mcp_runtime.revisions import latest as t
from mcp_runtime.values import BadResult, is_pydantic, to_json

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

_EMPTY: Final = inspect.Parameter.empty


class BadArguments(Exception):
    """What the peer gave does not fit; the text, for a model, has the path and what fits there."""


@dataclass(frozen=True, slots=True)
class Header:
    """In `Annotated[str, Header("Region")]`: over HTTP the argument is mirrored in a header.

    The name is an HTTP token. Raises ValueError for another.
    Source: 2026-07-28 server/tools, "x-mcp-header".
    """

    name: str

    def __post_init__(self) -> None:
        if not TOKEN.fullmatch(self.name):
            raise ValueError(
                f"Header({self.name!r}): expected letters, digits and !#$%&'*+-.^_`|~ only"
            )


@dataclass(frozen=True, slots=True)
class Arguments:
    """Reads what a peer gives into keyword arguments."""

    native: Native
    foreign: tuple[tuple[str, Adapter], ...] = ()

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            found = msgspec.structs.asdict(self.native.read(given))
            for name, each in self.foreign:
                if name in given:
                    found[name] = _read_at(f"$.{name}", each, given[name])
        except Misfit as misfit:
            raise BadArguments(str(misfit)) from None
        return found


def _read_at(place: str, of: Adapter, value: Any) -> Any:
    try:
        return of.read(value)
    except Misfit as misfit:
        raise misfit.within(place) from None


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
    _promised: Adapter | None = field(repr=False)
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
        except Misfit as misfit:
            raise self._broken(misfit) from None
        return {"result": found} if self._is_wrapped else found

    def check(self, structured: Any) -> None:
        """Raises BadResult if structured content, as parsed JSON, does not fit the schema."""
        if self._promised is None:
            return
        try:
            self._promised.read(self._unwrapped(structured))
        except Misfit as misfit:
            raise self._broken(misfit) from None

    def _unwrapped(self, structured: Any) -> Any:
        if not self._is_wrapped:
            return structured
        if isinstance(structured, dict):
            members = cast("dict[str, Any]", structured)
            if members.keys() == {"result"}:
                return members["result"]
        raise Misfit("$", 'expected an object whose one member is "result"')

    def _broken(self, misfit: Misfit) -> BadResult:
        return BadResult(f"{self.name} returned what it does not promise: {misfit}")


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
    facts = _facts(function, context)
    given, schema = _taken(facts)
    promised, output, is_wrapped = _output(facts)
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
    facts = _facts(function, context, otherwise=str)
    for each in facts.parameters:
        if {bare(arm) for arm in arms_of(each.annotation)} - {str, NoneType}:
            facts.refuse(each.name, "is no string", "annotate it with str: prompts take text only")
    given, schema = _taken(facts)
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
    facts = _facts(function, context, otherwise=str)
    _match(facts, frozenset(variables))
    given, schema = _taken(facts, strict=False)
    for name, found in schema["properties"].items():
        if not _is_text(found, schema.get("$defs", {})):
            facts.refuse(name, "cannot be read from text", "annotate it with str, int, float, bool")
    return TemplateSignature(
        facts.name, facts.doc.description, facts.context, facts.is_async, given
    )


# ---- what stands in the function


@dataclass(frozen=True, slots=True)
class _Default:
    """Made anew for every call; `shown` is it in the schema, if it has a form there."""

    make: Callable[[], Any]
    shown: bool


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    annotation: Any
    default: _Default | None

    @property
    def notes(self) -> tuple[Any, ...]:
        is_annotated = get_origin(self.annotation) is Annotated
        return self.annotation.__metadata__ if is_annotated else ()

    @property
    def header(self) -> Header | None:
        return next((note for note in self.notes if isinstance(note, Header)), None)

    @property
    def description(self) -> str | None:
        return next((note for note in self.notes if isinstance(note, str)), None)


@dataclass(frozen=True, slots=True)
class _Facts:
    name: str
    doc: Docstring
    parameters: tuple[_Parameter, ...]
    returns: Any
    context: str | None
    is_async: bool

    def refuse(self, parameter: str, what: str, remedy: str) -> NoReturn:
        raise TypeError(f"{self.name}(), parameter {parameter}: {what}; {remedy}")


def _facts(
    function: Callable[..., Any],
    context: type[Any] | tuple[type[Any], ...],
    otherwise: Any = Any,
) -> _Facts:
    """`otherwise` is the type of a parameter that has no annotation."""
    called = _called(function)
    name = getattr(called, "__name__", type(function).__name__)
    name = type(function).__name__ if name == "__call__" else name
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise TypeError(f"{name}() yields; let it return what it has, all at once")
    hints = _hints(called, name)
    signature = inspect.signature(function)
    contexts = [each for each in signature.parameters if _is_context(hints.get(each), context)]
    if len(contexts) > 1:
        raise TypeError(f"{name}(): {' and '.join(contexts)} both take the context; keep one")
    return _Facts(
        name=name,
        doc=read_docstring(inspect.getdoc(called) or _doc(function)),
        parameters=tuple(
            _parameter(name, each, hints.get(each.name, otherwise))
            for each in signature.parameters.values()
            if each.name not in contexts
        ),
        returns=hints.get("return"),
        context=contexts[0] if contexts else None,
        is_async=inspect.iscoroutinefunction(called),
    )


def _called(function: Any) -> Callable[..., Any]:
    """The function that runs in the end: of a partial, of an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"{function!r} is no function; hand over a function or a method")
    called: Callable[..., Any] = function if inspect.isroutine(function) else function.__call__
    return called


def _doc(function: Callable[..., Any]) -> str | None:
    return None if isinstance(function, functools.partial) else inspect.getdoc(function)


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Annotations, those that name what is local to the functions around this one too."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        pass
    try:
        return get_type_hints(function, localns=_around(function), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{name}(): its annotation names {error.name}, which is not there when it runs; import"
            " it outside of `if TYPE_CHECKING:`, and before the function"
        ) from None


def _around(function: Callable[..., Any]) -> dict[str, Any]:
    """What the functions and classes that are running around a definition hold, inner first."""
    found: dict[str, Any] = {}
    frame: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        here = frame.f_globals is getattr(function, "__globals__", None)
        if here and function.__qualname__.startswith(f"{frame.f_code.co_qualname}."):
            found = {**frame.f_locals, **found}
        frame = frame.f_back
    return found


def _is_context(annotation: Any, context: type[Any] | tuple[type[Any], ...]) -> bool:
    for arm in arms_of(annotation):
        plain = bare(arm)
        cls = get_origin(plain) or plain
        if isinstance(cls, type) and issubclass(cls, context):
            return True
    return False


_UNNAMED: Final = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional only",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values without a name",
    inspect.Parameter.VAR_KEYWORD: "takes values of any name",
}


def _parameter(function: str, found: inspect.Parameter, annotation: Any) -> _Parameter:
    if found.kind in _UNNAMED:
        raise TypeError(
            f"{function}(), parameter {found.name}: {_UNNAMED[found.kind]}; peers name each"
            " argument, so declare it by its name, with a type"
        )
    if found.default is not _EMPTY and type(found.default).__module__ == "pydantic.fields":
        return _Parameter(
            found.name, Annotated[annotation, found.default], _default_of(found.default)
        )
    annotation = _bounded(annotation)
    if found.default is _EMPTY:
        return _Parameter(found.name, annotation, None)
    return _Parameter(found.name, annotation, _Default(lambda: found.default, shown=True))


def _default_of(info: Any) -> _Default | None:
    """Of pydantic's `Field(…)`, written as a default."""
    if info.is_required():
        return None
    return _Default(lambda: info.get_default(call_default_factory=True), shown=False)


def _bounded(annotation: Any) -> Any:
    """An integer that a header mirrors is one that every peer reads exactly."""
    if get_origin(annotation) is not Annotated or bare(annotation) is not int:
        return annotation
    notes = annotation.__metadata__
    if not any(isinstance(note, Header) for note in notes):
        return annotation
    if any(map(is_pydantic, notes)):
        from pydantic import Field

        return Annotated[(int, Field(ge=-SAFE, le=SAFE), *notes)]
    metas = [note for note in notes if isinstance(note, Meta)]
    if all(meta.ge is None and meta.gt is None for meta in metas):
        annotation = Annotated[annotation, Meta(ge=-SAFE)]
    if all(meta.le is None and meta.lt is None for meta in metas):
        annotation = Annotated[annotation, Meta(le=SAFE)]
    return annotation


# ---- what is taken


def _taken(facts: _Facts, *, strict: bool = True) -> tuple[Arguments, Schema]:
    adapters = {each.name: _adapter(facts, each) for each in facts.parameters}
    foreign = {name: one for name, one in adapters.items() if not isinstance(one, Native)}
    fields = [_field(each, each.name in foreign) for each in facts.parameters]
    struct = _struct(facts, fields)
    schema, defs = _object(native_schema(struct))
    for each in facts.parameters:
        schema["properties"][each.name] = _property(
            schema["properties"][each.name], foreign.get(each.name), each, facts, defs
        )
    _check_headers(facts, schema["properties"])
    defs = {name: one for name, one in defs.items() if _refers(schema, defs, name)}
    schema |= {"$defs": defs} if defs else {}
    return Arguments(Native(struct, schema, strict), tuple(foreign.items())), schema


def _adapter(facts: _Facts, parameter: _Parameter) -> Adapter:
    try:
        return adapter(parameter.annotation)
    except TypeError as error:
        what = str(error).splitlines()[0]
        return facts.refuse(
            parameter.name,
            what,
            "use plain types, dataclasses, TypedDict, msgspec.Struct or models of pydantic",
        )


_CONSTANT: Final = (NoneType, bool, int, float, str, bytes, Enum)


def _field(parameter: _Parameter, is_foreign: bool) -> tuple[str, Any, Any]:
    annotation = Any if is_foreign else parameter.annotation
    if parameter.default is None:
        return parameter.name, annotation, msgspec.field()
    default = parameter.default.make() if parameter.default.shown else None
    if parameter.default.shown and isinstance(default, _CONSTANT):
        return parameter.name, annotation, msgspec.field(default=default)
    return parameter.name, annotation, msgspec.field(default_factory=parameter.default.make)


def _struct(facts: _Facts, fields: list[tuple[str, Any, Any]]) -> type[Struct]:
    return msgspec.defstruct(
        f"{facts.name}_arguments", fields, kw_only=True, forbid_unknown_fields=True, gc=False
    )


def _object(schema: Schema) -> tuple[Schema, Schema]:
    """The struct's own schema, and the definitions of the rest."""
    defs: Schema = schema["$defs"]
    root = defs.pop(schema["$ref"].rpartition("/")[2])
    found = {"type": "object", "properties": dict(root["properties"])}
    if root["required"]:
        found["required"] = root["required"]
    return {**found, "additionalProperties": False}, defs


def _property(
    native: Schema, foreign: Adapter | None, parameter: _Parameter, facts: _Facts, defs: Schema
) -> Schema:
    found = dict(native if foreign is None else foreign.schema)
    if foreign is not None:
        join(defs, found.pop("$defs", {}))
    if parameter.header:
        found = _typed(found, defs) | {"x-mcp-header": parameter.header.name}
    told = facts.doc.parameters.get(parameter.name)
    if description := parameter.description or found.get("description") or told:
        found["description"] = description
    return _with_default(found, parameter.default)


def _with_default(schema: Schema, default: _Default | None) -> Schema:
    if default is None or not default.shown:
        return schema
    try:
        return {**schema, "default": to_json(default.make())}
    except BadResult:
        return {name: each for name, each in schema.items() if name != "default"}


# ---- headers


_HEADED: Final = {str: "string", int: "integer", bool: "boolean"}


def _typed(schema: Schema, defs: Schema) -> Schema:
    """An enumeration in place, with the type of its values, if they have but one."""
    if "$ref" in schema:
        schema = {**defs[schema["$ref"].rpartition("/")[2]], **schema}
        del schema["$ref"]
    values: list[object] = schema.get("enum", [])
    for kind, name in _HEADED.items():
        if values and all(value.__class__ is kind for value in values):
            return {"type": name, **schema}
    return schema


def _check_headers(facts: _Facts, properties: Schema) -> None:
    """Source: 2026-07-28 server/tools, "x-mcp-header"."""
    seen: set[str] = set()
    for each in facts.parameters:
        schema = properties[each.name]
        notes = mentions(each.annotation)
        if any(isinstance(note, Header) and note is not each.header for note in notes):
            facts.refuse(each.name, "has a Header inside its type", "put it on the parameter")
        if each.header is None:
            continue
        if schema.get("type") not in _HEADED.values():
            facts.refuse(each.name, "cannot have a Header", "annotate it with str, int or bool")
        if each.header.name.lower() in seen:
            facts.refuse(each.name, f"Header {each.header.name} stands twice", "rename it")
        seen.add(each.header.name.lower())


# ---- what is promised


_RESULTS: Final = (*CONTENT, t.CallToolResult, t.PromptMessage)
_UNSAID: Final = (Any, object, bytes, bytearray, memoryview)
_LISTS: Final = (list, tuple)


def _output(facts: _Facts) -> tuple[Adapter | None, Schema | None, bool]:
    annotation = _promise(facts.returns)
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


def _promise(annotation: Any) -> Any:
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
        defs = defs if _refers(body, defs, name) else {n: d for n, d in defs.items() if n != name}
    return {"type": "object", **body, **({"$defs": defs} if defs else {})}


def _refers(body: Schema, defs: Schema, name: str) -> bool:
    return any(
        at == "$ref" and value == f"#/$defs/{name}"
        for schema in (body, *defs.values())
        for at, value in _entries(schema)
    )


def _entries(schema: object) -> Iterator[tuple[str, object]]:
    if isinstance(schema, list):
        for each in cast("list[object]", schema):
            yield from _entries(each)
    elif isinstance(schema, dict):
        for at, value in cast("dict[str, object]", schema).items():
            yield at, value
            yield from _entries(value)


# ---- templates


def _match(facts: _Facts, variables: frozenset[str]) -> None:
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
