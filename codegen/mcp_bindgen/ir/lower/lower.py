"""Lowers resolved declarations to the IR: every shape named, every member a field.

Anonymous shapes are named by their place: the declaration, the members on the way, `Item` inside an
array, `Value` inside a map, and for one of several anonymous arms its distinguishing member.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Final, TypeAlias

from mcp_bindgen.errors import DecisionError, LimitExceeded
from mcp_bindgen.ir.decisions.decisions import Decisions
from mcp_bindgen.ir.lower.argument_names import argument_name
from mcp_bindgen.ir.lower.conventions import conventions
from mcp_bindgen.ir.lower.facts import digest
from mcp_bindgen.ir.lower.methods import methods
from mcp_bindgen.ir.lower.name_table import NameTable
from mcp_bindgen.ir.lower.narrow import narrow
from mcp_bindgen.ir.lower.pairs import message_shape, pairs
from mcp_bindgen.ir.lower.places import Place, places, step_of, told_apart
from mcp_bindgen.ir.lower.recursion import json_aliases, require_no_circles
from mcp_bindgen.ir.lower.tags import Tags
from mcp_bindgen.ir.lower.wire import with_wire
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Const,
    Declaration,
    Element,
    Field,
    Keyed,
    Limits,
    Lit,
    Map,
    Method,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.resolve.equality import distinct, is_keyword, same
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.ir.resolve.signatures import by_name, by_string, key_pattern, key_text
from mcp_bindgen.ir.resolve.templates import pattern
from mcp_bindgen.ir.unions import arms, disjoint
from mcp_bindgen.ir.values.pattern_cost import timely
from mcp_bindgen.ir.walk import kinds
from mcp_bindgen.limits import MAX_DEPTH, MAX_MEMBERS, MAX_TYPE_NAME_CHARS, MAX_UNION_TYPES
from mcp_bindgen.source import Source, link, syntax

__all__ = ["load", "lower"]

_Documented: TypeAlias = syntax.Declaration | syntax.Member | syntax.Index

_PRIMS: Final = frozenset(["string", "number", "boolean", "null", "object", "unknown", "any"])


def load(
    data: bytes,
    path: str,
    revision: str = "",
    decisions: Decisions | None = None,
    imports: Mapping[str, Source] | None = None,
    *,
    lenient: bool = False,
) -> Schema:
    """Read and lower one schema file; `imports` are the texts of its import specifiers.

    If `lenient`, a tag that cannot be bound is noted in the schema and binds nothing. For a pinned
    revision `decisions` are consulted and must all be used; other files are lowered by rule alone.
    Raises SchemaError or DecisionError.
    """
    resolver = Resolver(*link(Source(data, path), imports or {}))
    return lower(resolver, revision or path, decisions, lenient=lenient)


def lower(
    resolver: Resolver,
    revision: str,
    decisions: Decisions | None = None,
    *,
    lenient: bool = False,
) -> Schema:
    """Like `load`, for a resolved module."""
    lowering = _Lowering(resolver, revision, decisions, lenient=lenient)
    declarations = tuple(json_aliases(lowering.declarations()))
    listed = pairs(resolver)
    schema = Schema(revision, resolver.source.path, digest(resolver, listed), declarations)
    lowering.tags.require(partial(kinds, schema))
    slips = {lowering.origin(at): (error.message, at) for at, error in lowering.tags.slips}
    schema = replace(schema, slips=slips)
    python = lowering.names.python
    schema = narrow(with_wire(schema, listed, resolver, decisions, python), decisions)
    rows = methods(schema, listed, resolver.source, decisions, python)
    schema = replace(schema, methods=tuple(rows))
    schema = conventions(_ordered_results(schema, decisions), decisions)
    if decisions is not None:
        decisions.require_all(revision)
    return schema


class _Lowering:
    """Makes the declarations of a module.

    `pending` has the anonymous shapes inside the current declaration; `nested` counts the instances
    of generic declarations being made inside one another.
    """

    def __init__(
        self, resolver: Resolver, revision: str, decisions: Decisions | None, *, lenient: bool
    ) -> None:
        self.resolver = resolver
        self.names = NameTable(resolver, revision, decisions)
        self.out: list[Declaration] = []
        self.pending: list[Declaration] = []
        self.instances: dict[str, syntax.Ref] = {}
        self.nested = 0
        self.members = 0
        self.tags = Tags(resolver.error, lenient=lenient)
        self.roots = sorted((d.at, d.name) for d in resolver.declared.values())
        self.places = dict(places(resolver.declared.values()))

    def declarations(self) -> list[Declaration]:
        """The declarations of the module, each before the anonymous shapes in it."""
        for declaration in self.resolver.declared.values():
            self.names.claim(declaration.name, declaration.at)
        for declaration in self.resolver.declared.values():
            if isinstance(declaration, syntax.Const):
                self.const(declaration)
            elif isinstance(declaration, syntax.Enum) or not declaration.params:
                ref = syntax.Ref(declaration.name, (), declaration.at)
                self.declare(declaration, ref, self.names.python[declaration.name])
        require_no_circles(self.out, self.resolver.source)
        return self.out

    # ---- declarations

    def const(self, declaration: syntax.Const) -> None:
        """Append a constant of one literal; other constants appear only in the types naming
        them.
        """
        self.tags.refuse(declaration.doc, declaration.at, "a constant")
        value = self.resolver.resolve(syntax.TypeOf(declaration.name, declaration.at))
        if isinstance(value, syntax.Literal):
            doc, deprecated, _, _, at = _head(declaration)
            name = self.names.python[declaration.name]
            self.out.append(Const(name, value.value, doc, deprecated, at))

    def declare(self, declaration: syntax.Declaration, ref: syntax.Ref, name: str) -> None:
        """Append the declaration of `ref`, and after it the anonymous shapes inside."""
        if isinstance(declaration, syntax.Interface):
            shape = self.resolver.shape(ref, declaration.at)
            shape = self.tags.with_rest(shape, declaration.doc, declaration.at)
            struct = self.struct(name, shape, declaration, root=name)
            made: Struct | Alias = struct
            if _is_map(shape) and struct.index is not None:
                made = Alias(name, Map(struct.index), *_head(declaration))
        else:
            opened = message_shape(self.resolver, declaration) or self.resolver.open_name(ref)
            opened = self.with_rest(opened, declaration)
            if isinstance(opened, syntax.Inline) and not _is_map(opened):
                made = self.struct(name, opened, declaration, root=name)
            else:
                type = self.type(opened, name, Place(declaration.name))
                made = Alias(name, self.with_bounds(type, declaration), *_head(declaration))
        self.out.append(made)
        self.out += self.pending
        self.pending = []

    def struct(
        self, name: str, shape: syntax.Inline, declaration: syntax.Declaration, *, root: str
    ) -> Struct:
        self.tags.refuse(declaration.doc, declaration.at, "an object")
        bases = (
            tuple(base.name for base in declaration.extends if isinstance(base, syntax.Ref))
            if isinstance(declaration, syntax.Interface)
            else ()
        )
        doc, deprecated, internal, category, at = _head(declaration)
        fields = self.fields(name, shape, root)
        index, keyed = self.index(shape, root), self.keyed(shape, root)
        head = (doc, deprecated, "", bases, internal, category, at)
        return Struct(name, fields, index, *head, keyed)

    def index(self, shape: syntax.Inline, root: str) -> Type | None:
        """The type of unlisted members; None if the shape declares none."""
        index = by_string(shape.index)
        return None if index is None else self.indexed(index, root, self.place(index.at))

    def keyed(self, shape: syntax.Inline, root: str) -> tuple[Keyed, ...]:
        """The types of unlisted members, by the pattern of their names."""
        made: list[Keyed] = []
        for index in by_name(shape.index):
            expression = key_pattern(index.key)
            most = timely(Limits(pattern=expression)).max_length
            type = self.indexed(index, root, self.place(index.at))
            made.append(Keyed(key_text(index.key), expression, most, type))
        return tuple(made)

    def indexed(self, index: syntax.Index, root: str, place: Place) -> Type:
        return self.with_bounds(self.type(index.type, root, place.at(step_of(index.key))), index)

    def fields(self, owner: str, shape: syntax.Inline, root: str) -> tuple[Field, ...]:
        made: dict[str, Field] = {}
        self.members += len(shape.members)
        if self.members > MAX_MEMBERS:
            message = f"more than {MAX_MEMBERS} members in all types together"
            remedy = "Split the file, or inherit less."
            raise self.resolver.source.error(LimitExceeded, shape.at, message, remedy)
        for member in shape.members:
            field = self.member(owner, member, root)
            if field.name in made:
                raise self.resolver.error(
                    member.at,
                    f"`{made[field.name].wire}` and `{field.wire}` of `{owner}` would both be "
                    f"called `{field.name}`",
                    "Rename one, or, for a pinned revision, add a [[name]] row.",
                )
            made[field.name] = field
        return tuple(made.values())

    def member(self, owner: str, member: syntax.Member, root: str) -> Field:
        optional = member.optional or self.may_lack(member)
        origin = self.origin(member.at)
        here = self.place(member.at)
        place = Place(here.root, here.path, owner).at(member.name)
        doc = member.doc
        return Field(
            wire=member.name,
            name=self.names.of_member(owner, member),
            type=self.with_bounds(
                self.type(self.with_rest(member.type, member), root, place), member
            ),
            required=not optional,
            doc=doc.sentence if doc else "",
            deprecated=doc.deprecated if doc else None,
            format=doc.tag("format") if doc else None,
            default=doc.tag("default") if doc else None,
            origin=origin,
            at=member.at,
        )

    def may_lack(self, member: syntax.Member) -> bool:
        """Return whether a member may be undefined; refuse a member no value satisfies."""
        arms = self.resolver.arms(member.type)
        if not arms and not member.optional:
            raise self.resolver.error(
                member.at,
                f"nothing satisfies the required member `{member.name}`",
                "Make it optional, or leave it out.",
            )
        return any(is_keyword(arm, "undefined") for arm in arms)

    def origin(self, at: int) -> str:
        """The declaration in whose text byte `at` lies."""
        return self.roots[bisect_right(self.roots, (at, "\U0010ffff")) - 1][1]

    def place(self, at: int) -> Place:
        """The place of the braces around the member at byte `at`."""
        return self.places.get(at) or Place(self.origin(at))

    def with_bounds(self, type: Type, node: _Documented) -> Type:
        """`type` within the bounds in the comment of its declaration or member."""
        return self.tags.with_bounds(type, node.doc, node.at)

    def with_rest(self, type: syntax.Type, node: _Documented) -> syntax.Type:
        """`type` with `@additionalProperties` of the comment applied; only objects can have it."""
        if isinstance(type, syntax.Inline):
            return self.tags.with_rest(type, node.doc, node.at)
        if node.doc and node.doc.tag("additionalProperties") is not None:
            message = "`@additionalProperties` on what is not an object written here"
            raise self.resolver.error(node.at, message, "Put it on the declaration of the object.")
        return type

    # ---- types

    def type(self, type: syntax.Type, root: str, place: Place) -> Type:
        match type:
            case syntax.Keyword():
                return self.prim(type)
            case syntax.Literal():
                return Lit(type.value)
            case syntax.Template():
                return Bounded(Prim("string"), timely(Limits(pattern=pattern(type))))
            case syntax.Array():
                return Arr(self.type(type.of, root, place.at("item")))
            case syntax.Ref():
                return Ref(self.instance(type))
            case syntax.Inline():
                return self.anonymous(type, root, place)
            case syntax.Tuple():
                return self.tuple(type, root, place)
            case syntax.Union():
                return self.union(type, root, place)
            case _:
                raise self.resolver.error(
                    type.at, "a type that was not worked out", "Write it out."
                )

    def prim(self, type: syntax.Keyword) -> Type:
        if type.name in ("never", "undefined"):
            return Uni(())
        if type.name not in _PRIMS:
            raise self.resolver.error(
                type.at, f"no JSON value is `{type.name}` here", "Leave it out."
            )
        return Prim(type.name)

    def tuple(self, type: syntax.Tuple, root: str, place: Place) -> Tup:
        places: list[Element] = []
        rest: Type | None = None
        for number, element in enumerate(type.of):
            if element.rest and number == len(type.of) - 1 and isinstance(element.of, syntax.Array):
                rest = self.type(element.of.of, root, place.at("rest"))
                continue
            late = places and places[-1].optional and not element.optional
            if element.rest or late:
                raise self.resolver.error(
                    type.at, "a tuple with a rest or a required place after others", "Put it last."
                )
            places.append(
                Element(self.type(element.of, root, place.at(f"place{number}")), element.optional)
            )
        return Tup(tuple(places), rest)

    def union(self, type: syntax.Union, root: str, place: Place) -> Type:
        inlines = distinct([a for a in type.of if isinstance(a, syntax.Inline) and _has_name(a)])
        steps = iter(self.steps(inlines, place))
        known = set(map(id, inlines))
        arms: list[Type] = []
        for arm in type.of:
            step = next(steps) if id(arm) in known else ""
            if isinstance(arm, syntax.Inline) and _has_name(arm) and id(arm) not in known:
                continue  # it is written twice
            made = self.type(arm, root, place.at(step) if step else place)
            arms += made.arms if isinstance(made, Uni) else (made,)
        unique = tuple(dict.fromkeys(arms))
        self.require_few(type)
        return unique[0] if len(unique) == 1 else Uni(unique)

    def require_few(self, type: syntax.Union) -> None:
        """Refuse a union with more types than Python can read, nested unions included."""
        leaves = self.resolver.arms(type)
        if sum(not isinstance(leaf, syntax.Literal) for leaf in leaves) > MAX_UNION_TYPES:
            raise self.resolver.source.error(
                LimitExceeded,
                type.at,
                f"a union of more than {MAX_UNION_TYPES} types that are no literals",
                "Name fewer, and say `unknown` for the rest.",
            )

    def steps(self, inlines: list[syntax.Inline], place: Place) -> list[str]:
        """The step to each anonymous arm, by its distinguishing member; the one anonymous arm of an
        alias cannot share the alias's name.
        """
        if len(inlines) < 2:
            return ["" if place.path else "object"] * len(inlines)
        steps = told_apart(inlines)
        for arm, step in zip(inlines, steps, strict=True):
            if not step:
                raise self.resolver.error(
                    arm.at,
                    "an anonymous arm that nothing tells apart",
                    "Declare each arm as an interface, and name these in the union.",
                )
        return steps

    def anonymous(self, type: syntax.Inline, root: str, place: Place) -> Type:
        """Lower an inline object type: to a map if it has only an index signature, else to a
        struct with the name of its place.
        """
        if _is_map(type):
            return Map(self.indexed(type.index[0], root, place))
        generic = bool(getattr(self.resolver.declared[place.root], "params", ()))
        name = place.name(root if generic else self.names.python[place.root])
        if self.names.is_of_another(name, type):
            name = place.inside or name
        known = name in self.names.shapes
        python = self.names.claim(name, type.at, type)
        if not known:
            path = ".".join((place.root, *place.path))
            slot = len(self.pending)
            fields = self.fields(python, type, root)
            index, keyed = self.index(type, root), self.keyed(type, root)
            made = Struct(python, fields, index, place=path, at=type.at, keyed=keyed)
            self.pending.insert(slot, made)
        return Ref(python)

    def instance(self, ref: syntax.Ref) -> str:
        """Return the name of a reference in the IR; declare an instance of a generic on first
        use.
        """
        declaration = self.resolver.declared[ref.name]
        params = getattr(declaration, "params", ())
        if not params:
            return self.names.python[ref.name]
        env = self.resolver.env_of(declaration, ref)
        full = syntax.Ref(ref.name, tuple(env[p.name] for p in params), ref.at)
        name = ref.name + "".join(argument_name(arg, self.instance) for arg in full.args)
        if len(name) > MAX_TYPE_NAME_CHARS:
            message = f"a generic with a name of more than {MAX_TYPE_NAME_CHARS} characters"
            remedy = "Name its arguments by aliases."
            raise self.resolver.source.error(LimitExceeded, ref.at, message, remedy)
        if name in self.instances:
            if not same(self.instances[name], full):
                raise self.names.collision(ref.at, name)
            return self.names.python[name]
        self.instances[name] = full
        python = self.names.claim(name, ref.at)
        if self.nested == MAX_DEPTH:
            raise self.resolver.source.error(
                LimitExceeded,
                ref.at,
                f"`{ref.name}` needs itself without end",
                "Bound its arguments.",
            )
        self.nested += 1
        pending, self.pending = self.pending, []
        self.declare(declaration, full, python)
        self.pending = pending
        self.nested -= 1
        return python


def _is_map(shape: syntax.Inline) -> bool:
    """Return whether all members of a shape have one type, whatever their names."""
    return not shape.members and len(shape.index) == 1 and not by_name(shape.index)


def _has_name(shape: syntax.Inline) -> bool:
    """Return whether an anonymous shape has members or signatures by template, and so its own
    class.
    """
    return bool(shape.members or by_name(shape.index))


def _head(declaration: syntax.Declaration) -> tuple[str, str | None, bool, str, int]:
    """Description, deprecation, whether internal, category, byte offset."""
    doc = declaration.doc
    if doc is None:
        return "", None, False, "", declaration.at
    internal = doc.tag("internal") is not None
    return doc.sentence, doc.deprecated, internal, doc.tag("category") or "", declaration.at


# ---- [[union]] rows: which type goes first where several accept the same result of a method


def _ordered_results(schema: Schema, decisions: Decisions | None) -> Schema:
    """`schema` with the results of its methods ordered by rows, which are demanded.

    A `[[narrow]]` row for a member of the first type is an answer too.
    """
    if decisions is None:
        return schema
    methods = tuple(_ordered_result(schema, decisions, method) for method in schema.methods)
    return replace(schema, methods=methods)


def _ordered_result(schema: Schema, decisions: Decisions, method: Method) -> Method:
    pairs = list(_ambiguities(schema, decisions, method))
    if not pairs or method.result is None:
        return method
    names = [arm.name for arm in arms(schema, method.result) if isinstance(arm, Ref)]
    both = "; ".join(f"`{first}` and `{second}`" for first, second in pairs)
    question = (
        f"{schema.path}: `{method.name}`: some results are of {both}: which type goes first?"
        f"\n#   (Or a [[narrow]] row for a member of `{pairs[0][0]}` that tells it apart.)"
    )
    path = f"{method.name}.result"
    row = decisions.ask("union", schema.revision, path, pairs, question, {"order": names})
    if row is None:
        return method
    if sorted(row.values["order"]) != sorted(names):
        raise DecisionError(
            f"[[union]] `{path}` of {schema.revision}: order does not list {', '.join(names)}",
            remedy="Name each of these types once.",
        )
    return replace(method, result=Uni(tuple(map(Ref, row.values["order"])), ordered=True))


def _ambiguities(schema: Schema, decisions: Decisions, method: Method) -> Iterator[tuple[str, str]]:
    """The pairs of types which accept a common result, unless a narrowed member decides."""
    if method.result is None:
        return
    narrowed = {path.partition(".")[0] for path in decisions.paths("narrow", schema.revision)}
    leaves = [arm for arm in arms(schema, method.result) if isinstance(arm, Ref)]
    for first, second in combinations(leaves, 2):
        if first.name not in narrowed and not disjoint(schema, first, second):
            yield first.name, second.name
