"""The supported utility types of TypeScript, and remedies for the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec.structs import replace

from mcp_bindgen.errors import count_of
from mcp_bindgen.ir.resolve.equality import is_keyword, same
from mcp_bindgen.ir.resolve.intersect import admits
from mcp_bindgen.ir.resolve.keys import (
    Keys,
    drop_undefined,
    is_string,
    mapping,
    signature,
    unlisted,
)
from mcp_bindgen.ir.resolve.scope import Resolving
from mcp_bindgen.ir.resolve.signatures import is_matched, is_same_key, matching
from mcp_bindgen.ir.resolve.undeclared import undeclared_error
from mcp_bindgen.limits import MAX_DEPTH
from mcp_bindgen.source import syntax
from mcp_bindgen.source.text import printable

__all__ = ["utility"]

_KINDS: Final = ("string", "number", "boolean", "object")
"""The kinds of `unknown` beside null and arrays."""

_Apply: TypeAlias = Callable[[Resolving, syntax.Ref, tuple[syntax.Type, ...]], syntax.Type]


@dataclass(frozen=True, slots=True)
class _Utility:
    arity: int
    apply: _Apply


def utility(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    """Resolve a library type, not declared in the file. Raises SchemaMeaningError."""
    known = _UTILITIES.get(type.name)
    if known is None:
        remedy = _REMEDIES.get(type.name)
        if remedy is None:
            raise undeclared_error(scope, type, _UTILITIES, _REMEDIES)
        what = "is not read here" if remedy == _WRITTEN_OUT else "has no JSON form"
        raise scope.error(type.at, f"`{printable(type.name)}` {what}", remedy)
    if len(args) != known.arity:
        raise scope.error(
            type.at, f"`{type.name}` takes {count_of(known.arity, 'argument')}", "Give it those."
        )
    return known.apply(scope, type, args)


_NUMBERS: Final = "Write number, or string where a number would lose digits."
_BYTES: Final = "Write string, with @format byte for base64."
_FUNCTION: Final = "A message has data only; leave functions out."
_WRITTEN_OUT: Final = "Write the resulting type out."
_REMEDIES: Final = {
    "bigint": _NUMBERS,
    "BigInt": _NUMBERS,
    "Map": "Write Record<string, T>: JSON has objects by name.",
    "WeakMap": "Write Record<string, T>: JSON has objects by name.",
    "Set": "Write T[], with @uniqueItems.",
    "ReadonlyMap": "Write Record<string, T>: JSON has objects by name.",
    "ReadonlySet": "Write T[], with @uniqueItems.",
    "Date": "Write string, with @format date-time.",
    "RegExp": "Write string, with @format regex.",
    "URL": "Write string, with @format uri.",
    "Uint8Array": _BYTES,
    "ArrayBuffer": _BYTES,
    "Buffer": _BYTES,
    "Blob": _BYTES,
    "Function": _FUNCTION,
    "Promise": "Write the type that it brings.",
    "Awaited": "Write the type that it brings.",
    "Object": "Write object.",
    "String": "Write string.",
    "Number": "Write number.",
    "Boolean": "Write boolean.",
    "Symbol": "Write string.",
    "ReturnType": _WRITTEN_OUT,
    "Parameters": _WRITTEN_OUT,
    "Uppercase": _WRITTEN_OUT,
    "Lowercase": _WRITTEN_OUT,
    "Capitalize": _WRITTEN_OUT,
    "Uncapitalize": _WRITTEN_OUT,
}
"""Unsupported library types of TypeScript, and their replacements."""


def _record(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    return mapping(scope, args[0], args[1], type.at)


def _pick(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    keys = Keys(scope, args[1], type.at)
    shape = scope.part(args[0], type.at, keys.names.__contains__)
    members = [m for m in shape.members if m.name in keys.names]
    known = {m.name for m in members}
    for key in keys.names:
        if key not in known:
            of = unlisted(scope, shape, key, type.at)
            members.append(syntax.Member(key, of, False, False, False, None, type.at))
    picked = [replace(signature(scope, shape, key, type.at), key=key) for key in keys.open]
    return scope.check_weight(
        replace(shape, members=tuple(members), index=tuple(picked), at=type.at)
    )


def _omit(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    """`Omit<T, K>`. If T has an index signature, all its keys are `string`, so `Omit<T, keyof T>`
    has no members.

    A member is also left out if an index signature of T or a template in K matches its name.
    """
    keys = Keys(scope, args[1], type.at)
    shape = scope.part(args[0], type.at, lambda name: name not in keys.names)
    none = is_string(keys.all)
    members = tuple(
        m
        for m in shape.members
        if m.name not in keys.names
        and not none
        and not any(matching(shape.index, m.name))
        and not any(is_matched(template, m.name) for template in keys.templates)
    )
    taken = [syntax.Index("key", key, key, False, None, type.at) for key in keys.open]
    index = tuple(
        each for each in shape.index if not (none or any(is_same_key(each, key) for key in taken))
    )
    return scope.check_weight(replace(shape, members=members, index=index, at=type.at))


def _flagging(optional: bool | None = None, readonly: bool | None = None) -> _Apply:
    def apply(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
        return scope.union_of(
            [set_flags(scope, arm, type.at) for arm in scope.arms(args[0])], type.at
        )

    def set_flags(scope: Resolving, arm: syntax.Type, at: int) -> syntax.Type:
        shape = scope.shape(arm, at)
        members = tuple(
            replace(
                m,
                type=drop_undefined(scope, m.type) if optional is False else m.type,
                optional=m.optional if optional is None else optional,
                readonly=m.readonly if readonly is None else readonly,
            )
            for m in shape.members
        )
        return scope.check_weight(replace(shape, members=members, at=at))

    return apply


def _array(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    return syntax.Array(args[0], type.name == "ReadonlyArray", type.at)


# ---- arms of unions


def _choosing(kept: bool) -> _Apply:
    """Keep the arms of the first argument assignable to the second, or the other arms."""

    def apply(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
        whole, part = args
        arms = [a for a in scope.arms(whole) if _assignable(scope, a, part) == kept]
        return scope.union_of(arms, type.at)

    return apply


def _non_null(scope: Resolving, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    """`NonNullable<T>`; for `unknown` it is the union of all JSON kinds but null."""
    arms: list[syntax.Type] = []
    for arm in scope.arms(args[0]):
        if is_keyword(arm, "unknown"):
            kinds = (syntax.Keyword(kind, type.at) for kind in _KINDS)
            return scope.union_of([*kinds, syntax.Array(arm, False, type.at)], type.at)
        arms += [] if is_keyword(arm, "null", "undefined") else [arm]
    return scope.union_of(arms, type.at)


def _assignable(scope: Resolving, a: syntax.Type, b: syntax.Type, depth: int = 0) -> bool:
    """Return whether every value of `a` is a value of `b`."""
    if is_keyword(b, "unknown", "any") or is_keyword(a, "never") or same(a, b):
        return True
    if depth > MAX_DEPTH:
        raise scope.error(a.at, "types that are compared without end", "Write the arms out.")
    return all(
        any(_one_assignable(scope, x, y, depth) for y in scope.arms(b)) for x in scope.arms(a)
    )


def _one_assignable(scope: Resolving, a: syntax.Type, b: syntax.Type, depth: int) -> bool:
    if admits(b, a):
        return True
    if isinstance(a, syntax.Array) and isinstance(b, syntax.Array):
        return _assignable(scope, a.of, b.of, depth + 1)
    mine, theirs = scope.object_shape(a), scope.object_shape(b)
    if mine is None or theirs is None:
        return False
    own = {member.name: member for member in mine.members}
    return all(
        wanted.optional
        if (member := own.get(wanted.name)) is None
        else member.optional <= wanted.optional
        and _assignable(scope, member.type, wanted.type, depth + 1)
        for wanted in theirs.members
    )


_UTILITIES: Final = {
    "Array": _Utility(1, _array),
    "Exclude": _Utility(2, _choosing(kept=False)),
    "Extract": _Utility(2, _choosing(kept=True)),
    "NonNullable": _Utility(1, _non_null),
    "Omit": _Utility(2, _omit),
    "Partial": _Utility(1, _flagging(optional=True)),
    "Pick": _Utility(2, _pick),
    "Readonly": _Utility(1, _flagging(readonly=True)),
    "ReadonlyArray": _Utility(1, _array),
    "Record": _Utility(2, _record),
    "Required": _Utility(1, _flagging(optional=False)),
}
