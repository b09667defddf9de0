"""Binds a codec to the classes of a flavour.

The readers and writers of a revision are written once, for all flavours whose models are made of
the members that are there. What they name is looked up when they run: `bind` gives each flavour
the same functions over its own classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, Final, TypeAlias, TypeVar

from .base import Kept
from .members import TABLES
from .values import At, Json
from .writers import Writer, Writers, plain_writers

Reader: TypeAlias = Callable[[Json, At], Json]

_T = TypeVar("_T")

fills: bool = True
"""Whether a value is filled with its members, by its `__dict__`; else `make` makes it of them."""


EXTRA: str = "extra_"
"""Under which name a value holds its unknown members."""


def hold(extra: dict[str, Json]) -> Mapping[str, Json]:
    """Unknown members, as a value holds them."""
    return extra


def make(cls: type[_T], /, **members: Json) -> _T:
    """Make a value of its members, in a flavour that does not fill it; they were checked."""
    raise NotImplementedError  # a function of the flavour, where one is called


Present: TypeAlias = Callable[[Any], dict[str, Json]]
"""The members of a value that are there, by Python name, in a flavour that does not fill it."""


@dataclass(frozen=True)
class Binding:
    """The readers and the writers of a flavour, by type; `checked` in the order of CHECKED.

    `lent` has the readers of an extension's core.
    """

    readers: dict[object, Reader]
    writers: Writers
    checked: list[Reader]
    functions: dict[str, Any]
    types: dict[str, Any]
    lent: Mapping[object, Reader]


BINDINGS: Final[dict[tuple[str, str], Binding]] = {}
"""The bindings that were made, by the codec and the flavour's module."""


_NONE: Final = Binding({}, {}, [], {}, {}, {})


class Borrowed:
    """A function of the core's codec by name; `bind` puts the flavour's in its place."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError(
            f"{self.__name__} stands for a function that `bind` puts here"
        )


def bind(
    codec: ModuleType,
    models: dict[str, Any],
    present: Present | None = None,
    **own: Any,
) -> Binding:
    """The functions of a codec over the classes in `models`; `own` stand for names above.

    Writers take members from the `__dict__` of a value; `present` is for values that have none.
    What the codec of an extension borrows is that of the same flavour of its core.
    """
    given = vars(codec)
    flavour = models["__name__"].rpartition(".")[2]
    lent = _of_core(given["CORE"], flavour) if "CORE" in given else _NONE
    types = {name: models[name] for name in given["READERS"]}
    known = {**lent.types, **types}
    names: dict[str, Any] = {**given, "__name__": models["__name__"], **known, **own}
    made: dict[str, Any] = {
        name: lent.functions[name]
        for name, function in given.items()
        if isinstance(function, Borrowed)
    }
    made |= {
        name: FunctionType(function.__code__, names, name)
        for name, function in given.items()
        if isinstance(function, FunctionType) and function.__globals__ is given
    }
    if present is not None:
        made |= {
            write.__name__: _from_members(made[write.__name__], present)
            for name, write in given["WRITERS"].items()
            if not issubclass(types[name], Kept)
        }
    names.update(made)
    for name, table in given.items():
        if name in given["TABLES"]:
            names[name] = {k: made.get(f.__name__, f) for k, f in table.items()}
    writers = {**lent.writers, **plain_writers(made["write"])}
    writers.update((types[name], names["WRITERS"][name]) for name in given["WRITERS"])
    names["_WRITERS"] = writers
    TABLES[models["__name__"]] = made["takes"]
    readers = {types[name]: read for name, read in names["READERS"].items()}
    checked: list[Any] = [made.get(f.__name__, f) for f in given["CHECKED"]]
    binding = Binding(readers, writers, checked, made, known, lent.readers)
    BINDINGS[codec.__name__, flavour] = binding
    return binding


def _of_core(codec: str, flavour: str) -> Binding:
    if (codec, flavour) not in BINDINGS:
        import_module(f"{codec.rpartition('.')[0]}.{flavour}")
    return BINDINGS[codec, flavour]


def _from_members(write: Writer, present: Present) -> Writer:
    """A writer of values without `__dict__`."""
    return lambda x: write(SimpleNamespace(**present(x)))
