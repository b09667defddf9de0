"""Types of the pydantic models: UNSET, named unions, and marks which make pydantic exact.

A mark stands beside a type in `Annotated`. Pydantic gets a schema from it at a model's first use.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    Never,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from pydantic import (
    Discriminator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import (
    MISSING,
    CoreSchema,
    PydanticCustomError,
    core_schema,
    to_jsonable_python,
)

from ._wire.bounds import are_unique, is_multiple, matches
from ._wire.values import UNSET, Unset

__all__ = [
    "ABSENT",
    "ORDERED",
    "UNSET",
    "Bounds",
    "Exact",
    "Maybe",
    "Nothing",
    "Number",
    "Tuple",
    "Unset",
    "is_absent",
    "name_unions",
    "plainer",
]

_T = TypeVar("_T")


def is_absent(value: object) -> bool:
    """Return whether a value stands for an absent member: our UNSET, or pydantic's MISSING."""
    return value is UNSET or value is MISSING


_OWN: Final[dict[tuple[object, object], tuple[str, ...]]] = {}
"""The members of the first model which the second, plainer one lacks."""


def plainer(model: object, other: object, *own: str) -> None:
    """Register `own`, the members of `model` which the plainer `other` lacks.

    A union of both reads an object without any of them as `other`.
    """
    _OWN[model, other] = own


class _Ordered:
    """The mark of a union whose first accepting arm reads a value.

    The arms stay strict inside a lax model: true is not a number. An object is only read as a model
    with a plainer one after it if it has one of the members of `plainer`.
    """

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "union":
            return schema
        arms: list[Any] = [_strict(arm) for arm in schema["choices"]]
        classes = get_args(source)
        for number, model in enumerate(classes if len(classes) == len(arms) else ()):
            for other in classes[number + 1 :]:
                if own := _OWN.get((model, other)):
                    arms[number] = _having(own, arms[number])
        return {
            **schema,
            "choices": arms,
            "mode": "left_to_right",
            "serialization": _AS_IT_IS,
        }


def _having(own: tuple[str, ...], schema: Any) -> CoreSchema:
    """Return the schema of a model, refusing an object without any of these members."""

    def look(value: Any) -> Any:
        if value.__class__ is dict and not any(name in value for name in own):
            raise PydanticCustomError("plainer", "Input should be of a plainer model")
        return value

    return core_schema.no_info_before_validator_function(look, schema)


def _strict(schema: Any) -> Any:
    if schema["type"] not in ("str", "int", "float", "bool"):
        return schema
    finite = {"allow_inf_nan": False} if schema["type"] == "float" else {}
    return {**schema, "strict": True, **finite}


_AS_IT_IS: Final = core_schema.simple_ser_schema("any")


ORDERED: Final = _Ordered()


if TYPE_CHECKING:
    ABSENT: Final = UNSET
    Maybe: TypeAlias = _T | Unset
    Nothing: TypeAlias = Never
    Number: TypeAlias = int | float
else:
    # pydantic leaves out a member that is MISSING, which counts as true. Models give UNSET for it.
    ABSENT = MISSING

    class Maybe:
        """The type of an optional member. Its default is never validated."""

        def __class_getitem__(cls, item: object) -> object:
            return item

    class Nothing:
        """The type which no value has."""

        @classmethod
        def __get_pydantic_core_schema__(
            cls, source: object, handler: GetCoreSchemaHandler
        ) -> CoreSchema:
            return core_schema.is_instance_schema(cls)

        @classmethod
        def __get_pydantic_json_schema__(
            cls, schema: CoreSchema, handler: GetJsonSchemaHandler
        ) -> dict[str, Any]:
            return {"not": {}}

    Number = Annotated[int | float, ORDERED]


