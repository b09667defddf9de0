"""The constructors of the pydantic models: they check members by their Python names.

The validator of JSON makes a model of a dict. The constructor's validator refuses a dict in the
place of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import ValidationError
from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    SchemaValidator,
    core_schema,
)

from ._types_pydantic import is_absent
from ._wire.values import EMPTY, Json

if TYPE_CHECKING:
    from ._pydantic import Model

_Maker: TypeAlias = tuple[Callable[..., object], dict[str, Json]]


class _Makers(dict[type[Any], _Maker]):
    """By class: the function which makes a model of arguments, and the constant members."""

    def __missing__(self, cls: type[Model]) -> _Maker:
        made = self[cls] = _maker(cls)
        return made


MAKERS: Final = _Makers()


def _maker(cls: type[Model]) -> _Maker:
    # An inherited annotation may name what is in another module: no error yet.
    cls.model_rebuild(raise_errors=False)
    core: Any = cls.__pydantic_core_schema__
    definitions: dict[str, Any] = {d["ref"]: d for d in core.get("definitions", ())}
    schema = core["schema"] if core["type"] == "definitions" else core
    if schema["type"] == "definition-ref":
        schema = definitions[schema["schema_ref"]]
    instances = _Instances(definitions)
    others: Any = [
        {**instances.of(one), "ref": ref} for ref, one in definitions.items()
    ]
    arguments = _arguments(cls, schema, instances)
    make = SchemaValidator(core_schema.definitions_schema(arguments, others))
    aliases = _aliases(cls).items()
    constants = {name: cls.const_[wire] for name, wire in aliases if wire in cls.const_}
    return make.validate_python, constants


def complete_arguments(
    cls: type[Model], members: dict[str, Any], constants: Mapping[str, Json]
) -> dict[str, Any]:
    """Return arguments with the constants, and with a prefix before names of unknown members."""
    if not constants.keys().isdisjoint(members):
        raise _unexpected_argument(cls, constants.keys() & members.keys())
    extra = members.pop("extra_", EMPTY)
    unknown = {} if extra is EMPTY else _unknown(cls, extra)
    return {**members, **constants, **unknown}


def _unknown(cls: type[Model], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return unknown members with the prefix. Refuse declared members, and UNSET as a value."""
    extra = {**extra}  # raises TypeError unless it is a mapping
    declared = {*wires(cls).values(), *cls.const_}
    if not declared.isdisjoint(extra):
        raise _unexpected_argument(cls, ["a declared member in extra_"])
    if any(map(is_absent, extra.values())):
        error = InitErrorDetails(type=_ABSENT, loc=("extra_",), input=extra)
        raise ValidationError.from_exception_data(cls.__name__, [error])
    return {_EXTRA + name: value for name, value in extra.items()}


_ABSENT: Final = PydanticCustomError("unset", "Input should be a value, not UNSET")
_EXTRA: Final = "extra_."


def _unexpected_argument(cls: type[Model], names: Iterable[str]) -> TypeError:
    words = f"{cls.__name__} got an unexpected keyword argument: {', '.join(names)}"
    return TypeError(f"{words}; it takes {', '.join(wires(cls))}, extra_")


@cache
def wires(cls: type[Model]) -> dict[str, str]:
    """Return the wire name of each constructor argument."""
    return {n: wire for n, wire in _aliases(cls).items() if wire not in cls.const_}


def _aliases(cls: type[Model]) -> dict[str, str]:
    fields = cls.model_fields.items()
    return {name: str(field.validation_alias or name) for name, field in fields}


def _arguments(cls: type[Model], schema: Any, instances: _Instances) -> Any:
    """Return the constructor's schema of a class, with validators of subclasses around it."""
    if schema["type"] == "model-fields":
        return _fields(cls, instances.of(schema))
    inner = {**schema, "schema": _arguments(cls, schema["schema"], instances)}
    inner.pop("ref", None)
    if schema["type"] == "model":
        # For a class with a validator pydantic would use that one, and ignore this schema.
        inner["cls"] = type(cls.__name__, (), {})
    return inner


def _fields(cls: type[Model], schema: Any) -> Any:
    for name, field in schema["fields"].items():
        field["validation_alias"] = name
        default = field["schema"] if field["schema"]["type"] == "default" else field
        if default["schema"]["type"] == "any":
            default["schema"] = core_schema.no_info_plain_validator_function(_present)

    def strip_prefix(key: str) -> str:
        if not key.startswith(_EXTRA):
            raise _unexpected_argument(cls, [key])
        return key.removeprefix(_EXTRA)

    def check_names(members: dict[str, Any]) -> dict[str, Any]:
        for key in members.keys() - schema["fields"].keys():
            strip_prefix(key)
        return members

    if cls.model_config.get("extra") == "allow":
        keys = core_schema.no_info_plain_validator_function(strip_prefix)
        return {**schema, "extras_keys_schema": keys}
    return core_schema.no_info_before_validator_function(check_names, schema)


def _present(value: object) -> object:
    if is_absent(value):
        raise _ABSENT
    return value


class _Instances:
    """Rewrites core schemas to demand an instance of a model in the place of its members."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions

    def of(self, schema: Any) -> Any:
        if schema.__class__ is list:
            return [self.of(each) for each in schema]
        if schema.__class__ is tuple:  # an arm of a union, and its label in errors
            return tuple(map(self.of, schema))
        if schema.__class__ is not dict:
            return schema
        if schema.get("type") == "tagged-union":
            classes = [self.model(arm) for arm in schema["choices"].values()]
            if all(classes):
                return _any_of(classes)
        if schema.get("type") == "model" and (cls := self.model(schema)):
            return core_schema.is_instance_schema(cls)
        return {k: v if k == "metadata" else self.of(v) for k, v in schema.items()}

    def model(self, schema: Any) -> Any:
        """Return the generated model which a schema makes; None for other schemas."""
        cls = self.definitions.get(schema.get("schema_ref"), schema).get("cls")
        return cls if hasattr(cls, "const_") else None


def _any_of(classes: list[Any]) -> core_schema.CoreSchema:
    """Return a schema of instances of `classes`: a lookup by class, which beats one by tag."""
    exact: Any = {cls: core_schema.any_schema() for cls in classes}
    by_class = core_schema.tagged_union_schema(exact, type)
    return core_schema.union_schema(
        [by_class, *map(core_schema.is_instance_schema, classes)],
        mode="left_to_right",
        custom_error_type="is_instance_of",
        custom_error_context={"class": " or ".join(cls.__name__ for cls in classes)},
    )
