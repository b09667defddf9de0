"""What differs between two schemas, without an opinion: one row a difference, at its path.

What is written elsewhere but the same on the wire is a change of its own kind (moved, named,
inlined, respelled), never a removal and an addition. Prose is not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from mcp_bindgen.compare.accepts_all import Relation, apart, leaves, tighter, unaliased
from mcp_bindgen.compare.pairing import Pairing, pair
from mcp_bindgen.compare.report.typescript import place, spelled, spelled_value
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Const,
    Field,
    Limits,
    Lit,
    Map,
    Method,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)

__all__ = ["ITEM", "VALUE", "Change", "Key", "Owner", "Spot", "compare"]

Key: TypeAlias = tuple[str, str, str]
"""Subject, what happened to it, and how: what a rule is found by."""
Owner: TypeAlias = tuple[str, str]
"""The declaration, or anonymous shape, that a change lies in: its old and its new name."""

ITEM: Final = "[]"
VALUE: Final = "{}"
_NULL: Final = Prim("null")
_ENVELOPE: Final = ("jsonrpc", "id")
_RELATIONS: Final = {
    (True, True): "same",
    (True, False): "widened",
    (False, True): "narrowed",
    (False, False): "unrelated",
}
"""By whether the new type takes all of the old, and the old all of the new."""


@dataclass(frozen=True, slots=True)
class Spot:
    """What one schema has there: `text` in TypeScript, its type, the byte offset in the file."""

    text: str = ""
    type: Type | None = None
    at: int | None = None


NOTHING: Final = Spot()


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    `path` is in wire names, as the new schema writes it; `was` is the old path where that differs.
    `old` and `new` are what stands there, or the arm in question. `steps` lead from the owner to
    the place (wire names, ITEM, VALUE). `heirs` are other owners with the same change, inherited.
    `root` is `result` for what lies in a method's result itself.
    """

    key: Key
    path: str
    old: Spot = NOTHING
    new: Spot = NOTHING
    was: str = ""
    owner: Owner | None = None
    steps: tuple[str, ...] = ()
    heirs: tuple[Owner, ...] = ()
    method: str = ""
    root: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where two types stand in the old and in the new schema."""

    path: str
    was: str
    owner: Owner | None
    steps: tuple[str, ...]
    old_at: int | None
    new_at: int | None
    method: str = ""
    root: str = ""

    def below(self, step: str) -> _Place:
        dotted = step if step in (ITEM, VALUE) else f".{step}"
        return replace(
            self, path=self.path + dotted, was=self.was + dotted, steps=(*self.steps, step)
        )

    def change(self, key: Key, old: Spot = NOTHING, new: Spot = NOTHING) -> Change:
        return Change(
            key,
            self.path,
            replace(old, at=self.old_at) if old.at is None else old,
            replace(new, at=self.new_at) if new.at is None else new,
            self.was if self.was != self.path else "",
            self.owner,
            self.steps,
            method=self.method,
            root=self.root,
        )

    def texts(self, key: Key, old: str, new: str) -> Change:
        return self.change(key, Spot(old), Spot(new))


def compare(old: Schema, new: Schema) -> tuple[Pairing, tuple[Change, ...]]:
    """The pairs of the two schemas, and every difference, inherited ones told once."""
    pairing = pair(old, new)
    return pairing, tuple(_folded(pairing, list(_Comparison(pairing).changes())))


class _Comparison:
    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.old, self.new = pairing.old, pairing.new
        self.forward = Relation(self.old, self.new, pairing.forward)
        self.backward = Relation(self.new, self.old, pairing.backward)

    def changes(self) -> Iterator[Change]:
        yield from self.methods()
        for a, b in self.pairing.names.items():
            yield from self.declaration(a, b)
        yield from _unpaired(self.old, self.pairing.left, "removed")
        yield from _unpaired(self.new, self.pairing.came, "added")
        yield from self.constants()

    # ---- declarations

    def declaration(self, a: str, b: str) -> Iterator[Change]:
        x, y = self.old.types[a], self.new.types[b]
        at = _Place(place(self.new, b), place(self.old, a), (a, b), (), x.at, y.at)
        yield from self.named(at, x, y)
        yield from _tags(at, x, y)
        if isinstance(x, Struct) and isinstance(y, Struct):
            yield from self.members(at, x, y)
        else:
            yield from self.types(at, _body(x), _body(y))

    def named(self, at: _Place, x: Struct | Alias, y: Struct | Alias) -> Iterator[Change]:
        """How a declaration is called, and whether it is one."""
        before, after = _is_inline(x), _is_inline(y)
        if before and after:
            if x.name != y.name:
                yield at.texts(("shape", "renamed", ""), x.name, y.name)
            return
        if before or after:
            yield at.texts(("shape", "named" if before else "inlined", ""), at.was, at.path)
            if x.name != y.name:
                yield at.texts(("shape", "renamed", ""), x.name, y.name)
        elif x.name != y.name:
            yield at.texts(("declaration", "renamed", ""), x.name, y.name)

    def members(self, at: _Place, x: Struct, y: Struct) -> Iterator[Change]:
        found: list[Change] = []
        for field in x.fields:
            twin = y.field(field.wire)
            if twin is None:
                found.append(self.lone(at, field, self.old, y, "removed"))
            else:
                found += self.member(at, x, y, field, twin)
        for field in y.fields:
            if x.field(field.wire) is None:
                found.append(self.lone(at, field, self.new, x, "added"))
        yield from _renames(found)
        yield from self.index(at, x, y)
        moved = any(c.key[:2] in _OF_BASES for c in found)
        if not (moved or _is_inline(x) or _is_inline(y)):
            before, after = self.mapped(x.bases), sorted(y.bases)
            if before != after:
                yield at.texts(
                    ("declaration", "rebased", ""), ", ".join(x.bases), ", ".join(y.bases)
                )

    def mapped(self, bases: Iterable[str]) -> list[str]:
        return sorted(self.pairing.names.get(base, base) for base in bases)

    def lone(self, at: _Place, field: Field, side: Schema, other: Struct, what: str) -> Change:
        """A member that one side lacks."""
        key = ("member", what, self.manner(field, side, other))
        if self.is_envelope(at, field, other, what):
            key = ("envelope", what, "given" if field.const is None else "const")
        spot = Spot(spelled(side, field.type), field.type, field.at)
        here = at.below(field.wire)
        return here.change(key, spot) if what == "removed" else here.change(key, NOTHING, spot)

    def manner(self, field: Field, side: Schema, other: Struct) -> str:
        relation = self.forward if side is self.old else self.backward
        refused = other.index is not None and not relation.holds(field.type, other.index)
        if field.required:
            alone = "required" if field.const is None else "const"
            return "required closed" if refused else alone
        return "closed" if refused else "optional"

    def is_envelope(self, at: _Place, field: Field, other: Struct, what: str) -> bool:
        """Whether a message's member was on the wire anyway, by the envelope of the other side."""
        if field.wire not in _ENVELOPE or other.field("method") is None:
            return False
        schema, mine = (self.new, 1) if what == "removed" else (self.old, 0)
        arms = [a.name for a in _envelopes(schema) if isinstance(a, Ref)]
        owner = at.owner[mine] if at.owner else ""
        return owner not in arms and any(
            (twin := schema.structs[arm].field(field.wire)) is not None and twin.required
            for arm in arms
            if arm in schema.structs and schema.structs[arm].field("method")
        )

    def member(self, at: _Place, x: Struct, y: Struct, a: Field, b: Field) -> Iterator[Change]:
        here = replace(at.below(a.wire), old_at=a.at, new_at=b.at)
        if a.required != b.required:
            how = "required" if b.required else "optional"
            made = self.both(here, ("member", "became", how), a.type, b.type)
            yield replace(made, old=_marked(made.old, a), new=_marked(made.new, b))
        if a.name != b.name:
            yield here.texts(("member", "python name", ""), a.name, b.name)
        declared = not (_is_inline(x) or _is_inline(y))
        if declared and self.pairing.names.get(a.origin, a.origin) != b.origin:
            yield here.texts(("member", "moved", ""), a.origin, b.origin)
        yield from _field_tags(here, a, b)
        yield from self.types(here, a.type, b.type)

    def index(self, at: _Place, x: Struct, y: Struct) -> Iterator[Change]:
        here = at.below(VALUE)
        if x.index is not None and y.index is not None:
            yield from self.types(here, x.index, y.index)
        elif x.index is not None or y.index is not None:
            what = "added" if x.index is None else "removed"
            yield self.both(here, ("index", what, ""), x.index, y.index)

    def both(self, at: _Place, key: Key, a: Type | None, b: Type | None) -> Change:
        return at.change(key, Spot(spelled(self.old, a), a), Spot(spelled(self.new, b), b))

    # ---- types

    def types(self, at: _Place, a: Type, b: Type) -> Iterator[Change]:
        """How two types at one place differ, told as deep inside as it can be."""
        if self.pairing.same(a, b):
            return
        found = list(self.opened(at, unaliased(self.old, a), unaliased(self.new, b)))
        yield from found or [self.typed(at, a, b, "same")]

    def opened(self, at: _Place, a: Type, b: Type) -> Iterator[Change]:
        if self.pairing.same(a, b):
            return
        if isinstance(a, Bounded) or isinstance(b, Bounded):
            yield from self.bounds(at, a, b)
            return
        match a, b:
            case Arr(), Arr():
                yield from self.types(at.below(ITEM), a.of, b.of)
            case Map(), Map():
                yield from self.types(at.below(VALUE), a.of, b.of)
            case _ if isinstance(a, Uni) or isinstance(b, Uni):
                yield from self.arms(at, a, b)
            case _:
                yield self.related(at, a, b)

    def related(self, at: _Place, a: Type, b: Type) -> Change:
        how = _RELATIONS[self.forward.holds(a, b), self.backward.holds(b, a)]
        if how == "unrelated" and apart(self.old, a, self.new, b):
            how = "disjoint"
        return self.typed(at, a, b, how)

    def typed(self, at: _Place, a: Type, b: Type, how: str) -> Change:
        if how == "same" and not self.pairing.same_class(a, b):
            how = "class"
        return self.both(at, ("type", "changed", how), a, b)

    def arms(self, at: _Place, a: Type, b: Type) -> Iterator[Change]:
        mine, theirs = leaves(self.old, a), leaves(self.new, b)
        gone = [x for x in mine if not any(self.pairing.same(x, y) for y in theirs)]
        came = [y for y in theirs if not any(self.pairing.same(x, y) for x in mine)]
        if len(gone) == len(mine) and len(came) == len(theirs):
            yield self.related(at, a, b)
            return
        for leaf in gone:
            key = _arm_key(leaf, "removed", self.forward.holds(leaf, b))
            yield self.both(at, key, leaf, b)
        for leaf in came:
            key = _arm_key(leaf, "added", self.backward.holds(leaf, a))
            yield self.both(at, key, a, leaf)

    def bounds(self, at: _Place, a: Type, b: Type) -> Iterator[Change]:
        x, y = _limits(a), _limits(b)
        if x.integer != y.integer:
            yield self.both(at, ("integer", "added" if y.integer else "removed", ""), a, b)
        x, y = replace(x, integer=False), replace(y, integer=False)
        if x != y:
            how = _RELATIONS[tighter(x, y), tighter(y, x)]
            yield self.both(at, ("bounds", "changed", how), a, b)
        inner = a.of if isinstance(a, Bounded) else a, b.of if isinstance(b, Bounded) else b
        if not self.pairing.same(*inner):
            yield from self.opened(at, *inner)

    # ---- methods and constants

    def methods(self) -> Iterator[Change]:
        before = {m.name: m for m in self.old.methods}
        after = {m.name: m for m in self.new.methods}
        for name, method in before.items():
            if name not in after:
                yield _method(self.old, method, "removed")
            else:
                yield from self.method(method, after[name])
        for name, method in after.items():
            if name not in before:
                yield _method(self.new, method, "added")

    def method(self, a: Method, b: Method) -> Iterator[Change]:
        at = _Place(a.name, a.name, None, (), *_message_at(self.old, self.new, a, b), a.name)
        for what, x, y in (
            ("direction", a.direction, b.direction),
            ("kind", a.kind, b.kind),
            ("capability", a.capability, b.capability),
        ):
            if x != y:
                yield at.texts(("method", what, ""), x or "none", y or "none")
        if a.result and b.result:
            yield from self.types(
                replace(at, path=f"{a.name} result", was="", root="result"), a.result, b.result
            )
        elif (a.result or b.result) and a.kind == b.kind:
            key = ("method", "result", "declared" if b.result else "undeclared")
            yield replace(self.both(at, key, a.result, b.result), root="result")

    def constants(self) -> Iterator[Change]:
        for name, const in self.old.consts.items():
            twin = self.new.consts.get(name)
            if twin is None:
                yield _constant("removed", const, None)
            elif type(const.value) is not type(twin.value) or const.value != twin.value:
                yield _constant("changed", const, twin)
        for name, const in self.new.consts.items():
            if name not in self.old.consts:
                yield _constant("added", None, const)


