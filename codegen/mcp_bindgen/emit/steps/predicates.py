"""Predicates: whether a type takes a value, as straight-line Python.

Steps ask before they keep what its sender's revision did not know, and where only trying tells the
arms of a union apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

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
    JSON_PRIMS,
    Arr,
    Bounded,
    Limits,
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
from mcp_bindgen.ir.patterns import python_pattern
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import is_any, stripped, unaliased

__all__ = ["Admits", "both", "when"]

_IS = {
    "string": "{0}.__class__ is str",
    "number": "is_number({0})",
    "boolean": "{0}.__class__ is bool",
    "null": "{0} is None",
    "object": "{0}.__class__ is dict",
}
_IS_NOT = {
    "string": "{0}.__class__ is not str",
    "number": "not is_number({0})",
    "boolean": "{0}.__class__ is not bool",
    "null": "{0} is not None",
    "object": "{0}.__class__ is not dict",
}


class Admits:
    """The predicates of one revision that a module needs, by name, in the order of need."""

    def __init__(self, schema: Schema, suffix: str) -> None:
        self.schema = schema
        self.suffix = suffix
        self.functions: dict[str, list[str]] = {}
        self._named: dict[Type, str] = {}

    def refuses(self, type: Type, var: str, place: str) -> Code | None:
        """The condition that `type` does not take the value in `var`; None if it takes all."""
        type = self._opened(type)
        match type:
            case Prim() if type.name in JSON_PRIMS:
                return None
            case Prim():
                return _IS_NOT[type.name].format(var)
            case Lit(value=str()):
                return f"{var} != {literal(type.value)}"
            case Uni() if (names := self._strings(type)) is not None:
                return Group(f"{var} not in (", names, ")")
            case Map() if is_any(self.schema, type.of):
                return _IS_NOT["object"].format(var)
            case Uni() if all(isinstance(self._opened(a), Prim) for a in arms(self.schema, type)):
                parts = (self.refuses(a, var, place) for a in arms(self.schema, type))
                codes = tuple(p for p in parts if p is not None)
                return Or(codes, "and") if len(codes) == len(arms(self.schema, type)) else None
            case _:
                return call(f"not {self.function(type, place)}", var)

    def takes(self, type: Type, var: str, place: str) -> Code:
        """The condition that `type` takes the value in `var`."""
        opened = self._opened(type)
        if isinstance(opened, Prim) and opened.name not in JSON_PRIMS:
            return _IS[opened.name].format(var)
        if isinstance(opened, Lit) and isinstance(opened.value, str):
            return f"{var} == {literal(opened.value)}"
        return f"{self.function(opened, place)}({var})"

    def function(self, type: Type, place: str) -> str:
        """The name of the predicate of a type; `place` names it if it has no name."""
        type = self._opened(type)
        if type not in self._named:
            own = type.name if isinstance(type, Ref) else _shape(type) or place
            name = f"_is_{self.suffix}_{own}"
            while name in self.functions:
                name += "_"
            self._named[type] = name
            self.functions[name] = []
            told = docstring(STEP, f"Whether it is a value of {own}.")
            head = [f"def {name}(x: Json) -> bool:", *told]
            self.functions[name] += [*head, *self._body(type, place)]
        return self._named[type]

    def _opened(self, type: Type) -> Type:
        """`type` with aliases followed; of a union of all strings and some, all strings."""
        type = unaliased(self.schema, type)
        if isinstance(type, Uni) and Prim("string") in (leaves := arms(self.schema, type)):
            others = tuple(leaf for leaf in leaves if not _is_string(leaf))
            return others[0] if len(others) == 1 else Uni(others)
        return type

    def _strings(self, type: Uni) -> tuple[str, ...] | None:
        leaves = [stripped(self.schema, leaf) for leaf in arms(self.schema, type)]
        values = [leaf.value for leaf in leaves if isinstance(leaf, Lit)]
        names = [literal(value) for value in values if isinstance(value, str)]
        return tuple(names) if len(names) == len(leaves) > 1 else None

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
                for condition in _beyond(type.limits):
                    yield from _unless(STEP, condition)
                yield f"{STEP}return True"
            case Uni() if (names := self._strings(type)) is not None:
                yield from lay(STEP, "return ", Group("x in (", names, ")"))
            case Uni():
                for number, arm in enumerate(arms(self.schema, type)):
                    yield from lay(STEP, "if ", self.takes(arm, "x", f"{place}_{number}"), ":")
                    yield f"{STEP * 2}return True"
                yield f"{STEP}return False"
            case Lit():
                kind = type.value.__class__.__name__
                yield f"{STEP}return x.__class__ is {kind} and bool(x == {literal(type.value)})"
            case Prim():
                yield f"{STEP}return True"
            case _:
                assert_never(type)

    def _struct(self, struct: Struct) -> Iterator[str]:
        yield from _unless(STEP, "x.__class__ is not dict")
        for f in struct.fields:
            wire = literal(f.wire)
            refusal = self.refuses(f.type, f"x[{wire}]", f"{struct.name}_{f.name}")
            absent = f"{wire} not in x" if f.required else f"{wire} in x"
            if refusal is None:
                yield from _unless(STEP, absent) if f.required else ()
            elif f.required:
                yield from _unless(STEP, both(absent, refusal, "or"))
            else:
                yield from _unless(STEP, both(absent, refusal))
        if struct.index is not None:
            known = ", ".join(literal(f.wire) for f in struct.fields)
            refusal = self.refuses(struct.index, "value", f"{struct.name}_extra")
            if refusal is not None:
                yield f"{STEP}for key, value in x.items():"
                yield from _unless(STEP * 2, both(f"key not in ({known},)", refusal))

    def _all(self, items: str, of: Type, place: str) -> Iterator[str]:
        refusal = self.refuses(of, "item", f"{place}_item")
        if refusal is not None:
            yield f"{STEP}for item in {items}:"
            yield from _unless(STEP * 2, refusal)

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


def _is_string(type: Type) -> bool:
    return isinstance(type, Lit) and isinstance(type.value, str)


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
    """The lines of `if condition:`; of two operands the last may break within its brackets."""
    if isinstance(condition, Or) and len(condition.items) == 2:
        first, last = condition.items
        prefix = f"if {flat(first)} {condition.operator} "
        if isinstance(last, Group) and len(indent + prefix + last.head) < WIDTH:
            return lay(indent, prefix, last, ":")
    return lay(indent, "if ", condition, ":")


def both(first: Code, second: Code, operator: str = "and") -> Or:
    """Two conditions as one, those of the same operator side by side."""
    return Or((*_grouped(first, operator), *_grouped(second, operator)), operator)


def _grouped(code: Code, operator: str) -> tuple[Code, ...]:
    """A condition as operands of `operator`, in brackets where it is of another."""
    if not isinstance(code, Or):
        return (code,)
    return code.items if code.operator == operator else (f"({flat(code)})",)


def _unless(indent: str, condition: Code) -> Iterator[str]:
    yield from when(indent, condition)
    yield f"{indent}{STEP}return False"


def _beyond(limits: Limits) -> Iterator[str]:
    """The conditions of bounds, each for values of its kind only."""
    number = {
        "<": limits.minimum,
        ">": limits.maximum,
        "<=": limits.exclusive_minimum,
        ">=": limits.exclusive_maximum,
    }
    for sign, bound in number.items():
        if bound is not None:
            yield f"is_number(x) and x {sign} {bound!r}"
    if limits.integer:
        yield "is_number(x) and x % 1"
    if limits.multiple_of is not None:
        yield f"is_number(x) and not is_multiple(x, {limits.multiple_of!r})"
    if limits.unique_items:
        yield "x.__class__ is list and not are_unique(x)"
    if limits.pattern is not None:
        code = literal(python_pattern(limits.pattern))
        yield f"x.__class__ is str and not matches({code}, x)"
    sizes = (
        ("list", limits.min_items, limits.max_items),
        ("str", limits.min_length, limits.max_length),
    )
    for kind, least, most in sizes:
        if least is not None:
            yield f"x.__class__ is {kind} and len(x) < {least}"
        if most is not None:
            yield f"x.__class__ is {kind} and len(x) > {most}"
