"""What the msgspec flavours share: the bases of the models, and their two gears.

The native decoder takes what declares all its members. What it refuses, and what it cannot say
(unions without a tag, constants, open objects), goes to the codecs, which decide and say where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    NoReturn,
    TypeAlias,
    TypeVar,
)

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from ._wire import (
    EMPTY,
    KINDS,
    At,
    EncodeError,
    Frozen,
    Json,
    extras,
    fault,
    fill,
    is_json,
    new,
)

__all__ = [
    "UNSET",
    "Bare",
    "Checked",
    "Late",
    "Model",
    "Open",
    "Rest",
    "Unset",
    "decoder",
    "encoder",
    "keep",
    "make",
    "refused",
    "write",
]

_T = TypeVar("_T")

Unset: TypeAlias = UnsetType
KINDS[UnsetType] = "nothing"

EXTRA: Final = "$null$"
"""The name under which the native encoder writes unknown members: found as a null is."""


class _AnyInstance(type):
    """A class of which everything is an instance: what the codecs return is right by itself."""

    of: ClassVar[object]

    def __instancecheck__(cls, instance: object) -> bool:
        return True


if TYPE_CHECKING:
    Checked: TypeAlias = Annotated[_T, "read by a codec"]
    Extra: TypeAlias = Mapping[str, Any]
else:

    class Checked:
        """A type that the native decoder leaves to the hook, and so to a codec."""

        _made: ClassVar[dict[object, type]] = {}

        def __class_getitem__(cls, of: object) -> type:
            if of not in cls._made:
                cls._made[of] = _AnyInstance("Checked", (), {"of": of})
            return cls._made[of]

    Extra = Checked[None]


def _unknown(obj: Json, at: At) -> NoReturn:
    raise ValueError("unknown members are for the codec")


class Demanding(msgspec.StructMeta):
    """Has a class refuse UNSET for a required member, which the native encoder would leave out.

    It costs a fifth of a microsecond where a person makes a value; the decoder and the codecs know
    what they found, and the encoder is not asked.
    """

    if not TYPE_CHECKING:

        def __call__(cls, /, **members: Any) -> Any:
            for value in members.values():
                if value is UNSET:
                    _demand(cls, members)
                    break
            return _make(cls, **members)


_make: Final[Callable[..., Any]] = msgspec.StructMeta.__call__


def make(cls: type[_T], members: dict[str, Json]) -> _T:
    """An instance with these members; the checks were made."""
    made: _T = _make(cls, **members)
    return made


@cache
def _required(cls: type[Struct]) -> frozenset[str]:
    return frozenset(f.name for f in msgspec.structs.fields(cls) if f.required)


def _demand(cls: type[Struct], members: Mapping[str, Any]) -> None:
    """Raises TypeError if a required member is UNSET."""
    lacking = [name for name in _required(cls) if members.get(name) is UNSET]
    if lacking:
        names = ", ".join(sorted(lacking))
        raise TypeError(f"{cls.__name__}() lacks keyword arguments: {names}")


class Bare(
    Struct,
    metaclass=Demanding,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The base of models that keep no unknown members."""

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        shown = (f"{n}={v!r}" for n, v in values if v is not UNSET and v is not EMPTY)
        return f"{type(self).__name__}({', '.join(shown)})"


class Model(Bare, frozen=True, kw_only=True):
    """The base of the models; unknown members are in `extra_`."""

    extra_: Extra = field(default=EMPTY, name=EXTRA)


class Open(Frozen):
    """The base of what the native gear cannot read or write: such an object has its codec only.

    `wire_` is the JSON it was read from, where that is all it holds; then it is written as it is.
    """

    __slots__ = ("wire_",)
    _absent: ClassVar[object] = UNSET
    if TYPE_CHECKING:
        wire_: ClassVar[Json]  # an attribute of each object, but no argument

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.__dict__, getattr(self, "wire_", None))


def _again(cls: type[Open], members: Mapping[str, Json], wire: Json) -> Open:
    """A copy of an open object, as `copy` and `pickle` make one."""
    made = new(cls)
    fill(made, {**members})
    if wire is not None:
        keep(made, wire)
    return made


keep: Final[Callable[[Open, Json], None]] = Open.__dict__["wire_"].__set__
"""Sets `wire_`."""
_let_go: Final[Callable[[Open], None]] = Open.__dict__["wire_"].__delete__


if TYPE_CHECKING:

    def Late(wire: str) -> Any: ...  # noqa: N802
    def Rest(*wires: str) -> Any: ...  # noqa: N802

else:

    class Late:
        """An optional member that is read from `wire_` when it is first asked for."""

        absent = UNSET

        def __init__(self, *wires: str) -> None:
            self.wires = wires

        def __set_name__(self, owner: type[Open], name: str) -> None:
            self.name = name

        def __get__(self, value: Open | None, owner: type[Open]) -> Json:
            if value is None:
                return self.absent
            wire = getattr(value, "wire_", None)
            found = self.absent if wire is None else self.read(wire)
            value.__dict__[self.name] = found
            return found

        def read(self, wire: Json) -> Json:
            return wire.get(self.wires[0], UNSET)

    class Rest(Late):
        """The members with other names; as they may be changed, the value then holds all itself."""

        absent = EMPTY

        def __get__(self, value: Open | None, owner: type[Open]) -> Json:
            found = super().__get__(value, owner)
            if found and getattr(value, "wire_", None) is not None:
                for name in value._order:
                    getattr(value, name)
                _let_go(value)
            return found

        def read(self, wire: Json) -> Json:
            return extras(wire, frozenset(self.wires), None) or EMPTY


def decoder(
    T: Any, readers: Mapping[object, Callable[[Json, At], Json]]
) -> Callable[[Any], Any]:
    """The native decoder of a type; a lone struct is read as one of two, so that its tag counts."""

    found: dict[Any, Callable[[Json, At], Json]] = {Extra: _unknown}

    def hook(cls: Any, obj: Json) -> Json:
        read = found.get(cls)
        if read is None:
            read = found[cls] = readers[getattr(cls, "of", cls)]
        return read(obj, None)

    return msgspec.json.Decoder(_with_tag(T), dec_hook=hook).decode


def _with_tag(T: Any) -> Any:
    """A tagged struct beside one that nothing satisfies: in a union a tag must be there."""
    config = getattr(T, "__struct_config__", None)
    if config is None or config.tag is None:
        return T
    tag: Any = config.tag + 1 if isinstance(config.tag, int) else f"not {config.tag}"
    member: Any = ("extra_", Extra, field(name=EXTRA))
    never = msgspec.defstruct("Never", [member], tag_field=config.tag_field, tag=tag)
    return T | never


def encoder(to_wire: Callable[[object], Json]) -> Callable[[object], bytes]:
    """The native encoder."""

    def hook(value: object) -> Json:
        if isinstance(value, Open):
            wire = getattr(value, "wire_", None)
            return to_wire(value) if wire is None else wire
        raise TypeError(type(value).__name__)

    return msgspec.json.Encoder(enc_hook=hook).encode


_plain: Final = msgspec.json.Encoder().encode


def write(value: Json) -> bytes:
    """Parsed JSON as text. Raises EncodeError, with the path, for what is not JSON."""
    try:
        if is_json(value):
            return _plain(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        pass
    raise fault(value)


def refused(value: Any, to_wire: Callable[[object], Json]) -> EncodeError:
    """Why a value could not be written."""
    try:
        return fault(to_wire(value))
    except EncodeError as error:
        return error