def _marked(spot: Spot, field: Field) -> Spot:
    return replace(spot, text=f"{'' if field.required else '?'}: {spot.text}")


_OF_BASES: Final = {("member", "moved"), ("member", "added"), ("member", "removed")}


def _body(found: Struct | Alias) -> Type:
    return found.type if isinstance(found, Alias) else Ref(found.name)


def _is_inline(found: Struct | Alias) -> bool:
    return isinstance(found, Struct) and bool(found.place)


def _limits(type: Type) -> Limits:
    return type.limits if isinstance(type, Bounded) else Limits()


def _envelopes(schema: Schema) -> tuple[Type, ...]:
    return leaves(schema, Ref("JSONRPCMessage")) if "JSONRPCMessage" in schema.types else ()


def _arm_key(leaf: Type, what: str, covered: bool) -> Key:
    subject = "literal" if isinstance(leaf, Lit) else "null" if leaf == _NULL else "arm"
    if subject == "null" and covered:
        subject = "arm"
    return (subject, what, "covered" if covered else "")


def _unpaired(schema: Schema, names: list[str], what: str) -> Iterator[Change]:
    for name in names:
        found = schema.types[name]
        if not _is_inline(found):
            text = "interface" if isinstance(found, Struct) else spelled(schema, found.type)
            yield _one_sided(("declaration", what, ""), name, Spot(text, at=found.at))


