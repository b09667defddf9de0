"""What the classes of a flavour are made of: frozen values, rows of methods, PEP 702's mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    TypeVar,
    dataclass_transform,
)

from .faults import KINDS
from .values import EMPTY, UNSET, Json

__all__ = ["Frozen", "Method", "Record", "deprecated", "fill", "new", "set_"]

_T = TypeVar("_T")


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Frozen:
    """Values made by keyword, that cannot be changed, compared and printed by member.

    An instance holds the members that are there, among them those that its class presets though a
    base requires them; the others it reads from its class.
    """

    _absent: ClassVar[object] = UNSET
    _order: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()
    _preset: ClassVar[Mapping[str, Any]] = EMPTY

    def __init_subclass__(cls) -> None:
        own: dict[str, str] = cls.__annotations__
        members = [
            name for name, kind in own.items() if not kind.startswith("ClassVar")
        ]
        cls._order = (*cls._order, *members)
        cls._names = frozenset(cls._order)
        lacked = {*cls._required, *cls._preset}
        cls._required = frozenset(name for name in cls._order if not hasattr(cls, name))
        cls._preset = {n: getattr(cls, n) for n in lacked - cls._required} or EMPTY

    if not TYPE_CHECKING:

        def __init__(self, /, **members: Any) -> None:
            given = {k: v for k, v in members.items() if v is not self._absent}
            if not (self._required <= given.keys() and members.keys() <= self._names):
                raise self._refusal(given, members)
            fill(self, {**self._preset, **given} if self._preset else given)

        def __setattr__(self, name: str, value: object) -> None:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _refusal(
        self, given: Mapping[str, Any], members: Mapping[str, Any]
    ) -> TypeError:
        name = type(self).__name__
        unknown = ", ".join(sorted(members.keys() - self._names))
        if unknown:
            return TypeError(f"{name}() got an unexpected keyword argument: {unknown}")
        missing = ", ".join(sorted(self._required - given.keys()))
        return TypeError(f"{name}() lacks keyword arguments: {missing}")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._order)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        members = zip(self._order, self._values(), strict=True)
        text = ", ".join(f"{name}={value!r}" for name, value in members if set_(value))
        return f"{type(self).__name__}({text})"


class Record(Frozen):
    """The base of the dataclasses.

    Each subclass is a dataclass of the standard library, without the methods that it would compile
    for every class anew.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)


def set_(value: object) -> bool:
    """Whether a member is worth printing."""
    return value is not EMPTY and KINDS.get(value.__class__) != "nothing"


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

    `position` is params or result; `forgives` are the faults that are repaired: absent, negative.
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


new = object.__new__
_attributes: Final = Frozen.__dict__["__dict__"]
fill: Final[Callable[[object, dict[str, Json]], None]] = _attributes.__set__
"""Sets the members of a new instance, all at once."""
