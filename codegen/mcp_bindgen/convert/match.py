"""Plans the conversion of each pair of types: by proof, or else by rows of decisions.toml.

A value carries over if the target's type accepts all values of the source's type. On the way up, a
member declared only by the source carries over as an unknown member, and the way down restores it.
On the way down it needs a row, since the older revision has no such member. A member declared only
by the target may already be present as an unknown member; it is kept if the target's type admits
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from mcp_bindgen.convert.arms import ArmPairs, arm_name, is_object, value_of
from mcp_bindgen.convert.compose import compositions, suggestion
from mcp_bindgen.convert.model import (
    CARRY,
    DOWN,
    UP,
    Arm,
    Call,
    Composed,
    Decision,
    Each,
    Function,
    Kept,
    Lost,
    Member,
    New,
    Stamp,
    StructStep,
    UnionStep,
    Values,
    Way,
)
from mcp_bindgen.convert.prune import prune
from mcp_bindgen.convert.rows import Rows, paths_of
from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Field,
    Kind,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.names import identifier
from mcp_bindgen.ir.unions import arms, literals
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.values.unlisted import types_of
from mcp_bindgen.ir.walk import (
    alias_of,
    children,
    head,
    is_any,
    kinds,
    resolve_aliases,
    strip_bounds,
    struct_of,
)
from mcp_bindgen.source.text import close_to

__all__ = ["Ways"]

_OBJECT: Final[frozenset[Kind]] = frozenset(("object",))
_ACTIONS: Final = ("drop", "degrade", "refuse", "rename")
"""The actions for a value which the target refuses."""

_Key: TypeAlias = tuple[Type | Struct, Type | Struct] | tuple[Type, Type, str]


@dataclass
class Ways:
    """The ways of one direction; functions are made once for each pair of types."""

    name: str
    old: Schema
    new: Schema
    rows: Rows
    functions: dict[str, Function | None] = field(default_factory=dict[str, "Function | None"])
    _names: dict[_Key, str] = field(default_factory=dict["_Key", str])
    _declared: dict[str, str] = field(default_factory=dict[str, str])
    """Where the member at a place is declared, if it is inherited."""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The methods that have, or may have, another name in the target, each with that name."""

    def __post_init__(self) -> None:
        self.arm_pairs = ArmPairs(self.source, self.target, self.renamed)

    @property
    def source(self) -> Schema:
        return self.old if self.name == UP else self.new

    @property
    def target(self) -> Schema:
        return self.new if self.name == UP else self.old

    def required(self, s: Type, t: Type, place: str) -> Way:
        """Like `way`, but never None: if there is no way, note a missing row and return CARRY."""
        way = self.way(s, t, place)
        if way is None:
            question = "its types have nothing in common"
            self.rows.demand(self.name, (place,), ("degrade",), question, (self.source, 0))
        return CARRY if way is None else way

    def way(self, s: Type, t: Type, place: str) -> Way | None:
        """The conversion of `s` to `t`; None if some values cannot be converted and no row says
        how.
        """
        alias = alias_of(self.source, s)
        s, t = resolve_aliases(self.source, s), resolve_aliases(self.target, t)
        if isinstance(s, Bounded) or isinstance(t, Bounded):
            return self._relax_bounds(s, t, place)
        if is_any(self.target, t):
            return CARRY
        if isinstance(s, Uni) or isinstance(t, Uni):
            union = [self._declared.get(place, place), *([] if alias is None else [alias.name])]
            return self._union(s, t, tuple(dict.fromkeys((place, *union))))
        if isinstance(s, Ref) or isinstance(t, Ref):
            return self._objects(s, t)
        match s, t:
            case (Arr(), Arr()):
                return each(Each, self.way(s.of, t.of, place))
            case (_, Prim(name="object")):
                return CARRY if kinds(self.source, s) == _OBJECT else None
            case (Map() | Prim(name="object"), Map()):
                return each(Values, self.way(value_of(s), t.of, place))
            case (Lit(), Prim()):
                return CARRY if kinds(self.source, s) <= kinds(self.target, t) else None
            case _:
                return CARRY if head(s) == head(t) and self._carries_over(s, t, place) else None

    def _carries_over(self, s: Type, t: Type, place: str) -> bool:
        """Return whether the insides of two types of one kind carry over unchanged."""
        inside = zip(children(s), children(t), strict=True)
        return all(self.way(a, b, place) == CARRY for a, b in inside)

    def _relax_bounds(self, s: Type, t: Type, place: str) -> Way | None:
        """The way if `t` has no bounds, or the bounds of `s`; None for other bounds, which a value
        of `s` may violate.
        """
        limits = s.limits if isinstance(s, Bounded) else None
        inner = s.of if isinstance(s, Bounded) else s
        if isinstance(t, Bounded):
            return self.way(inner, t.of, place) if limits == t.limits else None
        return self.way(inner, t, place)

    def _objects(self, s: Type, t: Type) -> Way | None:
        if "object" not in kinds(self.source, s) or kinds(self.target, t) != _OBJECT:
            return None
        if isinstance(t, Ref):
            target = self.target.structs[t.name]
            return (
                self.struct(self.arm_pairs.as_struct(s, target), target) if is_object(s) else None
            )
        if not self.arm_pairs.target_takes_every_object(t):
            return None
        if self.name == DOWN and isinstance(s, Ref):
            struct = self.source.structs[s.name]
            return self.struct(struct, Struct(struct.name, (), value_of(t)))
        return CARRY

    # ---- unions

    def _union(self, s: Type, t: Type, places: tuple[str, ...]) -> Way | None:
        place = places[0]
        key = (s, t, place)
        if key in self._names:
            return Call(self._names[key])
        name = self._names[key] = self._fresh(f"_{self.name}_{identifier(place)}")
        self.functions[name] = None
        made = self._arms(s, t, places)
        if made is not None and any(arm.way != CARRY for arm in made):
            self.functions[name] = UnionStep(name, made)
            return Call(name)
        del self.functions[name], self._names[key]
        return None if made is None else CARRY

    def _arms(self, s: Type, t: Type, places: tuple[str, ...]) -> tuple[Arm, ...] | None:
        """The arms with their ways. A row may name an arm of one use of the union, of the member as
        it is declared, or of every use.
        """
        leaves = arms(self.source, s) if isinstance(s, Uni) else (s,)
        targets = arms(self.target, t) if isinstance(t, Uni) else (t,)
        made: list[Arm] = []
        for leaf in leaves:
            paths = tuple(f"{place}:{arm_name(self.source, leaf)}" for place in places)
            way = self._arm(leaf, leaves, targets, paths)
            if way is None and not isinstance(s, Uni):
                return None
            if way is None:
                question = _arm_question((self.source, self.target), leaf, t)
                where = self.source, self.arm_pairs.offset_of(leaf, places[0])
                way = self.rows.demand(self.name, paths, _ACTIONS[1:], question, where) or CARRY
            if isinstance(way, Decision):
                self.rows.require_fit(way, _arm_fault((self.source, self.target), leaf, t, way))
                self.rows.require_fit(way, _merge_fault(leaves, way))
            made.append(Arm(leaf, way))
        return tuple(made)

    def _arm(
        self,
        leaf: Type,
        leaves: tuple[Type, ...],
        targets: tuple[Type, ...],
        paths: tuple[str, ...],
    ) -> Way | Decision | None:
        """The conversion of an arm to its best match; None if there is no match. A row comes before
        an arm of similar shape, but after an arm of the same name or tag.
        """
        struct = struct_of(self.source, leaf)
        place = paths[0].rpartition(":")[0]
        if struct is None:
            ways = (self.way(leaf, t, place) for t in targets if self.arm_pairs.alike(leaf, t))
            return next((way for way in ways if way is not None), None)
        other = self.arm_pairs.namesake(struct, leaves, targets)
        if other is not None:
            return self.struct(struct, other)
        if (decision := self.rows.find(self.name, paths, _ACTIONS[1:])) is not None:
            return decision
        other = self.arm_pairs.best_fit(struct, targets)
        if other is not None:
            return self.struct(struct, other)
        whole = any(
            self.arm_pairs.target_takes_every_object(strip_bounds(self.target, t)) for t in targets
        )
        return CARRY if whole else None

    # ---- structs

    def struct(self, s: Struct, t: Struct) -> Way:
        """Plan the conversion of struct `s` to `t` as a call. Functions without effect are pruned
        later.
        """
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
        composed = tuple(self._compositions(s, t))
        yield from composed
        renamed = {part.wire for each in composed for part in each.parts if part.wire}
        renamed |= {each.wire for each in composed}
        for f in s.fields:
            g = t.field(f.wire)
            if f.wire in renamed:
                continue
            if g is not None:
                yield from self._both(s, t, f, g)
            elif self.name == DOWN and (asked := self._asked_upwards(s, t, f)):
                renamed |= asked
            elif self.name == DOWN or not self._admits(s, t, f):
                lost = self._only_source(s, t, f)
                if isinstance(lost, Kept):
                    renamed.add(lost.to)
                yield from [lost] if lost is not None else []
            elif (decision := _demand_lost(self.rows, s, t, f)) is None:
                renamed.update(_new_names(self.rows, s, t, f))  # asked about with the lost member
            else:
                if decision.action == "rename":
                    kept = self._rename(t, f, decision)
                    renamed.add(kept.to)
                    yield kept
                elif decision.action == "drop":
                    yield Lost(f.wire, decision, undone="value" in decision.values)
        for g in t.fields:
            if s.field(g.wire) is None and g.wire not in renamed:
                yield from self._only_target(s, t, g)

    def _compositions(self, s: Struct, t: Struct) -> Iterator[Composed]:
        schemas = self.source, self.target
        return compositions(s, t, schemas, self.rows, self.name, self.way)

    def _admits(self, s: Struct, t: Struct, f: Field) -> bool:
        """Return whether `t` accepts the member `f`, although it does not declare it."""
        types = types_of(t, f.wire)
        return all(self.way(f.type, type, f"{t.name}.{f.wire}") == CARRY for type in types)

    def _both(self, s: Struct, t: Struct, f: Field, g: Field) -> Iterator[Member]:
        newer = (t, g) if self.name == UP else (s, f)
        paths = (*paths_of(*((s, f) if self.name == UP else (t, g))), *paths_of(*newer))
        stamped = self.rows.find(self.name, paths, ("stamp",))
        if stamped is not None or self.rows.says_revision(paths):
            yield Stamp(f.wire)
            return
        if f.wire == "method" and f.const != g.const and self.renamed.get(str(f.const)) == g.const:
            yield Kept(f.wire, self._method_constant(f.type, g.type), f.wire, False, True)
            return
        yield from self._alone(f, paths)
        decision = self._ahead(f, g, paths)
        if decision is not None:
            self.rows.require_fit(decision, _member_fault(s, t, decision))
            yield Lost(f.wire, decision, g.type)
            return
        place, *declared = paths_of(*newer)
        self._declared[place] = declared[0] if declared else place
        way = self.way(f.type, g.type, place)
        if way is None:
            question = f"{self.target.revision} takes only some of its values"
            where = self.new, newer[1].at
            actions = _ACTIONS[1:] if g.required else _ACTIONS
            decision = self.rows.demand(self.name, paths, actions, question, where)
            if decision is not None:
                self.rows.require_fit(decision, _member_fault(s, t, decision))
                yield Lost(f.wire, decision, g.type)
            return
        yield from self._keep(f, g, way, paths, newer[1].at)

    def _method_constant(self, s: Type, t: Type) -> Way:
        """Make the way of the constant that names the method of a message inside another one."""
        assert isinstance(s, Lit)
        assert isinstance(t, Lit)
        name = self._fresh(f"_{self.name}_method_{identifier(str(s.value))}")
        row = Decision("rename", str(s.value), "", {"to": t.value})
        self.functions[name] = UnionStep(name, (Arm(s, row),))
        return Call(name)

    def _alone(self, f: Field, paths: tuple[str, ...]) -> Iterator[Member]:
        """Drop an optional object whose only member is the one named by the decision's `alone`."""
        decision = self.rows.peek(self.name, paths, ("drop",))
        struct = struct_of(self.source, f.type)
        if decision is None or "alone" not in decision.values:
            return
        self.rows.find(self.name, paths, ("drop",))
        if struct is None or struct.field(decision.values["alone"]) is None or f.required:
            self.rows.reject(decision, "`alone` names no member of an optional object")
        names = (inner.wire for inner in struct.fields)
        others = tuple(name for name in names if name != decision.values["alone"])
        yield Lost(f.wire, decision, others=others)

    def _ahead(self, f: Field, g: Field, paths: tuple[str, ...]) -> Decision | None:
        """The row which decides for the whole member, if there is one: its parts then need no rows.

        None if there is no such row, or if the member is carried unchanged.
        """
        actions = _ACTIONS[1:] if g.required else _ACTIONS
        decision = self.rows.peek(self.name, paths, actions)
        if decision is None or {"value", "alone"} & decision.values.keys():
            return None
        dry = Ways(self.name, self.old, self.new, self.rows.silent())
        way = dry.way(f.type, g.type, "")
        dry_functions, ways = prune(dry.functions, {("", ""): way or Each(CARRY)})
        if ways[("", "")] == CARRY and not dry_functions:
            return None
        return self.rows.find(self.name, paths, _ACTIONS)

    def _keep(
        self, f: Field, g: Field, way: Way, paths: tuple[str, ...], at: int
    ) -> Iterator[Member]:
        """The steps for a member of both structs. A default value filled in on the way there is
        dropped on the way back.
        """
        if g.required and not f.required:
            question = "it is required there; what stands for it where it is absent?"
            actions, place = ("default", "refuse"), (self.new, at)
            decision = self.rows.demand(self.name, paths, actions, question, place)
            if decision is not None and decision.action == "default":
                self.rows.require_fit(decision, _default_fault(self.source, f.type, decision))
            yield Kept(f.wire, way, f.wire, True, True, decision)
            return
        action = "default" if self.name == UP else "drop"
        decision = self.rows.peek(self.name, paths, (action,))
        if decision is None or "value" not in decision.values:
            context = self.rows.context_of(paths) if self.name == DOWN else ""
            yield Kept(f.wire, way, f.wire, not f.required, g.required, context=context)
            return
        self.rows.find(self.name, paths, (action,))
        if decision.values["value"] == {}:
            yield Kept(f.wire, way, f.wire, not f.required, g.required, decision)
        else:
            yield Lost(f.wire, decision, undone=True)
            yield Kept(f.wire, way, f.wire, True, g.required)

    def _only_source(self, s: Struct, t: Struct, f: Field) -> Member | None:
        names = tuple(_likely_names(s, t, f)) if self.name == DOWN else ()
        if names and (renamed := self._renamed_before(s, t, f, names)) is not None:
            return renamed
        question = _ask_name(self.target, names)
        decision = self.rows.demand(self.name, paths_of(s, f), _NEW, question, (self.source, f.at))
        if decision is None:
            return None
        if decision.action == "keep":
            if not self._admits(s, t, f):
                self.rows.reject(decision, f"{t.name} does not take it")
            return None
        if decision.action == "rename":
            return self._rename(t, f, decision)
        self.rows.require_fit(decision, _member_fault(s, t, decision))
        return Lost(f.wire, decision)

    def _asked_upwards(self, s: Struct, t: Struct, f: Field) -> set[str]:
        """The members of `t` which may be `f` under an older name, while no row says so: the way up
        asks about them, and its answer is one for this way too.
        """
        if self.rows.decisions is None or self.rows.peek(DOWN, paths_of(s, f), _NEW) is not None:
            return set()
        likely = {t.field(wire) for wire in _likely_names(s, t, f)} - {None}
        unanswered = (g for g in likely if g and not self._is_answered(t, g))
        return {g.wire for g in unanswered}

    def _is_answered(self, old: Struct, member: Field) -> bool:
        return self.rows.peek(UP, paths_of(old, member), (*_GONE, *_NEW)) is not None

    def _renamed_before(
        self, s: Struct, t: Struct, f: Field, names: tuple[str, ...]
    ) -> Kept | None:
        """How a member becomes the older one, if a row of decisions renames the older one to it;
        None if another row decides about the way down.
        """
        if self.rows.peek(DOWN, paths_of(s, f), _NEW) is not None:
            return None
        for g in t.fields:
            row = self.rows.peek(UP, paths_of(t, g), ("rename",)) if g.wire in names else None
            if row is not None and row.values["to"] == f.wire:
                return self._rename(t, f, replace(row, values={**row.values, "to": g.wire}))
        return None

    def _rename(self, t: Struct, f: Field, decision: Decision) -> Kept:
        to = str(decision.values["to"])
        g = self.rows.require_member(t, to, decision)
        way = self.way(f.type, g.type, f"{t.name}.{to}")
        if way is None:
            self.rows.reject(decision, f"{t.name}.{to} does not take its values")
        if g.required and not f.required:
            self.rows.reject(decision, f"{t.name}.{to} is required")
        return Kept(f.wire, way, to, not f.required, g.required)

    def _only_target(self, s: Struct, t: Struct, g: Field) -> Iterator[Member]:
        paths = paths_of(t, g)
        if g.required:
            question = f"it is required there, and unknown to its sender{self._parts(s, t, g)}"
            place, actions = (self.target, g.at), ("default", "compose", "refuse")
            decision = self.rows.demand(self.name, paths, actions, question, place)
            if decision is not None:
                self.rows.require_fit(decision, _default_fault(self.target, g.type, decision))
                yield New(g.wire, g.type, True, decision)
            return
        decision = self.rows.find(self.name, paths, ("default", "degrade"))
        if decision is not None:
            self.rows.require_fit(decision, _default_fault(self.target, g.type, decision))
        if decision is not None or not is_any(self.target, g.type):
            yield New(g.wire, g.type, False, decision)

    def _parts(self, s: Struct, t: Struct, g: Field) -> str:
        """The `parts` of a `compose` row that may answer for an array; empty if none may."""
        parts = suggestion(s, t, g, (self.source, self.target), self._without_rows)
        return f"; an array composed of the members that only the sender has: {parts}" * bool(parts)

    def _without_rows(self, s: Type, t: Type, place: str) -> Way | None:
        """Like `way`; None too if any row is needed."""
        rows = Rows(self.old, self.new, self.rows.pair, None)
        way = Ways(self.name, self.old, self.new, rows).way(s, t, place)
        return None if rows.missing else way

    def _rest(self, s: Struct, t: Struct) -> Way:
        """The way of unlisted members, where both sides give them a type."""
        self._require_alike(s, t)
        if t.index is None or is_any(self.target, t.index):
            return CARRY
        place = f"{t.name}.*"
        return self.required(s.index or Prim("unknown"), t.index, place)

    def _require_alike(self, s: Struct, t: Struct) -> None:
        """Demand a row if index signatures by template need more than to be carried over."""
        twins = {keyed.pattern: keyed.type for keyed in s.keyed}
        listed = {keyed.pattern for keyed in t.keyed}
        pairs = [
            (keyed.key, twins.get(keyed.pattern) or s.index or Prim("unknown"), keyed.type)
            for keyed in t.keyed
        ]
        if t.index is not None:
            pairs += [(k.key, k.type, t.index) for k in s.keyed if k.pattern not in listed]
        for key, source, target in pairs:
            place = f"{t.name}.{key}"
            if self.way(source, target, place) != CARRY:
                question = "members of these names are carried only as they are"
                self.rows.demand(self.name, (place,), ("degrade",), question, (self.source, 0))


