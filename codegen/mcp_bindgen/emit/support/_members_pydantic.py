"""Members of the pydantic models that a class holds: constants, and members that may be absent."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo

from ._types_pydantic import ABSENT, UNSET
from ._wire.values import Json

__all__ = ["ConstantMember", "OptionalMember", "default_of"]


class OptionalMember:
    """An optional member. It reads as UNSET if pydantic keeps its own word for absent."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, cls: type[Any]) -> object:
        try:
            value = instance.__dict__[self.name]
        except KeyError:
            raise AttributeError(self.name) from None
        return UNSET if value is ABSENT else value

    def __set__(self, instance: object, value: object) -> None:
        """Store a value; only a subclass that is not frozen comes here."""
        instance.__dict__[self.name] = value


class ConstantMember:
    """A constant member. Hidden while pydantic makes a subclass, or it would be a default."""

    def __init__(self, value: Json) -> None:
        self.value = value

    def __get__(self, instance: object, cls: type[Any]) -> Json:
        if "__pydantic_fields__" not in cls.__dict__:
            raise AttributeError
        return self.value


def default_of(field: FieldInfo) -> object:
    """Return the default that users see: UNSET for a member that may be absent."""
    default: object = field.get_default()
    return UNSET if default is ABSENT else default
