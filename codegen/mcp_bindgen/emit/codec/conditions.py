"""Conditions: whether a value is of a type, as one expression, where no function is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from mcp_bindgen.emit.text.layout import Code, Group, Or, call, flat, literal
from mcp_bindgen.ir.model import (
    Bounded,
    Kind,
    Limits,
    Lit,
    Prim,
    Schema,
    Type,
    Uni,
)
from mcp_bindgen.ir.patterns import python_pattern
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import kinds, unaliased

__all__ = ["KINDS", "Bound", "Conditions", "choices"]

Bound: TypeAlias = tuple[Code, str]
"""The condition that refuses a value, and what is expected instead."""

KINDS: Final[dict[Kind, str]] = {
    "string": "is_string({0})",
    "number": "is_number({0})",
    "boolean": "{0}.__class__ is bool",
    "null": "{0} is None",
    "object": "{0}.__class__ is dict",
    "array": "{0}.__class__ is list",
}
"""The condition that a value is of a JSON kind."""

_CALLED: Final = ("are_unique", "is_multiple", "is_number", "is_string", "matches")

_OTHERS: Final = {
    "number": "not is_number({0})",
    "boolean": "{0}.__class__ is not bool",
    "null": "{0} is not None",
}


class Conditions:
    """Conditions over one schema; `use` notes the functions that they call.

    With `text` a string must be text, without half a character; values that were read are.
    """

    def __init__(self, schema: Schema, use: Callable[[str], str], *, text: bool) -> None:
        self.schema = schema
        self.use = use
        self.text = text

    def of_kind(self, kind: Kind, var: str) -> str:
        # is_number(x)
        if kind == "string" and not self.text:
            return f"{var}.__class__ is str"
        return self._calling(KINDS[kind].format(var))

    def refuses(self, type: Type, var: str) -> Code | None:
        """The condition that a value is not of `type`; None where a function must look."""
        # x.__class__ is not str or not (x.isascii() or is_string(x))
        # not is_number(x)
        # x != "2.0"
        # x not in ("user", "assistant")
        # not (is_string(x) or is_number(x))
        match self.simple(type):
            case Prim(name="string"):
                return self._no_string(var)
            case Prim() as prim if prim.name in _OTHERS:
                return self._calling(_OTHERS[prim.name].format(var))
            case Lit() as lit:
                return self._differs(lit, var)
            case Uni() as union:
                return self._of_no_arm(union, var)
            case _:
                return None

    def takes(self, type: Type, var: str) -> Code | None:
        """The condition that a value is of `type`; None where a function must look."""
        # is_string(x)
        # x == "2.0"
        # x in ("user", "assistant")
        match self.simple(type):
            case Prim() as prim if prim.name == "string" or prim.name in _OTHERS:
                (kind,) = kinds(self.schema, prim)
                return self.of_kind(kind, var)
            case Lit() as lit:
                return self._equals(lit, var)
            case Uni() as union:
                if names := choices(self.schema, union):
                    return Group(f"{var} in (", tuple(names), ")")
                codes = [self.takes(arm, var) for arm in arms(self.schema, union)]
                parts = tuple(code for code in codes if code is not None)
                return Or(parts, "or") if len(parts) == len(codes) else None
            case _:
                return None

    def simple(self, type: Type) -> Type:
        """`type` without aliases; of all strings and some, all strings."""
        bare = unaliased(self.schema, type)
        if isinstance(bare, Uni) and Prim("string") in (leaves := arms(self.schema, bare)):
            others = tuple(leaf for leaf in leaves if not _is_string(leaf))
            return others[0] if len(others) == 1 else Uni(others)
        return bare

    def _no_string(self, var: str) -> Code:
        """`not is_string(x)`, without the call for most strings."""
        # x.__class__ is not str or not (x.isascii() or is_string(x))
        if not self.text:
            return f"{var}.__class__ is not str"
        fine = Or((f"{var}.isascii()", self._calling(f"is_string({var})")), "or")
        return Group(f"{var}.__class__ is not str or not (", (fine,), ")")

    def _differs(self, type: Lit, var: str) -> str:
        # x is not True
        # not is_number(x) or x != 1
        if isinstance(type.value, bool):
            return f"{var} is not {type.value}"
        unequal = f"{var} != {literal(type.value)}"
        if isinstance(type.value, str):
            return unequal
        return f"{self._calling(f'not is_number({var})')} or {unequal}"

    def _equals(self, type: Lit, var: str) -> str:
        # x is True
        # (is_number(x) and x == 1)
        if isinstance(type.value, bool):
            return f"{var} is {type.value}"
        equal = f"{var} == {literal(type.value)}"
        if isinstance(type.value, str):
            return equal
        return f"({self._calling(f'is_number({var})')} and {equal})"

    def _of_no_arm(self, type: Uni, var: str) -> Code | None:
        # x not in ("user", "assistant")
        # not (is_string(x) or is_number(x))
        if names := choices(self.schema, type):
            return Group(f"{var} not in (", tuple(names), ")")
        taken = self.takes(type, var)
        return None if taken is None else Group("not (", (taken,), ")")

    def _calling(self, condition: str) -> str:
        """A condition, with what it calls noted."""
        for name in _CALLED:
            if f"{name}(" in condition:
                self.use(name)
        return condition

    def beyond(self, type: Bounded, var: str) -> Iterator[tuple[Kind, list[Bound]]]:
        """For each JSON kind of a bounded type the conditions that refuse a value."""
        # x < 0
        # len(x) > 40
        takes = kinds(self.schema, type.of)
        for kind, bounds in _bounds(type.limits, var):
            if kind in takes and bounds:
                for condition, _ in bounds:
                    self._calling(flat(condition))
                yield kind, bounds


def choices(schema: Schema, type: Type) -> list[str]:
    """The literals of a type that takes some strings and nothing else; of others none."""
    # "user", "assistant"
    bare = unaliased(schema, type)
    leaves = arms(schema, bare) if isinstance(bare, Uni) else (bare,)
    opened = [unaliased(schema, leaf) for leaf in leaves]
    strings = [leaf.value for leaf in opened if isinstance(leaf, Lit)]
    names = [literal(value) for value in strings if isinstance(value, str)]
    return names if len(names) == len(leaves) else []


def _is_string(type: Type) -> bool:
    return isinstance(type, Lit) and isinstance(type.value, str)


def _bounds(limits: Limits, var: str) -> Iterator[tuple[Kind, list[Bound]]]:
    numbers = [
        (limits.minimum, "<", "at least {0}"),
        (limits.maximum, ">", "at most {0}"),
        (limits.exclusive_minimum, "<=", "more than {0}"),
        (limits.exclusive_maximum, ">=", "less than {0}"),
    ]
    conditions: list[Bound] = [
        (f"{var} {sign} {b!r}", text.format(b)) for b, sign, text in numbers if b is not None
    ]
    if limits.integer:
        conditions.insert(0, (f"{var} % 1", "integer"))
    if (step := limits.multiple_of) is not None:
        conditions.append((f"not is_multiple({var}, {step!r})", f"a multiple of {step}"))
    yield "number", conditions
    items = _sizes(limits.min_items, limits.max_items, "items", var)
    if limits.unique_items:
        items.append((f"not are_unique({var})", "items that differ"))
    yield "array", items
    texts = _sizes(limits.min_length, limits.max_length, "characters", var)
    if limits.pattern is not None:
        code = literal(python_pattern(limits.pattern))
        texts.append((call("not matches", code, var), f"text that matches {limits.pattern}"))
    yield "string", texts


def _sizes(least: int | None, most: int | None, unit: str, var: str) -> list[Bound]:
    # len(x) < 1
    bounds: list[Bound] = (
        [(f"len({var}) < {least}", f"at least {least} {unit}")] if least is not None else []
    )
    if most is not None:
        bounds.append((f"len({var}) > {most}", f"at most {most} {unit}"))
    return bounds
