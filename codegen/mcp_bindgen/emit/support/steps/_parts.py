"""Join several members into one array, and split an array into members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .._wire.values import At, Json
from ._step import Step, Trip, each, same, without

__all__ = ["Part", "join_parts", "split_parts"]


class Part(NamedTuple):
    """A member whose value is part of an array: several items, or with `name` one object.

    `step` converts an item or the value. The object is the value under `name`, and `marks`.
    """

    wire: str
    step: Step
    name: str
    marks: Mapping[str, Json]


def join_parts(o: Json, wire: str, parts: tuple[Part, ...], at: At, trip: Trip) -> Json:
    """Return `o` with the array `wire` in the place of its parts."""
    items: list[Json] = []
    places: list[At] = []
    for part in parts:
        if part.wire not in o:
            continue
        here: At = (at, part.wire)
        if part.name:
            value = part.step(o[part.wire], here, trip)
            items.append({**part.marks, part.name: value})
            places.append(here)
        else:
            items += each(part.step, o[part.wire], here, trip)
            places += [(here, i) for i in range(len(o[part.wire]))]
    for i, place in enumerate(places):
        trip.move(place, ((at, wire), i))
    names = [part.wire for part in parts]
    return {**{key: o[key] for key in o if key not in names}, wire: items}


def split_parts(
    o: Json, wire: str, parts: tuple[Part, ...], at: At, trip: Trip, why: str
) -> Json:
    """Return `o` with the parts of the array `wire` in its place; the rest is lost."""
    new = without(o, wire)
    whole: At = (at, wire)
    for part in parts:
        if part.wire in new:
            new = trip.squat(new, part.wire, at, why)
    for part in parts:
        trip.move(whole, (at, part.wire), whole=True)
        if not part.name:
            new[part.wire] = []
    order: list[int] = []
    for i, item in enumerate(o[wire]):
        part = next(p for p in parts[::-1] if not p.name or _is_part(item, p))
        if part.name and part.wire in new:
            trip.lose(whole, f"only one item of it becomes `{part.wire}`", why)
            continue
        order.append(parts.index(part))
        if not part.name:
            new[part.wire].append(part.step(item, (whole, i), trip))
            continue
        if len(item) > len(part.marks) + 1:
            trip.lose(whole, f"only `{part.name}` of an item is kept", why)
        new[part.wire] = part.step(item[part.name], (whole, i), trip)
    if order != sorted(order):
        trip.lose(whole, "the order of its items changes", why)
    return new


def _is_part(item: Json, part: Part) -> bool:
    return item.__class__ is dict and all(
        key in item and same(item[key], value) for key, value in part.marks.items()
    )
