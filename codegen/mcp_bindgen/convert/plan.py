"""A pair of neighbours to its plan: every change carried by proof, or decided by a row.

A value is carried where the target's type takes all that the source's type takes. On the way up a
member that only the source declares is carried too, as one that the target does not know: the way
down finds it again. On the way down it needs a row, for what the older revision does not declare it
cannot mean. A member that only the target declares may stand in a message already, unknown to its
sender; it is kept if the target's type admits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from mcp_bindgen.convert.heritage import batches, envelope, with_heritage
from mcp_bindgen.convert.model import (
    CARRY,
    DOWN,
    UP,
    Arm,
    Call,
    Code,
    Decision,
    Direction,
    Each,
    Errors,
    Function,
    Kept,
    Lost,
    Member,
    New,
    Pair,
    Stamp,
    StructStep,
    UnionStep,
    Values,
    Way,
    Whole,
)
from mcp_bindgen.convert.prune import prune
from mcp_bindgen.convert.rows import Rows
from mcp_bindgen.ir.decisions import Decisions
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Field,
    Kind,
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
from mcp_bindgen.ir.unions import arms, kinds, tag

__all__ = ["pair_name", "plan"]

_OBJECT: Final[frozenset[Kind]] = frozenset(("object",))
_ACTIONS: Final = ("drop", "degrade", "refuse", "rename")
"""What can be done with a value that the target does not take."""


_Key: TypeAlias = tuple[Type | Struct, Type | Struct] | tuple[Type, Type, str]


def pair_name(old: str, new: str) -> str:
    """What rows call two neighbours: 2025-06-18..2025-11-25."""
    return f"{old}..{new}"


def plan(
    old: Schema, new: Schema, decisions: Decisions, texts: Mapping[str, bytes] | None = None
) -> Pair:
    """The plan of two neighbours, older first; `texts` are the schemas', for errors to say where.

    Raises DecisionError that lists every row that is missing, or names those that nothing needs.
    """
    rows = Rows(old, new, pair_name(old.revision, new.revision), decisions, texts or {})
    old, new = with_heritage(old), with_heritage(new)
    up, down = (_Walk(name, old, new, rows) for name in (UP, DOWN))
    pair = Pair(old, new, up.direction(), down.direction())
    rows.require_all()
    return pair


@dataclass
class _Walk:
    """One direction; functions are made once for each pair of types."""

    name: str
    old: Schema
    new: Schema
    rows: Rows
    functions: dict[str, Function | None] = field(default_factory=dict[str, "Function | None"])
    refused: dict[str, Decision] = field(default_factory=dict[str, Decision])
    _names: dict[_Key, str] = field(default_factory=dict["_Key", str])

    @property
    def source(self) -> Schema:
        return self.old if self.name == UP else self.new

    @property
    def target(self) -> Schema:
        return self.new if self.name == UP else self.old

    # ---- methods

    def direction(self) -> Direction:
        ways: dict[tuple[str, str], Way] = {}
        targets = {method.name: method for method in self.target.methods}
        for method in self.source.methods:
            other = targets.get(method.name)
            if other is None or _manner(method) != _manner(other):
                question = (
                    "which part of the runtime handles it, or with which error is it refused?"
                )
                place = self.source, self.source.structs[method.type].at
                path = (method.name,)
                decision = self.rows.demand(self.name, path, ("refuse",), question, place)
                if decision is not None:
                    self.refused[method.name] = decision
            if other is not None:
                ways.update(self._method(method, other))
        ways.update(self._others())
        functions, ways = prune(self.functions, ways)
        return Direction(self.name, self.source, self.target, functions, ways, self.refused)

    def _method(self, method: Method, other: Method) -> Iterator[tuple[tuple[str, str], Way]]:
        if method.params is not None and other.params is not None:
            way = self._required_way(method.params, other.params, f"{method.name}.params")
            yield (method.name, "params"), self._whole(method, other, way)
        if method.result is not None and other.result is not None:
            way = self._required_way(method.result, other.result, f"{method.name}.result")
            yield (method.name, "result"), way

    def _whole(self, method: Method, other: Method, way: Way) -> Way:
        """Params that are optional in one revision alone are filled, or emptied."""
        optional = method.params_optional, other.params_optional
        if optional == (False, False):
            return way
        mode = {(True, True): "pass", (True, False): "fill", (False, True): "empty"}[optional]
        origin = _origin(self.new, self._newer(method, other).type, "params")
        if mode == "fill":
            question = "which params does a message get that has none?"
            place = self.new, self.new.structs[self._newer(method, other).type].at
            self.rows.demand(self.name, (origin,), ("default",), question, place)
        elif mode == "empty" and not self.rows.find(self.name, (origin,), ("drop",)):
            mode = "pass"
        inner = way.name if isinstance(way, Call) else method.name.replace("/", "_")
        name = f"_{self.name}_{mode}_{inner.removeprefix(f'_{self.name}_')}"
        self.functions[name] = Whole(name, way, mode)
        return Call(name)

    def _newer(self, method: Method, other: Method) -> Method:
        return other if self.name == UP else method

    def _others(self) -> Iterator[tuple[tuple[str, str], Way]]:
        """Messages of methods that neither side declares, and errors."""
        for name in batches(self.source):
            if name not in batches(self.target):
                question = "which part of the runtime takes it apart?"
                path = f"JSONRPCMessage:{name}"
                place = self.source, self.source.types[name].at
                decision = self.rows.demand(self.name, (path,), ("refuse",), question, place)
                self.refused.update({"": decision} if decision is not None else {})
        for position in ("request", "notification", "response"):
            a, b = envelope(self.source, position), envelope(self.target, position)
            if a is not None and b is not None:
                yield ("", position), self._struct(a, b)
        errors = envelope(self.source, "error"), envelope(self.target, "error")
        if errors[0] is not None and errors[1] is not None:
            yield from self._errors(errors[0], errors[1])

    # ---- errors

    def _errors(self, a: Struct, b: Struct) -> Iterator[tuple[tuple[str, str], Way]]:
        way = self._struct(a, b)
        general = tuple(self._codes())
        for method in self.source.methods:
            own = tuple(self.rows.codes(self.name, method.name))
            if own and method.name in {m.name for m in self.target.methods}:
                yield (method.name, "error"), self._error(method.name, way, (*own, *general))
        yield ("", "error"), self._error("", way, general)

    def _error(self, method: str, way: Way, codes: tuple[Code, ...]) -> Way:
        name = f"_{self.name}_error{'_of_' if method else ''}{method.replace('/', '_')}"
        self.functions[name] = Errors(name, method, way, codes)
        return Call(name)

    def _codes(self) -> Iterator[Code]:
        """Codes with a name that the source declares and the target does not."""
        known = {const.value for const in self.target.consts.values()}
        for const in self.source.consts.values():
            if _is_code(const.value) and const.value not in known:
                question = f"what becomes of an error {const.value}?"
                actions, place = ("refuse", "rename", "degrade"), (self.source, const.at)
                found = self.rows.demand(self.name, (const.name,), actions, question, place)
                if found is not None:
                    yield Code(int(const.value), found)

    # ---- ways

    def _required_way(self, s: Type, t: Type, place: str) -> Way:
        """The way of params or of a result, which cannot be left out."""
        way = self.way(s, t, place)
        if way is None:
            question = "its types have nothing in common"
            self.rows.demand(self.name, (place,), ("degrade",), question, (self.source, 0))
        return CARRY if way is None else way

    def way(self, s: Type, t: Type, place: str) -> Way | None:
        """How values of `s` become values of `t`; None if some do not, and nothing says how."""
        s, t = _open(self.source, s), _open(self.target, t)
        if isinstance(s, Bounded) or isinstance(t, Bounded):
            return self._bounded(s, t, place)
        if _is_any(t):
            return CARRY
        if isinstance(s, Uni) or isinstance(t, Uni):
            return self._union(s, t, place)
        if isinstance(s, Ref) or isinstance(t, Ref):
            return self._structs(s, t, place)
        match s, t:
            case (Arr(), Arr()):
                return _each(Each, self.way(s.of, t.of, place))
            case (Tup(), Tup()):
                return CARRY if s == t and _plain(s) else None
            case (_, Prim(name="object")):
                return CARRY if kinds(self.source, s) == _OBJECT else None
            case (Map() | Prim(name="object"), Map()):
                return _each(Values, self.way(_value(s), t.of, place))
            case (Lit(), Prim()):
                return CARRY if kinds(self.source, s) <= kinds(self.target, t) else None
            case _:
                return CARRY if s == t else None

    def _bounded(self, s: Type, t: Type, place: str) -> Way | None:
        """Bounds may fall away; new ones are not met by proof."""
        limits = s.limits if isinstance(s, Bounded) else None
        inner = s.of if isinstance(s, Bounded) else s
        if isinstance(t, Bounded):
            return self.way(inner, t.of, place) if limits == t.limits else None
        return self.way(inner, t, place)

    def _structs(self, s: Type, t: Type, place: str) -> Way | None:
        if "object" not in kinds(self.source, s) or kinds(self.target, t) != _OBJECT:
            return None
        if isinstance(t, Ref):
            target = self.target.structs[t.name]
            return self._struct(self._as_struct(s, target), target) if _is_object(s) else None
        if not _takes_objects(t):
            return None
        if self.name == DOWN and isinstance(s, Ref):
            struct = self.source.structs[s.name]
            return self._struct(struct, Struct(struct.name, (), _value(t)))
        return CARRY

    def _as_struct(self, s: Type, like: Struct) -> Struct:
        """The source's struct; an object without declared members is one that has none."""
        if isinstance(s, Ref):
            return self.source.structs[s.name]
        return Struct(like.name, (), _value(s))

    # ---- unions

    def _union(self, s: Type, t: Type, place: str) -> Way | None:
        key = (s, t, place)
        if key in self._names:
            return Call(self._names[key])
        name = self._names[key] = self._fresh(f"_{self.name}_{_identifier(place)}")
        self.functions[name] = None
        found = self._arms(s, t, place)
        if found is not None and any(arm.way != CARRY for arm in found):
            self.functions[name] = UnionStep(name, found)
            return Call(name)
        del self.functions[name], self._names[key]
        return None if found is None else CARRY

    def _arms(self, s: Type, t: Type, place: str) -> tuple[Arm, ...] | None:
        leaves = arms(self.source, s) if isinstance(s, Uni) else (s,)
        targets = arms(self.target, t) if isinstance(t, Uni) else (t,)
        found: list[Arm] = []
        for leaf in leaves:
            way = self._arm(leaf, leaves, targets, place)
            if way is None and not isinstance(s, Uni):
                return None
            if way is None:
                path, question = f"{place}:{_arm_name(leaf)}", "no arm of the other side takes it"
                where = self.source, self._at(leaf, place)
                found_row = self.rows.demand(self.name, (path,), _ACTIONS[1:], question, where)
                way = found_row or CARRY
            found.append(Arm(leaf, way))
        return tuple(found)

    def _arm(
        self, leaf: Type, leaves: tuple[Type, ...], targets: tuple[Type, ...], place: str
    ) -> Way | Decision | None:
        """The way of an arm to the arm that fits it best; a row goes before likeness of shape."""
        opened = self.source.open(leaf)
        if not isinstance(opened, Ref):
            ways = (self.way(leaf, t, place) for t in targets if self._alike(leaf, t))
            return next((way for way in ways if way is not None), None)
        struct = self.source.structs[opened.name]
        others = list(_structs(self.target, targets))
        other = next((o for o in others if o.name == struct.name), None) or self._tagged(
            struct, leaves, targets
        )
        if other is not None:
            return self._struct(struct, other)
        path = f"{place}:{struct.name}"
        if (decision := self.rows.find(self.name, (path,), _ACTIONS[1:])) is not None:
            return decision
        fitting = [o for o in others if self._fits(struct, o)]
        if fitting:
            best = max(fitting, key=lambda o: sum(f.required for f in o.fields))
            return self._struct(struct, best)
        whole = any(_takes_objects(self.target.open(t)) for t in targets)
        return CARRY if whole else None

    def _tagged(
        self, struct: Struct, leaves: tuple[Type, ...], targets: tuple[Type, ...]
    ) -> Struct | None:
        """The arm with the same tag, where one member tells the arms of both sides apart."""
        here = [leaf for leaf in leaves if isinstance(self.source.open(leaf), Ref)]
        there = [t for t in targets if isinstance(self.target.open(t), Ref)]
        wire = tag(self.source, tuple(here))
        mine = struct.field(wire) if wire is not None else None
        if mine is None or wire is None or tag(self.target, tuple(there)) != wire:
            return None
        found = _structs(self.target, targets)
        return next((o for o in found if (g := o.field(wire)) and g.const == mine.const), None)

    def _at(self, leaf: Type, place: str) -> int:
        """Where an arm is declared; for one without a name, where the member around it is."""
        owner, _, wire = place.partition(".")
        if isinstance(leaf, Ref):
            return self.source.types[leaf.name].at
        struct = self.source.structs.get(owner)
        member = struct.field(wire) if struct is not None else None
        return member.at if member is not None else 0

    def _alike(self, s: Type, t: Type) -> bool:
        """Whether two arms that are no structs are of the same JSON kind."""
        if isinstance(self.source.open(s), Lit) and isinstance(self.target.open(t), Lit):
            return self.source.open(s) == self.target.open(t)
        return bool(kinds(self.source, s) & kinds(self.target, t))

    def _fits(self, s: Struct, t: Struct) -> bool:
        """Whether `s` has all that `t` requires, and no member that contradicts."""
        needed = {f.wire for f in t.fields if f.required} <= {f.wire for f in s.fields}
        both = [(f, g) for f in s.fields if (g := t.field(f.wire)) is not None]
        return needed and not any(self._clash(f, g) for f, g in both)

    def _clash(self, f: Field, g: Field) -> bool:
        a, b = self.source.open(f.type), self.target.open(g.type)
        literals = [_literals(self.source, a), _literals(self.target, b)]
        if literals[0] and literals[1]:
            return not literals[0] & literals[1]
        return not kinds(self.source, a) & kinds(self.target, b)

    # ---- structs

    def _struct(self, s: Struct, t: Struct) -> Way:
        key = (s if not s.fields else Ref(s.name), t if not t.fields else Ref(t.name))
        if key not in self._names:
            newer = t if self.name == UP else s
            name = self._fresh(f"_{self.name}_{newer.name}")
            self._names[key] = name
            self.functions[name] = None
            members = tuple(self._members(s, t))
            self.functions[name] = StructStep(name, s, t, members, self._rest(s, t))
        return Call(self._names[key])

    def _fresh(self, name: str) -> str:
        while name in self.functions:
            name += "_"
        return name

    def _members(self, s: Struct, t: Struct) -> Iterator[Member]:
        renamed: set[str] = set()
        for f in s.fields:
            g = t.field(f.wire)
            if g is not None:
                yield from self._both(s, t, f, g)
            elif self.name == DOWN or not self._admitted(s, t, f):
                lost = self._only_source(s, t, f)
                if isinstance(lost, Kept):
                    renamed.add(lost.to)
                yield from [lost] if lost is not None else []
            elif (decision := self.rows.find(self.name, _paths(s, f), ("rename",))) is not None:
                kept = self._renamed(t, f, decision)
                renamed.add(kept.to)
                yield kept
            elif (decision := self.rows.find(self.name, _paths(s, f), ("drop",))) is not None:
                yield Lost(f.wire, decision, undone=True)
        for g in t.fields:
            if s.field(g.wire) is None and g.wire not in renamed:
                yield from self._only_target(t, g)

    def _admitted(self, s: Struct, t: Struct, f: Field) -> bool:
        """Whether the target takes a member that it does not declare."""
        return t.index is None or self.way(f.type, t.index, f"{t.name}.{f.wire}") == CARRY

    def _both(self, s: Struct, t: Struct, f: Field, g: Field) -> Iterator[Member]:
        newer = (t, g) if self.name == UP else (s, f)
        paths = (*_paths(*((s, f) if self.name == UP else (t, g))), *_paths(*newer))
        if self.rows.says_revision(paths):
            yield Stamp(f.wire)
            return
        decision = self._ahead(f, g, paths)
        if decision is not None:
            yield Lost(f.wire, decision, g.type)
            return
        way = self.way(f.type, g.type, f"{newer[0].name}.{f.wire}")
        if way is None:
            question = f"{self.target.revision} takes only some of its values"
            where = self.new, newer[1].at
            actions = _ACTIONS[1:] if g.required else _ACTIONS
            decision = self.rows.demand(self.name, paths, actions, question, where)
            if decision is not None:
                yield Lost(f.wire, decision, g.type)
            return
        yield from self._kept(f, g, way, paths, newer[1].at)

    def _ahead(self, f: Field, g: Field, paths: tuple[str, ...]) -> Decision | None:
        """A row that decides for the member as a whole what its insides would ask one by one."""
        actions = _ACTIONS[1:] if g.required else _ACTIONS
        decision = self.rows.peek(self.name, paths, actions)
        if decision is None or "value" in decision.values:
            return None
        dry = _Walk(self.name, self.old, self.new, self.rows.silent())
        way = dry.way(f.type, g.type, "")
        dry_functions, ways = prune(dry.functions, {("", ""): way or Each(CARRY)})
        if ways[("", "")] == CARRY and not dry_functions:
            return None
        return self.rows.find(self.name, paths, _ACTIONS)

    def _kept(
        self, f: Field, g: Field, way: Way, paths: tuple[str, ...], at: int
    ) -> Iterator[Member]:
        """A member of both sides; what a default stands for is taken out again on the way back."""
        if g.required and not f.required:
            question = "it is required there; what stands for it where it is absent?"
            actions, place = ("default", "refuse"), (self.new, at)
            decision = self.rows.demand(self.name, paths, actions, question, place)
            yield Kept(f.wire, way, f.wire, True, True, decision)
            return
        action = "default" if self.name == UP else "drop"
        decision = self.rows.peek(self.name, paths, (action,))
        if decision is None or "value" not in decision.values:
            yield Kept(f.wire, way, f.wire, not f.required, g.required)
            return
        self.rows.find(self.name, paths, (action,))
        if decision.values["value"] == {}:
            yield Kept(f.wire, way, f.wire, not f.required, g.required, decision)
        else:
            yield Lost(f.wire, decision, undone=True)
            yield Kept(f.wire, way, f.wire, True, g.required)

    def _only_source(self, s: Struct, t: Struct, f: Field) -> Member | None:
        actions = ("drop", "rename", "degrade", "refuse")
        question = f"{self.target.revision} does not declare it"
        decision = self.rows.demand(self.name, _paths(s, f), actions, question, (self.source, f.at))
        if decision is None:
            return None
        if decision.action == "rename":
            return self._renamed(t, f, decision)
        return Lost(f.wire, decision)

    def _renamed(self, t: Struct, f: Field, decision: Decision) -> Kept:
        to = str(decision.values["to"])
        g = self.rows.require_member(t, to, decision)
        way = self.way(f.type, g.type, f"{t.name}.{to}")
        if way is None:
            self.rows.misfit(decision, f"{t.name}.{to} does not take its values")
        return Kept(f.wire, way, to, not f.required, g.required)

    def _only_target(self, t: Struct, g: Field) -> Iterator[Member]:
        paths = _paths(t, g)
        if g.required:
            question = "it is required there, and unknown to its sender"
            place, actions = (self.target, g.at), ("default", "refuse")
            decision = self.rows.demand(self.name, paths, actions, question, place)
            if decision is not None:
                yield New(g.wire, g.type, True, decision)
            return
        decision = self.rows.find(self.name, paths, ("default", "degrade"))
        if decision is not None or not _is_any(_open(self.target, g.type)):
            yield New(g.wire, g.type, False, decision)

    def _rest(self, s: Struct, t: Struct) -> Way:
        """The way of unlisted members, where both sides give them a type."""
        if t.index is None or _is_any(_open(self.target, t.index)):
            return CARRY
        place = f"{t.name}.*"
        return self._required_way(s.index or Prim("unknown"), t.index, place)


