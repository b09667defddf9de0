"""Checks of constructor arguments: a value of the wrong type raises MemberError.

The class of most values decides alone; only the others are inspected. The table of checks of a
module is made with the first model of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from .bounds import is_name
from .faults import KINDS, DecodeError, MemberError, kind, path
from .values import At, Json

See: TypeAlias = Callable[[Any, At], None]
"""Checks a value at a place. Raises MemberError."""


class Items(frozenset[type[Any]]):
    """The classes which a list's items may have."""


class Take:
    """The check of a member: pass instances of `classes` themselves, and call `see` for the rest.

    `words` describe the expected value. `sure` is for the fast path, by a value's class alone: one
    class, a set of classes, or `Items`.
    """

    __slots__ = ("classes", "see", "sure", "words")

    def __init__(
        self, words: str, classes: Iterable[type[Any]] = (), see: See | None = None
    ) -> None:
        self.words = words
        self.classes = frozenset(classes)
        self.see = see or self._is_instance
        alone = next(iter(self.classes)) if len(self.classes) == 1 else None
        self.sure: object = alone or self.classes

    def _is_instance(self, value: Any, at: At) -> None:
        if not isinstance(value, tuple(self.classes)) or value.__class__ is bool:
            raise _wrong(at, self.words, value, self.classes)

    def check(self, value: Any, at: At) -> None:
        if value.__class__ not in self.classes:
            self.see(value, at)


Takes: TypeAlias = Mapping[type[Any], Mapping[str, Take]]
"""The checks of a module, by class and member."""


def _wrong(
    at: At,
    words: str,
    value: object,
    classes: Iterable[type[Any]] = (),
) -> MemberError:
    """Return the error for a value that is no `words`, or is of no class in `classes`."""
    name = kind(value)
    # A class of another revision may have the same name: only the modules tell them apart.
    for cls in classes:
        if cls.__name__ == name:
            ours, theirs = cls.__module__, value.__class__.__module__
            return MemberError(path(at), f"{name} of {ours}", f"{name} of {theirs}")
    return MemberError(path(at), words, name)


def _anything(value: Any, at: At) -> None:
    if KINDS.get(value.__class__) == "nothing":
        raise _wrong(at, "a value", value)


ANY: Final = Take("a value", (str, int, dict, list, bool), _anything)
STRING: Final = Take("string", (str,))
NUMBER: Final = Take("number", (int, float))
BOOLEAN: Final = Take("boolean", (bool,))
NULL: Final = Take("null", (type(None),))
OBJECT: Final = Take("object", (dict,))


def model(*classes: type[Any]) -> Take:
    """Return a check which accepts instances of `classes`."""
    return Take(" | ".join(cls.__name__ for cls in classes), classes)


def like(read: Callable[[Json, At], Json]) -> Take:
    """Return a check which accepts the JSON that a reader accepts."""

    def see(value: Any, at: At) -> None:
        try:
            read(value, at)
        except DecodeError as error:
            raise MemberError(error.path, error.expected, error.found) from None

    return Take("", (), see)


def each(of: Take) -> Take:
    """Return a check of a list, with one check for all items."""

    def see(value: Any, at: At) -> None:
        for i, item in enumerate(_require_list(value, at)):
            of.check(item, (at, i))

    made = Take("array", (), see)
    made.sure = Items(of.classes)
    return made


def each_value(of: Take) -> Take:
    """Return a check of an object, with one check for all values."""

    def see(value: Any, at: At) -> None:
        if not isinstance(value, dict):
            raise _wrong(at, "object", value)
        for key, item in _members(value):
            of.check(item, (at, key))

    return Take("object", (), see)


def places(needed: int, of: tuple[Take, ...], rest: Take | None) -> Take:
    """Return a check of a list with a check for each place; the first `needed` must be there."""

    def see(value: Any, at: At) -> None:
        items = _require_list(value, at)
        if len(items) < needed or (rest is None and len(items) > len(of)):
            raise _wrong(at, f"an array of {needed} to {len(of)} items", value)
        for i, item in enumerate(items):
            expected = of[i] if i < len(of) else rest
            (expected or ANY).check(item, (at, i))

    return Take("array", (), see)


def _require_list(value: Any, at: At) -> list[Any]:
    items: list[Any] = value
    if isinstance(value, list):
        return items
    raise _wrong(at, "array", value)


