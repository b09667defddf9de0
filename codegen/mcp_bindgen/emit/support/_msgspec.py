"""Base classes of the msgspec models, and the codec behind msgspec's own decoder.

msgspec reads and writes types that have declared members alone. The codec reads all other types
(unions without a tag, open objects). It reads again a message that msgspec has refused, and then
accepts it or names the place of the fault.
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
from ._types_msgspec import Checked, plain_annotation
from ._wire.base import Kept, is_shown
from ._wire.binding import Binding, Reader
from ._wire.binding import bind as wire_bind
from ._wire.faults import KINDS, fault
from ._wire.members import TAKES, takes_of
from ._wire.values import EMPTY, Json

Unset: TypeAlias = UnsetType
KINDS[UnsetType] = "nothing"


# ---- unknown members


class Extra(UserDict[str, Any]):
    """The unknown members of a model.

    msgspec refuses to write this class, because it does not know it. A dict would be written as one
    more member.
    """

    def __init__(self, of: Mapping[str, Any]) -> None:
        self.data = of if isinstance(of, dict) else {**of}

    def items(self) -> ItemsView[str, Any]:
        return self.data.items()


EXTRA: Final = "_extra"
"""The field of a Struct for its unknown members, which users read as `extra_`. The underscore keeps
`structs.replace(value, extra_={})` from storing a plain dict.
"""
NAMELESS: Final = "*"
"""The wire name of that field for msgspec. No declared member can have it."""


# ---- the bases of the models

make: Final[Callable[..., Any]] = msgspec.StructMeta.__call__
"""Make a Struct of checked members."""


class _Constructors(dict[Any, Callable[..., Any]]):
    """The constructor of each class, compiled at its first use."""

    def __missing__(self, cls: type[Struct]) -> Callable[..., Any]:
        names = _arguments(cls)
        takes, fixed = takes_of(cls, names.values()), _constants(cls)
        made = constructor(cls, _start(cls), names, takes, _check_member, fixed)
        self[cls] = made
        return made


_CONSTRUCTORS: Final = _Constructors()


class Checking(msgspec.StructMeta):
    """The metaclass whose classes refuse arguments of the wrong type, and UNSET for a required one.

    Only calls of the class are checked: msgspec's decoder and the codecs do not call it.
    """

    if not TYPE_CHECKING:

        __call__ = property(_CONSTRUCTORS.__getitem__)

        @property
        def __signature__(cls):
            given = msgspec.StructMeta.__signature__.__get__(cls)
            names = _arguments(cls)
            shown = [
                each.replace(annotation=plain_annotation(each.annotation))
                for name, each in given.parameters.items()
                if name in names and name != EXTRA
            ]
            if EXTRA in names:
                extra = given.parameters[EXTRA]
                shown.append(extra.replace(name="extra_", annotation=Mapping[str, Any]))
            return given.replace(parameters=shown)


class Fixed(Checking):
    """The metaclass of a class with more constants than its tag.

    A member annotated as `Const` is set by the class, required by the decoder and always written.
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
    """Return the parameter of the constructor for each member."""
    consts = getattr(cls, "consts", ())
    names = (name for name in cls.__struct_fields__ if name not in consts)
    return {name: "extra_" if name == EXTRA else name for name in names}


def _constants(cls: type[Struct]) -> dict[str, Any]:
    """Return the constant members of a class by name, with its tag."""
    from inspect import get_annotations

    notes: dict[str, Any] = {}
    for base in cls.__mro__:
        notes |= get_annotations(base)
    kinds = "ClassVar[Literal[", "Const["
    names = (name for name, note in notes.items() if str(note).startswith(kinds))
    return {name: getattr(cls, name) for name in names}


def _start(cls: type[Struct]) -> Start:
    """Return the function which makes a Struct, and its first argument."""
    # `replace` on a Struct full of nulls is faster than a call of the class, but it never runs
    # `__post_init__`.
    consts = getattr(cls, "consts", {})
    if hasattr(cls, "__post_init__"):
        return partial(make, **consts), cls
    return replace, make(cls, **dict.fromkeys(_arguments(cls)), **consts)


def _check_member(cls: type[Struct], name: str, value: Any) -> Any:
    """Return the value to store. Raises TypeError if it is wrong, or absent and required."""
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


def _rebuild(cls: type[Struct], members: dict[str, Json]) -> Struct:
    """Rebuild a Struct for `copy` and `pickle`."""
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
    """The base of models without unknown members."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        members = ((n, getattr(self, n)) for n in _arguments(type(self)).values())
        return [(name, value) for name, value in members if is_shown(value)]

    def __repr__(self) -> str:
        text = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), asdict(self))

    def __replace__(self, /, **changes: Any) -> Any:
        """Copy with changes. They are checked, while those of `structs.replace` are not."""
        names = _arguments(type(self)).values()
        return type(self)(**{**{n: getattr(self, n) for n in names}, **changes})


class Model(Bare, frozen=True, kw_only=True):
    """The base of models with unknown members, in `extra_`."""

    if TYPE_CHECKING:
        extra_: Mapping[str, Any] = EMPTY
    else:
        _extra: Checked[Extra] = field(default=EMPTY, name=NAMELESS)


type.__setattr__(Model, "extra_", Model.__dict__[EXTRA])


class Open(Kept):
    """The base of open objects. They are not Structs: only the codec reads them.

    `wires_` has the wire name of each member.
    """

    __slots__ = ()
    wires_: ClassVar[Mapping[str, str]] = EMPTY


def present(value: Struct) -> dict[str, Json]:
    """Return the present members of a Struct."""
    members = {
        n: v for n, v in asdict(value).items() if v is not UNSET and v is not EMPTY
    }
    if EXTRA in members:
        members["extra_"] = members.pop(EXTRA)
    return members


# ---- msgspec itself, and the codec


def bind(codec: ModuleType, models: dict[str, Any]) -> Binding:
    """Bind a codec to the Structs in `models`."""
    own = {"EXTRA": EXTRA, "hold": Extra, "make": make}
    return wire_bind(codec, models, present, fills=False, **own)


def hook_of(
    cls: Any,
    readers: Mapping[Any, Reader],
    core: Callable[[Any, Json], Any] | None = None,
) -> Reader:
    """Return the reader of a type which msgspec passes to `dec_hook`."""
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
    """Return a union of a tagged Struct and one which no JSON satisfies.

    msgspec requires a tag in a union, and not in a lone Struct.
    """
    config = getattr(T, "__struct_config__", None)
    if config is None or config.tag is None:
        return T
    tag: Any = config.tag + 1 if isinstance(config.tag, int) else f"not {config.tag}"
    member: Any = (EXTRA, Checked[Extra], field(name=NAMELESS))
    never = msgspec.defstruct("Never", [member], tag_field=config.tag_field, tag=tag)
    return T | never


BUILDING: Final = Lock()
"""Held while msgspec makes a decoder: it crashes if two threads prepare one class at a time."""


_plain: Final = msgspec.json.Encoder().encode


def write(value: Json) -> bytes:
    """Write parsed JSON as text. Raises EncodeError, with the path, for other values."""
    check_numbers(value, None)
    try:
        return _plain(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        raise fault(value) from None
