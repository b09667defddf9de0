"""The base of the pydantic models, and the functions which read and write JSON.

There is no `from __future__ import annotations` here: pydantic would compile each text again for
every model.
"""

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import (
    PydanticCustomError,
    PydanticSerializationError,
    SchemaSerializer,
    core_schema,
)

from ._constructor_pydantic import MAKERS, complete_arguments, wires
from ._members_pydantic import ConstantMember, OptionalMember, default_of
from ._types_pydantic import ABSENT, UNSET, is_absent
from ._wire.bounds import is_name
from ._wire.faults import DecodeError, EncodeError, fault, unending
from ._wire.readers import check_json
from ._wire.text import check_depth, dump, parse
from ._wire.values import EMPTY, GIVEN, MAX_DEPTH, MAX_DIGITS, Json

__all__ = ["KeyedModel", "KeyedRows", "Model"]


@cache
def _signature(cls: "type[Model]") -> Signature:
    cls.model_rebuild()  # before it, annotations may name classes which are defined later
    fields = {name: cls.model_fields[name] for name in wires(cls)}
    parameters = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.is_required() else default_of(field),
            annotation=field.rebuild_annotation(),
        )
        for name, field in fields.items()
    ]
    extra = Parameter(
        "extra_", Parameter.KEYWORD_ONLY, default=EMPTY, annotation=Mapping[str, Any]
    )
    return Signature([*parameters, extra], return_annotation=None)


if TYPE_CHECKING:
    _Base = BaseModel
else:

    class _Metaclass(type(BaseModel)):
        """Adds the signature of our constructor, and completes the types of the fields."""

        def __new__(
            mcs, name: str, bases: tuple[Any, ...], members: Any, **options: Any
        ) -> type:
            # An unfinished base names classes of its own module, not of the subclass's.
            here = (__name__, members.get("__module__"))
            for base in bases:
                if isinstance(base, mcs) and base.__module__ not in here:
                    base.model_rebuild()
            return super().__new__(mcs, name, bases, members, **options)

        @property
        def model_fields(cls) -> dict[str, Any]:
            """The fields, for tools, with types in the place of annotations as text."""
            if not cls.__pydantic_fields_complete__:
                cls.model_rebuild(raise_errors=False)
            return cls.__pydantic_fields__

        @property
        def __signature__(cls) -> Signature:
            if cls.__init__ is not Model.__init__:
                raise AttributeError
            return _signature(cls)

        @__signature__.setter
        def __signature__(cls, value: object) -> None:
            """Ignore the signature which pydantic sets."""

    class _Base(BaseModel, metaclass=_Metaclass, defer_build=True):
        pass