def _members(value: Any) -> Iterable[tuple[str, Any]]:
    """Yield names and values; a name of another class than `str` by its `repr`."""
    members: Mapping[Any, Any] = value
    return ((k if isinstance(k, str) else repr(k), v) for k, v in members.items())


def either(*takes: Take) -> Take:
    """Return a check which accepts a value if one of `takes` does.

    Its error is an arm's own if exactly one arm failed inside the value, not at the value.
    """
    words = " | ".join(arm.words for arm in takes)
    classes = tuple(cls for arm in takes for cls in arm.classes)

    def see(value: Any, at: At) -> None:
        further: list[MemberError] = []
        for arm in takes:
            try:
                arm.check(value, at)
            except MemberError as error:
                further += [error] if error.path != path(at) else []
            else:
                return
        raise further[0] if len(further) == 1 else _wrong(at, words, value, classes)

    return Take(words, classes, see)


def _matches_name(pattern: str, longest: int | None, key: Any, at: At) -> bool:
    if not isinstance(key, str):
        raise _wrong(at, "names that are text", key)
    return is_name(pattern, longest, key, lambda words: _wrong(at, words, key))


def others(
    declared: frozenset[str],
    of: Take | None = None,
    keyed: tuple[tuple[str, int | None, Take], ...] = (),
) -> Take:
    """Return a check of unknown members: a mapping without `declared` names.

    Each value must pass the checks of all patterns in `keyed` which its name matches, or `of` if
    none matches.
    """

    def see(value: Any, at: At) -> None:
        if not issubclass(value.__class__, Mapping):
            raise _wrong(at, "object", value)
        for key in value:
            if key in declared:
                raise _wrong(at, "names that are not declared", key)
            named = [
                check
                for pattern, longest, check in keyed
                if _matches_name(pattern, longest, key, at)
            ]
            # A model is of one class alone, so only the first pattern can accept it.
            if len(named) > 1 and value[key].__class__ not in KINDS:
                named = named[:1]
            for each in named or ([] if of is None else [of]):
                each.check(value[key], (at, key))

    return Take("object", (), see)


# ---- tables

TABLES: Final[dict[str, Callable[[], Takes]]] = {}
"""Makes the table of a module, by the module's name."""
TAKES: Final[dict[type[Any], dict[str, Take]]] = {}
"""The checks of each class in use, by member."""
_SURE: Final[dict[type[Any], dict[str, Any]]] = {}
"""`Take.sure` of each class in use, by member."""

Names: TypeAlias = Callable[[Any], Iterable[str]]


def check_members(
    cls: type[Any], members: dict[str, Any], names: Names
) -> dict[str, Any]:
    """Return the present members, checked; `names(cls)` gives the names of all members.

    Raises TypeError for an unknown name, MemberError for a value of the wrong type.
    """
    sure = _SURE.get(cls) or _sure(cls, names)
    takes = TAKES[cls]
    is_whole = True
    for name in members:
        value = members[name]
        if name not in sure:
            words = f"{cls.__name__}() has no member {name!r}; it takes "
            raise TypeError(words + ", ".join(sure))
        right = sure[name]
        if type(value) is right or (
            right.__class__ is frozenset and type(value) in right
        ):
            continue
        if (
            right.__class__ is Items
            and value.__class__ is list
            and right.issuperset(map(type, value))
        ):
            continue
        if KINDS.get(value.__class__) == "nothing":
            is_whole = False
        else:
            takes[name].check(value, (None, name))
    if is_whole:
        return members
    return {n: v for n, v in members.items() if KINDS.get(v.__class__) != "nothing"}


def _sure(cls: type[Any], names: Names) -> dict[str, Any]:
    takes = takes_of(cls, names(cls))
    sure = _SURE[cls] = {name: each.sure for name, each in takes.items()}
    return sure


def takes_of(cls: type[Any], names: Iterable[str]) -> dict[str, Take]:
    """Return the checks of a class; a member added by a subclass of yours takes any value."""
    takes = dict.fromkeys(names, ANY)
    for base in reversed(cls.__mro__):
        table = TABLES.get(base.__module__)
        if table is not None and base not in TAKES:
            TAKES.update((c, dict(row)) for c, row in table().items())
        takes.update(TAKES.get(base, {}))
    TAKES[cls] = takes
    return takes
