"""The keys of `keyof`, `T[K]`, `Record` and mapped types, and the resulting members."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from mcp_bindgen.ir.resolve.equality import is_keyword
from mcp_bindgen.ir.resolve.intersect import intersect
from mcp_bindgen.ir.resolve.scope import Env, Resolving
from mcp_bindgen.ir.resolve.signatures import by_string, is_matched, is_same_key, matching
from mcp_bindgen.source import syntax
from mcp_bindgen.source.text import printable

__all__ = [
    "Keys",
    "drop_undefined",
    "index_type",
    "is_string",
    "keys_of",
    "map_keys",
    "mapping",
    "signature",
    "unlisted",
]


class Keys:
    """String literals without duplicates, and whether every other string, or every number, is a
    key.

    As in TypeScript a literal is no key of its own beside the keyword or the template that has it:
    the keys `"name" | string` are all strings, and none of them is asked for.
    """

    def __init__(self, scope: Resolving, type: syntax.Type, at: int) -> None:
        self.names: dict[str, None] = {}
        self.all: syntax.Keyword | None = None
        self.templates: list[syntax.Template] = []
        arms = scope.arms(type)
        for arm in arms:
            match arm:
                case syntax.Literal(value=str() | int() | float() as value):
                    self.names[str(value)] = None
                case syntax.Keyword(name="string" | "number"):
                    self.all = self.all if is_string(self.all) else arm
                case syntax.Template():
                    self.templates.append(arm)
                case _:
                    raise scope.error(
                        at, "keys that are not string literals", "List the keys in quotes."
                    )
        if is_string(self.all):
            self.templates = []
        numbers = {str(a.value) for a in arms if isinstance(a, syntax.Literal) and not _is_text(a)}
        taken = self.names if is_string(self.all) else numbers if self.all else ()
        self.names = {
            name: None
            for name in self.names
            if name not in taken and not any(is_matched(t, name) for t in self.templates)
        }

    @property
    def open(self) -> tuple[syntax.Keyword | syntax.Template, ...]:
        """The keys which are not literal names; each gets an index signature of its own."""
        return (*([self.all] if self.all else []), *self.templates)


def is_string(type: syntax.Type | None) -> bool:
    return type is not None and is_keyword(type, "string")


def _is_text(literal: syntax.Literal) -> bool:
    return isinstance(literal.value, str)


def mapping(scope: Resolving, type: syntax.Type, value: syntax.Type, at: int) -> syntax.Inline:
    """`Record<type, value>`."""
    keys = Keys(scope, type, at)
    members = [syntax.Member(n, value, False, False, False, None, at) for n in keys.names]
    index = [syntax.Index("key", k, value, False, None, at, mapped=True) for k in keys.open]
    return scope.check_weight(syntax.Inline(tuple(members), tuple(index), at))


def keys_of(scope: Resolving, type: syntax.Type, at: int) -> syntax.Type:
    """`keyof type`; for a type without members it is `never`, which nothing satisfies.

    For a string index signature it is `string | number`, as numbers are keys too; for `Record` and
    other mapped types it is their given key. For a union it is the keys which all its arms have.
    """
    arms = scope.arms(type)
    if len(arms) > 1:
        keys: syntax.Type | None = keys_of(scope, arms[0], at)
        for arm in arms[1:]:
            keys = None if keys is None else intersect(scope, keys, keys_of(scope, arm, at), at)
        return syntax.Keyword("never", at) if keys is None else keys
    shape = scope.shape(type, at)
    whole = by_string(shape.index)
    if whole is not None and is_string(whole.key):
        string, number = syntax.Keyword("string", at), syntax.Keyword("number", at)
        return string if whole.mapped else syntax.Union((string, number), at)
    names: list[syntax.Type] = [syntax.Literal(m.name, at) for m in shape.members]
    return scope.union_of([*names, *(each.key for each in shape.index)], at)


# ---- T[K]


def index_type(scope: Resolving, owner: syntax.Type, index: syntax.Type, at: int) -> syntax.Type:
    """`owner[index]`, arm by arm."""
    return scope.union_of(
        [t for arm in scope.arms(owner) for t in _pick(scope, arm, index, at)], at
    )


def _pick(
    scope: Resolving, owner: syntax.Type, index: syntax.Type, at: int
) -> Iterator[syntax.Type]:
    keys = Keys(scope, index, at)
    if isinstance(owner, syntax.Array | syntax.Tuple):
        yield from _items(scope, owner, keys, at)
        return
    shape = scope.part(owner, at, keys.names.__contains__)
    yield from (signature(scope, shape, each, at).type for each in keys.open)
    for key in keys.names:
        member = next((m for m in shape.members if m.name == key), None)
        yield unlisted(scope, shape, key, at) if member is None else member.type
        if member is not None and member.optional:
            yield syntax.Keyword("undefined", at)


def unlisted(scope: Resolving, shape: syntax.Inline, key: str, at: int) -> syntax.Type:
    """The type of a member allowed by index signatures only. Raises SchemaMeaningError."""
    whole = by_string(shape.index)
    types = [each.type for each in matching(shape.index, key)] or ([whole.type] if whole else [])
    if not types:
        message = f"there is no member `{printable(key)}`"
        raise scope.error(at, message, "Name a member of the type.")
    return types[0] if len(types) == 1 else scope.resolve(syntax.Intersection(tuple(types), at))


def signature(
    scope: Resolving, shape: syntax.Inline, key: syntax.Keyword | syntax.Template, at: int
) -> syntax.Index:
    """The index signature for a key which is not a literal name. Raises SchemaMeaningError."""
    wanted = syntax.Index("key", key, key, False, None, at)
    own = next((each for each in shape.index if is_same_key(each, wanted)), by_string(shape.index))
    if own is None:
        words = key.text if isinstance(key, syntax.Template) else f"[{key.name}]"
        message = f"there is no index signature for `{printable(words)}`"
        raise scope.error(at, message, "Name a member of the type.")
    return own


def _items(
    scope: Resolving, owner: syntax.Array | syntax.Tuple, keys: Keys, at: int
) -> Iterator[syntax.Type]:
    """The items of an array: all of them for `[number]`, one place of a tuple for its number."""
    places = [owner.of] if isinstance(owner, syntax.Array) else [_item(e) for e in owner.of]
    if keys.all and keys.all.name == "number":
        yield from places
    for key in keys.names if isinstance(owner, syntax.Tuple) else ():
        if not key.isdecimal() or int(key) >= len(places):
            raise scope.error(at, f"there is no place {printable(key)}", "Name one of its places.")
        yield places[int(key)]
    if not (keys.all and keys.all.name == "number") and isinstance(owner, syntax.Array):
        raise scope.error(at, "an array has no such member", "Use [number].")


def _item(element: syntax.Element) -> syntax.Type:
    return element.of.of if element.rest and isinstance(element.of, syntax.Array) else element.of


# ---- mapped types


def map_keys(scope: Resolving, type: syntax.Mapped, env: Env) -> syntax.Type:
    """`{ [K in keys]: of }`, with `of` resolved for each key.

    Over `keyof T` members keep their flags and doc comments from `T`.
    """
    keys = Keys(scope, scope.resolve(type.keys, env), type.at)
    source = _source(scope, type, env)
    index: list[syntax.Index] = []
    for key in keys.open:
        of = scope.resolve(type.of, {**env, type.param: key})
        flag = bool(type.readonly)
        index.append(syntax.Index(type.param, key, of, flag, None, type.at, mapped=True))
    names = source if keys.open else keys.names
    members: list[syntax.Member] = []
    for name in names:
        members.append(_member(scope, type, env, name, source.get(name)))
        if len(members).bit_count() == 1:  # so that too many nodes are refused early
            scope.check_weight(syntax.Inline(tuple(members), (), type.at))
    return scope.check_weight(syntax.Inline(tuple(members), tuple(index), type.at))


def _source(scope: Resolving, type: syntax.Mapped, env: Env) -> dict[str, syntax.Member]:
    """The members of `T` in `K in keyof T`."""
    if not isinstance(type.keys, syntax.KeyOf):
        return {}
    shape = scope.shape(scope.resolve(type.keys.of, env), type.at)
    return {member.name: member for member in shape.members}


def _member(
    scope: Resolving, type: syntax.Mapped, env: Env, key: str, source: syntax.Member | None
) -> syntax.Member:
    of = scope.resolve(type.of, {**env, type.param: syntax.Literal(key, type.at)})
    member = source or syntax.Member(key, of, False, False, False, None, type.at)
    flags = (type.optional, type.readonly)
    optional, readonly = (
        mine if flag is None else flag
        for flag, mine in zip(flags, (member.optional, member.readonly), strict=True)
    )
    if not optional and member.optional:
        of = drop_undefined(scope, of)
    return replace(member, type=of, optional=optional, readonly=readonly)


def drop_undefined(scope: Resolving, type: syntax.Type) -> syntax.Type:
    """`type` without its arm `undefined`, as `-?` and `Required` leave it."""
    arms = scope.arms(type)
    defined = [arm for arm in arms if not is_keyword(arm, "undefined")]
    return type if len(defined) == len(arms) else scope.union_of(defined, type.at)
