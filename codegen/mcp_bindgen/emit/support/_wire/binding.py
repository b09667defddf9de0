"""Bind the codec of a revision to the classes of a flavour.

A codec module has the readers and writers of a revision once. `bind` copies its functions and
gives the copies the flavour's classes as globals: a function looks its globals up when it runs.
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
"""True if readers write members into the `__dict__` of a new value; False if they call `make`."""


EXTRA: str = "extra_"
"""The attribute with the unknown members of a value."""


def hold(extra: dict[str, Json]) -> Mapping[str, Json]:
    """Return unknown members in the form in which a value stores them."""
    return extra


def make(cls: type[_T], /, **members: Json) -> _T:
    """Make a value of its members without checks: the reader has made them."""
    raise NotImplementedError  # the flavour binds its own, if it needs one


Present: TypeAlias = Callable[[Any], dict[str, Json]]
"""Returns the present members of a value by Python name, for values without `__dict__`."""


@dataclass(frozen=True)
class Binding:
    """The readers and writers of a flavour, by type; `checked` has the order of CHECKED.

    `lent` has the core's readers, if the codec is an extension's.
    """

    readers: dict[object, Reader]
    writers: Writers
    checked: list[Reader]
    functions: dict[str, Any]
    types: dict[str, Any]
    lent: Mapping[object, Reader]


BINDINGS: Final[dict[tuple[str, str], Binding]] = {}
"""All bindings of this process, by the names of the codec and of the flavour's module."""


_NONE: Final = Binding({}, {}, [], {}, {}, {})


class Borrowed:
    """Stands for a function of the core's codec until `bind` replaces it by the flavour's copy."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError(
            f"{self.__name__} stands for a function of the core: call `bind` first"
        )


def bind(
    codec: ModuleType,
    models: dict[str, Any],
    present: Present | None = None,
    **own: Any,
) -> Binding:
    """Bind a codec to the classes in `models`; `own` replaces names of this module's top.

    `present` is for values without `__dict__`: else writers take members from there. The codec of
    an extension gets the functions of its core in the same flavour.
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
    """Return a writer for values without `__dict__`."""
    return lambda x: write(SimpleNamespace(**present(x)))
