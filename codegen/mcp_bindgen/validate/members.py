"""Finds the members in a message which extensions add to types of the core."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from mcp_bindgen.json_values import list_of, object_of

__all__ = ["Added", "added"]


class Added(NamedTuple):
    """A member in a message: its expected type, its JSON path, its value."""

    type: str
    path: str
    value: Any


def added(
    model: Any, value: Any, rows: Mapping[tuple[str, ...], str], path: str = "$"
) -> Iterator[Added]:
    """The added members of `value`, read as `model`.

    `rows` map (type, members on the way, member name) to the type of the added member.
    """
    if isinstance(model, Struct):
        members = object_of(value) or {}
        for (owner, *steps), type in rows.items():
            if owner == model.__class__.__name__:
                yield from _at(members, steps, type, path)
        for name, wire in zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True):
            if wire in members:
                below = f"{path}{_step(wire)}"
                yield from added(getattr(model, name), members[wire], rows, below)
    elif items := list_of(model):
        for number, (item, raw) in enumerate(zip(items, list_of(value) or [], strict=False)):
            yield from added(item, raw, rows, f"{path}[{number}]")
    elif entries := object_of(model):
        raws = object_of(value) or {}
        for key in filter(raws.__contains__, entries):
            yield from added(entries[key], raws[key], rows, f"{path}{_step(key)}")


def _at(value: Any, steps: list[str], type: str, path: str) -> Iterator[Added]:
    for step in steps:
        members = object_of(value)
        if members is None or step not in members:
            return
        value, path = members[step], f"{path}{_step(step)}"
    yield Added(type, path, value)


def _step(name: str) -> str:
    """A member in a JSON path."""
    return f".{name}" if name.isidentifier() else f"[{json.dumps(name)}]"
