"""A base of classes with type arguments, as in `Context[ServerSession, AppState]`."""

from __future__ import annotations

from types import GenericAlias
from typing import Any


class Subscriptable:
    """A class with any number of types in brackets."""

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(cls, item)
