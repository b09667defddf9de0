"""The bases of the dataclasses: dataclasses of the standard library, whose methods are shared."""

from __future__ import annotations

from dataclasses import dataclass

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


class KeptRecord(Kept, Record):
    """A dataclass that keeps the JSON that it was read from."""
