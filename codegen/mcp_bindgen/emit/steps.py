"""Views of the steps: a plan as straight-line functions on parsed JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_bindgen.convert.heritage import envelope
from mcp_bindgen.convert.model import (
    CARRY,
    DEGRADES,
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
    New,
    Pair,
    Stamp,
    StructStep,
    UnionStep,
    Values,
    Way,
    Whole,
)
from mcp_bindgen.emit.admits import Admits, both, when
from mcp_bindgen.emit.layout import STEP, Group, call, docstring, flat, lay, literal
from mcp_bindgen.emit.layout import Code as Layout
from mcp_bindgen.emit.rows import import_order
from mcp_bindgen.ir.model import Arr, Kind, Lit, Ref, Schema, Struct, Type
from mcp_bindgen.ir.names import snake
from mcp_bindgen.ir.unions import kinds, tag

__all__ = ["step_view", "steps_view"]

_PREFERRED: Final = ("msgspec", "dataclass", "pydantic")
"""By what `convert` validates: the first of these flavours that is there."""

_POSITIONS: Final = ("request", "notification", "response", "error")

_OBJECT: Final[frozenset[Kind]] = frozenset(("object",))

_LONG: Final = 30
"""Names of members from this length on are constants of the module."""

_REFUSED: Final = -32603
"""The code of a refusal whose row names none: it is the runtime's to handle."""


