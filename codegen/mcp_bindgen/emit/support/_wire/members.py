"""What the members of a class take: a value of the wrong type is refused when a model is made.

The table of a module is made when the first of its models is. Most values are right by their class
alone; the others are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from .bounds import matches
from .faults import KINDS, DecodeError, MemberError, kind, path
from .values import At, Json

See: TypeAlias = Callable[[Any, At], None]
"""Looks at a value and its place; raises MemberError."""


class Items(frozenset[type[Any]]):
    """The classes of a list's items."""


class Take:
    """What a member takes: any instance of some classes, and what `see` finds right.

    `words` say what is expected. `sure` is what tells by the class of a value that it is right: the
    one class, several, or the classes of a list's items.
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
"""What each member of each class of a module takes."""


def _wrong(
    at: At,
    words: str,
    value: object,
    classes: Iterable[type[Any]] = (),
) -> MemberError:
    """The modules are named where a class has the name of the value's own, of another revision."""
    name = kind(value)
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
    """An instance of one of some classes."""
    return Take(" | ".join(cls.__name__ for cls in classes), classes)


def like(read: Callable[[Json, At], Json]) -> Take:
    """JSON that a reader takes."""

    def see(value: Any, at: At) -> None:
        try:
            read(value, at)
        except DecodeError as error:
            raise MemberError(error.path, error.expected, error.found) from None

    return Take("", (), see)


def each(of: Take) -> Take:
    """A list whose items are right."""

    def see(value: Any, at: At) -> None:
        for i, item in enumerate(_listed(value, at)):
            of.check(item, (at, i))

    made = Take("array", (), see)
    made.sure = Items(of.classes)
    return made


def valued(of: Take) -> Take:
    """An object whose values are right."""

    def see(value: Any, at: At) -> None:
        if not isinstance(value, dict):
            raise _wrong(at, "object", value)
        for key, item in _members(value):
            of.check(item, (at, key))

    return Take("object", (), see)


def places(needed: int, of: tuple[Take, ...], rest: Take | None) -> Take:
    """A list with a type for each place, `needed` of them at least."""

    def see(value: Any, at: At) -> None:
        items = _listed(value, at)
        if len(items) < needed or (rest is None and len(items) > len(of)):
            raise _wrong(at, f"an array of {needed} to {len(of)} items", value)
        for i, item in enumerate(items):
            expected = of[i] if i < len(of) else rest
            (expected or ANY).check(item, (at, i))

    return Take("array", (), see)


def _listed(value: Any, at: At) -> list[Any]:
    items: list[Any] = value
    if isinstance(value, list):
        return items
    raise _wrong(at, "array", value)


def _members(value: Any) -> Iterable[tuple[str, Any]]:
    """Names and values; a name that is not text is named as it prints."""
    members: Mapping[Any, Any] = value
    return ((k if isinstance(k, str) else repr(k), v) for k, v in members.items())


def either(*takes: Take) -> Take:
    """What one of some takes; the fault is that of the only one that came further."""
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


def _is_name(pattern: str, longest: int | None, key: Any, at: At) -> bool:
    if not isinstance(key, str):
        raise _wrong(at, "names that are text", key)
    if longest is not None and len(key) > longest:
        raise _wrong(at, f"names of at most {longest} characters", key)
    return matches(pattern, key)


def others(
    declared: frozenset[str],
    of: Take | None = None,
    keyed: tuple[tuple[str, int | None, Take], ...] = (),
) -> Take:
    """Unknown members: a mapping without the names that are declared.

    Each has the types of all patterns of `keyed` that its name matches, else that of `of`. A model
    can be of one class alone: there the first pattern decides.
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
                if _is_name(pattern, longest, key, at)
            ]
            if len(named) > 1 and value[key].__class__ not in KINDS:
                named = named[:1]
            for each in named or ([] if of is None else [of]):
                each.check(value[key], (at, key))

    return Take("object", (), see)


# ---- tables

TABLES: Final[dict[str, Callable[[], Takes]]] = {}
"""By the name of a module, what makes its table."""
TAKES: Final[dict[type[Any], dict[str, Take]]] = {}
"""For each class of which one was made: by member, what it takes."""
_SURE: Final[dict[type[Any], dict[str, Any]]] = {}
"""Likewise, what makes a value of it right at once."""

Names: TypeAlias = Callable[[Any], Iterable[str]]


def settled(cls: type[Any], members: dict[str, Any], names: Names) -> dict[str, Any]:
    """The members that are there, each looked at; `names` says which the class has.

    Raises TypeError for a name that is none, MemberError for a value of the wrong type.
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
    """What members of a class take; what a person's subclass adds takes anything."""
    takes = dict.fromkeys(names, ANY)
    for base in reversed(cls.__mro__):
        table = TABLES.get(base.__module__)
        if table is not None and base not in TAKES:
            TAKES.update((c, dict(row)) for c, row in table().items())
        takes.update(TAKES.get(base, {}))
    TAKES[cls] = takes
    return takes
