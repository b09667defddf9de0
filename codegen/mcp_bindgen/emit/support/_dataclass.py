"""The bases of the dataclass models. Their methods are shared by all classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any

from ._wire.base import Frozen, Kept

__all__ = ["KeptRecord", "Record"]


class Record(Frozen):
    """The base of the models.

    Each subclass is a dataclass of the standard library with the methods of this base: `dataclass`
    would compile new ones for every class.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        is_ours = Record in cls.__bases__ or KeptRecord in cls.__bases__
        has_own = cls.__init__ not in (Frozen.__init__, Kept.__init__)
        if not is_ours and not has_own and _is_finished(cls):
            type.__setattr__(cls, "__init__", _make)


class KeptRecord(Kept, Record):
    """The base of open objects, with the JSON of their origin."""


def _is_finished(cls: type[Record]) -> bool:
    """Return whether a class has default factories or a `__post_init__`."""
    makes = any(each.default_factory is not MISSING for each in fields(cls))
    return makes or hasattr(cls, "__post_init__")


def _make(self: Record, /, **members: Any) -> None:
    """Call default factories, the constructor and `__post_init__`, for a subclass of yours."""
    for each in fields(self):
        if each.default_factory is not MISSING and each.name not in members:
            members[each.name] = each.default_factory()
    init: Any = Kept.__init__ if isinstance(self, Kept) else Frozen.__init__
    init(self, **members)
    finish: Callable[[], None] | None = getattr(self, "__post_init__", None)
    if finish is not None:
        finish()
