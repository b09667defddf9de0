"""Why a value does not fit its type: msgspec's words, with an exact place and in one form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from mcp_runtime.json_schema.to_json import Step, excerpt, place
from mcp_runtime.json_schema.walk import Schema, alternatives

__all__ = ["Mismatch", "explained"]

_MOST: Final = 20
"""Values of an enumeration that a message lists."""


class Mismatch(Exception):
    """A value does not fit: where (`$.a[0].b`), and what was expected and found there."""

    def __init__(self, path: str, said: str) -> None:
        super().__init__(f"{path}: {said}")
        self.path = path
        self.said = said

    @property
    def depth(self) -> int:
        return len(_steps(self.path))

    def within(self, place: str) -> Mismatch:
        return Mismatch(place + self.path[1:], self.said)


def explained(error: Exception, value: Any, schema: Schema, says: Callable[[Any], str]) -> Mismatch:
    """What msgspec raised, as a Mismatch; `says` is what it finds wrong with another value."""
    if isinstance(error, RecursionError):
        return Mismatch("$", "expected less nesting, found a value that is nested too deeply")
    said, key, path = _parts(str(error))
    steps = _exact(_steps(path), str(error), value, says)
    words = _worded(said, _found(value, steps), _schemas(schema, schema.get("$defs", {}), steps))
    return Mismatch(place(steps), f"a key: {words}" if key else words)


def _exact(steps: list[Step], said: str, value: Any, says: Callable[[Any], str]) -> list[Step]:
    """The steps with the name of the key in place of each `...`, where it can be found."""
    for i, step in enumerate(steps):
        if step is ...:
            key = _guilty(steps[:i], said, value, says)
            if key is None:
                return steps
            steps = [*steps[:i], key, *steps[i + 1 :]]
    return steps


def _guilty(steps: list[Step], said: str, value: Any, says: Callable[[Any], str]) -> str | None:
    """The key of the mapping at the place whose value is at fault, found by halving it."""
    mapping = _found(value, steps)
    if not isinstance(mapping, dict):
        return None
    held = list(cast("dict[str, Any]", mapping).items())
    while len(held) > 1:
        half = held[: len(held) // 2]
        at_fault = says(_replaced(value, steps, dict(half))) == said
        held = half if at_fault else held[len(half) :]
    alone = says(_replaced(value, steps, dict(held)))
    return held[0][0] if held and alone == said else None


_PARTS: Final = re.compile(r"(.*?)(?: - at (`key` in )?`(\$[^`]*)`)?", re.DOTALL)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_ABSENT: Final = object()


def _parts(text: str) -> tuple[str, bool, str]:
    """msgspec's words, whether they are about a key, and the path."""
    found = _PARTS.fullmatch(text)
    assert found is not None, "each part may be empty"
    return found[1], found[2] is not None, found[3] or "$"


def _steps(path: str) -> list[Step]:
    return [name or (... if index == "..." else int(index)) for name, index in _STEP.findall(path)]


def _replaced(value: Any, steps: list[Step], by: Any) -> Any:
    """A copy with another value at the place."""
    if not steps:
        return by
    copy: Any = value.copy()
    copy[steps[0]] = _replaced(value[steps[0]], steps[1:], by)
    return copy


def _found(value: Any, steps: list[Step]) -> Any:
    """The value at the place, _ABSENT if the place is not exact."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return value


def _schemas(schema: Schema, defs: Schema, steps: list[Step]) -> Iterator[Schema]:
    """What the schema says at the place, by each alternative that knows it."""
    for each in alternatives(schema, defs):
        if not steps:
            yield each
        elif (below := _below(each, steps[0])) is not None:
            yield from _schemas(below, defs, steps[1:])


def _below(schema: Schema, step: Step) -> Schema | None:
    if isinstance(step, int):
        prefix: list[Schema] = schema.get("prefixItems", [])
        below = prefix[step] if step < len(prefix) else schema.get("items")
    else:
        members: Schema = schema.get("properties", {})
        below = members.get(cast("str", step), schema.get("additionalProperties"))
    return cast("Schema", below) if isinstance(below, dict) else None


_MEMBER: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_EXPECTED: Final = re.compile(r"Expected (.*?)(?:, got `(.*)`)?", re.DOTALL)


def _worded(said: str, value: Any, schemas: Iterator[Schema]) -> str:
    """What was expected and what was found, in one form."""
    if member := _MEMBER.fullmatch(said):
        return _member(member[1] == "missing required", member[2], schemas)
    if said.startswith("Invalid enum value"):
        values = [excerpt(each) for schema in schemas for each in schema.get("enum", ())]
        return f"expected one of {_list(values)}, found {_shown(value, said[19:])}"
    if expected := _EXPECTED.fullmatch(said):
        what = expected[1].replace("`", "")
        return f"expected {what}, found {_shown(value, expected[2] or 'another value')}"
    what = "a number in range" if said.endswith("out of range") else said
    return f"expected {what}, found {_shown(value, 'another value')}"


def _member(missing: bool, name: str, schemas: Iterator[Schema]) -> str:
    if missing:
        return f"expected the member {excerpt(name)}, found none"
    known = [excerpt(each) for schema in schemas for each in schema.get("properties", ())]
    return f"expected no member but {_list(known)}, found {excerpt(name)}"


def _list(values: list[str]) -> str:
    more = ["…"] if len(values) > _MOST else []
    return ", ".join(values[:_MOST] + more) or "none"


def _shown(value: Any, otherwise: str) -> str:
    return otherwise.strip() if value is _ABSENT else excerpt(value)
