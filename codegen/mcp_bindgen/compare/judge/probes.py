"""Builds messages around a probe: the place of a change, with valid values everywhere else.

Unless a step crosses a union, the message is valid iff the frame and the value at the probe are
valid, and the reader rejects it iff it rejects that value. So only the value needs to be judged,
however large the message is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, Final

from mcp_bindgen.compare.changes.assignable import leaves
from mcp_bindgen.compare.changes.bounds import limits_of
from mcp_bindgen.compare.changes.change import ITEM, VALUE, value_of
from mcp_bindgen.compare.judge.samples import Samples, UnmakeableError, sample_name, weight
from mcp_bindgen.compare.messages.directions import Step
from mcp_bindgen.compare.messages.message_paths import item_at
from mcp_bindgen.ir.model import Arr, Field, Map, Ref, Struct, Tup, Type, Uni
from mcp_bindgen.ir.values.accepts import Path, accepts
from mcp_bindgen.ir.values.unlisted import takes
from mcp_bindgen.ir.walk import resolve_aliases, strip_bounds

__all__ = ["Messages", "Pair", "Probe"]

_TRIES: Final = 200
"""Values tried in search of one acceptable to both sides, and items made for one array."""
_SIZE: Final = 20_000
"""How much these values together may weigh."""
_KEY: Final = "key"
"""The name of an unlisted member, where nobody has declared it."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The writer's type at a place, and the reader's type there, if known."""

    of: Type
    read: Type | None


@dataclass(frozen=True, slots=True)
class Probe:
    """A place in a message: `fill` makes the message with a value there.

    `sound`: the value can be judged alone, since the frame means the same to both sides.
    """

    pair: Pair
    path: Path
    fill: Callable[[Any], Any]
    sound: bool

    def below(self, pair: Pair, key: str | int, around: Callable[[Any], Any], sound: bool) -> Probe:
        """Return the probe at `key`; `around` builds the value here from the value there."""
        outer = self.fill
        return Probe(
            pair, (*self.path, key), lambda value: outer(around(value)), self.sound and sound
        )


