"""What the msgspec flavours share: the bases of the models, read by msgspec itself or by the codec.

msgspec itself reads and writes what declares all its members. What it refuses, and what it cannot
say (unions without a tag, open objects), goes to the codec, which decides and says where.
docs/BINDINGS.md has an example of each name here.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, ItemsView, Mapping
from functools import partial
from threading import Lock
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    NoReturn,
    TypeAlias,
)

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, UnsetType, field
from msgspec.structs import asdict, replace

from ._makers_msgspec import Start, constructor, defaults_of
from ._numbers_msgspec import check_numbers
from ._types_msgspec import Checked, unmarked
from ._wire.base import Kept, shown
from ._wire.binding import Binding, Reader
from ._wire.binding import bind as wire_bind
from ._wire.faults import KINDS, fault
from ._wire.members import TAKES, takes_of
from ._wire.values import EMPTY, Json

Unset: TypeAlias = UnsetType
KINDS[UnsetType] = "nothing"


# ---- unknown members


class Extra(UserDict[str, Any]):
    """Unknown members. msgspec does not know this class: it refuses to write them, where a dict
    would be written as a member.
    """

    def __init__(self, of: Mapping[str, Any]) -> None:
        self.data = of if isinstance(of, dict) else {**of}

    def items(self) -> ItemsView[str, Any]:
        return self.data.items()


EXTRA: Final = "_extra"
"""The member of a Struct that holds its unknown members, so that `structs.replace` cannot put a
dict there; it is read as `extra_`.
"""
NAMELESS: Final = "*"
"""What msgspec would call it on the wire: no declared member can have this name."""


# ---- the bases of the models

make: Final[Callable[..., Any]] = msgspec.StructMeta.__call__
"""Makes a Struct of its members, which were checked."""


class _Constructors(dict[Any, Callable[..., Any]]):
    """By class what makes a Struct of members by keyword; compiled when it is first asked for."""

    def __missing__(self, cls: type[Struct]) -> Callable[..., Any]:
        names = _arguments(cls)
        takes, fixed = takes_of(cls, names.values()), _constants(cls)
        made = constructor(cls, _start(cls), names, takes, _looked_at, fixed)
        self[cls] = made
        return made


_CONSTRUCTORS: Final = _Constructors()


class Checking(msgspec.StructMeta):
    """Has a class refuse members of the wrong type, and UNSET for a required one.

    It is asked where a person makes a value; msgspec's decoder and the codecs know what they found.
    """

    if not TYPE_CHECKING:

        __call__ = property(_CONSTRUCTORS.__getitem__)

        @property
        def __signature__(cls):
            given = msgspec.StructMeta.__signature__.__get__(cls)
            names = _arguments(cls)
            shown = [
                each.replace(annotation=unmarked(each.annotation))
                for name, each in given.parameters.items()
                if name in names and name != EXTRA
            ]
            if EXTRA in names:
                extra = given.parameters[EXTRA]
                shown.append(extra.replace(name="extra_", annotation=Mapping[str, Any]))
            return given.replace(parameters=shown)


class Fixed(Checking):
    """Of a class with a constant beside its tag: what is annotated as `Const` is set by the class,
    demanded by the decoder and always written.
    """

    consts: dict[str, Any]

    if not TYPE_CHECKING:

        def __new__(mcls, name, bases, namespace, **config):
            notes = namespace.get("__annotations__", {})
            names = [name for name, note in notes.items() if note.startswith("Const[")]
            consts = {name: namespace.pop(name) for name in names}
            cls = super().__new__(mcls, name, bases, namespace, **config)
            cls.consts = {**getattr(bases[0], "consts", {}), **consts}
            for each, value in consts.items():
                type.__setattr__(cls, each, value)
            return cls


def _arguments(cls: type[Struct]) -> dict[str, str]:
    """What the constructor calls the members that it takes."""
    consts = getattr(cls, "consts", ())
    names = (name for name in cls.__struct_fields__ if name not in consts)
    return {name: "extra_" if name == EXTRA else name for name in names}


def _constants(cls: type[Struct]) -> dict[str, Any]:
    """The members that a class sets by itself, its tag among them, by name."""
    from inspect import get_annotations

    notes: dict[str, Any] = {}
    for base in cls.__mro__:
        notes |= get_annotations(base)
    kinds = "ClassVar[Literal[", "Const["
    names = (name for name, note in notes.items() if str(note).startswith(kinds))
    return {name: getattr(cls, name) for name in names}


def _start(cls: type[Struct]) -> Start:
    """What makes a Struct, and of what: of one of nulls, which no `__post_init__` of yours sees."""
    consts = getattr(cls, "consts", {})
    if hasattr(cls, "__post_init__"):
        return partial(make, **consts), cls
    return replace, make(cls, **dict.fromkeys(_arguments(cls)), **consts)


def _looked_at(cls: type[Struct], name: str, value: Any) -> Any:
    """A member as it is held. Raises TypeError if it is wrong, or absent and required."""
    if KINDS.get(value.__class__) == "nothing":
        return _default(cls, EXTRA if name == "extra_" else name)
    TAKES[cls][name].check(value, (None, name))
    if name == "extra_":
        return Extra(value) if value else EMPTY
    check_numbers(value, (None, name))
    return value


def _default(cls: type[Struct], name: str) -> Any:
    default = defaults_of(cls).get(name, NODEFAULT)
    if default is NODEFAULT:
        raise TypeError(f"Missing required argument {name!r}")
    if not hasattr(default, "factory"):
        return default
    made = default.factory()
    check_numbers(made, (None, name))
    return made


def _remade(cls: type[Struct], members: dict[str, Json]) -> Struct:
    """A copy of a Struct, as `copy` and `pickle` make one."""
    made: Struct = make(cls, **members)
    return made


class Bare(
    Struct,
    metaclass=Checking,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The base of models that keep no unknown members."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        members = ((n, getattr(self, n)) for n in _arguments(type(self)).values())
        return [(name, value) for name, value in members if shown(value)]

    def __repr__(self) -> str:
        text = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), asdict(self))

    def __replace__(self, /, **changes: Any) -> Any:
        """A copy with changes, which are looked at, unlike those of `structs.replace`."""
        names = _arguments(type(self)).values()
        return type(self)(**{**{n: getattr(self, n) for n in names}, **changes})


class Model(Bare, frozen=True, kw_only=True):
    """The base of the models; unknown members are in `extra_`."""

    if TYPE_CHECKING:
        extra_: Mapping[str, Any] = EMPTY
    else:
        _extra: Checked[Extra] = field(default=EMPTY, name=NAMELESS)


type.__setattr__(Model, "extra_", Model.__dict__[EXTRA])


class Open(Kept):
    """The base of open objects, which msgspec leaves to the codec; they are not Structs.

    `wires_` has the wire name of each member.
    """

    __slots__ = ()
    wires_: ClassVar[Mapping[str, str]] = EMPTY


def present(value: Struct) -> dict[str, Json]:
    """The members of a Struct that are there."""
    members = {
        n: v for n, v in asdict(value).items() if v is not UNSET and v is not EMPTY
    }
    if EXTRA in members:
        members["extra_"] = members.pop(EXTRA)
    return members


# ---- msgspec itself, and the codec


def bind(codec: ModuleType, models: dict[str, Any]) -> Binding:
    """The functions of a codec over the Structs in `models`."""
    own = {"EXTRA": EXTRA, "hold": Extra, "make": make}
    return wire_bind(codec, models, present, fills=False, **own)


def hook_of(
    cls: Any,
    readers: Mapping[Any, Reader],
    core: Callable[[Any, Json], Any] | None = None,
) -> Reader:
    """What reads a type that msgspec leaves to `dec_hook`."""
    if cls is Checked[Extra]:
        return _unknown
    read = readers.get(getattr(cls, "of", cls))
    if read is not None:
        return read
    if core is None:
        raise TypeError(f"{cls!r} is not a type of this module")
    return lambda x, at: core(cls, x)


def _unknown(x: Json, at: object) -> NoReturn:
    raise ValueError("unknown members are for the codec")


def with_tag(T: Any) -> Any:
    """A tagged struct beside one that nothing satisfies: in a union a tag must be there."""
    config = getattr(T, "__struct_config__", None)
    if config is None or config.tag is None:
        return T
    tag: Any = config.tag + 1 if isinstance(config.tag, int) else f"not {config.tag}"
    member: Any = (EXTRA, Checked[Extra], field(name=NAMELESS))
    never = msgspec.defstruct("Never", [member], tag_field=config.tag_field, tag=tag)
    return T | never


BUILDING: Final = Lock()
"""Held while msgspec makes a decoder: it crashes if another thread uses a class half looked at."""


_plain: Final = msgspec.json.Encoder().encode


def write(value: Json) -> bytes:
    """Parsed JSON as text. Raises EncodeError, with the path, for what is not JSON."""
    check_numbers(value, None)
    try:
        return _plain(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        raise fault(value) from None
