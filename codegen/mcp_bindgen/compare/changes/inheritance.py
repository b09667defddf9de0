"""Merges a change inherited by several declarations into one, at the declaration it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from mcp_bindgen.compare.changes.change import Change, Key, Owner
from mcp_bindgen.compare.changes.pairing import Pairing
from mcp_bindgen.ir.model import Struct

__all__ = ["merge_inherited"]

_Signature: TypeAlias = tuple[Key, tuple[str, ...], str, str]


def merge_inherited(pairing: Pairing, changes: Sequence[Change]) -> Iterator[Change]:
    """The changes; each change of an inherited member once, at its first declaration."""
    by_owner: dict[tuple[Owner | None, _Signature], Change] = {
        (c.owner, _signature(c)): c for c in changes if c.owner and c.steps
    }
    heirs: dict[int, list[Owner]] = {}
    kept: list[Change] = []
    for change in changes:
        top = _topmost(pairing, change, by_owner)
        if top is None or top.owner == change.owner or change.owner is None:
            kept.append(change)
        else:
            heirs.setdefault(id(top), []).append(change.owner)
    for change in kept:
        mine = tuple(heirs.get(id(change), ()))
        yield replace(change, heirs=mine) if mine else change


def _signature(change: Change) -> _Signature:
    return change.key, change.steps, change.old.text, change.new.text


def _topmost(
    pairing: Pairing, change: Change, by_owner: dict[tuple[Owner | None, _Signature], Change]
) -> Change | None:
    """The same change at the topmost base which has it; None if the change is not inside a
    declaration.
    """
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
        for base in x.bases:
            if base in pairing.names:
                yield base, pairing.names[base]
        for base in y.bases:
            if base in pairing.old_names:
                yield pairing.old_names[base], base
