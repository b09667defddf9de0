"""Generates predicates: whether a value is of a type, as straight-line Python.

Steps use them before keeping a member unknown to its sender's revision, and for telling apart the
arms of a union by trying.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from mcp_bindgen.emit.codec.conditions import Conditions, choices
from mcp_bindgen.emit.text.layout import (
    STEP,
    WIDTH,
    Code,
    Group,
    Or,
    call,
    docstring,
    flat,
    lay,
    literal,
)
from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.ir.walk import is_any, kinds

__all__ = ["Admits", "both", "when"]


class Admits:
    """The predicates of one revision used by a module, by name, in order of need."""

    def __init__(self, schema: Schema, suffix: str) -> None:
        self.schema = schema
        self.suffix = suffix
        self.functions: dict[str, list[str]] = {}
        self.conditions = Conditions(schema, str, text=False)
        self._named: dict[Type, str] = {}

    def refuses(self, type: Type, var: str, place: str) -> Code | None:
        """The condition that the value in `var` is not of `type`; None if every value is."""
        # x.__class__ is not str
        # x not in ("user", "assistant")
        # not _is_new_Icon(x)
        type = self.conditions.simple(type)
        if is_any(self.schema, type):
            return None
        if self._is_object(type):
            return f"{var}.__class__ is not dict"
        refusal = None if _is_number(type) else self.conditions.refuses(type, var)
        return call(f"not {self.function(type, place)}", var) if refusal is None else refusal

    def takes(self, type: Type, var: str, place: str) -> Code:
        """The condition that the value in `var` is of `type`."""
        # x.__class__ is str
        # _is_new_Icon(x)
        opened = self.conditions.simple(type)
        if opened == Prim("object"):
            return f"{var}.__class__ is dict"
        if isinstance(opened, Lit) and isinstance(opened.value, str):
            return f"{var} == {literal(opened.value)}"
        if isinstance(opened, Prim) and not is_any(self.schema, opened):
            (kind,) = kinds(self.schema, opened)
            return self.conditions.of_kind(kind, var)
        return f"{self.function(opened, place)}({var})"

    def _is_object(self, type: Type) -> bool:
        """Return whether a type takes every object, and nothing else."""
        whole = isinstance(type, Map) and is_any(self.schema, type.of)
        return whole or type == Prim("object")

    def function(self, type: Type, place: str) -> str:
        """Return the name of a type's predicate; an unnamed type is named after `place`."""
        type = self.conditions.simple(type)
        if type not in self._named:
            own = type.name if isinstance(type, Ref) else _shape(type) or place
            name = f"_is_{self.suffix}_{own}"
            while name in self.functions:
                name += "_"
            self._named[type] = name
            self.functions[name] = []
            comment = docstring(STEP, f"Return whether `x` is a value of {own}.")
            head = [f"def {name}(x: Json) -> bool:", *comment]
            self.functions[name] += [*head, *self._body(type, place)]
        return self._named[type]

    def _body(self, type: Type, place: str) -> Iterator[str]:
        match type:
            case Ref():
                yield from self._struct(self.schema.structs[type.name])
                yield f"{STEP}return True"
            case Arr():
                yield from _unless(STEP, "x.__class__ is not list")
                yield from self._all("x", type.of, place)
                yield f"{STEP}return True"
            case Map():
                yield from _unless(STEP, "x.__class__ is not dict")
                yield from self._all("x.values()", type.of, place)
                yield f"{STEP}return True"
            case Tup():
                yield from self._tuple(type, place)
                yield f"{STEP}return True"
            case Bounded():
                refusal = self.refuses(type.of, "x", place)
                yield from _unless(STEP, refusal) if refusal is not None else ()
                for condition in self._beyond(type):
                    yield from _unless(STEP, condition)
                yield f"{STEP}return True"
            case Uni() if names := choices(self.schema, type):
                yield from lay(STEP, "return ", Group("x in (", tuple(names), ")"))
            case Uni():
                for number, arm in enumerate(arms(self.schema, type)):
                    yield from lay(STEP, "if ", self.takes(arm, "x", f"{place}_{number}"), ":")
                    yield f"{STEP * 2}return True"
                yield f"{STEP}return False"
            case Lit():
                yield from lay(STEP, "return ", self.conditions.takes(type, "x") or "True")
            case Prim():
                yield f"{STEP}return True"
            case _:
                assert_never(type)

    def _struct(self, struct: Struct) -> Iterator[str]:
        """Constants first, for they tell most values apart."""
        yield from _unless(STEP, "x.__class__ is not dict")
        for f in sorted(struct.fields, key=lambda f: f.const is None):
            wire = literal(f.wire)
            refusal = self.refuses(f.type, f"x[{wire}]", f"{struct.name}_{f.name}")
            absent = f"{wire} not in x" if f.required else f"{wire} in x"
            if refusal is None:
                yield from _unless(STEP, absent) if f.required else ()
            elif f.required:
                yield from _unless(STEP, both(absent, refusal, "or"))
            else:
                yield from _unless(STEP, both(absent, refusal))
        yield from self._unlisted_lines(struct)

    def _unlisted_lines(self, struct: Struct) -> Iterator[str]:
        """The lines which check members declared by an index signature only."""
        known = "".join(f"{literal(f.wire)}, " for f in struct.fields)
        conditions: list[Code] = []
        for number, keyed in enumerate(struct.keyed, 1):
            refusal = self.refuses(keyed.type, "value", f"{struct.name}_extra_{number}")
            matched = f"matches({literal(python_pattern(keyed.pattern))}, key)"
            if keyed.longest is not None:
                conditions.append(f"len(key) > {keyed.longest}")
            if refusal is not None:
                conditions.append(both(matched, refusal))
        refusal = None
        if struct.index is not None:
            refusal = self.refuses(struct.index, "value", f"{struct.name}_extra")
        if refusal is not None:
            patterns = ", ".join(literal(python_pattern(k.pattern)) for k in struct.keyed)
            if patterns:
                unmatched = f"not any(matches(each, key) for each in ({patterns},))"
                refusal = both(unmatched, refusal)
            conditions.append(refusal)
        if conditions:
            yield f"{STEP}for key, value in x.items():"
            for condition in conditions:
                yield from _unless(STEP * 2, both(f"key not in ({known})", condition))

    def _all(self, items: str, of: Type, place: str) -> Iterator[str]:
        refusal = self.refuses(of, "item", f"{place}_item")
        if refusal is not None:
            yield f"{STEP}for item in {items}:"
            yield from _unless(STEP * 2, refusal)

    def _beyond(self, type: Bounded) -> Iterator[Code]:
        """The conditions of bounds, each for values of its kind only."""
        # x < 0
        # x.__class__ is list and len(x) > 100
        alone = len(kinds(self.schema, type.of)) == 1
        for kind, bounds in self.conditions.beyond(type, "x"):
            for condition, _ in bounds:
                own = self.conditions.of_kind(kind, "x")
                yield condition if alone else both(own, condition)

    def _tuple(self, type: Tup, place: str) -> Iterator[str]:
        needed = sum(not element.optional for element in type.of)
        yield from _unless(STEP, f"x.__class__ is not list or len(x) < {needed}")
        if type.rest is None:
            yield from _unless(STEP, f"len(x) > {len(type.of)}")
        for i, element in enumerate(type.of):
            refusal = self.refuses(element.type, f"x[{i}]", f"{place}_{i}")
            if refusal is not None:
                yield from _unless(STEP, both(f"len(x) > {i}", refusal))
        if type.rest is not None:
            yield from self._all(f"x[{len(type.of)}:]", type.rest, place)


