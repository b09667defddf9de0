"""Writes the conversion of an object's members as lines of Python."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_bindgen.convert.model import CARRY, Composed, Decision, Kept, Lost, New, StructStep
from mcp_bindgen.emit.steps.parts import Parts, outcome, to_python
from mcp_bindgen.emit.steps.predicates import both, when
from mcp_bindgen.emit.text.layout import STEP, Code, Group, Or, call, flat, lay, literal
from mcp_bindgen.ir.names import identifier

__all__ = ["Members"]


class Members(Parts):
    """The lines of each member; they change `o`, a local name, and never the object itself."""

    def _lose(self, member: Lost) -> Iterator[str]:
        wire = self.wire(member.wire)
        condition: Code = f"{wire} in o"
        if member.undone:
            restored = self.restored_if(member.decision, f"o[{wire}]")
            yield from when(STEP, both(condition, restored or "True"))
            yield from lay(STEP * 2, "o = ", call(self.use("without"), "o", wire))
            return
        if member.others is not None:
            condition = both(condition, self._alone(member, wire))
        if member.admits is not None:
            refusal = self.target.refuses(member.admits, f"o[{wire}]", identifier(member.wire))
            if refusal is not None:
                condition = both(condition, refusal)
        yield from when(STEP, condition)
        yield from self._act(member, wire)

    def _alone(self, member: Lost, wire: str) -> Or:
        """The condition for leaving out a member: its value has one member, and none of the
        others.
        """
        there = f"{literal(member.decision.values['alone'])} in o[{wire}]"
        absent = (f"{literal(other)} not in o[{wire}]" for other in member.others or ())
        return Or((there, *absent), "and")

    def _act(self, member: Lost, wire: str) -> Iterator[str]:
        decision = member.decision
        at = f"(at, {wire})"
        match decision.action:
            case "drop":
                changed = self.restored_if(decision, f"o[{wire}]", negated=True)
                if decision.values.get("context", "revision") != "revision":
                    yield from lay(STEP * 2, "", call("trip.forget", at))
                if changed is not None:
                    yield from lay(STEP * 2, "if ", changed, ":")
                indent = STEP * (2 if changed is None else 3)
                yield from self.lose(indent, at, f"`{member.wire}` is left out", decision)
                yield from lay(STEP * 2, "o = ", call(self.use("without"), "o", wire))
            case "degrade":
                what = f"`{member.wire}` {outcome(decision)}"
                yield from self.lose(STEP * 2, at, what, decision)
                parts = ("o", wire, "at", "trip", literal(decision.why))
                yield from lay(STEP * 2, "o = ", call(self.degrade(decision), *parts))
            case "rename":
                value = literal(decision.values["to"])
                yield from lay(STEP * 2, "o = ", Group("{", ("**o", f"{wire}: {value}"), "}"))
            case _:
                yield from self._refuse(member, wire)

    def _refuse(self, member: Lost, wire: str) -> Iterator[str]:
        """Lines for a member that the other revision lacks.

        They drop a value that the way back would fill in again, lose one that the context allows,
        and refuse any other.
        """
        decision = member.decision
        at, value = f"(at, {wire})", f"o[{wire}]"
        changed = self.restored_if(decision, value, negated=True)
        allowed = decision.values.get("unless")
        if changed is None:
            yield from self.refuse(STEP * 2, at, decision)
            return
        yield from lay(STEP * 2, "if ", changed, ":")
        if allowed is not None:
            yield from lay(STEP * 3, "if ", f"{value} not in trip.context.{allowed}", ":")
        yield from self.refuse(STEP * (3 if allowed is None else 4), at, decision)
        if allowed is not None:
            yield from self.lose(STEP * 3, at, f"`{member.wire}` is left out", decision)
        yield from lay(STEP * 2, "o = ", call(self.use("without"), "o", wire))

    def _compose(self, member: Composed) -> Iterator[str]:
        wire = self.wire(member.wire)
        if member.built:
            yield f"{STEP}if {wire} in o:"
            yield from self.squat(STEP * 2, wire)
        parts: list[str] = []
        for part in member.parts:
            written = map(to_python, (dict(part.marks), *part.fill))
            values = (self.wire(part.wire), self.inner(part.way), literal(part.name), *written)
            parts.append(flat(call(self.use("Part"), *values)))
        name = self.use("join_parts" if member.built else "split_parts")
        listed = Group("(", (*parts, "") if len(parts) == 1 else tuple(parts), ")")
        why = () if member.built else (literal(member.decision.why),)
        yield from lay(STEP, "parts = ", listed)
        yield from lay(STEP, "o = ", call(name, "o", wire, "parts", "at", "trip", *why))

    def _keep(self, member: Kept) -> Iterator[str]:
        wire = self.wire(member.wire)
        if member.wire != member.to:
            yield from self._move(member, wire)
            return
        decision = member.decision
        if decision is not None and decision.action == "refuse":
            yield f"{STEP}if {wire} not in o:"
            yield from self.refuse(STEP * 2, f"(at, {wire})", decision)
        if decision is not None and decision.action == "default":
            yield from self._fill_default(member, decision, wire)
        elif member.way != CARRY:
            indent = STEP * 2 if member.optional else STEP
            if member.optional:
                yield f"{STEP}if {wire} in o:"
            yield from lay(indent, "value = ", self.way(member.way, f"o[{wire}]", f"(at, {wire})"))
            yield from lay(indent, "if ", f"value is not o[{wire}]", ":")
            put = Group("{", ("**o", f"{wire}: value"), "}")
            if member.context:
                agreed = call("trip.agree", literal(member.context), f"o[{wire}]", "value")
                yield from lay(f"{indent}{STEP}", "", agreed)
            if decision is not None:
                out = call(self.use("without"), "o", wire)
                yield from lay(f"{indent}{STEP}", "o = ", f"{flat(put)} if value else {flat(out)}")
            else:
                yield from lay(f"{indent}{STEP}", "o = ", put)

    def _fill_default(self, member: Kept, decision: Decision, wire: str) -> Iterator[str]:
        value, put = to_python(decision.values["value"]), Group("{", ("**o", f"{wire}: value"), "}")
        if decision.values["value"] != {}:
            yield from self._lost_default(member, decision, wire, value)
        yield from lay(STEP, "found = ", call("o.get", wire, value))
        yield from lay(STEP, "value = ", self.way(member.way, "found", f"(at, {wire})"))
        absent = f"{wire} not in o or " if member.required else ""
        yield from lay(STEP, "if ", f"{absent}value is not found", ":")
        yield from lay(STEP * 2, "o = ", put)

    def _lost_default(
        self, member: Kept, decision: Decision, wire: str, value: str
    ) -> Iterator[str]:
        """A default equals absence; the form which is not restored is reported as a loss."""
        why = literal(decision.why)
        if decision.values.get("down") == "drop":
            loss = literal(f"`{member.wire}` comes back as absent")
            equal = self.equal(f"o[{wire}]", decision.values["value"])
            yield from when(STEP, both(f"{wire} in o", equal))
            yield from lay(STEP * 2, "", call("trip.lose", f"(at, {wire})", loss, why))
        else:
            loss = literal(f"`{member.wire}` is filled in")
            yield from lay(STEP, "if ", f"{wire} not in o", ":")
            yield from lay(STEP * 2, "", call("trip.add", f"(at, {wire})", loss, why))

    def _move(self, member: Kept, wire: str) -> Iterator[str]:
        to = self.wire(member.to)
        yield f"{STEP}if {to} in o:"
        yield from self.squat(STEP * 2, to)
        yield f"{STEP}if {wire} in o:"
        value = self.way(member.way, f"o[{wire}]", f"(at, {wire})")
        yield from lay(STEP * 2, "", call("trip.rename", f"(at, {wire})", to))
        yield from lay(STEP * 2, "o = ", call(self.use("rename"), "o", wire, to, value))

    def _new(self, function: StructStep, member: New) -> Iterator[str]:
        wire = self.wire(member.wire)
        place = f"{function.target.name}_{identifier(member.wire)}"
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
                yield from self.squat(STEP * 2, wire)
        if decision is not None and decision.action in ("default", "refuse"):
            yield from self._fill(member, decision, wire)

    def _stamp(self, wire: str, name: str) -> Iterator[str]:
        """Write the revision's name; any name but the sender's revision is a loss."""
        old, new = self.direction.source.revision, self.direction.target.revision
        yield from lay(STEP, "if ", f"{wire} in o", ":")
        arguments = (
            f"(at, {wire})",
            literal(f"`{name}` names {new}"),
            literal(f"It did not name {old}."),
        )
        yield from lay(STEP * 2, "if ", f"o[{wire}] != {literal(old)}", ":")
        yield from lay(STEP * 3, "", call("trip.lose", *arguments))
        yield from lay(STEP * 2, "o = ", Group("{", ("**o", f"{wire}: {literal(new)}"), "}"))

    def _fill(self, member: New, decision: Decision, wire: str) -> Iterator[str]:
        absent = f"{wire} not in o"
        if decision.action == "refuse":
            yield f"{STEP}if {absent}:"
            yield from self.refuse(STEP * 2, f"(at, {wire})", decision)
            return
        name = decision.values.get("context")
        if name == "revision":
            value: Code = literal(self.direction.target.revision)
        elif name is not None:
            self.context[name] = member.type
            value = call("trip.need", literal(name)) if member.required else f"trip.context.{name}"
            if not member.required:
                absent = f"{absent} and trip.context.{name} is not None"
        else:
            value = to_python(decision.values["value"])
        yield from lay(STEP, "if ", absent, ":")
        pair = f"{wire}: {flat(value)}"
        yield from lay(STEP * 2, "o = ", Group("{", ("**o", pair), "}"))
