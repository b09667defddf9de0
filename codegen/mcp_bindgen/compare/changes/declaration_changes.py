"""Compares two paired declarations: their names, tags, bases and members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from mcp_bindgen.compare.changes.change import VALUE, Change, Place, value_of
from mcp_bindgen.compare.changes.pairing import Pairing, is_inline
from mcp_bindgen.compare.changes.shown_paths import places
from mcp_bindgen.compare.changes.type_changes import TypeComparison
from mcp_bindgen.ir.model import Alias, Field, Ref, Struct, Type

__all__ = ["DeclarationComparison"]

_OF_BASES: Final = {("member", "moved"), ("member", "added"), ("member", "removed")}


class DeclarationComparison:
    """Compares declarations of the old schema with those of the new one."""

    def __init__(self, pairing: Pairing, types: TypeComparison) -> None:
        self.pairing, self.types = pairing, types
        self.old, self.new = pairing.old, pairing.new
        self.old_places, self.new_places = places(pairing.old), places(pairing.new)

    def changes(self, a: str, b: str) -> Iterator[Change]:
        x, y = self.old.types[a], self.new.types[b]
        at = Place(self.new_places[b], self.old_places[a], (a, b), (), x.at, y.at)
        yield from _name_changes(at, x, y)
        yield from _tags(at, x, y)
        if isinstance(x, Struct) and isinstance(y, Struct):
            yield from self._members(at, x, y)
        else:
            yield from self.types.changes(at, _body(x), _body(y))

    def _members(self, at: Place, x: Struct, y: Struct) -> Iterator[Change]:
        mine, theirs = {f.wire: f for f in x.fields}, {f.wire: f for f in y.fields}
        changes: list[Change] = []
        for wire, field in mine.items():
            if wire in theirs:
                changes += self._member(at, x, y, field, theirs[wire])
            else:
                changes.append(self.types.removed.change(at, field, y))
        for wire, field in theirs.items():
            if wire not in mine:
                changes.append(self.types.added.change(at, field, x))
        yield from _with_likely_renames(changes)
        yield from self._index(at, x, y)
        moved = any(change.key[:2] in _OF_BASES for change in changes)
        if not (moved or is_inline(x) or is_inline(y)):
            yield from self._bases(at, x, y)

    def _bases(self, at: Place, x: Struct, y: Struct) -> Iterator[Change]:
        if sorted(map(self._new_name, x.bases)) != sorted(y.bases):
            texts = ", ".join(x.bases), ", ".join(y.bases)
            yield at.text_change(("declaration", "rebased", ""), *texts)

    def _new_name(self, name: str) -> str:
        return self.pairing.names.get(name, name)

    def _member(self, at: Place, x: Struct, y: Struct, a: Field, b: Field) -> Iterator[Change]:
        here = replace(at.below(a.wire), old_at=a.at, new_at=b.at)
        if a.name != b.name:
            yield here.text_change(("member", "python name", ""), a.name, b.name)
        declared = not (is_inline(x) or is_inline(y))
        if declared and self._new_name(a.origin) != b.origin:
            yield here.text_change(("member", "moved", ""), a.origin, b.origin)
        yield from _field_tags(here, a, b)
        yield from self.types.member(here, a, b)

    def _index(self, at: Place, x: Struct, y: Struct) -> Iterator[Change]:
        here = at.below(VALUE)
        if x.index is not None and y.index is not None:
            yield from self.types.changes(here, x.index, y.index)
        elif x.index is not None or y.index is not None:
            what = "added" if x.index is None else "removed"
            yield self.types.change(here, ("index", what, ""), x.index, y.index)
        yield from self._index_changes(at, x, y)

    def _index_changes(self, at: Place, x: Struct, y: Struct) -> Iterator[Change]:
        """The index signatures by template."""
        both = {keyed.pattern: other for keyed, other in x.keyed_twins(y)}
        for keyed in x.keyed:
            here = at.below(value_of(keyed.key))
            if keyed.pattern in both:
                yield from self.types.changes(here, keyed.type, both[keyed.pattern].type)
            else:
                yield self.types.change(here, ("index", "removed", ""), keyed.type, None)
        for keyed in y.keyed:
            if keyed.pattern not in both:
                here = at.below(value_of(keyed.key))
                yield self.types.change(here, ("index", "added", ""), None, keyed.type)


def _body(declaration: Struct | Alias) -> Type:
    return declaration.type if isinstance(declaration, Alias) else Ref(declaration.name)


def _name_changes(at: Place, x: Struct | Alias, y: Struct | Alias) -> Iterator[Change]:
    """The changes of a declaration's name, and the change if only one side declares it inline."""
    before, after = is_inline(x), is_inline(y)
    if before != after:
        yield at.text_change(("shape", "named" if before else "inlined", ""), at.was, at.path)
    if x.name != y.name:
        subject = ("shape", "renamed", "") if before or after else ("declaration", "renamed", "")
        yield at.text_change(subject, x.name, y.name)


# ---- tags


def _tags(at: Place, x: Struct | Alias, y: Struct | Alias) -> Iterator[Change]:
    yield from _deprecation(at, x.deprecated, y.deprecated)
    for name, a, b in (
        ("internal", str(x.internal).lower(), str(y.internal).lower()),
        ("category", x.category, y.category),
    ):
        if a != b and not (is_inline(x) or is_inline(y)):
            yield at.text_change(("tag", "changed", ""), f"@{name} {a}", f"@{name} {b}")


def _field_tags(at: Place, a: Field, b: Field) -> Iterator[Change]:
    yield from _deprecation(at, a.deprecated, b.deprecated)
    for name, x, y in (("format", a.format, b.format), ("default", a.default, b.default)):
        if x != y:
            texts = [f"@{name} {text}" if text is not None else "" for text in (x, y)]
            yield at.text_change(("tag", "changed", ""), *texts)


def _deprecation(at: Place, a: str | None, b: str | None) -> Iterator[Change]:
    if (a is None) != (b is None):
        how = "deprecated" if a is None else "undeprecated"
        yield at.change(("tag", how, ""))


# ---- renames


def _with_likely_renames(changes: Sequence[Change]) -> Iterator[Change]:
    """The changes; a removed and an added member link to each other if no others have their
    type.
    """
    removed = _by_type(c for c in changes if c.key[:2] == ("member", "removed"))
    added = _by_type(c for c in changes if c.key[:2] == ("member", "added"))
    likely: dict[str, str] = {}
    for text, gone in removed.items():
        came = added.get(text, [])
        if len(gone) == len(came) == 1:
            likely |= {gone[0]: came[0], came[0]: gone[0]}
    for change in changes:
        other = likely.get(change.path)
        yield replace(change, note=f"perhaps renamed: see {other}") if other else change


def _by_type(changes: Iterable[Change]) -> dict[str, list[str]]:
    """The paths, by the text of the removed or added type."""
    paths: dict[str, list[str]] = {}
    for change in changes:
        paths.setdefault(change.old.text or change.new.text, []).append(change.path)
    return paths
