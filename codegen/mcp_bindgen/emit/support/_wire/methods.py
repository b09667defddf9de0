"""Rows of the tables of methods and tolerances, and the `deprecated` decorator of PEP 702."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .values import Json

__all__ = ["Method", "Tolerance", "deprecated"]

_T = TypeVar("_T")


class Method(NamedTuple):
    """A method of the protocol, with its types by name.

    `kind` is request or notification; `direction` client-to-server, server-to-client, both or
    input-request; `capability` the path of the required capability, or empty; `era` handshake or
    per-request.
    """

    name: str
    kind: str
    direction: str
    message: str
    params: str | None
    params_required: bool
    results: tuple[str, ...]
    capability: str
    era: str


class Tolerance(NamedTuple):
    """A repair of a common fault of peers: `member` of a message to `reader` is set to `value`.

    `position` is params or result. `forgives` names the faults: absent, negative, item, every item.
    The last two drop wrong items of an array, and have no `value`: `item` demands that one is left,
    `every item` may drop all.
    """

    reader: str
    position: str
    member: str
    value: Json
    forgives: tuple[str, ...]


if TYPE_CHECKING:
    from typing_extensions import deprecated
else:

    def deprecated(message: str) -> Callable[[_T], _T]:
        """Mark a function as deprecated, for type checkers and `__deprecated__`."""

        def mark(function: _T) -> _T:
            function.__deprecated__ = message
            return function

        return mark
