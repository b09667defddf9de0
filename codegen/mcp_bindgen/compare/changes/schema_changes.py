"""Lists the differences between two schemas, one `Change` for each place, without judging.

A difference in writing which is the same on the wire has a kind of its own (moved, named, inlined,
respelled), and is never a removal and an addition. Prose is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mcp_bindgen.compare.changes.change import NOTHING, Change, Key, Place, Spot
from mcp_bindgen.compare.changes.declaration_changes import DeclarationComparison
from mcp_bindgen.compare.changes.inheritance import merge_inherited
from mcp_bindgen.compare.changes.pairing import Pairing, is_inline, pair
from mcp_bindgen.compare.changes.type_changes import TypeComparison
from mcp_bindgen.ir.envelopes import envelopes
from mcp_bindgen.ir.error_codes import is_error_code
from mcp_bindgen.ir.export.typescript import shape_text, value_text
from mcp_bindgen.ir.model import Alias, Const, Lit, Method, Ref, Schema, Struct

__all__ = ["ERROR_CODE", "UNREAD", "compare"]

UNREAD: Final[Key] = ("declaration", "unread", "")
"""The key of a declaration with a tag that binds nothing."""
ERROR_CODE: Final[Key] = ("error", "code", "")
"""The key of a change of an error's code."""


def compare(old: Schema, new: Schema) -> tuple[Pairing, tuple[Change, ...]]:
    """The pairs of the two schemas, and every difference, inherited ones reported once."""
    pairing = pair(old, new)
    return pairing, tuple(merge_inherited(pairing, list(_changes(pairing))))


def _changes(pairing: Pairing) -> Iterator[Change]:
    types = TypeComparison(pairing)
    declarations = DeclarationComparison(pairing, types)
    yield from _methods(types)
    for a, b in pairing.names.items():
        yield from declarations.changes(a, b)
    yield from _presence_changes(pairing.old, pairing.left, "removed")
    yield from _presence_changes(pairing.new, pairing.came, "added")
    yield from _constants(pairing)
    yield from _envelopes(types)
    yield from _slips(pairing)


def _presence_changes(schema: Schema, names: list[str], what: str) -> Iterator[Change]:
    for name in names:
        declaration = schema.types[name]
        if not is_inline(declaration):
            spot = Spot(_summary(schema, declaration), at=declaration.at)
            yield _presence_change(("declaration", what, ""), name, spot)


def _summary(schema: Schema, declaration: Struct | Alias) -> str:
    return shape_text(schema, declaration.type) if isinstance(declaration, Alias) else "interface"


def _presence_change(key: Key, path: str, spot: Spot, method: str = "") -> Change:
    old, new = (spot, NOTHING) if key[1] == "removed" else (NOTHING, spot)
    return Change(key, path, old, new, method=method)


# ---- methods


def _methods(types: TypeComparison) -> Iterator[Change]:
    before = {m.name: m for m in types.old.methods}
    after = {m.name: m for m in types.new.methods}
    for name, method in before.items():
        if name in after:
            yield from _method(types, method, after[name])
        else:
            yield _one_sided_method(types.old, method, "removed")
    for name, method in after.items():
        if name not in before:
            yield _one_sided_method(types.new, method, "added")


def _method(types: TypeComparison, a: Method, b: Method) -> Iterator[Change]:
    offsets = types.old.types[a.type].at, types.new.types[b.type].at
    at = Place(a.name, a.name, None, (), *offsets, a.name)
    for what, x, y in (
        ("direction", a.direction, b.direction),
        ("kind", a.kind, b.kind),
        ("capability", a.capability, b.capability),
    ):
        if x != y:
            yield at.text_change(("method", what, ""), x or "none", y or "none")
    if a.result and b.result:
        result = replace(at, path=f"{a.name} result", was="", root="result")
        yield from types.changes(result, a.result, b.result)
    elif (a.result or b.result) and a.kind == b.kind:
        key = ("method", "result", "declared" if b.result else "undeclared")
        yield replace(types.change(at, key, a.result, b.result), root="result")


def _one_sided_method(schema: Schema, method: Method, what: str) -> Change:
    way = "two-way" if method.direction == "both" else method.direction
    text = f"{method.type} ({way} {method.kind})"
    spot = Spot(text, at=schema.types[method.type].at)
    return _presence_change(("method", what, ""), method.name, spot, method.name)


# ---- declarations with a tag that binds nothing


def _slips(pairing: Pairing) -> Iterator[Change]:
    """The declarations whose bounds are unknown on a side, since a tag there cannot be bound."""
    for schema, names in ((pairing.old, pairing.names), (pairing.new, pairing.old_names)):
        for name, (fault, at) in schema.slips.items():
            is_old, twin = schema is pairing.old, names.get(name, name)
            owner = (name, twin) if is_old else (twin, name)
            spot = Spot(fault, at=at)
            spots = (spot, NOTHING) if is_old else (NOTHING, spot)
            yield Change(UNREAD, owner[1], *spots, owner=owner if name in names else None)


# ---- envelopes


def _envelopes(types: TypeComparison) -> Iterator[Change]:
    """The envelopes without a pair that do not admit the same: nothing compares their messages."""
    before, after = envelopes(types.old), envelopes(types.new)
    for role in dict.fromkeys((*before, *after)):
        a, b = before.get(role), after.get(role)
        if not (a and b and _is_compared(types, a, b)):
            old, new = (Spot(each.name, at=each.at) if each else NOTHING for each in (a, b))
            yield Change(("envelope", "uncompared", ""), f"the envelope of {role}s", old, new)


def _is_compared(types: TypeComparison, a: Struct, b: Struct) -> bool:
    """Return whether two envelopes are a pair, or each takes the messages of the other."""
    if types.pairing.names.get(a.name) == b.name:
        return True
    forward, backward = types.forward, types.backward
    return forward.holds(Ref(a.name), Ref(b.name)) and backward.holds(Ref(b.name), Ref(a.name))


# ---- constants


def _constants(pairing: Pairing) -> Iterator[Change]:
    before, after = pairing.old.consts, pairing.new.consts
    for name, const in before.items():
        twin = after.get(name)
        if twin is None:
            yield _constant("removed", name, const, None)
        elif type(const.value) is not type(twin.value) or const.value != twin.value:
            change = _constant("changed", name, const, twin)
            is_code = is_error_code(const.value) and is_error_code(twin.value)
            yield replace(change, key=ERROR_CODE) if is_code else change
    for name, const in after.items():
        if name not in before:
            yield _constant("added", name, None, const)


def _constant(what: str, name: str, old: Const | None, new: Const | None) -> Change:
    before, after = (
        Spot(value_text(c.value), Lit(c.value), c.at) if c else NOTHING for c in (old, new)
    )
    return Change(("constant", what, ""), name, before, after)
