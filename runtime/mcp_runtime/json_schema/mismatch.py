"""Explains why a value does not fit a type: one format, with the exact path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from mcp_runtime.json_schema.to_json import Step, excerpt, place
from mcp_runtime.json_schema.walk import Schema, alternatives

_MOST: Final = 20
"""The most values of an enumeration listed in a message."""


class Mismatch(Exception):
    """A value does not fit at `path` (`$.a[0].b`); `why` names the expected and the found value."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why

    @property
    def depth(self) -> int:
        return len(_steps(self.path))

    def within(self, place: str) -> Mismatch:
        return Mismatch(place + self.path[1:], self.why)


class NotText(TypeError):
    """Raised by our decoding hooks, in msgspec's words, if a value must be text and is not."""


def explain(
    error: Exception,
    value: Any,
    schema: Schema,
    error_of: Callable[[Any], str],
    noun: str = "member",
) -> Mismatch:
    """Return an error of msgspec as a Mismatch.

    `error_of` returns msgspec's error text for another value; `noun` is the word for a member of
    the outermost object. An error raised by the class itself, such as by `__post_init__`, keeps its
    text.
    """
    if isinstance(error, RecursionError):
        return Mismatch("$", "expected less nesting, found a value that is nested too deeply")
    text, is_key, path = _parts(str(error))
    steps = _exact(_steps(path), str(error), value, error_of)
    if error.__cause__ is None or isinstance(error.__cause__, NotText):
        schemas = _schemas(schema, schema.get("$defs", {}), steps)
        why = _reword(text, _value_at(value, steps), schemas, "member" if steps else noun)
    else:
        why = text
    return Mismatch(place(steps), f"a key: {why}" if is_key else why)


def _exact(steps: list[Step], error: str, value: Any, error_of: Callable[[Any], str]) -> list[Step]:
    """Replace each `...` among the steps by the name of the key, if it can be found."""
    for i, step in enumerate(steps):
        if step is ...:
            key = _key_at_fault(steps[:i], error, value, error_of)
            if key is None:
                return steps
            steps = [*steps[:i], key, *steps[i + 1 :]]
    return steps


def _key_at_fault(
    steps: list[Step], error: str, value: Any, error_of: Callable[[Any], str]
) -> str | None:
    """Return the key of the wrong value in the mapping at a place, found by halving the mapping."""
    # msgspec writes `[...]` for any key of a mapping. Decoding halves of the mapping finds the key
    # in logarithmic time: the half with the fault has the same error text.
    mapping = _value_at(value, steps)
    if not isinstance(mapping, dict):
        return None
    members = list(cast("dict[str, Any]", mapping).items())
    while len(members) > 1:
        half = members[: len(members) // 2]
        is_in_half = error_of(_replace(value, steps, dict(half))) == error
        members = half if is_in_half else members[len(half) :]
    is_found = error_of(_replace(value, steps, dict(members))) == error
    return members[0][0] if members and is_found else None


_PARTS: Final = re.compile(r"(.*?)(?: - at (`key` in )?`(\$[^`]*)`)?", re.DOTALL)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_ABSENT: Final = object()


def _parts(text: str) -> tuple[str, bool, str]:
    """Split msgspec's error into its text, a flag for errors of a key, and the path."""
    match = _PARTS.fullmatch(text)
    assert match is not None, "each part may be empty"
    return match[1], match[2] is not None, match[3] or "$"


def _steps(path: str) -> list[Step]:
    return [name or (... if index == "..." else int(index)) for name, index in _STEP.findall(path)]


def _replace(value: Any, steps: list[Step], by: Any) -> Any:
    """Return a copy with another value at a place."""
    if not steps:
        return by
    copy: Any = value.copy()
    copy[steps[0]] = _replace(value[steps[0]], steps[1:], by)
    return copy


def _value_at(value: Any, steps: list[Step]) -> Any:
    """Return the value at a place; _ABSENT if the place is not exact."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return value


def _schemas(schema: Schema, defs: Schema, steps: list[Step]) -> Iterator[Schema]:
    """Yield the schemas of a place, one for each alternative of the value which has the place."""
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


_NAMES: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
"""The names of types in JSON Schema, which models know, by their names in Python."""


def _translate_types(quoted: re.Match[str]) -> str:
    """Translate the types in msgspec's text to the names of JSON Schema."""
    return " | ".join(_NAMES.get(name, name) for name in quoted[1].split(" | "))


def _reword(text: str, value: Any, schemas: Iterator[Schema], noun: str) -> str:
    """Rewrite msgspec's text in our format: expected and found value."""
    if member := _MEMBER.fullmatch(text):
        return _member(member[1] == "missing required", member[2], schemas, noun)
    if text.startswith(("Invalid enum value", "Invalid value")):
        values = [excerpt(each) for schema in schemas for each in schema.get("enum", ())]
        _, _, refused = text.partition("value ")
        return f"expected one of {_list(values)}, found {_show(value, refused)}"
    if expected := _EXPECTED.fullmatch(text):
        what = re.sub(r"`([^`]*)`", _translate_types, expected[1])
        return f"expected {what}, found {_show(value, expected[2] or 'another value')}"
    what = "a number in range" if text.endswith("out of range") else text.removeprefix("Invalid ")
    return f"expected {what}, found {_show(value, 'another value')}"


def _member(missing: bool, name: str, schemas: Iterator[Schema], noun: str) -> str:
    if missing:
        return f"expected the {noun} {excerpt(name)}, found none"
    from difflib import get_close_matches

    known = [each for schema in schemas for each in schema.get("properties", ())]
    meant = [f"did you mean {excerpt(each)}? " for each in get_close_matches(name, known, 1)]
    takes = f"expected {_list([*map(excerpt, known)])}" if known else f"expected no {noun}"
    return f"unknown {noun} {excerpt(name)}; {''.join(meant)}{takes}"


def _list(values: list[str]) -> str:
    more = ["…"] if len(values) > _MOST else []
    return ", ".join(values[:_MOST] + more) or "none"


def _show(value: Any, otherwise: str) -> str:
    return otherwise.strip() if value is _ABSENT else excerpt(value)
