"""Python types as JSON Schemas, and as readers and writers of JSON, by msgspec or pydantic.

pydantic is imported only for a type which comes from it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal, Protocol, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from mcp_runtime.json_schema.formats import add_items, add_time_formats
from mcp_runtime.json_schema.mismatch import Mismatch, NotText, explain
from mcp_runtime.json_schema.to_json import (
    PLAIN,
    BadResult,
    excerpt,
    is_pydantic,
    place,
    to_json,
    to_text,
)
from mcp_runtime.json_schema.walk import Schema, every
from mcp_runtime.revisions import is_json

_REF: Final = "#/$defs/{name}"
_FAULTS: Final = (msgspec.ValidationError, RecursionError, OverflowError, ValueError, TypeError)


class TypeAdapter(Protocol):
    """A reader and writer of the values of a type; `schema` has its definitions under `$defs`."""

    @property
    def schema(self) -> Schema: ...
    def read(self, value: Any) -> Any:
        """Convert parsed JSON to a value of the type. Raises Mismatch."""
        ...

    def write(self, value: Any) -> Any:
        """Convert a value of the type to parsed JSON. Raises Mismatch and BadResult."""
        ...


def adapter(annotation: Any, *, output: bool = False) -> TypeAdapter:
    """Return the adapter of a type. Raises TypeError if no library knows it, or an arm of it."""
    try:
        if any(map(is_pydantic, mentions(annotation))):
            return _pydantic(annotation, output=output)
        if not output:
            _require_init(annotation)
            _require_no_path_keys(annotation)
        return MsgspecAdapter(annotation, native_schema(annotation, output=output))
    except NameError as error:
        raise TypeError(
            f"{_name(annotation)} has a member of the type {error.name}, which cannot be found"
            " (it must be there when the program runs, at the top level of a module)"
        ) from None
    except RecursionError:
        raise TypeError(f"{_name(annotation)} holds itself, as only a class can here") from None
    except TypeError:
        arms = arms_of(annotation)
        if len(arms) < 2:
            raise
        return _UnionAdapter(tuple(adapter(arm, output=output) for arm in arms))


def _require_init(annotation: Any) -> None:
    """Raise TypeError for a member with `init=False`, as msgspec would read it all the same."""
    for each in mentions(annotation):
        for field in dataclasses.fields(each) if dataclasses.is_dataclass(each) else ():
            if not field.init:
                raise TypeError(
                    f"{_name(each)}.{field.name} has init=False, and callers could set it"
                    " (make it a property)"
                )


def _require_no_path_keys(annotation: Any) -> None:
    """Raise TypeError for a mapping from paths, as msgspec would leave its keys as texts."""
    for each in mentions(annotation):
        args = get_args(each) if _is_mapping(each) else ()  # none for `typing.Dict` alone
        keys = arms_of(args[0]) if args else ()
        if any(is_path(bare(arm)) for arm in keys):
            raise TypeError(f"the keys of {_name(each)} are paths (make them str)")


def _is_mapping(annotation: Any) -> bool:
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def native_schema(annotation: Any, *, output: bool = False) -> Schema:
    """Return the schema of a type known to msgspec. Raises TypeError for another type.

    In the schema of a result (`output`) a time has a format only if the type demands an offset: a
    value without one would break `date-time`.
    """
    (schema,), defs = msgspec.json.schema_components(
        [annotation], schema_hook=_schema_of, ref_template=_REF
    )
    whole: Schema = {**schema, "$defs": defs} if defs else schema
    for each in every(whole):
        if not is_json(each.get("default")):
            del each["default"]
        if "enum" in each:
            each["enum"] = _in_order_of_type(each["enum"], annotation)
        if kind := _kind_of(each.get("enum", ())):
            each["type"] = kind
    add_items(whole)
    if not output:
        add_time_formats(annotation, whole)
    return whole


def _in_order_of_type(values: list[object], annotation: Any) -> list[object]:
    """Return the values of an enumeration in the order of its type; msgspec sorts them."""
    for each in mentions(annotation):
        declared = list(_values_of(each))
        if len(declared) == len(values) and set(declared) == set(values):
            return declared
    return values


def _values_of(annotation: Any) -> Iterable[object]:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [member.value for member in annotation]
    return get_args(annotation) if get_origin(annotation) is Literal else ()


_KINDS: Final[Mapping[type[object], str]] = {str: "string", int: "integer", bool: "boolean"}


def _kind_of(values: Collection[object]) -> str | None:
    """Return the common type of an enumeration's values, if any; some clients' models need it."""
    classes = {value.__class__ for value in values}
    return _KINDS.get(classes.pop()) if len(classes) == 1 else None


def _schema_of(annotation: Any) -> Schema:
    if annotation is object:
        return {"description": "Any JSON."}  # msgspec would ignore an empty schema
    if is_path(annotation):
        return {"type": "string"}
    raise TypeError(f"{_name(annotation)} has no form in JSON that is known here")


def is_path(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, PurePath)


def _path(annotation: Any, value: Any) -> Any:
    """Convert a text to a path; return values of other types unchanged."""
    if not is_path(annotation):
        return value
    if not isinstance(value, str):
        raise NotText(f"Expected `str`, got `{excerpt(value)}`")
    return annotation(value)


def join(ours: Schema, theirs: Schema) -> None:
    """Add the definitions `theirs` to `ours`. Raises TypeError if two of one name differ."""
    for name, schema in theirs.items():
        if ours.setdefault(name, schema) != schema:
            raise TypeError(f"two types are called {name}; rename one of them")


# ---- by msgspec


class MsgspecAdapter(Struct, frozen=True):
    """An adapter by msgspec; with `strict` a text is never read as a number or a truth value.

    `noun` is the word for a member of the outermost object in messages.
    """

    type: Any
    schema: Schema
    strict: bool = True
    noun: str = "member"

    def read(self, value: Any) -> Any:
        try:
            return msgspec.convert(
                value, self.type, strict=self.strict, str_keys=True, dec_hook=_path
            )
        except _FAULTS as error:
            raise explain(error, value, self.schema, self._error_of, self.noun) from None

    def write(self, value: Any) -> Any:
        # A handler's annotation is a claim: its result is read back, so that a wrong value is found
        # here with its path, and not by the client. A plain value of the very type needs no check.
        json = value if value.__class__ in PLAIN else to_json(value)
        if json.__class__ is not self.type:
            self.read(json)
        return json

    def _error_of(self, value: Any) -> str:
        """Return msgspec's error for a value; empty if it fits."""
        try:
            msgspec.convert(value, self.type, strict=self.strict, str_keys=True, dec_hook=_path)
        except _FAULTS as error:
            return str(error)
        return ""


