"""Constructors of the msgspec models, each compiled for its class.

A constructor with named parameters takes half the time of a loop over the members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from msgspec import NODEFAULT, UNSET, Struct

from ._numbers_msgspec import HOLDERS
from ._wire.members import Items, Take
from ._wire.values import EMPTY

__all__ = ["Look", "Start", "constructor", "defaults_of"]

Look: TypeAlias = Callable[[type[Struct], str, Any], Any]
"""Returns the value of a member by name, or raises TypeError if it is wrong."""

Start: TypeAlias = tuple[Callable[..., Any], Any]
"""A function which makes a Struct of members by keyword, and its first argument."""

_KNOWN: Final = {
    "_empty": EMPTY,
    "_list": list,
    "_map": map,
    "_type": type,
    "_unset": UNSET,
}
"""Globals of each constructor. Members never begin with an underscore."""


def constructor(
    cls: type[Struct],
    start: Start,
    names: Mapping[str, str],
    takes: Mapping[str, Take],
    look: Look,
    constants: Mapping[str, Any],
) -> Callable[..., Any]:
    """Compile the constructor of a class.

    `names` has the parameter for each member. The compiled code accepts a value by its class; it
    calls `look` for any other value, for a value with a possible NaN inside, and for UNSET if that
    is not the default. An argument for one of `constants` raises TypeError.
    """
    # def make(*, uri, name=_unset, extra_=_empty, type=_unset):
    #     if type is not _unset:
    #         _refuse(_cls, "type")
    #     if uri.__class__ is not _0:
    #         uri = _look(_cls, "uri", uri)
    #     if name is not _unset and name.__class__ is not _1:
    #         name = _look(_cls, "name", name)
    #     return _make(_start, uri=uri, name=name, _extra=extra_)
    own = defaults_of(cls)
    defaults = {name: own.get(member, NODEFAULT) for member, name in names.items()}
    sure = {f"_{i}": _plain(takes[name].sure) for i, name in enumerate(defaults)}
    more = [f"{name}=_unset" for name in constants]
    code = [f"def make({', '.join([*_parameters(defaults, more), *more])}):"]
    for name in constants:
        code.append(f"    if {name} is not _unset:")
        code.append(f"        _refuse(_cls, {name!r})")
    for (name, default), (key, right) in zip(
        defaults.items(), sure.items(), strict=True
    ):
        code.append(f"    if {_is_wrong(name, default, key, right)}:")
        code.append(f"        {name} = _look(_cls, {name!r}, {name})")
    given = (f", {member}={name}" for member, name in names.items())
    code.append(f"    return _make(_start{''.join(given)})")
    known: dict[str, Any] = {
        **_KNOWN,
        **sure,
        "_cls": cls,
        "_look": look,
        "_make": start[0],
        "_refuse": _refuse,
        "_start": start[1],
    }
    exec("\n".join(code), known)
    made: Callable[..., Any] = known["make"]
    made.__name__ = made.__qualname__ = cls.__name__
    return made


def _refuse(cls: type[Struct], name: str) -> NoReturn:
    """Raise TypeError for an argument which the class sets itself."""
    value = getattr(cls, name)
    words = f"{cls.__name__}() sets {name} by itself, to {value!r}"
    raise TypeError(f"{words}: leave it out")


def defaults_of(cls: type[Struct]) -> dict[str, Any]:
    """Return the defaults by member, without the required members that the class begins with."""
    names, defaults = cls.__struct_fields__[::-1], cls.__struct_defaults__[::-1]
    return dict(zip(names, defaults, strict=False))


def _plain(sure: Any) -> Any:
    """Reduce `Take.sure` to classes without a float inside."""
    if sure.__class__ is frozenset:
        return sure - HOLDERS
    holds = HOLDERS & sure if sure.__class__ is Items else sure in HOLDERS
    return _NOTHING if holds else sure


_NOTHING: Final[frozenset[object]] = frozenset()


def _parameters(defaults: Mapping[str, Any], more: list[str]) -> Iterator[str]:
    # *, uri, name=_unset, extra_=_empty
    if defaults or more:
        yield "*"
    for name, default in defaults.items():
        absent = "_empty" if default is EMPTY else "_unset"
        yield name if default is NODEFAULT else f"{name}={absent}"


def _is_wrong(name: str, default: Any, key: str, right: Any) -> str:
    # name is not _unset and name.__class__ is not _1
    if right.__class__ is Items:
        items = f"{key}.issuperset(_map(_type, {name}))"
        test = f"({name}.__class__ is not _list or not {items})"
    else:
        several = right.__class__ is frozenset
        test = f"{name}.__class__ {'not in' if several else 'is not'} {key}"
    if default is UNSET:
        return f"{name} is not _unset and {test}"
    return f"{name} is not _empty and {test}" if default is EMPTY else test