def each(make: type[Each | Values], way: Way | None) -> Way | None:
    return way if way is None or way == CARRY else make(way)


# ---- members that one side declares, and the other may have under another name

_GONE: Final = ("rename", "drop", "keep")
"""Actions on the way up for a member the newer revision does not declare."""
_NEW: Final = ("drop", "rename", "degrade", "compose", "refuse", "keep")
"""Actions on the way down for a member the older revision does not declare."""


def _demand_lost(rows: Rows, old: Struct, new: Struct, member: Field) -> Decision | None:
    """The row for an undeclared member on the way up; demanded if it may have been renamed, or if
    a new member is required: what the older message says in it, a newer reader must find there.
    """
    names = tuple(_new_names(rows, old, new, member))
    if not names and (instead := _only_filled(rows, old, new)):
        question = (
            f"{rows.new.revision} does not declare it; its readers see `{instead}`, which is only"
            " filled in: compose that of it, or lose it"
        )
        actions = _GONE[:-1] if member.required else _GONE
        return rows.demand(UP, paths_of(old, member), actions, question, (rows.old, member.at))
    if not names:
        was_asked = any(_likely_names(old, new, member))
        return rows.find(UP, paths_of(old, member), _GONE if was_asked else _GONE[:-1])
    question, place = _ask_name(rows.new, names), (rows.old, member.at)
    return rows.demand(UP, paths_of(old, member), _GONE, question, place)