class Exact:
    """The mark of literals, which accept equal JSON: 1.0 equals 1, and true does not."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        literals = get_args(source)

        def read(value: object) -> object:
            for literal in literals:
                same_kind = isinstance(value, bool) == isinstance(literal, bool)
                if same_kind and value == literal:
                    return literal
            raise PydanticCustomError("literal_error", "Input should be a literal")

        return core_schema.no_info_plain_validator_function(
            read, json_schema_input_schema=handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(schema["json_schema_input_schema"])


class Tuple:
    """The mark of a list with a type for each place; the first `required` must be there.

    `rest` is the type of the items after them; None if there are none.
    """

    def __init__(self, required: int, rest: object, *types: object) -> None:
        self.required = required
        self.rest = rest
        self.types = types

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        items = [handler.generate_schema(type) for type in self.types]
        lengths: list[Any] = [
            core_schema.tuple_schema(items[:length], strict=False)
            for length in range(self.required, len(items) + 1)
        ]
        if self.rest is not None:
            rest = [*items, handler.generate_schema(self.rest)]
            lengths[-1] = core_schema.tuple_schema(
                rest, variadic_item_index=len(items), strict=False
            )
        any_length = core_schema.union_schema(lengths, mode="left_to_right")
        return core_schema.no_info_before_validator_function(
            _only_list,
            core_schema.no_info_after_validator_function(list, any_length),
            serialization=_AS_IT_IS,
        )


def _only_list(value: object) -> object:
    if value.__class__ is not list:
        raise PydanticCustomError("list_type", "Input should be a valid list")
    return value


class Bounds:
    """The mark of a type with limits, by their names in JSON Schema.

    A limit is for values of its JSON kind; others pass. `search` is the pattern in Python's syntax.
    Attributes such as `ge` are for factories of test data, which look for them.
    """

    def __init__(self, *, search: str = "", **limits: Any) -> None:
        self.search = search
        self.limits = limits
        for name in limits.keys() & _NATIVE.keys():
            setattr(self, _NATIVE[name], limits[name])

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema = handler(source)
        if self._is_native(schema):
            limited: CoreSchema = self._natively(schema)
            return limited
        return core_schema.no_info_after_validator_function(self.check, schema)

    def _natively(self, schema: Any) -> Any:
        native = {_NATIVE[name]: limit for name, limit in self.limits.items()}
        return {**schema, "choices": [{**arm, **native} for arm in schema["choices"]]}

    def _is_native(self, schema: Any) -> bool:
        """Return whether pydantic's own limits are exact here: for a `Number`, and integers small
        enough for a double.
        """
        if schema["type"] != "union" or not self.limits.keys() <= _NATIVE.keys():
            return False
        arms = schema["choices"]
        return (
            [arm["type"] for arm in arms] == ["int", "float"]
            and not any(arm.keys() & _NATIVE.values() for arm in arms)
            and all(type(x) is int and abs(x) <= 2**53 for x in self.limits.values())
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        inner = handler(schema)
        if schema["type"] == "union":
            return inner
        if inner.keys() & self.limits.keys():
            inner = {"allOf": [inner]}
        return {**inner, **self.limits}

    def check(self, value: Any) -> object:
        for name, limit in self.limits.items():
            if not self.is_within(name, limit, value):
                words = "Input should have {name} {limit}"
                context = {"name": name, "limit": limit}
                raise PydanticCustomError("out_of_bounds", words, context)
        return value

    def is_within(self, name: str, limit: Any, value: Any) -> bool:
        """Return whether a value keeps a limit, or is of a kind without this limit."""
        kind = value.__class__
        if kind is str and name == "pattern":
            return matches(self.search, value)
        if kind is list and name == "uniqueItems":
            return are_unique(to_jsonable_python(value))
        if (kind is list and name.endswith("Items")) or (
            kind is str and name.endswith("Length")
        ):
            size = len(value)
            return bool(size >= limit if name.startswith("min") else size <= limit)
        if kind in (int, float) and name in _COMPARED:
            return bool(_COMPARED[name](value, limit))
        return True


_NATIVE: Final = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
}
_COMPARED: Final[Mapping[str, Callable[[Any, Any], object]]] = {
    "minimum": lambda value, limit: value >= limit,
    "maximum": lambda value, limit: value <= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
    "exclusiveMaximum": lambda value, limit: value < limit,
    "multipleOf": is_multiple,
}


class _Union:
    """A union with a name: `Annotated` to pydantic, a union for `isinstance` and `|`."""

    # Pydantic recognizes `Annotated` by its class, which supports neither `isinstance` nor a name.
    # So this object claims that class, and adds both.

    def __init__(self, name: str, arms: tuple[Any, ...], marked: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self._marked = marked
        origins = {arm: get_origin(arm) or arm for arm in arms}
        self._classes = tuple(of for of in origins.values() if of is not Literal)
        self._literals = [
            x for arm, of in origins.items() if of is Literal for x in get_args(arm)
        ]

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            return type(self._marked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._marked, name)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._classes) or value in self._literals

    def __or__(self, other: Any) -> Any:
        return self._marked | other

    def __ror__(self, other: Any) -> Any:
        return other | self._marked

    def __repr__(self) -> str:
        return f"{self.__module__}.{self.__name__}"

    def __reduce__(self) -> str:
        return self.__name__


def name_unions(module: dict[str, Any], tags: Mapping[str, str]) -> None:
    """Replace each union of a module by a named one, which pydantic reads as `decode` does.

    `tags` has for each union the member with which its models are told apart, or an empty text.
    """
    for name, tag in tags.items():
        alias = module[name]
        if (
            get_origin(alias) is Annotated
        ):  # a bounded union: the bounds are in its mark
            alias = alias.__origin__
        arms = get_args(alias)
        union = module[name] = _Union(name, arms, _mark_union(arms, tag))
        union.__module__ = module["__name__"]


def _mark_union(arms: tuple[Any, ...], tag: str) -> Any:
    """Return a union with marks: models by their tag first, then the other arms in order."""
    models = tuple(arm for arm in arms if tag and hasattr(arm, "__pydantic_fields__"))
    tagged = [Annotated[_either(models), Discriminator(tag)]] if models else []
    others = [arm for arm in arms if arm not in models]
    return Annotated[_either((*tagged, *others)), ORDERED] if others else tagged[0]


def _either(arms: tuple[Any, ...]) -> Any:
    return reduce(lambda one, other: one | other, arms)
