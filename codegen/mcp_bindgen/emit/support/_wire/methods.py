"""Tables of methods, errors and tolerances, the base of typed calls, and PEP 702's `deprecated`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .values import Json

__all__ = [
    "Calls",
    "ErrorCode",
    "Method",
    "Tolerance",
    "deprecated",
    "types_by_method",
]

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


class ErrorCode(NamedTuple):
    """An error code of the protocol, with its types by name.

    `name` is the constant of the code; `error` is the type of the error object and `data` that of
    its member, each None where the schema declares none.
    """

    code: int
    name: str
    error: str | None
    data: str | None


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


class Calls(ABC):
    """The base of typed calls. A subclass sends messages over its transport."""

    @abstractmethod
    async def request(self, method: str, params: object) -> object:
        """Send a request with `encode(params)`, or without params if None.

        Return its result, read by `decode_result`.
        """

    @abstractmethod
    async def notify(self, method: str, params: object) -> None:
        """Send a notification with `encode(params)`, or without params if None."""


def types_by_method(
    names: Mapping[str, str], *modules: ModuleType
) -> Mapping[str, object]:
    """Return the types with these names, each from the first module which has it."""
    types: dict[str, object] = {}
    for module in modules[::-1]:
        types |= vars(module)
    return {method: types[name] for method, name in names.items()}


if TYPE_CHECKING:
    from typing_extensions import deprecated
else:

    def deprecated(message: str) -> Callable[[_T], _T]:
        """Mark a function as deprecated, for type checkers and `__deprecated__`."""

        def mark(function: _T) -> _T:
            function.__deprecated__ = message
            return function

        return mark