def _only_filled(rows: Rows, old: Struct, new: Struct) -> str:
    """The first required member of `new` that `old` lacks and a row of decisions fills with a
    constant; empty if there is none.
    """
    for other in new.fields:
        if other.required and other.const is None and old.field(other.wire) is None:
            row = rows.peek(UP, paths_of(new, other), ("default",))
            if row is not None and "value" in row.values:
                return other.wire
    return ""


def _ask_name(schema: Schema, names: Iterable[str]) -> str:
    """The question about a member which `schema` declares under one of these names; empty if
    none.
    """
    listed = "` or `".join(names)
    question = f"{schema.revision} does not declare it"
    return f"{question}; is it `{listed}` there?" if listed else question


def _likely_names(s: Struct, t: Struct, member: Field) -> Iterator[str]:
    """The members of the same type which only `t` declares."""
    others = (other for other in t.fields if s.field(other.wire) is None)
    return (other.wire for other in others if other.type == member.type)


def _new_names(rows: Rows, old: Struct, new: Struct, member: Field) -> Iterator[str]:
    """The members of `new` named by rows as renamed, then the likely candidates without a row."""
    likely = frozenset(_likely_names(old, new, member))
    for other in new.fields:
        row = rows.peek(DOWN, paths_of(new, other), _NEW)
        if other.wire in likely if row is None else row.values.get("to") == member.wire:
            yield other.wire