def _one_sided(key: Key, path: str, spot: Spot, method: str = "") -> Change:
    old, new = (spot, NOTHING) if key[1] == "removed" else (NOTHING, spot)
    return Change(key, path, old, new, method=method)


def _message_at(old: Schema, new: Schema, a: Method, b: Method) -> tuple[int, int]:
    return old.types[a.type].at, new.types[b.type].at


def _method(schema: Schema, method: Method, what: str) -> Change:
    text = f"{method.type} ({method.direction} {method.kind})"
    spot = Spot(text, at=schema.types[method.type].at)
    return _one_sided(("method", what, ""), method.name, spot, method.name)


def _constant(what: str, old: Const | None, new: Const | None) -> Change:
    side = old or new
    assert side is not None
    spots = [Spot(spelled_value(c.value), Lit(c.value), c.at) if c else NOTHING for c in (old, new)]
    return Change(("constant", what, ""), side.name, spots[0], spots[1])


def _tags(at: _Place, x: Struct | Alias, y: Struct | Alias) -> Iterator[Change]:
    yield from _deprecation(at, x.deprecated, y.deprecated)
    for name, a, b in (
        ("internal", str(x.internal).lower(), str(y.internal).lower()),
        ("category", x.category, y.category),
    ):
        if a != b and not (_is_inline(x) or _is_inline(y)):
            yield at.texts(("tag", "changed", ""), f"@{name} {a}", f"@{name} {b}")


