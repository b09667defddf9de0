"""Base classes of the models: `Frozen` values, and `Kept` objects with the JSON of their origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, ClassVar, Final, dataclass_transform

from .faults import KINDS
from .members import check_members
from .readers import extras
from .signature import Signature, order_of
from .values import EMPTY, UNSET, Json


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Frozen:
    """A value made by keyword and never changed; compared, hashed and printed by its members.

    An instance stores its present members, and each member for which its class has a default though
    a base requires it. Every other member is read from the class.
    """

    _order: ClassVar[tuple[str, ...]] = ()
    _required: ClassVar[frozenset[str]] = frozenset()
    _preset: ClassVar[Mapping[str, Any]] = EMPTY

    def __init_subclass__(cls) -> None:
        own: dict[str, Any] = cls.__annotations__  # types, unless they are postponed
        members = [name for name, kind in own.items() if not _is_of_class(str(kind))]
        cls._order = tuple(dict.fromkeys((*cls._order, *members)))
        lacked = {*cls._required, *cls._preset}
        cls._required = frozenset(n for n in cls._order if not hasattr(cls, n))
        cls._preset = {n: getattr(cls, n) for n in lacked - cls._required} or EMPTY

    if not TYPE_CHECKING:
        __signature__ = Signature()

        def __init__(self, /, **members: Any) -> None:
            cls = self.__class__
            members = check_members(cls, members, order_of)
            if not self._required <= members.keys():
                lacking = ", ".join(sorted(self._required - members.keys()))
                raise TypeError(f"{cls.__name__}() lacks keyword arguments: {lacking}")
            fill(self, {**self._preset, **members} if self._preset else members)

        def __setattr__(self, name: str, value: object) -> None:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise FrozenInstanceError(f"cannot delete field {name!r}")

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
        text = ", ".join(
            f"{name}={value!r}" for name, value in members if is_shown(value)
        )
        return f"{type(self).__name__}({text})"


def _is_of_class(annotation: str) -> bool:
    return annotation.partition("[")[0].rpartition(".")[2] == "ClassVar"


new = object.__new__
_attributes: Final = Frozen.__dict__["__dict__"]
fill: Final[Callable[[object, dict[str, Json]], None]] = _attributes.__set__
"""Set all members of a new instance at once."""


def is_shown(value: object) -> bool:
    """Return whether `repr` shows a member: it does unless the member is absent."""
    return value is not EMPTY and KINDS.get(value.__class__) != "nothing"


# ---- values with the JSON of their origin


class Kept(Frozen):
    """The base of open objects. Most of their members are plain JSON and rarely used.

    `wire_` is the JSON of an object fresh from the decoder: each member is read from it at its
    first use, and the object is written as `wire_` stands. It is None once the object stores its
    members itself.
    """

    __slots__ = ("wire_",)
    if TYPE_CHECKING:
        wire_: ClassVar[Json]  # an attribute of each object, but no argument
    else:

        def __init__(self, /, **members: Any) -> None:
            keep(self, None)
            super().__init__(**members)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.__dict__, self.wire_)


def _again(cls: type[Kept], members: Mapping[str, Json], wire: Json) -> Kept:
    """Rebuild an object for `copy` and `pickle`."""
    made = new(cls)
    fill(made, {**members})
    keep(made, wire)
    return made


keep: Final[Callable[[Kept, Json], None]] = Kept.__dict__["wire_"].__set__
"""Set `wire_` of an object."""


if TYPE_CHECKING:

    def Late(wire: str) -> Any: ...  # noqa: N802 - a class below
    def Rest(*wires: str) -> Any: ...  # noqa: N802 - a class below

else:

    class Late:
        """An optional member. Its first use reads it from `wire_`."""

        absent = UNSET

        def __init__(self, *wires: str) -> None:
            self.wires = wires

        def __set_name__(self, owner: type[Kept], name: str) -> None:
            self.name = name

        def __get__(self, value: Kept | None, owner: type[Kept]) -> Json:
            wire = None if value is None else value.wire_
            member = self.absent if wire is None else self.read(wire)
            if member is not self.absent:
                value.__dict__[self.name] = member
            return member

        def read(self, wire: Json) -> Json:
            return wire.get(self.wires[0], self.absent)

    class Rest(Late):
        """The unknown members. A caller may change this dict, so its first use drops `wire_`."""

        absent = EMPTY

        def __get__(self, value: Kept | None, owner: type[Kept]) -> Json:
            member = super().__get__(value, owner)
            if member and value.wire_ is not None:
                for name in value._order:
                    getattr(value, name)
                keep(value, None)
            return member

        def read(self, wire: Json) -> Json:
            return extras(wire, frozenset(self.wires), None) or EMPTY
