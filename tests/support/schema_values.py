"""Draws JSON values near a JSON Schema: mostly valid ones, and ones with a random change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from mcp_bindgen.json_values import list_of, object_of

__all__ = ["values_near"]

_OTHERS: Final[tuple[Any, ...]] = (
    "",
    "text",
    0,
    -1,
    1.5,
    10**6,
    True,
    None,
    [],
    ["a"],
    [1],
    {},
    {"a": 1},
)
_DEPTH: Final = 6


def values_near(schema: Any, seed: int, count: int) -> Iterator[Any]:
    """Yield `count` values; every other one is changed in a random place."""
    dice = random.Random(seed)
    for number in range(count):
        value = _value(schema, schema, dice, 0)
        yield _changed(value, dice) if number % 2 else value


def _value(schema: Any, root: Any, dice: random.Random, depth: int) -> Any:
    """A value of a schema. Of bounds only the least are kept."""
    members = object_of(schema)
    if members is None:
        return dice.choice(_OTHERS)
    match members:
        case {"$ref": str(ref)}:
            target = root
            for step in ref.split("/")[1:]:
                target = target[step]
            return _value(target, root, dice, depth + 1)
        case {"minimum": least} if "type" not in members:
            return least
        case {"const": value}:
            return value
        case {"enum": values}:
            return dice.choice(list_of(values) or [None])
        case {"anyOf": arms} | {"oneOf": arms}:
            return _value(dice.choice(list_of(arms) or []), root, dice, depth + 1)
        case {"allOf": parts}:
            return _merged([_value(part, root, dice, depth + 1) for part in list_of(parts) or []])
        case _:
            return _of_type(members, root, dice, depth)


def _merged(values: list[Any]) -> Any:
    """The members of objects together; of other values the last."""
    objects = [members for value in values if (members := object_of(value)) is not None]
    if len(objects) < len(values):
        return values[-1]
    return {name: item for members in objects for name, item in members.items()}


def _of_type(schema: dict[str, Any], root: Any, dice: random.Random, depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else None)
    match dice.choice(list_of(kind) or [kind]):
        case "string":
            return "x" * max(schema.get("minLength", 0), dice.randrange(3))
        case "integer":
            return schema.get("minimum", 0) + dice.randrange(3)
        case "number":
            return schema.get("minimum", 0) + dice.choice((0, 0.5, 2))
        case "boolean":
            return dice.random() < 0.5
        case "null":
            return None
        case "array":
            size = max(schema.get("minItems", 0), 0 if depth > _DEPTH else dice.randrange(3))
            return [_value(schema.get("items"), root, dice, depth + 1) for _ in range(size)]
        case "object":
            return _object(schema, root, dice, depth)
        case _:
            return dice.choice(_OTHERS)


def _object(schema: dict[str, Any], root: Any, dice: random.Random, depth: int) -> Any:
    listed: dict[str, Any] = schema.get("properties", {})
    required: list[str] = schema.get("required", [])
    most = 0.2 if depth > _DEPTH else 0.7
    chosen = [name for name in listed if name in required or dice.random() < most]
    made: dict[str, Any] = {name: _value(listed[name], root, dice, depth + 1) for name in chosen}
    others = schema.get("additionalProperties", True)
    if others is not False and dice.random() < 0.3:
        made["other"] = _value(others, root, dice, depth + 1)
    return made


def _changed(value: Any, dice: random.Random) -> Any:
    """A copy with another value in one place, without one member, or with one more."""
    members, items = object_of(value), list_of(value)
    if members is not None and dice.random() < 0.15:
        return {**members, "strange": dice.choice(_OTHERS)}
    if members and dice.random() < 0.8:
        name = dice.choice([*members])
        rest = {key: item for key, item in members.items() if key != name}
        return rest if dice.random() < 0.2 else {**rest, name: _changed(members[name], dice)}
    if items and dice.random() < 0.8:
        place = dice.randrange(len(items))
        return [*items[:place], _changed(items[place], dice), *items[place + 1 :]]
    return dice.choice(_OTHERS)