# ---- whether what a row says can work: its values fit, and what it reads is there

_TEXT: Final = {"type": "text", "text": ""}
_ARMS: Final[dict[str, tuple[tuple[str, ...], Any]]] = {
    "blocks": ((), _TEXT),
    "choice": (("type", "oneOf"), None),
    "json": ((), ""),
    "link": (("name", "uri"), _TEXT),
    "media": (("type", "mimeType"), _TEXT),
    "task": (("task",), {"content": [_TEXT]}),
    "text": ((), _TEXT),
    "tool_result": (("content",), _TEXT),
    "tool_use": (("name", "input"), _TEXT),
}
"""Degradations of an arm: the members read, and the resulting type."""

_MEMBERS: Final[dict[str, tuple[str, ...]]] = {"structured": ("content",), "schemas": ()}
"""Degradations of a member: the neighbouring members read and written."""


def _literal_fault(other: Schema, leaf: Type, target: Type, to: Any) -> str | None:
    """The reason why a row cannot give a literal the meaning of `to`; or None."""
    if not isinstance(leaf, Lit):
        return "`to` alone is for literals: give `as`"
    return None if accepts(other, target, to) else f"{to!r} is not a value of the other side"


def _merge_fault(leaves: tuple[Type, ...], decision: Decision) -> str | None:
    """The reason why a row renames two literals to one: the way back would restore one of them."""
    to = decision.values.get("to")
    if decision.action == "rename" and any(isinstance(x, Lit) and x.value == to for x in leaves):
        return f"{to!r} is a value of both sides; `degrade` with `to` reports the difference"
    return None


