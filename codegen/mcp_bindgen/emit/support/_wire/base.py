"""What the classes of a flavour are made of: frozen values, and those that keep their JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, ClassVar, Final, dataclass_transform

from .faults import KINDS
from .members import settled
from .readers import extras
from .signature import Signature, order_of
from .values import EMPTY, UNSET, Json


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Frozen:
    """Values made by keyword, that cannot be changed, compared and printed by member.

    An instance holds the members that are there, among them those that its class presets though a
    base requires them; the others it reads from its class.
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
            members = settled(cls, members, order_of)
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
        text = ", ".join(f"{name}={value!r}" for name, value in members if shown(value))
        return f"{type(self).__name__}({text})"


def _is_of_class(annotation: str) -> bool:
    return annotation.partition("[")[0].rpartition(".")[2] == "ClassVar"


new = object.__new__
_attributes: Final = Frozen.__dict__["__dict__"]
fill: Final[Callable[[object, dict[str, Json]], None]] = _attributes.__set__
"""Sets the members of a new instance, all at once."""


def shown(value: object) -> bool:
    """Return whether a member is worth printing."""
    return value is not EMPTY and KINDS.get(value.__class__) != "nothing"


# ---- values that keep what they were read from


class Kept(Frozen):
    """The base of open objects, of which most members are JSON that few ask for.

    `wire_` is the JSON that such an object was read from, where that is all it holds: its members
    are then read when they are first asked for, and it is written as it is. It is None where the
    object holds members of its own.
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
    """A copy of a kept object, as `copy` and `pickle` make one."""
    made = new(cls)
    fill(made, {**members})
    keep(made, wire)
    return made


keep: Final[Callable[[Kept, Json], None]] = Kept.__dict__["wire_"].__set__
"""Sets `wire_`."""


if TYPE_CHECKING:

    def Late(wire: str) -> Any: ...  # noqa: N802 - a class below
    def Rest(*wires: str) -> Any: ...  # noqa: N802 - a class below

else:

    class Late:
        """An optional member that is read from `wire_` when it is first asked for."""

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
        """The members with other names; as they may be changed, the value then holds all itself."""

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
