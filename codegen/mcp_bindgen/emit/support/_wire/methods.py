"""Rows of the tables of methods and of tolerances, and PEP 702's mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .values import Json

__all__ = ["Method", "Tolerance", "deprecated"]

_T = TypeVar("_T")


class Method(NamedTuple):
    """A method of the protocol; types by name.

    `direction` is client-to-server, server-to-client, both, or input-request; `kind` request or
    notification; `capability` the path of the capability that it needs, empty for none; `era`
    handshake or per-request.
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
    """A fault of peers that is repaired: in a body that `reader` receives, `member` gets `value`.

    `position` is params or result; `forgives` are the faults that are repaired: absent, negative;
    item, where `member` is an array and loses the items that do not fit, and every item, where it
    may lose all of them. Those two have no value.
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
        """Marks a function as PEP 702 has it, for type checkers and readers."""

        def mark(function: _T) -> _T:
            function.__deprecated__ = message
            return function

        return mark