# ---- by pydantic


class _PydanticAdapter(Struct, frozen=True):
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
            json = self.adapter.dump_python(checked, mode="json", by_alias=True, warnings="error")
        except self.error as error:
            raise _first(error) from None
        except ValueError as error:  # pydantic_core.PydanticSerializationError
            raise Mismatch("$", str(error)) from None
        return to_json(json)


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
    """Convert the first of pydantic's errors."""
    fault = error.errors(include_url=False, include_context=False)[0]
    return Mismatch(
        place(fault["loc"]), f"{fault['msg']}, found {excerpt(_as_json(fault['input']))}"
    )


def _as_json(value: Any) -> Any:
    try:
        return to_json(value)
    except BadResult:
        return type(value).__qualname__


# ---- unions with arms of both libraries


class _UnionAdapter(Struct, frozen=True):
    """An adapter for a union with arms of both libraries: the first arm to accept a value reads it.

    If none does, the error is the mismatch with the longest path.
    """

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

    def _first(self, methods: list[Callable[[Any], Any]], value: Any) -> Any:
        faults: list[Mismatch] = []
        for method in methods:
            try:
                return method(value)
            except Mismatch as fault:
                faults.append(fault)
        raise max(faults, key=lambda fault: fault.depth)


# ---- types


def bare(annotation: Any) -> Any:
    """Return a type without Annotated, NewType and type statements around it."""
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
    """Return the arms of a union and of unions inside; any other type is its own arm."""
    plain = bare(annotation)
    if get_origin(plain) in (Union, types.UnionType):
        return tuple(arm for each in get_args(plain) for arm in arms_of(each))
    return (annotation,)


def mentions(annotation: Any, through: Callable[[Any], bool] = lambda each: True) -> Iterator[Any]:
    """Yield every type inside a type, members of classes and annotations included.

    Looks only into types for which `through` returns True.
    """
    seen: list[Any] = []

    def visit(each: Any) -> Iterator[Any]:
        if any(each is one for one in seen):
            return
        seen.append(each)
        yield each
        for inner in _inner(each) if through(each) else ():
            yield from visit(inner)

    return visit(annotation)


def _inner(annotation: Any) -> Iterator[Any]:
    plain = bare(annotation)
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
        yield get_args(annotation)[0]
    elif plain is not annotation:
        yield plain
    elif (origin := get_origin(annotation)) is not Literal:
        yield from filter(None, (origin, *_flat(get_args(annotation))))
        is_class = isinstance(annotation, type) and not is_pydantic(annotation)
        if is_class and _has_members(annotation):
            yield from _members(annotation).values()


def _flat(args: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arguments of a generic; those of Callable are a list."""
    for arg in args:
        yield from arg if isinstance(arg, list) else (arg,)


def _has_members(cls: Any) -> bool:
    marks = ("_fields", "__struct_fields__", "__total__")  # the last: TypedDict of either typing
    return dataclasses.is_dataclass(cls) or any(hasattr(cls, name) for name in marks)


def _members(cls: type) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError:
        return {}


def _name(annotation: Any) -> str:
    return getattr(annotation, "__qualname__", None) or str(annotation)
