"""Types a schema which cannot be typed whole: `Any` at the fewest and smallest places.

A place is loosened if the schema can be typed without it and not with it. Each try types the whole
schema, so tries are limited; when they are used up, larger places are loosened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.limits import MAX_TYPING_TRIES
from mcp_bindgen.scaffold.structs import Models
from mcp_bindgen.scaffold.typed import Untyped

__all__ = ["ANY_OBJECT", "Loose", "loosen"]

Path: TypeAlias = tuple[str | int, ...]
Typing: TypeAlias = Callable[[Any], Models]
"""Makes the types of a schema. Raises Untyped."""

_ANY: Final[dict[str, Any]] = {}
ANY_OBJECT: Final[dict[str, Any]] = {"type": "object", "additionalProperties": {}}
_UNIONS: Final = ("anyOf", "oneOf", "allOf")
_LISTS: Final = (*_UNIONS, "prefixItems")
_TABLES: Final = ("properties", "$defs", "definitions")
_INNER: Final = ("additionalProperties", "items")
_KEPT: Final = ("description", "default")


@dataclass(frozen=True, slots=True)
class Loose:
    """A place of a schema which became `Any` or an open object, and the reason."""

    place: str
    why: str


def loosen(schema: Any, typing: Typing) -> tuple[Models, tuple[Loose, ...]]:
    """The types of a schema, and the places loosened for them."""
    search = _Search(typing)
    return typing(search.mend(schema, ())), tuple(search.loose.values())


class _Search:
    def __init__(self, typing: Typing) -> None:
        self._typing = typing
        self._tries = MAX_TYPING_TRIES
        self._why = ""
        self.loose: dict[Path, Loose] = {}

    def mend(self, schema: Any, path: Path) -> Any:
        """The whole schema with as little as possible loosened at `path` and below."""
        if self._has_types(schema):
            return schema
        why = self._why
        here = _get(schema, path)
        children = [(*path, *child) for child in _children(here)]
        bare = _empty(schema, children)
        if not children or not self._has_types(bare):
            return self._loosen(schema, path, why)
        for child in children:
            bare = self.mend(_put(bare, child, _get(schema, child)), child)
        if any(len(loose) == len(path) + 2 and loose[-2] in _UNIONS for loose in self._below(path)):
            return self._loosen(schema, path, why)
        return bare

    def _loosen(self, schema: Any, path: Path, why: str) -> Any:
        for each in self._below(path):
            del self.loose[each]
        self.loose[path] = Loose(_show(path), why)
        here = _get(schema, path)
        for candidate in _candidates(here):
            trial = _put(schema, path, candidate)
            if self._has_types(trial, always=True):
                return trial
        return _put(schema, path, _ANY)

    def _below(self, path: Path) -> list[Path]:
        return [each for each in self.loose if each[: len(path)] == path]

    def _has_types(self, schema: Any, *, always: bool = False) -> bool:
        if not (self._tries or always):
            return False
        self._tries -= not always
        try:
            self._typing(schema)
        except Untyped as error:
            self._why = error.message
            return False
        return True


def _candidates(here: Any) -> Iterator[Any]:
    """The replacements for a schema, most precise first."""
    members: Mapping[str, Any] = object_of(here) or {}
    kept = {key: members[key] for key in _KEPT if key in members}
    if members.get("type") == "object" or "properties" in members:
        yield from ({**ANY_OBJECT, **kept}, ANY_OBJECT)
    yield kept


def _children(schema: Any) -> Iterator[Path]:
    """The paths from a schema to its subschemas."""
    members: Mapping[str, Any] = object_of(schema) or {}
    for key in _LISTS:
        yield from ((key, at) for at in range(len(list_of(members.get(key)) or ())))
    for key in _TABLES:
        yield from ((key, name) for name in object_of(members.get(key)) or {})
    for key in _INNER:
        if object_of(members.get(key)) is not None:
            yield (key,)


def _empty(schema: Any, paths: Sequence[Path]) -> Any:
    for path in paths:
        schema = _put(schema, path, _ANY)
    return schema


def _get(schema: Any, path: Path) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _put(schema: Any, path: Path, value: Any) -> Any:
    """The schema with another value at a path."""
    if not path:
        return value
    inner = _put(schema[path[0]], path[1:], value)
    if (items := list_of(schema)) is not None:
        return [inner if at == path[0] else each for at, each in enumerate(items)]
    return {**schema, path[0]: inner}


def _show(path: Path) -> str:
    """A place as a person writes it: `children[].text`."""
    text = ""
    steps = iter(path)
    for step in steps:
        if step == "items":
            text += "[]"
        elif step == "additionalProperties":
            text += "{}"
        elif step in _LISTS:
            text += f"[{next(steps)}]" if step == "prefixItems" else f"({step} {next(steps)})"
        else:
            text += f".{next(steps)}" if step == "properties" else f".{step}.{next(steps)}"
    return text