class _Writer:
    """The functions of one direction; `used` collects the names that they import."""

    def __init__(self, direction: Direction, admits: Mapping[str, Admits], used: set[str]) -> None:
        self.direction = direction
        self.up = direction.name == UP
        self.used = used
        older, newer = ("old", "new") if self.up else ("new", "old")
        self.source, self.target = admits[older], admits[newer]
        self.context: dict[str, Type] = {}
        self.names: dict[str, str] = {}

    def functions(self) -> list[list[str]]:
        """Each after what it calls, where that can be."""
        return [list(self._function(f)) for f in reversed(list(self.direction.functions.values()))]

    def wire(self, name: str) -> str:
        """A member's name as code: a constant of the module where it is long."""
        if len(name) < _LONG:
            return literal(name)
        const = snake(name.rpartition("/")[2]).upper()
        self.names[const] = name
        return const

    def use(self, name: str) -> str:
        self.used.add(name)
        return name

    # ---- functions

    def _function(self, function: Function) -> Iterator[str]:
        head = call(f"def {function.name}", "o: Json", "at: At", "trip: Trip")
        self.use("Trip")
        yield from lay("", "", head, " -> Json:")
        match function:
            case StructStep():
                yield from docstring(STEP, self._told(function.source.name))
                yield from self._struct(function)
            case UnionStep():
                yield from self._union(function)
            case Whole():
                yield from self._whole(function)
            case Errors():
                yield from self._errors(function)

    def _told(self, *names: str) -> str:
        source, target = self.direction.source.revision, self.direction.target.revision
        return f"What {' or '.join(names)} of {source} is in {target}."

    def _struct(self, function: StructStep) -> Iterator[str]:
        for member in function.members:
            if isinstance(member, Lost):
                yield from self._lost(member)
        for member in function.members:
            match member:
                case Kept():
                    yield from self._kept(member)
                case New():
                    yield from self._new(function, member)
                case Stamp():
                    yield from self._stamp(self.wire(member.wire), member.wire)
                case Lost():
                    pass
        if function.rest != CARRY:
            known = tuple(literal(f.wire) for f in function.source.fields)
            inner = self._inner(function.rest)
            names = call("frozenset", Group("(", (*known, ""), ")")) if known else "frozenset()"
            yield from lay(STEP, "o = ", call(self.use("rest"), inner, "o", names, "at", "trip"))
        yield f"{STEP}return o"

    def _whole(self, function: Whole) -> Iterator[str]:
        made = self._way(function.way, "o", "at")
        if function.mode == "fill":
            yield from docstring(STEP, "Params, made of nothing where there are none.")
            yield from lay(STEP, "return ", self._way(function.way, "{} if o is None else o", "at"))
        elif function.mode == "pass":
            yield from docstring(STEP, "Params, where there are any.")
            yield from lay(STEP, "return None if o is None else ", made)
        else:
            yield from docstring(STEP, "Params; none where nothing is left of them.")
            yield from lay(STEP, "new = ", made)
            yield f"{STEP}return new if new or new is o else None"

    # ---- members

    def _lost(self, member: Lost) -> Iterator[str]:
        wire = self.wire(member.wire)
        condition: Layout = f"{wire} in o"
        if member.undone:
            restored = self._restored(member.decision, f"o[{wire}]")
            yield from when(STEP, both(condition, restored or "True"))
            yield from lay(STEP * 2, "o = ", call(self.use("without"), "o", wire))
            return
        if member.admits is not None:
            refusal = self.target.refuses(member.admits, f"o[{wire}]", _named(member.wire))
            if refusal is not None:
                condition = both(condition, refusal)
        yield from when(STEP, condition)
        yield from self._act(member, wire)

    def _act(self, member: Lost, wire: str) -> Iterator[str]:
        decision = member.decision
        at = f"(at, {wire})"
        match decision.action:
            case "drop":
                kept = self._restored(decision, f"o[{wire}]")
                if kept is not None:
                    yield from lay(STEP * 2, "if not ", kept, ":")
                indent = STEP * (2 if kept is None else 3)
                yield from self._lose(indent, at, f"`{member.wire}` is left out", decision)
                yield from lay(STEP * 2, "o = ", call(self.use("without"), "o", wire))
            case "degrade":
                told = f"`{member.wire}` {_told(decision)}"
                yield from self._lose(STEP * 2, at, told, decision)
                parts = ("o", wire, "at", "trip", literal(decision.why))
                yield from lay(STEP * 2, "o = ", call(self._degrade(decision), *parts))
            case "rename":
                value = literal(decision.values["to"])
                yield from lay(STEP * 2, "o = ", Group("{", ("**o", f"{wire}: {value}"), "}"))
            case _:
                yield from self._refuse(STEP * 2, at, decision)

    def _restored(self, decision: Decision, var: str) -> Layout | None:
        """The condition that the way back writes the member anew as it is; None if it never is."""
        if "value" in decision.values:
            return call(self.use("same"), var, _json(decision.values["value"]))
        name = decision.values.get("context")
        if name is None:
            return None
        wanted = (
            literal(self.direction.source.revision)
            if name == "revision"
            else f"trip.context.{name}"
        )
        return call(self.use("same"), var, wanted)

    def _kept(self, member: Kept) -> Iterator[str]:
        wire = self.wire(member.wire)
        if member.wire != member.to:
            yield from self._moved(member, wire)
            return
        decision = member.decision
        if decision is not None and decision.action == "refuse":
            yield f"{STEP}if {wire} not in o:"
            yield from self._refuse(STEP * 2, f"(at, {wire})", decision)
        if decision is not None and decision.action == "default":
            yield from self._defaulted(member, decision, wire)
        elif member.way != CARRY:
            indent = STEP * 2 if member.optional else STEP
            if member.optional:
                yield f"{STEP}if {wire} in o:"
            yield from lay(indent, "value = ", self._way(member.way, f"o[{wire}]", f"(at, {wire})"))
            yield from lay(indent, "if ", f"value is not o[{wire}]", ":")
            put = Group("{", ("**o", f"{wire}: value"), "}")
            if decision is not None:
                out = call(self.use("without"), "o", wire)
                yield from lay(f"{indent}{STEP}", "o = ", f"{flat(put)} if value else {flat(out)}")
            else:
                yield from lay(f"{indent}{STEP}", "o = ", put)

    def _defaulted(self, member: Kept, decision: Decision, wire: str) -> Iterator[str]:
        value, put = _json(decision.values["value"]), Group("{", ("**o", f"{wire}: value"), "}")
        if decision.values["value"] != {}:
            yield from self._told_default(member, decision, wire, value)
        yield from lay(STEP, "found = ", call("o.get", wire, value))
        yield from lay(STEP, "value = ", self._way(member.way, "found", f"(at, {wire})"))
        absent = f"{wire} not in o or " if member.required else ""
        yield from lay(STEP, "if ", f"{absent}value is not found", ":")
        yield from lay(STEP * 2, "o = ", put)

    def _told_default(
        self, member: Kept, decision: Decision, wire: str, value: str
    ) -> Iterator[str]:
        """A default and its absence are one; which of them comes back is told of the other."""
        why = literal(decision.why)
        if decision.values.get("down") == "drop":
            told = literal(f"`{member.wire}` comes back as absent")
            equal = call(self.use("same"), f"o[{wire}]", value)
            yield from when(STEP, both(f"{wire} in o", equal))
            yield from lay(STEP * 2, "", call("trip.lose", f"(at, {wire})", told, why))
        else:
            told = literal(f"`{member.wire}` is filled in")
            yield from lay(STEP, "if ", f"{wire} not in o", ":")
            yield from lay(STEP * 2, "", call("trip.add", f"(at, {wire})", told, why))

    def _moved(self, member: Kept, wire: str) -> Iterator[str]:
        to = self.wire(member.to)
        yield f"{STEP}if {to} in o:"
        yield from self._squat(STEP * 2, to)
        yield f"{STEP}if {wire} in o:"
        value = self._way(member.way, f"o[{wire}]", f"(at, {wire})")
        yield from lay(STEP * 2, "", call("trip.rename", f"(at, {wire})", to))
        yield from lay(STEP * 2, "o = ", call(self.use("renamed"), "o", wire, to, value))

    def _new(self, function: StructStep, member: New) -> Iterator[str]:
        wire = self.wire(member.wire)
        place = f"{function.target.name}_{_named(member.wire)}"
        refusal = self.target.refuses(member.type, f"o[{wire}]", place)
        decision = member.decision
        if decision is not None and decision.values.get("context") == "revision":
            refusal = call(
                f"not {self.use('same')}", f"o[{wire}]", literal(self.direction.target.revision)
            )
        if refusal is not None:
            yield from when(STEP, both(f"{wire} in o", refusal))
            if decision is not None and decision.action == "degrade":
                yield from self._act(Lost(member.wire, decision), wire)
            else:
                yield from self._squat(STEP * 2, wire)
        if decision is not None and decision.action in ("default", "refuse"):
            yield from self._filled(member, decision, wire)

    def _stamp(self, wire: str, name: str) -> Iterator[str]:
        """The revision's name; another one than its sender's is a loss."""
        old, new = self.direction.source.revision, self.direction.target.revision
        yield from lay(STEP, "if ", f"{wire} in o", ":")
        told = (
            f"(at, {wire})",
            literal(f"`{name}` names {new}"),
            literal(f"It did not name {old}."),
        )
        yield from lay(STEP * 2, "if ", f"o[{wire}] != {literal(old)}", ":")
        yield from lay(STEP * 3, "", call("trip.lose", *told))
        yield from lay(STEP * 2, "o = ", Group("{", ("**o", f"{wire}: {literal(new)}"), "}"))

    def _filled(self, member: New, decision: Decision, wire: str) -> Iterator[str]:
        absent = f"{wire} not in o"
        if decision.action == "refuse":
            yield f"{STEP}if {absent}:"
            yield from self._refuse(STEP * 2, f"(at, {wire})", decision)
            return
        name = decision.values.get("context")
        if name == "revision":
            value: Layout = literal(self.direction.target.revision)
        elif name is not None:
            self.context[name] = member.type
            value = call("trip.need", literal(name)) if member.required else f"trip.context.{name}"
            if not member.required:
                absent = f"{absent} and trip.context.{name} is not None"
        else:
            value = _json(decision.values["value"])
        yield from lay(STEP, "if ", absent, ":")
        pair = f"{wire}: {flat(value)}"
        yield from lay(STEP * 2, "o = ", Group("{", ("**o", pair), "}"))

    # ---- unions

    def _union(self, function: UnionStep) -> Iterator[str]:
        names = [_arm_name(arm.type) for arm in function.arms]
        yield from docstring(STEP, self._told(*names))
        source = self.direction.source
        objects = [a for a in function.arms if kinds(source, a.type) == _OBJECT]
        others = [a for a in function.arms if a not in objects]
        for arm in others:
            if arm.way != CARRY:
                taken = self.source.takes(arm.type, "o", f"{function.name}_{_arm_name(arm.type)}")
                if (
                    isinstance(arm.type, Arr)
                    and sum("array" in kinds(source, a.type) for a in others) == 1
                ):
                    taken = "o.__class__ is list"
                if isinstance(arm.type, Lit):
                    taken = call(self.use("same"), "o", literal(arm.type.value))
                yield from lay(STEP, "if ", taken, ":")
                yield from self._arm(STEP * 2, arm)
        if others and any(a.way != CARRY for a in objects) and any(a.way == CARRY for a in others):
            yield f"{STEP}if o.__class__ is not dict:"
            yield f"{STEP * 2}return o"
        yield from self._objects(function, objects)

    def _objects(self, function: UnionStep, objects: list[Arm]) -> Iterator[str]:
        structs = [self._struct_of(a.type) for a in objects]
        wire = tag(self.direction.source, tuple(a.type for a in objects))
        if all(a.way == CARRY for a in objects):
            yield f"{STEP}return o"
        elif wire is not None:
            yield f"{STEP}match o[{literal(wire)}]:"
            for arm, struct in zip(objects, structs, strict=True):
                const = struct.field(wire) if struct else None
                if const is not None and arm.way != CARRY:
                    yield f"{STEP * 2}case {literal(const.const)}:"
                    yield from self._arm(STEP * 3, arm)
            yield f"{STEP * 2}case _:"
            yield f"{STEP * 3}return o"
        else:
            yield from self._tried(function, objects)

    def _tried(self, function: UnionStep, objects: list[Arm]) -> Iterator[str]:
        """Arms in order; one is certain where no later one can be, else it is tried."""
        for number, arm in enumerate(objects):
            later = objects[number + 1 :]
            if not later:
                yield from self._arm(STEP, arm)
                return
            if all(a.way == arm.way == CARRY for a in later):
                yield f"{STEP}return o"
                return
            certain = [self._lacks(arm, other) for other in later]
            tried = self.source.takes(arm.type, "o", f"{function.name}_{number}")
            if None in certain:
                condition = tried
            else:
                parts = tuple(dict.fromkeys(c for c in certain if c is not None))
                alone = parts[0] if len(parts) == 1 else f"({' and '.join(parts)})"
                condition = both(alone, tried, "or")
            yield from when(STEP, condition)
            yield from self._arm(STEP * 2, arm)

    def _lacks(self, arm: Arm, other: Arm) -> str | None:
        """A condition under which the value cannot be of the other arm."""
        mine, theirs = self._struct_of(arm.type), self._struct_of(other.type)
        if mine is None or theirs is None:
            return None
        for f in theirs.fields:
            g = mine.field(f.wire)
            if isinstance(f.const, str) and (g is None or g.const != f.const):
                return f"o.get({literal(f.wire)}) != {literal(f.const)}"
        for f in theirs.fields:
            g = mine.field(f.wire)
            if f.required and (g is None or not g.required):
                return f"{literal(f.wire)} not in o"
        return None

    def _struct_of(self, type: Type) -> Struct | None:
        opened = self.direction.source.open(type)
        return self.direction.source.structs[opened.name] if isinstance(opened, Ref) else None

    def _arm(self, indent: str, arm: Arm) -> Iterator[str]:
        way = arm.way
        if not isinstance(way, Decision):
            yield from lay(indent, "return ", self._way(way, "o", "at"))
        elif way.action == "degrade":
            told = f"{_arm_name(arm.type)} {_told(way)}"
            yield from self._lose(indent, "at", told, way)
            yield from lay(indent, "return ", call(self._degrade(way), "o"))
        elif way.action == "rename":
            yield f"{indent}return {literal(way.values['to'])}"
        else:
            yield from self._refuse(indent, "at", way)

    # ---- errors

    def _errors(self, function: Errors) -> Iterator[str]:
        of = f" of `{function.method}`" if function.method else ""
        yield from docstring(STEP, f"The response that a request{of} has failed.")
        if function.way != CARRY:
            yield from lay(STEP, "o = ", self._way(function.way, "o", "at"))
        if function.codes:
            yield f'{STEP}error = o["error"]'
            yield f'{STEP}code = error["code"]'
        for code in function.codes:
            decision = code.decision
            if "data" in decision.values:
                yield from self._by_data(decision, code.code)
                continue
            yield from lay(STEP, "if ", call(self.use("same"), "code", str(code.code)), ":")
            if decision.action == "refuse":
                yield from self._refuse(STEP * 2, '((at, "error"), "code")', decision)
                continue
            yield from self._recoded(code, decision)
        yield f"{STEP}return o"

    def _recoded(self, code: Code, decision: Decision) -> Iterator[str]:
        to = str(decision.values["to"])
        if decision.action == "degrade":
            yield from self._lose(STEP * 2, '(at, "error")', f"`error` {_told(decision)}", decision)
            new: Layout = call(self._degrade(decision), "error", to)
        else:
            told = f"{code.code} becomes {to}"
            yield from self._lose(STEP * 2, '((at, "error"), "code")', told, decision)
            new = Group("{", ("**error", f'"code": {to}'), "}")
        yield from lay(STEP * 2, "error = ", new)
        yield f'{STEP * 2}return {{**o, "error": error}}'

    def _by_data(self, decision: Decision, code: int) -> Iterator[str]:
        """A code whose meaning the other side tells by a member of the error's data."""
        old, new = literal(code), literal(decision.values["to"])
        known = call(self.use("told"), "error", literal(decision.values["data"]))
        at = '((at, "error"), "code")'
        if self.up:
            yield from lay(STEP, "if ", call(self.use("same"), "code", old), ":")
            yield from lay(STEP * 2, "if not ", known, ":")
            yield from self._lose(STEP * 3, at, f"{old} becomes {new}", decision)
            yield f'{STEP * 2}return {{**o, "error": {{**error, "code": {new}}}}}'
            yield from when(STEP, both(call("same", "code", new), known))
            yield from self._lose(STEP * 2, at, f"{new} reads as what was {old}", decision)
        else:
            yield from when(STEP, both(call(self.use("same"), "code", new), known))
            yield f'{STEP * 2}return {{**o, "error": {{**error, "code": {old}}}}}'
            yield from lay(STEP, "if ", call("same", "code", old), ":")
            yield from self._lose(STEP * 2, at, f"{old} reads as what is {new}", decision)

    # ---- parts

    def _way(self, way: Way, var: str, at: str) -> Layout:
        match way:
            case Call():
                return call(way.name, var, at, "trip")
            case Each():
                return call(self.use("each"), self._inner(way.way), var, at, "trip")
            case Values():
                return call(self.use("values"), self._inner(way.way), var, at, "trip")
            case _:
                return var

    def _inner(self, way: Way) -> str:
        if isinstance(way, Call):
            return way.name
        return f"lambda o, at, trip: {flat(self._way(way, 'o', 'at'))}"

    def _degrade(self, decision: Decision) -> str:
        return self.use(DEGRADES[decision.values["as"]][0])

    def _lose(self, indent: str, at: str, what: str, decision: Decision) -> Iterator[str]:
        yield from lay(indent, "", call("trip.lose", at, literal(what), literal(decision.why)))

    def _squat(self, indent: str, wire: str) -> Iterator[str]:
        why = f"_SQUATTER_{self.direction.name.upper()}"
        yield from lay(indent, "o = ", call("trip.squat", "o", wire, "at", why))

    def _refuse(self, indent: str, at: str, decision: Decision) -> Iterator[str]:
        parts = _refusal_parts(decision)
        yield from lay(indent, "raise ", call(self.use("refused"), at, *parts))