class Model(_Base, frozen=True):
    """The base of the models.

    `const_` has the constant members by wire name. Unknown members of a message are in `extra_`; an
    unknown argument raises TypeError.
    """

    model_config = ConfigDict(
        strict=True,
        extra="allow",
        validate_by_alias=True,
        validate_by_name=False,
        serialize_by_alias=True,
        polymorphic_serialization=True,
        allow_inf_nan=False,
        ser_json_inf_nan="constants",
        protected_namespaces=(),
        defer_build=True,
    )
    const_: ClassVar[Mapping[str, Json]] = {}

    if TYPE_CHECKING:
        extra_: Mapping[str, Any] = EMPTY
    else:
        __pydantic_extra__: dict[str, Any] = Field(init=False)

        @property
        def extra_(self) -> Mapping[str, Any]:
            return self.__pydantic_extra__ or EMPTY

        def __init__(self, /, **members: Any):
            make, constants = MAKERS[type(self)]
            if constants or "extra_" in members:
                members = complete_arguments(self.__class__, members, constants)
            try:
                make(members, self_instance=self)
            except ValidationError:
                if not any(map(is_absent, members.values())):
                    raise
            else:
                return
            given = {n: value for n, value in members.items() if not is_absent(value)}
            make(given, self_instance=self)

        # pydantic calls the __init__ of each nested model, unless it has pydantic's own mark.
        __init__.__pydantic_base_init__ = True

        @classmethod
        def model_construct(cls, _fields_set: set[str] | None = None, **members: Any):
            """Make a model without validation. The constant members are set all the same."""
            wires = {n: f.validation_alias or n for n, f in cls.model_fields.items()}
            named = {wires.get(n, n): v for n, v in members.items() if v is not UNSET}
            extra = named.pop("extra_", EMPTY)
            return super().model_construct(
                _fields_set, **{**cls.const_, **named, **extra}
            )

        def model_copy(
            self, *, update: Mapping[str, Any] | None = None, deep: bool = False
        ):
            """Copy without validation. `extra_` in `update` replaces all unknown members."""
            given = {n: ABSENT if v is UNSET else v for n, v in (update or {}).items()}
            copied = super().model_copy(update=given, deep=deep)
            if update and "extra_" in update:
                object.__setattr__(copied, "__pydantic_extra__", {**update["extra_"]})
                copied.__pydantic_fields_set__.discard("extra_")
            return copied

        @classmethod
        def __pydantic_init_subclass__(cls, **options: Any) -> None:
            # FastAPI needs the TypeAdapter of a class complete, so it must not be deferred.
            cls.model_config["defer_build"] = False
            for name, field in cls.__pydantic_fields__.items():
                wire = field.validation_alias or name
                if wire in cls.const_:
                    setattr(cls, name, ConstantMember(cls.const_[wire]))
                elif field.default is ABSENT:
                    setattr(cls, name, OptionalMember(name))

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, ABSENT if value is UNSET else value)

        def __iter__(self):
            for name, value in super().__iter__():
                yield name, UNSET if value is ABSENT else value

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Return the arguments which would make this model."""
        members = [(n, getattr(self, n, UNSET)) for n in wires(type(self))]
        unknown = [("extra_", self.extra_)] if self.extra_ else []
        return [*((n, value) for n, value in members if value is not UNSET), *unknown]


KeyedRows: TypeAlias = tuple[tuple[str | None, str | None, int | None, Any], ...]


class KeyedModel(Model, frozen=True):
    """A model with types of unknown members by patterns of their names.

    `keyed_` returns a row for each pattern: the pattern in JSON Schema's syntax and in Python's,
    the longest name to try, and the type. In the last row the patterns are None, and the type is
    for names without a match.
    """

    @classmethod
    def keyed_(cls) -> KeyedRows:
        raise NotImplementedError

    if not TYPE_CHECKING:

        @model_validator(mode="after")
        def _check_keyed(self) -> "KeyedModel":
            members = self.__pydantic_extra__ or {}
            *keyed, (_, _, rest) = _pattern_readers(type(self))
            for name, value in [*members.items()]:
                named = [
                    read
                    for pattern, longest, read in keyed
                    if is_name(pattern, longest, name, _name_error)
                ]
                values = [read(value) for read in named or [rest]]
                members[name] = values[0]
            return self

        @classmethod
        def __get_pydantic_json_schema__(
            cls, schema: Any, handler: GetJsonSchemaHandler
        ) -> dict[str, Any]:
            made = handler(schema)
            own = handler.resolve_ref_schema(made)
            *keyed, (_, _, _, rest) = cls.keyed_()

            def of(T: Any) -> Any:
                # pydantic omits bounds around a type from its schema, unless it is inside another.
                return handler(core_schema.list_schema(_core(T))).get("items", True)

            own["patternProperties"] = {p: of(T) for p, _, _, T in keyed}
            own["additionalProperties"] = True if rest is Any else of(rest)
            if longest := [most for _, _, most, _ in keyed if most is not None]:
                own["propertyNames"] = {"maxLength": min(longest)}
            return made


def _core(T: Any) -> Any:
    """Return pydantic's core schema of a type."""
    return T.__pydantic_core_schema__ if _is_model(T) else _adapter(T).core_schema


@cache
def _pattern_readers(
    cls: "type[KeyedModel]",
) -> tuple[tuple[Any, int | None, Any], ...]:
    """Return rows of a pattern, the longest name, and the function which validates a value."""
    rows = cls.keyed_()
    return tuple(
        (p, longest, validator(T).validate_python) for _, p, longest, T in rows
    )


def _name_error(words: str) -> PydanticCustomError:
    return PydanticCustomError(
        "name_too_long", "Input should have {words}", {"words": words}
    )


_CONFIG: Final = ConfigDict(strict=True, allow_inf_nan=False)


@cache
def _adapter(T: Any) -> TypeAdapter[Any]:
    return TypeAdapter(T, config=_CONFIG)


def validator(T: Any) -> Any:
    """Return pydantic's validator of a model or an alias."""
    return T.__pydantic_validator__ if _is_model(T) else _adapter(T).validator


def _is_model(T: object) -> bool:
    return isinstance(T, type) and issubclass(T, Model)


_READ: Final[dict[object, Callable[..., Any]]] = {}


