"""The bases of the dataclasses: dataclasses of the standard library, whose methods are shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any

from ._wire.base import Frozen, Kept

__all__ = ["KeptRecord", "Record"]


class Record(Frozen):
    """The base of the dataclasses.

    Each subclass is a dataclass of the standard library, without the methods that it would compile
    for every class anew.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        is_ours = Record in cls.__bases__ or KeptRecord in cls.__bases__
        if not is_ours and "__init__" not in vars(cls):
            type.__setattr__(cls, "__init__", _constructor(cls))


class KeptRecord(Kept, Record):
    """A dataclass that keeps the JSON that it was read from."""


def _constructor(cls: type[Record]) -> Callable[..., None]:
    """For a subclass of yours: with its default factories, and with `__post_init__`."""
    made = [f for f in fields(cls) if f.default_factory is not MISSING]
    makers: dict[str, Any] = {f.name: f.default_factory for f in made}

    def make(self: Record, /, **members: Any) -> None:
        defaults = {name: new() for name, new in makers.items() if name not in members}
        init: Any = Kept.__init__ if isinstance(self, Kept) else Frozen.__init__
        init(self, **defaults, **members)
        finish: Callable[[], None] | None = getattr(self, "__post_init__", None)
        if finish is not None:
            finish()

    return make