def _refusal_parts(decision: Decision) -> tuple[str, ...]:
    values = decision.values
    parts = (str(values.get("code", _REFUSED)), literal(values["message"]), literal(decision.why))
    return (*parts, literal(values["runtime"])) if "runtime" in values else parts


def step_view(pair: Pair) -> dict[str, Any]:
    """What step.py.jinja places."""
    used = {"Refusal", "Step"}
    admits = {"old": Admits(pair.old, "old"), "new": Admits(pair.new, "new")}
    up, down = (_Writer(direction, admits, used) for direction in pair.directions)
    old, new = pair.old.revision, pair.new.revision
    parts = [
        {"title": f"up: {old} becomes {new}", "functions": up.functions()},
        {"title": f"down: {new} becomes {old}", "functions": down.functions()},
    ]
    context = [
        f"{STEP}{literal(name)}: {admits['new'].function(type, name)},"
        for name, type in up.context.items()
    ]
    tests = [lines for a in admits.values() for lines in a.functions.values()]
    parts.append({"title": "what each revision takes", "functions": tests})
    text = "\n".join(line for part in parts for lines in part["functions"] for line in lines)
    return {
        "old": old,
        "new": new,
        "old_name": literal(old),
        "new_name": literal(new),
        "at": "at: At" in text,
        "numbers": "is_number(" in text,
        "imports": sorted(used, key=import_order),
        "parts": [part for part in parts if part["functions"]],
        "names": [f"{k}: Final = {literal(v)}" for k, v in sorted((up.names | down.names).items())],
        "squatters": [*_squatter("UP", old, new, text), *_squatter("DOWN", new, old, text)],
        "up": list(_entries(pair.up)),
        "down": list(_entries(pair.down)),
        "refused_up": [line for row in pair.up.refused.items() for line in _refused(*row)],
        "refused_down": [line for row in pair.down.refused.items() for line in _refused(*row)],
        "context": context,
    }