def _reader(T: Any) -> Callable[..., Any]:
    _READ[T] = validator(T).validate_json
    return _READ[T]


def read_text(T: Any, data: Any, explain: Callable[[Any, Json], object]) -> Any:
    """Read a value of type `T` from JSON text; `explain` reads refused JSON to find the place.

    Raises DecodeError.
    """
    # Of members with one name, the last counts. pydantic checks all of them in a map, so a refused
    # text is read again without the others. In a model it checks only the last, so the text is
    # searched for numbers beyond a double, which are refused everywhere.
    try:
        text = data if data.__class__ is bytes else _bytes(data)
        shape = text.translate(_SHAPE)
        if len(text) > 256 and shape.count(b"[") > MAX_DEPTH:
            check_depth(text)
        made = (_READ.get(T) or _reader(T))(text)
        if shape.rfind(b"0e000") >= 0 or shape.rfind(_MANY) >= 0 or _has_word(text):
            parse(text)
        return made
    except ValidationError:
        return read_object(T, parse(data), explain)
    except UnicodeError as error:
        raise DecodeError("$", "JSON in UTF-8", str(error)) from None


_SHAPE: Final = bytes.maketrans(b"123456789+E{", b"0000000000e[")
"""Makes all digits 0 and all brackets `[`. A number beyond a double has then `0e000` or many 0."""
_MANY: Final = b"0" * 32


def _bytes(data: Any) -> bytes:
    return data.encode() if isinstance(data, str) else bytes(data)


def _has_word(text: bytes) -> bool:
    """Return whether the text has NaN or Infinity, after a faster search for one letter."""
    return (_N in text and b"NaN" in text) or (_I in text and b"Infinity" in text)


_N, _I = b"NI"


def read_object(T: Any, obj: Json, explain: Callable[[Any, Json], object]) -> Any:
    """Read a value of type `T` from parsed JSON. Raises DecodeError."""
    try:
        made = validator(T).validate_python(obj)
    except ValidationError as error:
        raise _fault(error, T, obj, explain) from None
    try:
        check_json(obj, GIVEN)
    except DecodeError:
        explain(T, obj)
    return made


def _fault(
    error: ValueError, T: Any, obj: Json, explain: Callable[[Any, Json], object]
) -> DecodeError:
    try:
        explain(T, obj)
    except DecodeError as found:
        return found
    return DecodeError("$", "a valid value", str(error))


def write_text(value: object) -> bytes:
    """Write a value as JSON text. Raises EncodeError for a value without a form in JSON."""
    if not isinstance(value, Model):
        return dump(write_object(value))
    serializer: SchemaSerializer = value.__pydantic_serializer__
    try:
        text = serializer.to_json(value, warnings=False, serialize_as_any=True)
    except (PydanticSerializationError, UnicodeError, ValueError):
        raise fault(write_object(value)) from None
    return dump(write_object(value)) if _is_doubtful(text) else text


def _is_doubtful(text: bytes) -> bool:
    """Return whether pydantic's text may have NaN, infinity, UNSET or too long an integer."""
    # An integer of over 4 300 digits has four in a row among every thousandth byte of the text.
    if (_N in text or _I in text) and any(word in text for word in _NO_JSON):
        return True
    if len(text) <= MAX_DIGITS or b"0000" not in text[::1_000].translate(_ONE_DIGIT):
        return False
    return _LONG in text.translate(_ONE_DIGIT)


_NO_JSON: Final = (b"NaN", b"Infinity", b'"UNSET"')
_LONG: Final = b"0" * (MAX_DIGITS + 1)
_ONE_DIGIT: Final = bytes.maketrans(b"123456789", b"000000000")


def write_object(value: Any) -> Json:
    """Write a value as parsed JSON. Raises EncodeError."""
    try:
        return _to_json(value)
    except (RecursionError, PydanticSerializationError, ValueError) as error:
        if isinstance(error, EncodeError):
            raise
        raise unending() from None


def _to_json(value: Any) -> Json:
    if isinstance(value, Model):
        serializer: SchemaSerializer = value.__pydantic_serializer__
        return serializer.to_python(value, warnings=False, serialize_as_any=True)
    if value.__class__ in (list, tuple):
        return [_to_json(item) for item in value]
    if value.__class__ is dict:
        return {key: _to_json(item) for key, item in value.items()}
    if value.__class__ in (str, int, float, bool, type(None)):
        return value
    raise EncodeError("$", "a value of a generated type or JSON", type(value).__name__)
