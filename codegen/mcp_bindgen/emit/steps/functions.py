"""Generates the functions which convert a message to the adjacent revision.

There is one for each struct or union, for params, and for error responses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_bindgen.convert.model import (
    CARRY,
    TEXTS,
    Arm,
    Call,
    Code,
    Composed,
    Decision,
    Errors,
    Function,
    Kept,
    Lost,
    New,
    Stamp,
    StructStep,
    UnionStep,
    Way,
    Whole,
)
from mcp_bindgen.emit.steps.members import Members
from mcp_bindgen.emit.steps.parts import arm_name, outcome
from mcp_bindgen.emit.steps.predicates import both, when
from mcp_bindgen.emit.text.layout import STEP, Group, as_tuple, call, docstring, flat, lay, literal
from mcp_bindgen.emit.text.layout import Code as Layout
from mcp_bindgen.ir.model import Arr, Kind, Lit, Struct, Type
from mcp_bindgen.ir.unions import tag
from mcp_bindgen.ir.walk import kinds, struct_of

__all__ = ["Writer"]

_OBJECT: Final[frozenset[Kind]] = frozenset(("object",))


class Writer(Members):
    """Generates the functions of one direction: up or down.

    `text` is the way of the text items of the union being written.
    """

    text: Way | Decision = CARRY

    def functions(self) -> list[list[str]]:
        """The lines of each function, callees before their callers as far as possible."""
        return [list(self._function(f)) for f in reversed(list(self.direction.functions.values()))]

    def _function(self, function: Function) -> Iterator[str]:
        head = call(f"def {function.name}", "o: Json", "at: At", "trip: Trip")
        self.use("Trip")
        yield from lay("", "", head, " -> Json:")
        match function:
            case StructStep():
                yield from docstring(STEP, self.summary(function.source.name))
                yield from self._struct(function)
            case UnionStep():
                yield from self._union(function)
            case Whole():
                yield from self._whole(function)
            case Errors():
                yield from self._errors(function)

    def summary(self, *names: str) -> str:
        source, target = self.direction.source.revision, self.direction.target.revision
        return f"Convert {' or '.join(names)} of {source} to {target}."

    def _struct(self, function: StructStep) -> Iterator[str]:
        for member in function.members:
            if isinstance(member, Lost):
                yield from self._lose(member)
        for member in function.members:
            match member:
                case Kept():
                    yield from self._keep(member)
                case New():
                    yield from self._new(function, member)
                case Composed():
                    yield from self._compose(member)
                case Stamp():
                    yield from self._stamp(self.wire(member.wire), member.wire)
                case Lost():
                    pass
        if function.rest != CARRY:
            known = tuple(literal(f.wire) for f in function.source.fields)
            inner = self.inner(function.rest)
            names = call("frozenset", as_tuple(known)) if known else "frozenset()"
            yield from lay(STEP, "o = ", call(self.use("rest"), inner, "o", names, "at", "trip"))
        yield f"{STEP}return o"

    def _whole(self, function: Whole) -> Iterator[str]:
        made = self.way(function.way, "o", "at")
        if function.mode == "fill":
            yield from docstring(STEP, "Convert params; make them if they are absent.")
            yield from lay(STEP, "return ", self.way(function.way, "{} if o is None else o", "at"))
        elif function.mode == "pass":
            yield from docstring(STEP, "Convert params if there are any.")
            yield from lay(STEP, "return None if o is None else ", made)
        else:
            yield from docstring(STEP, "Convert params; drop them if they become empty.")
            yield from lay(STEP, "new = ", made)
            yield f"{STEP}return new if new or new is o else None"

    # ---- unions

    def _union(self, function: UnionStep) -> Iterator[str]:
        names = [arm_name(arm.type) for arm in function.arms]
        yield from docstring(STEP, self.summary(*names))
        source = self.direction.source
        objects = [a for a in function.arms if kinds(source, a.type) == _OBJECT]
        others = [a for a in function.arms if a not in objects]
        self.text = next((arm.way for arm in function.arms if self._is_text(arm)), CARRY)
        for arm in others:
            if arm.way != CARRY:
                taken = self.source.takes(arm.type, "o", f"{function.name}_{arm_name(arm.type)}")
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
            written = sorted(zip(objects, structs, strict=True), key=lambda row: _at(row[1]))
            for arm, struct in written:
                const = struct.field(wire) if struct else None
                if const is not None and arm.way != CARRY:
                    yield f"{STEP * 2}case {literal(const.const)}:"
                    yield from self._arm(STEP * 3, arm)
            yield f"{STEP * 2}case _:"
            yield f"{STEP * 3}return o"
        else:
            yield from self._try(function, objects)

    def _try(self, function: UnionStep, objects: list[Arm]) -> Iterator[str]:
        """Convert an object by its arm: at once if no later arm can match, else by `try`."""
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

    def _is_text(self, arm: Arm) -> bool:
        """Return whether an arm is the text item which a degraded arm becomes."""
        struct = self._struct_of(arm.type)
        kind = struct.field("type") if struct is not None else None
        return kind is not None and kind.const == "text"

    def _struct_of(self, type: Type) -> Struct | None:
        return struct_of(self.direction.source, type)

    def _arm(self, indent: str, arm: Arm) -> Iterator[str]:
        way = arm.way
        if not isinstance(way, Decision):
            yield from lay(indent, "return ", self.way(way, "o", "at"))
        elif way.action == "degrade" and "as" not in way.values:
            to = way.values["to"]
            yield from self.lose(indent, "at", f"{arm_name(arm.type)} becomes `{to}`", way)
            yield f"{indent}return {literal(to)}"
        elif way.action == "degrade":
            loss = f"{arm_name(arm.type)} {outcome(way)}"
            yield from self.lose(indent, "at", loss, way)
            made = call(self.degrade(way), "o")
            if way.values["as"] in TEXTS and isinstance(self.text, Call):
                made = call(self.text.name, flat(made), "at", "trip")
            yield from lay(indent, "return ", made)
        elif way.action == "rename":
            yield f"{indent}return {literal(way.values['to'])}"
        else:
            yield from self.refuse(indent, "at", way)

    # ---- errors

    def _errors(self, function: Errors) -> Iterator[str]:
        of = f" of `{function.method}`" if function.method else ""
        yield from docstring(STEP, f"Convert the error response to a request{of}.")
        if function.way != CARRY:
            yield from lay(STEP, "o = ", self.way(function.way, "o", "at"))
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
                yield from self.refuse(STEP * 2, '((at, "error"), "code")', decision)
                continue
            yield from self._recode(code, decision)
        yield f"{STEP}return o"

    def _recode(self, code: Code, decision: Decision) -> Iterator[str]:
        to = str(decision.values["to"])
        if decision.action == "degrade":
            yield from self.lose(
                STEP * 2, '(at, "error")', f"`error` {outcome(decision)}", decision
            )
            new: Layout = call(self.degrade(decision), "error", to)
        else:
            loss = f"{code.code} becomes {to}"
            yield from self.lose(STEP * 2, '((at, "error"), "code")', loss, decision)
            new = Group("{", ("**error", f'"code": {to}'), "}")
        yield from lay(STEP * 2, "error = ", new)
        yield f'{STEP * 2}return {{**o, "error": error}}'

    def _by_data(self, decision: Decision, code: int) -> Iterator[str]:
        """A code whose meaning the other side tells by a member of the error's data."""
        old, new = literal(code), literal(decision.values["to"])
        known = call(self.use("has_data"), "error", literal(decision.values["data"]))
        at = '((at, "error"), "code")'
        if self.up:
            yield from lay(STEP, "if ", call(self.use("same"), "code", old), ":")
            yield from lay(STEP * 2, "if not ", known, ":")
            yield from self.lose(STEP * 3, at, f"{old} becomes {new}", decision)
            yield f'{STEP * 2}return {{**o, "error": {{**error, "code": {new}}}}}'
            yield from when(STEP, both(call("same", "code", new), known))
            yield from self.lose(STEP * 2, at, f"{new} reads as what was {old}", decision)
        else:
            yield from when(STEP, both(call(self.use("same"), "code", new), known))
            yield f'{STEP * 2}return {{**o, "error": {{**error, "code": {old}}}}}'
            yield from lay(STEP, "if ", call("same", "code", old), ":")
            yield from self.lose(STEP * 2, at, f"{old} reads as what is {new}", decision)


def _at(struct: Struct | None) -> int:
    return struct.at if struct is not None else 0
