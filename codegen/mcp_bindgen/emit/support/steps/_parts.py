"""Join several members into one array, and split an array into members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from .._wire.values import UNSET, At, Json
from ._step import Step, Trip, each, same, without

__all__ = ["Part", "join_parts", "split_parts"]


class Part(NamedTuple):
    """A part of an array: the items of a member, one object for a member, or a constant object.

    Without `name`, the items of member `wire` stand in the array. With `name`, one object of the
    array has the value as `name`, and `marks` beside it. Without `wire`, it is `marks` alone.
    `step` converts an item or a value. `fill` is the member's value if no item has one.
    """

    wire: str
    step: Step
    name: str
    marks: Mapping[str, Json]
    fill: Json = UNSET

    def fits(self, item: Json) -> bool:
        """Return whether an item of the array has the marks of this part."""
        return item.__class__ is dict and all(
            key in item and same(item[key], value) for key, value in self.marks.items()
        )

    def says_all(self, item: Json) -> bool:
        """Return whether an item has no member beside the marks and the value."""
        return len(item) == len(self.marks) + (self.name in item)


def join_parts(o: Json, wire: str, parts: tuple[Part, ...], at: At, trip: Trip) -> Json:
    """Return `o` with one array member `wire` in place of the members that `parts` name.

    If two parts name the same member, the array has its value once, by the first of them.
    """
    items: list[Json] = []
    places: list[At] = []
    written: set[str] = set()
    for part in parts:
        here: At = (at, part.wire)
        if not part.wire:
            items.append({**part.marks})
            places.append(None)
            continue
        if part.wire not in o or part.wire in written:
            continue
        if part.name:
            value = part.step(o[part.wire], here, trip)
            items.append({**part.marks, part.name: value})
            places.append(here)
        else:
            items += each(part.step, o[part.wire], here, trip)
            places += [(here, i) for i in range(len(o[part.wire]))]
        written.add(part.wire)
    for i, place in enumerate(places):
        if place is not None:
            trip.move(place, ((at, wire), i))
    return {**{key: o[key] for key in o if key not in written}, wire: items}


def split_parts(
    o: Json, wire: str, parts: tuple[Part, ...], at: At, trip: Trip, why: str
) -> Json:
    """Return `o` with single members, taken from the items of the array `wire`, in its place.

    Items that fit no part are told to `trip` as lost.

    Of parts that name the same member, the first one for which there is an item gives its value.
    """
    new = without(o, wire)
    whole: At = (at, wire)
    names = dict.fromkeys(part.wire for part in parts if part.wire)
    for name in names:
        if name in new:
            new = trip.squat(new, name, at, why)
    for name in names:
        trip.move(whole, (at, name), whole=True)
    numbers = [_part_of(item, parts) for item in o[wire]]
    order: list[int] = []
    for i, (item, number) in enumerate(zip(o[wire], numbers, strict=True)):
        if number == _NONE:
            trip.lose(whole, "an item of it is left out", why)
            continue
        part = parts[number]
        if part.wire and not part.name:
            order.append(number)
            value = part.step(item, (whole, i), trip)
            new[part.wire] = [*new.get(part.wire, ()), value]
            continue
        if number in order or number != _first_of(part, parts, numbers):
            trip.lose(whole, f"only one item of it becomes {_name_of(part)}", why)
            continue
        order.append(number)
        if not part.says_all(item):
            trip.lose(whole, f"only {_name_of(part)} of an item is kept", why)
        if part.wire and part.name in item:
            new[part.wire] = part.step(item[part.name], (whole, i), trip)
    if order != sorted(order):
        trip.lose(whole, "the order of its items changes", why)
    for change in _not_restored(parts, order, new):
        trip.lose(whole, change, why)
    return _fill(new, parts)


_NONE: Final = -1


def _name_of(part: Part) -> str:
    return f"`{part.name}`" if part.wire else "the constant"


def _part_of(item: Json, parts: tuple[Part, ...]) -> int:
    """Return the number of an item's part; the part with several items takes any other item."""
    rest = _NONE
    for number, part in enumerate(parts):
        if part.wire and not part.name:
            rest = number
        elif part.fits(item):
            return number
    return rest


def _first_of(part: Part, parts: tuple[Part, ...], numbers: list[int]) -> int:
    """Return the number of the first part of a member with an item."""
    if not part.wire:
        return parts.index(part)
    return min(
        number
        for number in numbers
        if number != _NONE and parts[number].wire == part.wire
    )


def _not_restored(parts: tuple[Part, ...], order: list[int], new: Json) -> list[str]:
    """Return the changes of the way back to an array of these parts."""
    changes: list[str] = []
    for number, part in enumerate(parts):
        if not part.wire and number not in order:
            changes.append("a constant item is added")
        elif part.fill is not UNSET and part.wire not in new and part.name:
            changes.append(f"no item of it says `{part.wire}`")
        elif part.name and number in order:
            if part.wire not in new:
                changes.append(f"an item without `{part.name}` is left out")
            elif _writes(part.wire, parts) != number:
                changes.append(f"`{part.name}` comes back in another item")
    return changes


def _writes(wire: str, parts: tuple[Part, ...]) -> int:
    """Return the number of the part written on the way back for a member."""
    return next(number for number, part in enumerate(parts) if part.wire == wire)


def _fill(new: Json, parts: tuple[Part, ...]) -> Json:
    """Return `new` with the members without an item."""
    for part in parts:
        if part.wire and part.wire not in new:
            if part.fill is not UNSET:
                new[part.wire] = part.fill
            elif not part.name:
                new[part.wire] = []
    return new
