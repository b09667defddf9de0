"""Copies defaults of a dataclass into objects decoded by msgspec.

msgspec leaves a default in the class, so it is missing in the object's `__dict__`, and later in its
JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, Final, cast

import msgspec

_PLAIN: Final = frozenset((str, int, float, bool, bytes, NoneType))


def class_defaults(cls: Any) -> Mapping[str, Any]:
    """Return the plain defaults of a dataclass by member name; none for another type."""
    if not dataclasses.is_dataclass(cls):
        return {}
    fields = [field for field in dataclasses.fields(cls) if field.init]
    return {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}


def fill_class_defaults(value: Any) -> None:
    """Set missing defaults in all dataclasses inside a decoded value."""
    for inner in _inner(value):
        if inner.__class__ not in _PLAIN:
            fill_class_defaults(inner)
    own: dict[str, Any] = getattr(value, "__dict__", {})  # with slots, msgspec has set them
    for name, default in class_defaults(type(value)).items():
        own.setdefault(name, default)


def _inner(value: Any) -> Iterable[Any]:
    if value.__class__ is dict:
        return value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return cast("Iterable[Any]", value)
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return ()
