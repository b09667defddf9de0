"""Works types out: `extends`, `Omit` and its like, `&`, `typeof`, `keyof`, `T[K]`, generics.

A resolved type is a syntax type of fewer kinds: Keyword, Literal, Array, Tuple, Union, Inline, and
Ref to a name that the file declares, which stays unopened. Members keep the place they were written
at, so their origin is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec.structs import replace

from mcp_bindgen.errors import LimitExceeded, SchemaError, SchemaMeaningError
from mcp_bindgen.limits import MAX_DEPTH, MAX_INSTANCES, MAX_WEIGHT
from mcp_bindgen.source import syntax
from mcp_bindgen.source.text import Source, printable

__all__ = ["Env", "Resolver", "same"]

Env: TypeAlias = Mapping[str, syntax.Type]
"""What each type parameter stands for, resolved."""

_NOTHING: Final[Env] = {}
_STRING_KEY: Final = ("string", "number")


def same(a: syntax.Type, b: syntax.Type) -> bool:
    """Whether two resolved types are written alike, wherever they stand."""
    match a, b:
        case syntax.Keyword(name=x), syntax.Keyword(name=y):
            return x == y
        case syntax.Literal(value=x), syntax.Literal(value=y):
            return type(x) is type(y) and x == y
        case syntax.Ref(), syntax.Ref():
            return a.name == b.name and _all_same(a.args, b.args)
        case syntax.Array(), syntax.Array():
            return same(a.of, b.of)
        case syntax.Tuple(), syntax.Tuple():
            flags = [(e.optional, e.rest) for e in a.of] == [(e.optional, e.rest) for e in b.of]
            return flags and _all_same([e.of for e in a.of], [e.of for e in b.of])
        case syntax.Union(), syntax.Union():
            return _all_same(a.of, b.of)
        case syntax.Inline(), syntax.Inline():
            return (
                [(m.name, m.optional) for m in a.members]
                == [(m.name, m.optional) for m in b.members]
                and _all_same([m.type for m in a.members], [m.type for m in b.members])
                and _all_same([i.type for i in a.index], [i.type for i in b.index])
            )
        case _:
            return False


def _all_same(a: Iterable[syntax.Type], b: Iterable[syntax.Type]) -> bool:
    xs, ys = list(a), list(b)
    return len(xs) == len(ys) and all(map(same, xs, ys))


@dataclass(frozen=True, slots=True)
class _Utility:
    arity: int
    apply: Callable[[Resolver, syntax.Ref, tuple[syntax.Type, ...]], syntax.Type]


class Resolver:
    """The declarations of one module, by name, and their types worked out.

    Raises SchemaMeaningError for unknown names, cycles, wrong arguments and what cannot be merged.
    """

    def __init__(self, source: Source, module: syntax.Module) -> None:
        self.source = source
        self.declared: dict[str, syntax.Declaration] = {}
        self._depth = 0
        self._weights: dict[int, tuple[syntax.Inline, int]] = {}
        self._shapes: dict[str, list[tuple[tuple[syntax.Type, ...], syntax.Inline]]] = {}
        self._open: list[str] = []
        for declaration in module.declarations:
            if declaration.name in self.declared:
                raise self.error(
                    declaration.at, f"`{declaration.name}` is declared twice", "Merge them."
                )
            self.declared[declaration.name] = declaration

    def error(self, at: int, message: str, remedy: str) -> SchemaError:
        return self.source.error(SchemaMeaningError, at, message, remedy)

    # ---- types

    def resolve(self, type: syntax.Type, env: Env = _NOTHING) -> syntax.Type:
        """`type` with everything worked out but the names that the file declares."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.source.error(
                LimitExceeded,
                type.at,
                f"types nest deeper than {MAX_DEPTH}",
                "Name the inner types.",
            )
        try:
            return self._resolve(type, env)
        finally:
            self._depth -= 1

    def _resolve(self, type: syntax.Type, env: Env) -> syntax.Type:
        match type:
            case syntax.Keyword() | syntax.Literal():
                return type
            case syntax.Ref():
                return self._ref(type, env)
            case syntax.Array():
                return replace(type, of=self.resolve(type.of, env))
            case syntax.Tuple():
                return replace(
                    type, of=tuple(replace(e, of=self.resolve(e.of, env)) for e in type.of)
                )
            case syntax.Union():
                return syntax.Union(tuple(self.resolve(arm, env) for arm in type.of), type.at)
            case syntax.Inline():
                return self._inline(type, env)
            case syntax.Intersection():
                parts = [self.resolve(part, env) for part in type.of]
                merged = parts[0]
                for part in parts[1:]:
                    merged = self._meet(merged, part, type.at)
                return merged
            case syntax.TypeOf():
                return syntax.Literal(self._const(type).value, type.at)
            case syntax.KeyOf():
                return self._keys(type, env)
            case syntax.Indexed():
                return self._indexed(type, env)

    def _const(self, type: syntax.TypeOf) -> syntax.Const:
        found = self.declared.get(type.name)
        if not isinstance(found, syntax.Const):
            raise self.error(
                type.at, f"`{type.name}` is no constant of this file", "Declare it with const."
            )
        return found

    def _ref(self, type: syntax.Ref, env: Env) -> syntax.Type:
        if type.name in env and not type.args:
            return env[type.name]
        args = tuple(self.resolve(arg, env) for arg in type.args)
        found = self.declared.get(type.name)
        if found is None:
            return self._utility(type, args)
        if isinstance(found, syntax.Const):
            raise self.error(
                type.at, f"`{type.name}` is a constant, not a type", "Write typeof before it."
            )
        self.env_of(found, syntax.Ref(type.name, args, type.at))
        return syntax.Ref(type.name, args, type.at)

    def _utility(self, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
        found = _UTILITIES.get(type.name)
        if found is None:
            raise self.error(
                type.at, f"`{printable(type.name)}` is not declared", "Declare it in this file."
            )
        if len(args) != found.arity:
            raise self.error(
                type.at, f"`{type.name}` takes {found.arity} arguments", "Give it those."
            )
        return found.apply(self, type, args)

    def _inline(self, type: syntax.Inline, env: Env) -> syntax.Inline:
        seen: set[str] = set()
        for member in type.members:
            if member.name in seen:
                raise self.error(
                    member.at, f"the member `{member.name}` stands twice", "Leave one out."
                )
            seen.add(member.name)
        members = tuple(replace(m, type=self.resolve(m.type, env)) for m in type.members)
        index = tuple(self._index(i, env) for i in type.index)
        if len(index) > 1:
            raise self.error(type.index[1].at, "a second index signature", "Leave one out.")
        return self.weighed(syntax.Inline(members, index, type.at))

    def _index(self, index: syntax.Index, env: Env) -> syntax.Index:
        key = self.resolve(index.key, env)
        if not (isinstance(key, syntax.Keyword) and key.name in _STRING_KEY):
            raise self.error(
                index.at, "an index signature that is not by string", "Use [key: string]."
            )
        return replace(index, key=key, type=self.resolve(index.type, env))

    def weighed(self, shape: syntax.Inline) -> syntax.Inline:
        """`shape`, unless it comes to more than MAX_WEIGHT nodes."""
        types = [m.type for m in shape.members] + [i.type for i in shape.index]
        weight = 1 + sum(self._weight(t) for t in types)
        if weight > MAX_WEIGHT:
            raise self.source.error(
                LimitExceeded,
                shape.at,
                f"a type comes to more than {MAX_WEIGHT} nodes",
                "Name its parts.",
            )
        self._weights[id(shape)] = (shape, weight)
        return shape

    def _weight(self, type: syntax.Type) -> int:
        match type:
            case syntax.Inline():
                return self._weights[id(type)][1] if id(type) in self._weights else 1
            case syntax.Array():
                return 1 + self._weight(type.of)
            case syntax.Union():
                return 1 + sum(map(self._weight, type.of))
            case syntax.Tuple():
                return 1 + sum(self._weight(e.of) for e in type.of)
            case _:
                return 1

    def _keys(self, type: syntax.KeyOf, env: Env) -> syntax.Type:
        shape = self.shape(self.resolve(type.of, env), type.at)
        if shape.index:
            return syntax.Keyword("string", type.at)
        keys = tuple(syntax.Literal(m.name, type.at) for m in shape.members)
        if not keys:
            raise self.error(
                type.at, "keyof of a type without members", "Name a type with members."
            )
        return keys[0] if len(keys) == 1 else syntax.Union(keys, type.at)

    def _indexed(self, type: syntax.Indexed, env: Env) -> syntax.Type:
        owner, index = self.resolve(type.object, env), self.resolve(type.index, env)
        if (
            isinstance(index, syntax.Keyword)
            and index.name == "number"
            and isinstance(owner, syntax.Array)
        ):
            return owner.of
        shape = self.shape(owner, type.at)
        found = [self._member_type(shape, key, type.at) for key in self.literals(index, type.at)]
        return found[0] if len(found) == 1 else syntax.Union(tuple(found), type.at)

    def _member_type(self, shape: syntax.Inline, key: str, at: int) -> syntax.Type:
        found = next((m.type for m in shape.members if m.name == key), None)
        if found is None and shape.index:
            found = shape.index[0].type
        if found is None:
            raise self.error(
                at, f"there is no member `{printable(key)}`", "Name a member of the type."
            )
        return found

    def literals(self, type: syntax.Type, at: int) -> list[str]:
        """The strings of a literal or of a union of literals, each once."""
        found: dict[str, None] = {}
        opened: list[syntax.Ref] = []
        queue = [type]
        while queue:
            arm = queue.pop(0)
            match arm:
                case syntax.Literal(value=str() as value):
                    found[value] = None
                case syntax.Union():
                    queue[:0] = arm.of
                case syntax.Ref() if isinstance(
                    self.declared.get(arm.name), syntax.Alias | syntax.Enum
                ):
                    if len(opened) > MAX_INSTANCES:
                        raise self.source.error(LimitExceeded, at, "keys without end", "List them.")
                    if not any(same(arm, other) for other in opened):
                        opened.append(arm)
                        queue.insert(0, self.opened(arm))
                case _:
                    raise self.error(
                        at, "keys that are not string literals", "List the keys in quotes."
                    )
        if not found:
            raise self.error(at, "keys that are no strings", "List the keys in quotes.")
        return list(found)

    # ---- shapes

    def opened(self, type: syntax.Type) -> syntax.Type:
        """A reference to an alias or an enum replaced by what it stands for, once."""
        if not isinstance(type, syntax.Ref):
            return type
        found = self.declared[type.name]
        match found:
            case syntax.Alias():
                return self.resolve(found.type, self.env_of(found, type))
            case syntax.Enum():
                arms = tuple(syntax.Literal(value, found.at) for _, value in found.members)
                return arms[0] if len(arms) == 1 else syntax.Union(arms, found.at)
            case _:
                return type

    def shape(self, type: syntax.Type, at: int) -> syntax.Inline:
        """The members and index signature of a resolved object type, inherited ones too."""
        found = self.object_shape(type)
        if found is None:
            raise self.error(
                at, "a type that is not one object", "Name an interface or a braced type."
            )
        return found

    def object_shape(self, type: syntax.Type) -> syntax.Inline | None:
        """As `shape`; None for what is no object type."""
        if isinstance(type, syntax.Inline):
            return type
        if not isinstance(type, syntax.Ref):
            return None
        for args, shape in self._shapes.get(type.name, ()):
            if _all_same(args, type.args):
                return shape
        found = self._enter(type)
        if found is not None:
            self._shapes.setdefault(type.name, []).append((type.args, found))
        return found

    def _enter(self, type: syntax.Ref) -> syntax.Inline | None:
        declaration = self.declared[type.name]
        if type.name in self._open:
            chain = " → ".join([*self._open[self._open.index(type.name) :], type.name])
            raise self.error(
                declaration.at, f"`{type.name}` is built on itself: {chain}", "Break the cycle."
            )
        if len(self._open) >= MAX_DEPTH:
            raise self.source.error(
                LimitExceeded,
                declaration.at,
                f"more than {MAX_DEPTH} types build on one another",
                "",
            )
        self._open.append(type.name)
        try:
            if isinstance(declaration, syntax.Interface):
                return self._interface(declaration, self.env_of(declaration, type))
            if isinstance(declaration, syntax.Alias):
                return self.object_shape(self.opened(type))
            return None
        finally:
            self._open.pop()

    def _interface(self, declaration: syntax.Interface, env: Env) -> syntax.Inline:
        """Own members first, then those of each base that are not overridden."""
        own = self._inline(
            syntax.Inline(declaration.members, declaration.index, declaration.at), env
        )
        members = {m.name: m for m in own.members}
        index = own.index
        for base in declaration.extends:
            shape = self.shape(self.resolve(base, env), base.at)
            index = index or shape.index
            for member in shape.members:
                mine = members.setdefault(member.name, member)
                if mine not in own.members and not same(mine.type, member.type):
                    raise self.error(
                        base.at,
                        f"the bases of `{declaration.name}` disagree about `{member.name}`",
                        "Declare that member in the interface itself.",
                    )
        return self.weighed(syntax.Inline(tuple(members.values()), index, declaration.at))

    def env_of(self, declaration: syntax.Declaration, ref: syntax.Ref) -> Env:
        """What the type parameters of a declaration stand for in `ref`."""
        params = (
            declaration.params if isinstance(declaration, syntax.Interface | syntax.Alias) else ()
        )
        if len(ref.args) > len(params):
            raise self.error(
                ref.at, f"`{ref.name}` takes {len(params)} arguments", "Give it those."
            )
        env: dict[str, syntax.Type] = {}
        for number, param in enumerate(params):
            if number < len(ref.args):
                env[param.name] = ref.args[number]
            elif param.default is not None:
                env[param.name] = self.resolve(param.default, env)
            else:
                raise self.error(
                    ref.at, f"`{ref.name}` lacks its argument {param.name}", "Give it one."
                )
        return env

    # ---- intersections

    def _meet(self, a: syntax.Type, b: syntax.Type, at: int) -> syntax.Type:
        """What is both `a` and `b`."""
        if same(a, b) or _is(b, "unknown", "any"):
            return a
        if _is(a, "unknown", "any") or _admits(a, b):
            return b
        if _admits(b, a):
            return a
        x, y = self.object_shape(a), self.object_shape(b)
        if x is None or y is None:
            raise self.error(
                at, "an intersection that nothing satisfies", "Write the type that is meant."
            )
        return self._merged(x, y, at)

    def _merged(self, a: syntax.Inline, b: syntax.Inline, at: int) -> syntax.Inline:
        members = {m.name: m for m in a.members}
        for member in b.members:
            mine = members.get(member.name)
            if mine is not None:
                met = self._meet(mine.type, member.type, at)
                member = replace(member, type=met, optional=mine.optional and member.optional)
            members[member.name] = member
        return self.weighed(syntax.Inline(tuple(members.values()), a.index or b.index, at))


def _is(type: syntax.Type, *names: str) -> bool:
    return isinstance(type, syntax.Keyword) and type.name in names


def _admits(wide: syntax.Type, narrow: syntax.Type) -> bool:
    """Whether a keyword or a union takes a literal or one of its arms."""
    match wide, narrow:
        case syntax.Keyword(name="string"), syntax.Literal(value=str()):
            return True
        case syntax.Keyword(name="boolean"), syntax.Literal(value=bool()):
            return True
        case syntax.Keyword(name="number"), syntax.Literal(value=int() | float() as value):
            return not isinstance(value, bool)
        case syntax.Union(), _:
            return any(same(arm, narrow) or _admits(arm, narrow) for arm in wide.of)
        case _:
            return False


# ---- the utility types of TypeScript that we read


def _record(self: Resolver, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    key, value = args
    if isinstance(key, syntax.Keyword):
        index = syntax.Index("key", key, value, False, None, type.at)
        return self.resolve(syntax.Inline((), (index,), type.at))
    names = self.literals(key, type.at)
    members = [syntax.Member(n, value, False, False, False, None, type.at) for n in names]
    return self.resolve(syntax.Inline(tuple(members), (), type.at))


def _keeping(
    choose: Callable[[str, list[str]], bool],
) -> Callable[[Resolver, syntax.Ref, tuple[syntax.Type, ...]], syntax.Type]:
    def apply(self: Resolver, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
        shape, keys = self.shape(args[0], type.at), self.literals(args[1], type.at)
        members = tuple(m for m in shape.members if choose(m.name, keys))
        return self.weighed(replace(shape, members=members, at=type.at))

    return apply


def _flagging(
    **flags: bool,
) -> Callable[[Resolver, syntax.Ref, tuple[syntax.Type, ...]], syntax.Type]:
    def apply(self: Resolver, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
        shape = self.shape(args[0], type.at)
        members = tuple(
            replace(
                m,
                optional=flags.get("optional", m.optional),
                readonly=flags.get("readonly", m.readonly),
            )
            for m in shape.members
        )
        return self.weighed(replace(shape, members=members, at=type.at))

    return apply


def _array(self: Resolver, type: syntax.Ref, args: tuple[syntax.Type, ...]) -> syntax.Type:
    return syntax.Array(args[0], type.name == "ReadonlyArray", type.at)


_UTILITIES: Final = {
    "Array": _Utility(1, _array),
    "Omit": _Utility(2, _keeping(lambda name, keys: name not in keys)),
    "Partial": _Utility(1, _flagging(optional=True)),
    "Pick": _Utility(2, _keeping(lambda name, keys: name in keys)),
    "Readonly": _Utility(1, _flagging(readonly=True)),
    "ReadonlyArray": _Utility(1, _array),
    "Record": _Utility(2, _record),
    "Required": _Utility(1, _flagging(optional=False)),
}