def _squatter(name: str, source: str, target: str, text: str) -> Iterator[str]:
    """Why a member falls away whose name its sender's revision did not know."""
    if f"_SQUATTER_{name}" in text:
        why = f"{source} does not declare it, and {target} takes no such value under its name"
        yield from lay("", f"_SQUATTER_{name}: Final = ", literal(why))


def _entries(direction: Direction) -> Iterator[str]:
    """A row for each method whose messages differ: functions by position."""
    methods: dict[str, list[str]] = {}
    for (method, position), way in direction.ways.items():
        if isinstance(way, Call):
            methods.setdefault(method, []).append(f"{literal(position)}: {way.name}")
    for method, items in methods.items():
        yield from lay(STEP, f"{literal(method)}: ", Group("{", tuple(items), "}"), ",")


def _refused(name: str, decision: Decision) -> Iterator[str]:
    parts = _refusal_parts(decision)
    yield from lay(STEP, f"{literal(name)}: ", call("Refusal", *parts), ",")


# ---- steps/__init__.py


def steps_view(
    modules: Mapping[str, Pair], schemas: Sequence[Schema], models: tuple[str, ...]
) -> dict[str, Any]:
    """What steps.py.jinja places; `modules` are the pairs by the names of their modules."""
    flavours = tuple(literal(name) for name in _PREFERRED if name in models)
    return {
        "modules": [line for row in modules.items() for line in _module(*row)],
        "flavours": lay("", "_FLAVOURS: Final = ", _tuple(flavours)),
        "envelopes": [line for schema in schemas for line in _envelopes(schema)],
    }


