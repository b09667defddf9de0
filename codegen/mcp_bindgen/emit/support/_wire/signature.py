"""The `__signature__` of a class: its members as arguments by keyword."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

order_of: Final[Callable[[Any], tuple[str, ...]]] = attrgetter("_order")
"""Returns the members of a class in their order."""


class Signature:
    """A descriptor which makes the signature at each use; only tools use it."""

    def __get__(self, value: object, cls: type[Any]) -> Any:
        import inspect

        notes: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            notes |= inspect.get_annotations(base)
        empty = inspect.Parameter.empty
        members = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(cls, name, empty),
                annotation=notes[name],
            )
            for name in order_of(cls)
        ]
        return inspect.Signature(members)
