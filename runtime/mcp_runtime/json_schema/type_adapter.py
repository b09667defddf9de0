"""A Python type as JSON Schema, and as reader and writer of JSON: by msgspec, or by pydantic.

pydantic is imported only where a type comes from it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Protocol,
    Union,
    get_args,
    get_origin,
)

import msgspec

from mcp_runtime.json_schema.mismatch import Mismatch, explained
from mcp_runtime.json_schema.to_json import (
    BadResult,
    excerpt,
    is_pydantic,
    place,
    to_json,
    to_text,
)
from mcp_runtime.json_schema.walk import Schema, every
from mcp_runtime.revisions import is_json

__all__ = [
    "Mismatch",
    "MsgspecAdapter",
    "Schema",
    "TypeAdapter",
    "adapter",
    "arms_of",
    "bare",
    "join",
    "mentions",
    "native_schema",
]

_REF: Final = "#/$defs/{name}"
_FAULTS: Final = (msgspec.ValidationError, RecursionError, OverflowError, ValueError, TypeError)


class TypeAdapter(Protocol):
    """`schema` has what it refers to under `$defs`."""

    @property
    def schema(self) -> Schema: ...
    def read(self, value: Any) -> Any:
        """Parsed JSON as a value of the type. Raises Mismatch."""
        ...

    def write(self, value: Any) -> Any:
        """A value of the type as parsed JSON. Raises Mismatch, BadResult."""
        ...


def adapter(annotation: Any, *, output: bool = False) -> TypeAdapter:
    """Of a type. Raises TypeError if no library can take it, or the arms of its union."""
    try:
        return _whole(annotation, output=output)
    except TypeError:
        arms = arms_of(annotation)
        if len(arms) < 2:
            raise
        return _UnionAdapter(tuple(adapter(arm, output=output) for arm in arms))


def _whole(annotation: Any, *, output: bool) -> TypeAdapter:
    if any(map(is_pydantic, mentions(annotation))):
        return _pydantic(annotation, output=output)
    return MsgspecAdapter(annotation, native_schema(annotation))


def native_schema(annotation: Any) -> Schema:
    """Raises TypeError for what msgspec cannot take."""
    (schema,), defs = msgspec.json.schema_components(
        [annotation], schema_hook=_schema_of, ref_template=_REF
    )
    found: Schema = {**schema, "$defs": defs} if defs else schema
    for each in every(found):
        if not is_json(each.get("default")):
            del each["default"]
    return found


def _schema_of(annotation: Any) -> Schema:
    if annotation is object:
        return {"description": "Any JSON."}  # msgspec takes an empty schema for none at all
    raise TypeError(f"{_name(annotation)} has no form in JSON that is known here")


def join(ours: Schema, theirs: Schema) -> None:
    """Definitions added to definitions. Raises TypeError if two are of one name and differ."""
    for name, schema in theirs.items():
        if ours.setdefault(name, schema) != schema:
            raise TypeError(f"two types are called {name}; rename one of them")


# ---- by msgspec


@dataclass(frozen=True, slots=True)
class MsgspecAdapter:
    """By msgspec; with `strict` nothing is read as what it is not."""

    type: Any
    schema: Schema
    strict: bool = True

    def read(self, value: Any) -> Any:
        try:
            return msgspec.convert(value, self.type, strict=self.strict, str_keys=True)
        except _FAULTS as error:
            raise explained(error, value, self.schema, self._says) from None

    def write(self, value: Any) -> Any:
        found = to_json(value)
        self.read(found)
        return found

    def _says(self, value: Any) -> str:
        """What msgspec finds wrong with a value; nothing if it fits."""
        try:
            msgspec.convert(value, self.type, strict=self.strict, str_keys=True)
        except _FAULTS as error:
            return str(error)
        return ""


# ---- by pydantic


@dataclass(frozen=True, slots=True)
class _PydanticAdapter:
    adapter: Any
    schema: Schema
    error: type[ValueError]

    def read(self, value: Any) -> Any:
        try:
            return self.adapter.validate_json(to_text(value), strict=True)
        except self.error as error:
            raise _first(error) from None
        except BadResult as error:
            raise Mismatch("$", str(error)) from None

    def write(self, value: Any) -> Any:
        try:
            checked = self.adapter.validate_python(value, strict=True)
            found = self.adapter.dump_python(checked, mode="json", by_alias=True, warnings="error")
        except self.error as error:
            raise _first(error) from None
        except ValueError as error:  # pydantic_core.PydanticSerializationError
            raise Mismatch("$", str(error)) from None
        return to_json(found)


def _pydantic(annotation: Any, *, output: bool) -> _PydanticAdapter:
    from pydantic import TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    try:
        made: Any = TypeAdapter(annotation)
        mode: Literal["serialization", "validation"] = "serialization" if output else "validation"
        schema = made.json_schema(ref_template="#/$defs/{model}", mode=mode)
    except PydanticUserError as error:
        raise TypeError(f"pydantic: {str(error).splitlines()[0]}") from error
    return _PydanticAdapter(made, schema, ValidationError)


def _first(error: Any) -> Mismatch:
    """The first of pydantic's faults."""
    fault = error.errors(include_url=False, include_context=False)[0]
    return Mismatch(
        place(fault["loc"]), f"{fault['msg']}, found {excerpt(_as_json(fault['input']))}"
    )