# ---- helpers


def _manner(method: Method) -> bool:
    """Whether it travels by itself, and not inside another message."""
    return method.direction in ("client-to-server", "server-to-client", "both")


def _origin(schema: Schema, name: str, wire: str) -> str:
    struct = schema.structs[name]
    member = struct.field(wire)
    return f"{(member.origin if member else '') or name}.{wire}"


def _paths(struct: Struct, member: Field) -> tuple[str, ...]:
    """What a row may call a member: in its struct, or where it is declared."""
    own, declared = f"{struct.name}.{member.wire}", f"{member.origin}.{member.wire}"
    return (own, declared) if member.origin and not struct.place else (own,)


def _each(make: type[Each | Values], way: Way | None) -> Way | None:
    return way if way is None or way == CARRY else make(way)


def _open(schema: Schema, type: Type) -> Type:
    """`type` with references to aliases followed; bounds stay."""
    while isinstance(type, Ref) and isinstance(found := schema.types[type.name], Alias):
        type = found.type
    return type


def _is_any(type: Type) -> bool:
    return isinstance(type, Prim) and type.name in JSON_PRIMS


def _is_object(type: Type) -> bool:
    return isinstance(type, Ref | Map) or type == Prim("object")


def _takes_objects(type: Type) -> bool:
    return _is_any(type) or type == Prim("object") or (isinstance(type, Map) and _is_any(type.of))


def _value(type: Type) -> Type:
    return type.of if isinstance(type, Map) else Prim("unknown")


def _plain(type: Tup) -> bool:
    return all(isinstance(e.type, Prim | Lit) for e in type.of)


def _structs(schema: Schema, types: Iterable[Type]) -> Iterator[Struct]:
    for type in types:
        opened = schema.open(type)
        if isinstance(opened, Ref):
            yield schema.structs[opened.name]


def _literals(schema: Schema, type: Type) -> frozenset[object]:
    leaves = arms(schema, type) if isinstance(type, Uni) else (type,)
    values = [leaf.value for leaf in map(schema.open, leaves) if isinstance(leaf, Lit)]
    return frozenset(values) if len(values) == len(leaves) else frozenset()


def _arm_name(leaf: Type) -> str:
    match leaf:
        case Ref(name=name) | Prim(name=name):
            return name
        case Lit(value=value):
            return str(value)
        case Arr() | Tup():
            return "array"
        case Bounded():
            return _arm_name(leaf.of)
        case _:
            return "object"


def _identifier(place: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in place)


def _is_code(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value < 0
