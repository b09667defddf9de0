"""Plans the conversion between two adjacent revisions, up and down: what becomes of each method, of
each member of a message, and of each error code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mcp_bindgen.convert.inherited_params import envelope, with_heritage
from mcp_bindgen.convert.match import Ways
from mcp_bindgen.convert.method_names import MethodNames, travels_alone
from mcp_bindgen.convert.model import (
    DOWN,
    UP,
    Call,
    Code,
    Decision,
    Direction,
    Errors,
    Pair,
    Way,
    Whole,
)
from mcp_bindgen.convert.prune import prune
from mcp_bindgen.convert.rows import Rows
from mcp_bindgen.ir.decisions.decisions import Decisions
from mcp_bindgen.ir.envelopes import batches, union_of_envelopes
from mcp_bindgen.ir.model import Const, Method, Schema, Struct
from mcp_bindgen.ir.names import identifier
from mcp_bindgen.source import Source
from mcp_bindgen.source.text import close_names

__all__ = ["pair_name", "plan"]


def pair_name(old: str, new: str) -> str:
    """The name of a pair in rows: 2025-06-18..2025-11-25."""
    return f"{old}..{new}"


def plan(
    old: Schema, new: Schema, decisions: Decisions, texts: Mapping[str, Source] | None = None
) -> Pair:
    """Plan the conversions between two neighbours; `texts` are the schemas', for places in errors.

    Raises DecisionError listing every missing row, or naming the unused rows.
    """
    rows = Rows(old, new, pair_name(old.revision, new.revision), decisions, texts or {})
    old, new = with_heritage(old), with_heritage(new)
    up, down = (_Walk(name, old, new, rows) for name in (UP, DOWN))
    pair = Pair(old, new, up.direction(), down.direction())
    rows.require_all()
    return pair


@dataclass
class _Walk(Ways):
    """One direction, method by method."""

    refused: dict[str, Decision] = field(default_factory=dict[str, Decision])

    def __post_init__(self) -> None:
        self.method_names = MethodNames(self.name, self.source, self.target, self.rows)
        self.renamed = self.method_names.likely
        super().__post_init__()

    def direction(self) -> Direction:
        ways: dict[tuple[str, str], Way] = {}
        targets = {method.name: method for method in self.target.methods}
        renamed = self.method_names.renamed
        for method in self.source.methods:
            other = targets.get(renamed.get(method.name, method.name))
            if other is None or travels_alone(method) != travels_alone(other):
                decision = self.method_names.demand(method)
                if decision is not None:
                    self.refused[method.name] = decision
            if other is not None:
                ways.update(self._method(method, other))
        ways.update(self._others())
        functions, ways = prune(self.functions, ways)
        return Direction(
            self.name, self.source, self.target, functions, ways, self.refused, renamed
        )

    def _code_like(self, const: Const) -> str:
        """A hint for an error code that the other side lacks: the constant of its name there."""
        twin = self.target.consts.get(const.name)
        known = {name for name, c in self.target.consts.items() if _is_code(c.value)}
        known -= self.source.consts.keys()
        near = [const.name] if twin else close_names(const.name, known)
        values = (f"`{name}` is {self.target.consts[name].value}" for name in near[:1])
        return "".join(f" (There {text}.)" for text in values)

    def _method(self, method: Method, other: Method) -> Iterator[tuple[tuple[str, str], Way]]:
        if method.params is not None and other.params is not None:
            way = self.required(method.params, other.params, f"{method.name}.params")
            yield (method.name, "params"), self._whole(method, other, way)
        if method.result is not None and other.result is not None:
            way = self.required(method.result, other.result, f"{method.name}.result")
            yield (method.name, "result"), way

    def _whole(self, method: Method, other: Method, way: Way) -> Way:
        """Add a step which fills or empties params, if only one revision makes them optional."""
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
        inner = way.name if isinstance(way, Call) else identifier(method.name)
        name = f"_{self.name}_{mode}_{inner.removeprefix(f'_{self.name}_')}"
        self.functions[name] = Whole(name, way, mode)
        return Call(name)

    def _newer(self, method: Method, other: Method) -> Method:
        return other if self.name == UP else method

    def _others(self) -> Iterator[tuple[tuple[str, str], Way]]:
        """Yield the ways of errors, and of messages with undeclared methods."""
        for name in batches(self.source):
            if name not in batches(self.target):
                question = "which part of the runtime takes it apart?"
                path = f"{union_of_envelopes(self.source)}:{name}"
                place = self.source, self.source.types[name].at
                decision = self.rows.demand(self.name, (path,), ("refuse",), question, place)
                self.refused.update({"": decision} if decision is not None else {})
        for position in ("request", "notification", "response"):
            a, b = envelope(self.source, position), envelope(self.target, position)
            if a is not None and b is not None:
                yield ("", position), self.struct(a, b)
        errors = envelope(self.source, "error"), envelope(self.target, "error")
        if errors[0] is not None and errors[1] is not None:
            yield from self._errors(errors[0], errors[1])

    # ---- errors

    def _errors(self, a: Struct, b: Struct) -> Iterator[tuple[tuple[str, str], Way]]:
        way = self.struct(a, b)
        general = tuple(self._codes())
        for method in self.source.methods:
            own = tuple(self.rows.codes(self.name, method.name))
            there = self.method_names.renamed.get(method.name, method.name)
            if own and there in {m.name for m in self.target.methods}:
                yield (method.name, "error"), self._error(method.name, way, (*own, *general))
        yield ("", "error"), self._error("", way, general)

    def _error(self, method: str, way: Way, codes: tuple[Code, ...]) -> Way:
        name = f"_{self.name}_error{'_of_' if method else ''}{identifier(method)}"
        self.functions[name] = Errors(name, method, way, codes)
        return Call(name)

    def _codes(self) -> Iterator[Code]:
        """The error codes declared by the source and unknown to the target."""
        known = {const.value for const in self.target.consts.values()}
        for const in self.source.consts.values():
            if _is_code(const.value) and const.value not in known:
                question = f"what becomes of an error {const.value}?{self._code_like(const)}"
                actions, place = ("refuse", "rename", "degrade"), (self.source, const.at)
                decision = self.rows.demand(self.name, (const.name,), actions, question, place)
                if decision is not None:
                    self.rows.require_code(decision)
                    yield Code(int(const.value), decision)


def _origin(schema: Schema, name: str, wire: str) -> str:
    struct = schema.structs[name]
    member = struct.field(wire)
    return f"{(member.origin if member else '') or name}.{wire}"


def _is_code(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value < 0
