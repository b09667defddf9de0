"""Resolves types: `extends`, `Omit` and its like, `&`, `typeof`, `keyof`, `T[K]`, generics.

A resolved type is a syntax type of fewer kinds: Keyword, Literal, Array, Tuple, Union, Inline, a
Template used as a pattern, and Ref to a declared name, left unopened. Members keep their place in
the text, so their origin is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from mcp_bindgen.errors import LimitExceeded, SchemaError, SchemaMeaningError, count_of
from mcp_bindgen.ir.resolve.equality import all_same, is_keyword, same
from mcp_bindgen.ir.resolve.intersect import intersect
from mcp_bindgen.ir.resolve.keys import index_type, keys_of, map_keys
from mcp_bindgen.ir.resolve.scope import Env
from mcp_bindgen.ir.resolve.signatures import is_same_key
from mcp_bindgen.ir.resolve.templates import template
from mcp_bindgen.ir.resolve.utilities import utility
from mcp_bindgen.limits import MAX_DEPTH, MAX_UNIONS, MAX_WEIGHT
from mcp_bindgen.source import syntax
from mcp_bindgen.source.text import Source, printable

__all__ = ["Resolver"]

_NOTHING: Final[Env] = {}
_STRING_KEY: Final = ("string", "number")
_AS_KEY: Final = "Use [key: string], or name the members; JSON has no symbols."
_LEAVES: Final = (syntax.Keyword, syntax.Literal, syntax.Template, syntax.Array, syntax.Tuple)
"""Kinds of types for which an alias is opened; a name of an object stays."""
_CYCLE: Final = (
    "Break the cycle; where a member is made of the type that it is in, give what it is made of "
    "a name by an alias."
)


class Resolver:
    """The declarations of one module, by name, and their resolved types.

    Raises SchemaMeaningError for unknown names, cycles, wrong arguments and unmergeable types.
    """

    def __init__(self, source: Source, module: syntax.Module) -> None:
        self.source = source
        self.declared: dict[str, syntax.Declaration] = {}
        self.imports = module.imports
        self.names = module.names
        self.foreign = module.foreign
        self._depth = 0
        self._weights: dict[int, tuple[syntax.Inline, int]] = {}
        self._shapes: dict[
            tuple[str, ...], list[tuple[tuple[syntax.Type, ...], syntax.Inline]]
        ] = {}
        self._open: list[tuple[str, ...]] = []
        for declaration in module.declarations:
            self._declare(declaration)

    def _declare(self, declaration: syntax.Declaration) -> None:
        """Add a declaration; interfaces of one name are merged.

        A member in several of them must be alike in all, which is checked after resolving;
        duplicates within one interface are refused.
        """
        if isinstance(declaration, syntax.Interface):
            self._require_once(declaration.members)
        known = self.declared.get(declaration.name)
        if isinstance(known, syntax.Interface) and isinstance(declaration, syntax.Interface):
            declaration = replace(
                known,
                extends=(*known.extends, *declaration.extends),
                members=(*known.members, *declaration.members),
                index=(*known.index, *declaration.index),
            )
        elif known is not None:
            raise self.error(
                declaration.at, f"`{declaration.name}` is declared twice", "Merge them."
            )
        self.declared[declaration.name] = declaration

    def error(self, at: int, message: str, remedy: str) -> SchemaError:
        return self.source.error(SchemaMeaningError, at, message, remedy)

    # ---- types

    def resolve(self, type: syntax.Type, env: Env = _NOTHING) -> syntax.Type:
        """Resolve everything in `type` except declared names."""
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
                return replace(type, of=tuple(self._places(type, env)))
            case syntax.Union():
                return syntax.Union(tuple(self.resolve(arm, env) for arm in type.of), type.at)
            case syntax.Inline():
                return self._inline(type, env)
            case syntax.Intersection():
                return self._intersection(type, env)
            case syntax.TypeOf():
                return self._type_of(type)
            case syntax.KeyOf():
                return keys_of(self, self.resolve(type.of, env), type.at)
            case syntax.Indexed():
                owner = self.resolve(type.object, env)
                return index_type(self, owner, self.resolve(type.index, env), type.at)
            case syntax.Template():
                parts = (p if isinstance(p, str) else self.resolve(p, env) for p in type.parts)
                return template(self, replace(type, parts=tuple(parts)))
            case syntax.Mapped():
                return map_keys(self, type, env)

    def _places(self, type: syntax.Tuple, env: Env) -> Iterator[syntax.Element]:
        """The places of a tuple; `...T` of another tuple stands for the places of `T`."""
        for element in type.of:
            of = self.resolve(element.of, env)
            spread = self.bare(of) if element.rest else of
            if element.rest and isinstance(spread, syntax.Tuple):
                yield from spread.of
            else:
                yield replace(element, of=spread if element.rest else of)

    def _intersection(self, type: syntax.Intersection, env: Env) -> syntax.Type:
        first, *rest = (self.resolve(part, env) for part in type.of)
        merged: syntax.Type | None = first
        for part in rest:
            merged = None if merged is None else intersect(self, merged, part, type.at)
        if merged is None:
            raise self.error(
                type.at, "an intersection that nothing satisfies", "Write the type that is meant."
            )
        return merged

    def _type_of(self, type: syntax.TypeOf) -> syntax.Type:
        """The declared type of a constant, else the type of its value; of an enum its members."""
        declaration = self.declared.get(self._name(type))
        match declaration:
            case syntax.Const():
                of = declaration.type or declaration.value
                assert of is not None
                return replace(self.resolve(of), at=type.at)
            case syntax.Enum():
                members = tuple(_enum_member(declaration, name) for name, _ in declaration.members)
                return self.check_weight(syntax.Inline(members, (), type.at))
            case _:
                raise self.error(
                    type.at,
                    f"`{type.name}` is not a constant of this file",
                    "Declare it with const.",
                )

    def _ref(self, type: syntax.Ref, env: Env) -> syntax.Type:
        if type.name in env and not type.args:
            return env[type.name]
        args = tuple(self.resolve(arg, env) for arg in type.args)
        if self.names:
            type = replace(type, name=self._name(type), module="")
        declaration = self.declared.get(type.name)
        if declaration is None:
            owner, dot, member = type.name.partition(".")
            return self._enum_member(type, owner, member) if dot else utility(self, type, args)
        if isinstance(declaration, syntax.Const):
            raise self.error(
                type.at, f"`{type.name}` is a constant, not a type", "Write typeof before it."
            )
        self.env_of(declaration, syntax.Ref(type.name, args, type.at))
        return syntax.Ref(type.name, args, type.at)

    def _name(self, type: syntax.Ref | syntax.TypeOf) -> str:
        """The name in this module for a name in the text, through an import if necessary."""
        if isinstance(type, syntax.Ref) and type.module:
            return self.names[f"{type.module}#{type.name}"]
        owner, dot, member = type.name.partition(".")
        return f"{self.names.get(owner, owner)}{dot}{member}"

    def _enum_member(self, type: syntax.Ref, owner: str, name: str) -> syntax.Type:
        enum = self.declared.get(owner)
        values = dict(enum.members) if isinstance(enum, syntax.Enum) else {}
        if name not in values:
            raise self.error(
                type.at,
                f"`{printable(type.name)}` is not a member of an enum of this file",
                "Declare the type at the top level.",
            )
        return syntax.Literal(values[name], type.at)

    def _require_once(self, members: tuple[syntax.Member, ...]) -> None:
        seen: set[str] = set()
        for member in members:
            if member.name in seen:
                raise self.error(
                    member.at, f"the member `{member.name}` stands twice", "Leave one out."
                )
            seen.add(member.name)

    def _inline(self, type: syntax.Inline, env: Env) -> syntax.Inline:
        self._require_once(type.members)
        members = tuple(replace(m, type=self.resolve(m.type, env)) for m in type.members)
        return self.check_weight(syntax.Inline(members, self._indexes(type.index, env), type.at))

    def _own(self, declaration: syntax.Interface, env: Env) -> syntax.Inline:
        """The members of the declarations of one name, without duplicates."""
        members: dict[str, syntax.Member] = {}
        for written in declaration.members:
            member = replace(written, type=self.resolve(written.type, env))
            first = members.setdefault(member.name, member)
            flags = [(m.optional, m.readonly) for m in (first, member)]
            if flags[0] != flags[1] or not same(first.type, member.type):
                raise self.error(
                    member.at,
                    f"`{declaration.name}` is declared several times, and `{member.name}` is not "
                    "the same in each",
                    "Declare the member once.",
                )
        index = self._indexes(declaration.index, env)
        return self.check_weight(syntax.Inline(tuple(members.values()), index, declaration.at))

    def _indexes(self, written: tuple[syntax.Index, ...], env: Env) -> tuple[syntax.Index, ...]:
        """The index signatures, one for each arm of their keys."""
        made: list[syntax.Index] = []
        for index in written:
            type = self.resolve(index.type, env)
            for key in self.arms(self.resolve(index.key, env)):
                if not (isinstance(key, syntax.Template) or is_keyword(key, *_STRING_KEY)):
                    message = "an index signature that is not by string, number or template"
                    raise self.error(index.at, message, _AS_KEY)
                each = replace(index, key=key, type=type)
                if any(is_same_key(each, other) for other in made):
                    message = "a second index signature for the same names"
                    raise self.error(index.at, message, "Leave one out.")
                made.append(each)
        return tuple(made)

    def check_weight(self, shape: syntax.Inline) -> syntax.Inline:
        """Return `shape`; refuse it if it has more than MAX_WEIGHT nodes."""
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

    # ---- shapes

    def open_name(self, type: syntax.Type) -> syntax.Type:
        """Replace a reference to an alias or an enum by its definition, once."""
        if not isinstance(type, syntax.Ref):
            return type
        declaration = self.declared[type.name]
        match declaration:
            case syntax.Alias():
                return self.resolve(declaration.type, self.env_of(declaration, type))
            case syntax.Enum(members=members, at=at):
                arms: list[syntax.Type] = [syntax.Literal(value, at) for _, value in members]
                return self.union_of(arms, at)
            case _:
                return type

    def bare(self, type: syntax.Type) -> syntax.Type:
        """`type` with aliases and enums replaced until none is left."""
        for _ in range(len(self.declared) + MAX_DEPTH):
            inner = self.open_name(type)
            if inner is type:
                return type
            type = inner
        raise self.error(type.at, "an alias that is built on itself", "Break the cycle.")

    def arms(self, type: syntax.Type) -> list[syntax.Type]:
        """The arms of a type, unions in unions opened, `never` left out; itself for no union."""
        arms: list[syntax.Type] = []
        opened: list[syntax.Type] = []
        queue = [type]
        while queue:
            arm = queue.pop(0)
            bare = self.bare(arm)
            if not isinstance(bare, syntax.Union):
                if not is_keyword(bare, "never"):
                    arms.append(bare if isinstance(bare, _LEAVES) else arm)
            elif not any(same(arm, other) for other in opened):
                opened += [arm] if isinstance(arm, syntax.Ref) else []
                queue[:0] = bare.of
            if len(opened) > MAX_UNIONS:
                message = f"a union of more than {MAX_UNIONS} unions"
                raise self.source.error(LimitExceeded, type.at, message, "Shorten it.")
        return arms

    def union_of(self, arms: list[syntax.Type], at: int) -> syntax.Type:
        """The union of arms; a single arm itself, or `never` for none."""
        if not arms:
            return syntax.Keyword("never", at)
        return arms[0] if len(arms) == 1 else syntax.Union(tuple(arms), at)

    def shape(self, type: syntax.Type, at: int) -> syntax.Inline:
        """The members and index signature of a resolved object type, inherited ones included."""
        shape = self.object_shape(type)
        if shape is None:
            raise self.error(
                at, "a type that is not one object", "Name an interface or a braced type."
            )
        return shape

    def object_shape(self, type: syntax.Type) -> syntax.Inline | None:
        """Like `shape`; None if the type is no object."""
        if isinstance(type, syntax.Inline):
            return type
        if not isinstance(type, syntax.Ref):
            return None
        return self._definition_of((type.name,), type, self.declared[type.name])

    def part(self, type: syntax.Type, at: int, wanted: Callable[[str], bool]) -> syntax.Inline:
        """Like `shape`, with only the wanted members; works inside the type itself."""
        part = None
        if isinstance(type, syntax.Ref) and (type.name,) in self._open:
            own = syntax.as_interface(self.declared[type.name])
            if own is not None:
                members = tuple(member for member in own.members if wanted(member.name))
                key = (type.name, "part", *(member.name for member in members))
                part = self._definition_of(key, type, replace(own, members=members))
        return part or self.shape(type, at)

    def _definition_of(
        self, key: tuple[str, ...], type: syntax.Ref, declaration: syntax.Declaration
    ) -> syntax.Inline | None:
        """Resolve the definition of `type` by `declaration`, once for each `key`."""
        for args, shape in self._shapes.get(key, ()):
            if all_same(args, type.args):
                return shape
        entered = self._enter(key, type, declaration)
        if entered is not None:
            self._shapes.setdefault(key, []).append((type.args, entered))
        return entered

    def _enter(
        self, key: tuple[str, ...], type: syntax.Ref, declaration: syntax.Declaration
    ) -> syntax.Inline | None:
        if key in self._open:
            chain = " → ".join(name for name, *_ in [*self._open[self._open.index(key) :], key])
            message = f"`{type.name}` is built on itself: {chain}"
            raise self.error(declaration.at, message, _CYCLE)
        if len(self._open) >= MAX_DEPTH:
            message = f"more than {MAX_DEPTH} types build on one another"
            raise self.source.error(LimitExceeded, declaration.at, message, "")
        self._open.append(key)
        try:
            if isinstance(declaration, syntax.Interface):
                return self._interface(declaration, self.env_of(declaration, type))
            if isinstance(declaration, syntax.Alias):
                return self.object_shape(self.open_name(type))
            return None
        finally:
            self._open.pop()

    def _interface(self, declaration: syntax.Interface, env: Env) -> syntax.Inline:
        """Own members first, then those of each base which are not overridden."""
        own = self._own(declaration, env)
        members = {m.name: m for m in own.members}
        index = own.index
        for base in declaration.extends:
            shape = self.shape(self.resolve(base, env), base.at)
            theirs = (replace(each, mapped=False) for each in shape.index)
            index += tuple(t for t in theirs if not any(is_same_key(t, mine) for mine in index))
            for member in shape.members:
                mine = members.setdefault(member.name, member)
                if mine not in own.members and not same(mine.type, member.type):
                    raise self.error(
                        base.at,
                        f"the bases of `{declaration.name}` disagree about `{member.name}`",
                        "Declare that member in the interface itself.",
                    )
        return self.check_weight(syntax.Inline(tuple(members.values()), index, declaration.at))

    def env_of(self, declaration: syntax.Declaration, ref: syntax.Ref) -> Env:
        """The values of a declaration's type parameters in `ref`."""
        params = (
            declaration.params if isinstance(declaration, syntax.Interface | syntax.Alias) else ()
        )
        if len(ref.args) > len(params):
            raise self.error(
                ref.at, f"`{ref.name}` takes {count_of(len(params), 'argument')}", "Give it those."
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


def _enum_member(enum: syntax.Enum, name: str) -> syntax.Member:
    literal = syntax.Literal(dict(enum.members)[name], enum.at)
    return syntax.Member(name, literal, False, True, False, None, enum.at)