def _arm_question(schemas: tuple[Schema, Schema], leaf: Type, target: Type) -> str:
    """The question about an unmatched arm, with its possible degradations."""
    rows = {kind: Decision("degrade", "", "", {"as": kind}) for kind in _ARMS}
    kinds = [kind for kind, row in rows.items() if _arm_fault(schemas, leaf, target, row) is None]
    more = f"; it can degrade as {' or '.join(kinds)}" if kinds else ""
    known = [str(value) for value in literals(schemas[1], target) if isinstance(value, str)]
    if isinstance(leaf, Lit) and known:
        near = close_to(str(leaf.value), known, "", most=1, cutoff=0.5)
        more = f"; its values there: {', '.join(sorted(known))}" + (f". {near}" if near else "")
        more += ". `degrade` with `to` reports a loss"
    return f"no arm of the other side takes it{more}"


def _arm_fault(
    schemas: tuple[Schema, Schema], leaf: Type, target: Type, decision: Decision
) -> str | None:
    """The reason why a row cannot work for an arm of the source which becomes `target`; or None."""
    source, other = schemas
    if decision.action == "rename":
        to = decision.values["to"]
        return None if accepts(other, target, to) else f"{to!r} is not a value of the other side"
    if decision.action != "degrade":
        return None
    if "as" not in decision.values:
        return _literal_fault(other, leaf, target, decision.values["to"])
    name = decision.values["as"]
    if name not in _ARMS:
        return f"`{name}` is for members, not for arms"
    needed, made = _ARMS[name]
    struct = struct_of(source, leaf)
    if name == "blocks" and struct is not None:
        return "`blocks` reads an array"
    there = {field.wire for field in struct.fields if field.required} if struct else set[str]()
    if lacking := [wire for wire in needed if wire not in there]:
        return f"`{name}` reads {', '.join(lacking)}, which it need not have"
    if made is not None and not accepts(other, target, made):
        return f"the other side does not take the {made!r} that comes of it"
    return None


def _member_fault(s: Struct, t: Struct, decision: Decision) -> str | None:
    """The reason why a row cannot work for a member of `s` which becomes `t`; or None."""
    if decision.action != "degrade":
        return None
    name = decision.values.get("as", "")
    if not name:
        return "`to` is for literals: give `as`"
    if name not in _MEMBERS:
        return f"`{name}` is for arms of unions, not for members"
    for wire in _MEMBERS[name]:
        for struct in (s, t):
            member = struct.field(wire)
            if member is None or not member.required:
                return f"`{name}` reads {struct.name}.{wire}, which is not there or not required"
    return None


def _default_fault(schema: Schema, type: Type, decision: Decision) -> str | None:
    """The reason why a default, or the name of the revision, is not a value of `type`; None if it
    is.
    """
    name = {"value": schema.revision} if decision.values.get("context") == "revision" else {}
    known = {**name, **decision.values}
    if "value" not in known or accepts(schema, type, known["value"]):
        return None
    return f"{known['value']!r} is not a value of that member"