def _is_number(type: Type) -> bool:
    """Return whether a type is one number: refusing it takes two conditions."""
    return isinstance(type, Lit) and not isinstance(type.value, str | bool)


def _shape(type: Type) -> str:
    """A name for arrays and objects of plain values, wherever they stand; empty for other types."""
    match type:
        case Arr(of=Prim(name=name)):
            return f"array_of_{name}"
        case Map(of=Prim(name=name)):
            return f"object_of_{name}"
        case _:
            return ""


def when(indent: str, condition: Code) -> list[str]:
    """The lines of `if condition:`, wrapped as black does; an operand may break in its brackets."""
    if isinstance(condition, Or) and len(condition.items) == 2:
        first, last = condition.items
        prefix = f"if {flat(first)} {condition.operator} "
        if isinstance(last, Group) and len(indent + prefix + last.head) < WIDTH:
            return lay(indent, prefix, last, ":")
    return lay(indent, "if ", condition, ":")


def both(first: Code, second: Code, operator: str = "and") -> Or:
    """Two conditions joined, with equal operators flattened."""
    return Or((*_group(first, operator), *_group(second, operator)), operator)


def _group(code: Code, operator: str) -> tuple[Code, ...]:
    """A condition as operands of `operator`, in brackets where it is of another."""
    if not isinstance(code, Or):
        return (code,)
    return code.items if code.operator == operator else (f"({flat(code)})",)


def _unless(indent: str, condition: Code) -> Iterator[str]:
    yield from when(indent, condition)
    yield f"{indent}{STEP}return False"