def _as_json(value: Any) -> Any:
    try:
        return to_json(value)
    except BadResult:
        return type(value).__qualname__


# ---- a union that no library takes as a whole


@dataclass(frozen=True, slots=True)
class _UnionAdapter:
    """The first arm that takes a value; of faults, the one that lies deepest."""

    arms: tuple[TypeAdapter, ...]

    @property
    def schema(self) -> Schema:
        defs: Schema = {}
        arms: list[Schema] = []
        for arm in self.arms:
            own = dict(arm.schema)
            join(defs, own.pop("$defs", {}))
            arms.append(own)
        return {"anyOf": arms, "$defs": defs} if defs else {"anyOf": arms}

    def read(self, value: Any) -> Any:
        return self._first([arm.read for arm in self.arms], value)

    def write(self, value: Any) -> Any:
        return self._first([arm.write for arm in self.arms], value)

    def _first(self, ways: list[Callable[[Any], Any]], value: Any) -> Any:
        faults: list[Mismatch] = []
        for way in ways:
            try:
                return way(value)
            except Mismatch as fault:
                faults.append(fault)
        raise max(faults, key=lambda fault: fault.depth)


# ---- types


def bare(annotation: Any) -> Any:
    """Without Annotated, NewType and type statements around it."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation


def arms_of(annotation: Any) -> tuple[Any, ...]:
    """Of a union, those of unions in it too; a type that is none is its own arm."""
    plain = bare(annotation)
    if get_origin(plain) in (Union, types.UnionType):
        return tuple(arm for each in get_args(plain) for arm in arms_of(each))
    return (annotation,)


def mentions(annotation: Any) -> Iterator[Any]:
    """Every type that a type is made of, and what annotates them; members of classes too."""
    seen: list[Any] = []

    def visit(found: Any) -> Iterator[Any]:
        if any(found is one for one in seen):
            return
        seen.append(found)
        yield found
        for inner in _inner(found):
            yield from visit(inner)

    return visit(annotation)


def _inner(found: Any) -> Iterator[Any]:
    plain = found
    if get_origin(found) is Annotated:
        yield from found.__metadata__
        plain = get_args(found)[0]
        yield plain
    elif (plain := bare(found)) is not found:
        yield plain
    elif get_origin(found) is not Literal:
        origin = get_origin(found)
        yield from filter(None, (origin, *_flat(get_args(found))))
        if isinstance(found, type) and not is_pydantic(found) and _has_members(found):
            yield from _members(found).values()


def _flat(args: tuple[Any, ...]) -> Iterator[Any]:
    """Arguments of generics; those of Callable are a list."""
    for arg in args:
        yield from arg if isinstance(arg, list) else (arg,)


def _has_members(cls: Any) -> bool:
    is_named = any(hasattr(cls, name) for name in ("_fields", "__struct_fields__"))
    return is_named or dataclasses.is_dataclass(cls) or typing.is_typeddict(cls)


def _members(cls: type) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError:
        return {}


def _name(annotation: Any) -> str:
    return getattr(annotation, "__qualname__", None) or str(annotation)