def _module(name: str, pair: Pair) -> list[str]:
    key = f"({literal(pair.old.revision)}, {literal(pair.new.revision)}): "
    return lay(STEP, key, literal(name), ",")


def _envelopes(schema: Schema) -> list[str]:
    found = (envelope(schema, position) for position in _POSITIONS)
    names = tuple(literal(struct.name if struct else "") for struct in found)
    return lay(STEP, f"{literal(schema.revision)}: ", Group("(", names, ")"), ",")


def _tuple(items: tuple[str, ...]) -> Layout:
    return f"({items[0]},)" if len(items) == 1 else Group("(", items, ")")


def _told(decision: Decision) -> str:
    return DEGRADES[decision.values["as"]][1]


def _named(wire: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in wire)


def _arm_name(type: Type) -> str:
    match type:
        case Ref():
            return type.name
        case Arr():
            return "array"
        case Lit():
            return f"`{type.value}`"
        case _:
            return type.__class__.__name__.lower()


def _json(value: Any) -> str:
    """A value of a row as Python."""
    if value.__class__ is dict:
        return f"{{{', '.join(f'{literal(k)}: {_json(v)}' for k, v in value.items())}}}"
    if value.__class__ is list:
        return f"[{', '.join(map(_json, value))}]"
    return literal(value)