def _field_tags(at: _Place, a: Field, b: Field) -> Iterator[Change]:
    yield from _deprecation(at, a.deprecated, b.deprecated)
    for name, x, y in (("format", a.format, b.format), ("default", a.default, b.default)):
        if x != y:
            texts = [f"@{name} {t}" if t is not None else "" for t in (x, y)]
            yield at.texts(("tag", "changed", ""), texts[0], texts[1])


def _deprecation(at: _Place, a: str | None, b: str | None) -> Iterator[Change]:
    if (a is None) != (b is None):
        how = "deprecated" if a is None else "undeprecated"
        yield at.change(("tag", how, ""))


def _renames(found: list[Change]) -> Iterator[Change]:
    """The changes, removed and added members of one type told of each other."""
    gone = [c for c in found if c.key[:2] == ("member", "removed")]
    came = [c for c in found if c.key[:2] == ("member", "added")]
    likely: dict[str, str] = {}
    for change in gone:
        twins = [c for c in came if c.new.text == change.old.text]
        rivals = [c for c in gone if c.old.text == change.old.text]
        if len(twins) == len(rivals) == 1:
            likely[change.path] = twins[0].path
            likely[twins[0].path] = change.path
    for change in found:
        other = likely.get(change.path)
        yield replace(change, note=f"perhaps renamed: see {other}") if other else change