@dataclass(eq=False)
class Messages:
    """Messages from one side to the other, made of values of both schemas.

    `side` is 0 if the writer is the old schema, 1 if it is the new one.
    """

    writer: Samples
    reader: Samples
    side: int
    _bases: dict[tuple[str, str | None], tuple[dict[str, Any], bool]] = field(
        default_factory=dict[tuple[str, str | None], tuple[dict[str, Any], bool]]
    )
    _shared: dict[Pair, tuple[Any]] = field(default_factory=dict[Pair, tuple[Any]])
    _open: set[tuple[str, str | None]] = field(default_factory=set[tuple[str, str | None]])

    def whole(self, pair: Pair) -> Probe:
        """Return the probe at the whole message."""
        return Probe(pair, (), lambda value: value, True)

    def along(self, probe: Probe, steps: tuple[Step, ...]) -> Probe:
        """Follow `steps` from `probe`. Raises UnmakeableError if no value has them."""
        if not steps:
            return probe
        step, rest = steps[0], steps[1:]
        if isinstance(step, tuple):
            arms = Pair(step[self.side], step[1 - self.side])
            return self.along(replace(probe, pair=arms, sound=False), rest)
        of = strip_bounds(self.writer.schema, probe.pair.of)
        if isinstance(of, Uni):
            return self._along_an_arm(probe, of, steps)
        return self.along(self._step(probe, of, step), rest)

    def _step(self, probe: Probe, of: Type, step: str | int) -> Probe:
        read = self._read(probe.pair)
        match of:
            case Arr() | Tup() if step == ITEM or isinstance(step, int):
                return self._item(probe, of, read, 0 if isinstance(step, str) else step)
            case Map() if step == VALUE:
                inner = Pair(of.of, read.of if isinstance(read, Map) else None)
                return probe.below(inner, _KEY, lambda value: {_KEY: value}, True)
            case Ref() if isinstance(step, str):
                return self._member(probe, of, read, step)
            case _:
                raise UnmakeableError

    def _read(self, pair: Pair) -> Type | None:
        return None if pair.read is None else strip_bounds(self.reader.schema, pair.read)

    def _along_an_arm(self, probe: Probe, of: Uni, steps: tuple[Step, ...]) -> Probe:
        """Follow `steps` inside the first arm of `of` in which all of them exist."""
        read = probe.pair.read
        choices = leaves(self.reader.schema, read) if read is not None else ()
        for arm in leaves(self.writer.schema, of):
            for choice in (*choices, None):
                try:
                    return self.along(replace(probe, pair=Pair(arm, choice), sound=False), steps)
                except UnmakeableError:
                    continue
        raise UnmakeableError

    # ---- arrays

    def _item(self, probe: Probe, of: Arr | Tup, read: Type | None, number: int) -> Probe:
        """The probe at item `number` of an array which is long enough for both sides."""
        mine = limits_of(resolve_aliases(self.writer.schema, probe.pair.of))
        theirs = limits_of(resolve_aliases(self.reader.schema, probe.pair.read or of))
        least = max(number + 1, mine.min_items or 0, theirs.min_items or 0, _needs(of))
        if least > _TRIES:
            raise UnmakeableError
        items = [self.find_shared(_item_pair(of, read, n)) for n in range(least)]

        def around(value: Any) -> Any:
            return [*items[:number], value, *items[number + 1 :]]

        sound = mine.max_items is None or least <= mine.max_items
        return probe.below(_item_pair(of, read, number), number, around, sound)

    # ---- objects

    def _member(self, probe: Probe, of: Ref, read: Type | None, step: str) -> Probe:
        base, sound = self.base(of, read)
        own, known = self.fields(of, read)
        struct, other = self.writer.schema.structs[of.name], self._struct(read)
        rest = other.index if other else None
        if step in own:
            inner = Pair(own[step].type, known[step].type if step in known else rest)
            return self._under(probe, inner, step, base, sound)
        if step == VALUE and struct.index is not None:
            name = next(name for name in _names() if name not in own and name not in known)
            return self._under(probe, Pair(struct.index, rest), name, base, sound)
        for keyed in struct.keyed:
            sample = sample_name(keyed)
            if step == value_of(keyed.key) and sample is not None:
                twins = (k.type for k in (other.keyed if other else ()) if takes(k, sample))
                inner = Pair(keyed.type, next(twins, rest))
                return self._under(probe, inner, sample, base, sound)
        raise UnmakeableError

    def _under(
        self, probe: Probe, inner: Pair, name: str, base: dict[str, Any], sound: bool
    ) -> Probe:
        return probe.below(inner, name, lambda value: {**base, name: value}, sound)

    def plain_object(self, probe: Probe) -> dict[str, Any] | None:
        """The plainest object in the probe, where both sides have a shape for it and it can be
        judged alone. Raises UnmakeableError."""
        of, read = strip_bounds(self.writer.schema, probe.pair.of), self._read(probe.pair)
        if not (probe.sound and isinstance(of, Ref) and isinstance(read, Ref)):
            return None
        base, sound = self.base(of, read)
        return base if sound else None

    def members_at(self, probe: Probe, name: str) -> tuple[Field | None, Field | None]:
        """A member as the writer and the reader declare it."""
        of, read = strip_bounds(self.writer.schema, probe.pair.of), self._read(probe.pair)
        assert isinstance(of, Ref)
        mine, theirs = self.fields(of, read)
        return mine.get(name), theirs.get(name)

    def fields(self, of: Ref, read: Type | None) -> tuple[dict[str, Field], dict[str, Field]]:
        """The members of the writer's struct `of`, and those of the reader's struct `read`, by wire
        name; if `read` is not a struct, it has none.
        """
        theirs = self.reader.schema.fields[read.name] if isinstance(read, Ref) else {}
        return self.writer.schema.fields[of.name], theirs

    def _struct(self, read: Type | None) -> Struct | None:
        return self.reader.schema.structs[read.name] if isinstance(read, Ref) else None

    def base(self, of: Ref, read: Type | None) -> tuple[dict[str, Any], bool]:
        """Build the required members of the writer and of the reader, and tell whether the writer
        may send such an object. Raises UnmakeableError.
        """
        known = read.name if isinstance(read, Ref) else None
        key = of.name, known
        if key in self._open:
            raise UnmakeableError
        if key not in self._bases:
            self._open.add(key)
            try:
                made = self._new_base(of, read)
            finally:
                self._open.discard(key)
            self._bases[key] = made, accepts(self.writer.schema, of, made)
        return self._bases[key]

    def _new_base(self, of: Ref, read: Type | None) -> dict[str, Any]:
        mine, theirs = self.fields(of, read)
        required = {wire: member for wire, member in theirs.items() if member.required}
        made = {
            wire: self.find_shared(_twins(member, theirs.get(wire)))
            for wire, member in mine.items()
            if member.required or wire in required
        }
        index = self.writer.schema.structs[of.name].index
        for wire, member in required.items():
            if wire not in mine:
                value = self.reader.smallest(member.type)
                if index is None or accepts(self.writer.schema, index, value):
                    made[wire] = value
        return made

    # ---- values

    def find_shared(self, pair: Pair) -> Any:
        """Find the smallest value acceptable to both sides; else the writer's smallest. Raises
        UnmakeableError.
        """
        if pair not in self._shared:
            values = () if pair.read is None else self._acceptable(pair, pair.read)
            self._shared[pair] = next(iter(values), None) or (self.writer.smallest(pair.of),)
        return self._shared[pair][0]

    def _acceptable(self, pair: Pair, read: Type) -> Iterator[tuple[Any]]:
        """Values acceptable to both sides."""
        left = _SIZE
        for value in islice(self._hybrids(pair), _TRIES):
            if accepts(self.writer.schema, pair.of, value) and accepts(
                self.reader.schema, read, value
            ):
                yield (value,)
            left -= weight(value)
            if left < 0:
                return

    def _hybrids(self, pair: Pair) -> Iterator[Any]:
        assert pair.read is not None
        of, read = strip_bounds(self.writer.schema, pair.of), self._read(pair)
        if isinstance(of, Ref) and isinstance(read, Ref):
            try:
                yield self.base(of, read)[0]
            except UnmakeableError:
                return
        yield from self.writer.variants(pair.of)
        yield from self.reader.variants(pair.read)


def _needs(type: Arr | Tup) -> int:
    """The number of items a tuple must have; 0 for an array."""
    return sum(not place.optional for place in type.of) if isinstance(type, Tup) else 0


def _names() -> Iterator[str]:
    """Names for an unlisted member."""
    return (_KEY + "_" * number for number in count())


def _twins(mine: Field, theirs: Field | None) -> Pair:
    return Pair(mine.type, theirs.type if theirs else None)


def _item_pair(of: Arr | Tup, read: Type | None, number: int) -> Pair:
    mine = item_at(of, number)
    if mine is None:
        raise UnmakeableError
    return Pair(mine, item_at(read, number) if isinstance(read, Arr | Tup) else None)