def _folded(pairing: Pairing, found: list[Change]) -> Iterator[Change]:
    """Changes that a declaration inherits, told once at the declaration that has them first."""
    by_owner: dict[tuple[Owner | None, _Signature], Change] = {
        (c.owner, _signature(c)): c for c in found if c.owner and c.steps
    }
    heirs: dict[int, list[Owner]] = {}
    kept: list[Change] = []
    for change in found:
        top = _topmost(pairing, change, by_owner)
        if top is None or top.owner == change.owner or change.owner is None:
            kept.append(change)
        else:
            heirs.setdefault(id(top), []).append(change.owner)
    for change in kept:
        mine = tuple(heirs.get(id(change), ()))
        yield replace(change, heirs=mine) if mine else change


_Signature: TypeAlias = tuple[Key, tuple[str, ...], str, str]


def _signature(change: Change) -> _Signature:
    return change.key, change.steps, change.old.text, change.new.text


def _topmost(
    pairing: Pairing, change: Change, by_owner: dict[tuple[Owner | None, _Signature], Change]
) -> Change | None:
    """The same change at the declaration farthest up among those that are extended."""
    if change.owner is None or not change.steps:
        return None
    top, queue, seen = None, [change.owner], {change.owner}
    while queue:
        owner = queue.pop(0)
        same = by_owner.get((owner, _signature(change)))
        if same is None:
            continue
        top = same
        for base in _bases(pairing, owner):
            if base not in seen:
                seen.add(base)
                queue.append(base)
    return top


def _bases(pairing: Pairing, owner: Owner) -> Iterator[Owner]:
    x, y = pairing.old.types[owner[0]], pairing.new.types[owner[1]]
    if isinstance(x, Struct) and isinstance(y, Struct):
        back = {b: a for a, b in pairing.names.items()}
        for base in x.bases:
            if base in pairing.names:
                yield base, pairing.names[base]
        for base in y.bases:
            if base in back:
                yield back[base], base
