"""Generates the expression which tells whether a value is of a type, if one expression suffices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from mcp_bindgen.emit.text.layout import Code, Group, Or, call, literal
from mcp_bindgen.errors import count_of
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
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.ir.walk import kinds, resolve_aliases

__all__ = ["KINDS", "Bound", "Conditions", "choices"]

Bound: TypeAlias = tuple[Code, str]
"""The condition which refuses a value, and the expected text of the error."""

KINDS: Final[tuple[Kind, ...]] = ("string", "number", "boolean", "null", "object", "array")
"""The JSON kinds, in the order in which a reader looks for them."""

_CLASSES: Final[dict[Kind, str]] = {"boolean": "bool", "object": "dict", "array": "list"}
_SIMPLE: Final = frozenset(("string", "number", "boolean", "null"))
"""The primitives told from all others by one condition."""


class Conditions:
    """Conditions over one schema; `use` records the functions they call.

    With `text`, a string must have no lone surrogate; values read from JSON never have one.
    """

    def __init__(self, schema: Schema, use: Callable[[str], str], *, text: bool) -> None:
        self.schema = schema
        self.use = use
        self.text = text

    def of_kind(self, kind: Kind, var: str) -> str:
        # is_number(x)
        # x.__class__ is dict
        match kind:
            case "string":
                return self._call("is_string", var) if self.text else f"{var}.__class__ is str"
            case "number":
                return self._call("is_number", var)
            case "null":
                return f"{var} is None"
            case _:
                return f"{var}.__class__ is {_CLASSES[kind]}"

    def _call(self, function: str, *args: str) -> str:
        # is_number(x)
        return f"{self.use(function)}({', '.join(args)})"

    def refuses(self, type: Type, var: str) -> Code | None:
        """The condition that a value is not of `type`; None if it takes a function."""
        # x.__class__ is not str or not (x.isascii() or is_string(x))
        # not is_number(x)
        # x != "2.0"
        # x not in ("user", "assistant")
        # not (is_string(x) or is_number(x))
        match self.simple(type):
            case Prim(name="string"):
                return self._no_string(var)
            case Prim(name="number"):
                return f"not {self._call('is_number', var)}"
            case Prim(name="boolean"):
                return f"{var}.__class__ is not bool"
            case Prim(name="null"):
                return f"{var} is not None"
            case Lit() as lit:
                return self._differs(lit, var)
            case Uni() as union:
                return self._of_no_arm(union, var)
            case _:
                return None

    def takes(self, type: Type, var: str) -> Code | None:
        """The condition that a value is of `type`; None if it takes a function."""
        # is_string(x)
        # x == "2.0"
        # x in ("user", "assistant")
        match self.simple(type):
            case Prim() as prim if prim.name in _SIMPLE:
                (kind,) = kinds(self.schema, prim)
                return self.of_kind(kind, var)
            case Lit() as lit:
                return self._equals(lit, var)
            case Uni() as union:
                if names := choices(self.schema, union):
                    return Group(f"{var} in (", tuple(names), ")")
                return self._of_an_arm(union, var)
            case _:
                return None

    def simple(self, type: Type) -> Type:
        """`type` without aliases, and without string literals beside `string`."""
        bare = resolve_aliases(self.schema, type)
        if isinstance(bare, Uni) and Prim("string") in (leaves := arms(self.schema, bare)):
            others = tuple(leaf for leaf in leaves if not _is_string(leaf))
            return others[0] if len(others) == 1 else Uni(others)
        return bare

    def _no_string(self, var: str) -> Code:
        """`not is_string(x)`, without the call for most strings."""
        # x.__class__ is not str or not (x.isascii() or is_string(x))
        if not self.text:
            return f"{var}.__class__ is not str"
        fine = Or((f"{var}.isascii()", self._call("is_string", var)), "or")
        return Group(f"{var}.__class__ is not str or not (", (fine,), ")")

    def _differs(self, type: Lit, var: str) -> str:
        # x is not True
        # not is_number(x) or x != 1
        if isinstance(type.value, bool):
            return f"{var} is not {type.value}"
        unequal = f"{var} != {literal(type.value)}"
        if isinstance(type.value, str):
            return unequal
        return f"not {self._call('is_number', var)} or {unequal}"

    def _equals(self, type: Lit, var: str) -> str:
        # x is True
        # (is_number(x) and x == 1)
        if isinstance(type.value, bool):
            return f"{var} is {type.value}"
        equal = f"{var} == {literal(type.value)}"
        if isinstance(type.value, str):
            return equal
        return f"({self._call('is_number', var)} and {equal})"

    def _of_no_arm(self, type: Uni, var: str) -> Code | None:
        # x not in ("user", "assistant")
        # not (is_string(x) or is_number(x))
        if names := choices(self.schema, type):
            return Group(f"{var} not in (", tuple(names), ")")
        taken = self._of_an_arm(type, var)
        return None if taken is None else Group("not (", (taken,), ")")

    def _of_an_arm(self, type: Uni, var: str) -> Code | None:
        # is_string(x) or is_number(x)
        codes: list[Code] = []
        for arm in arms(self.schema, type):
            code = self.takes(arm, var)
            if code is None:
                return None
            codes.append(code)
        return Or(tuple(codes), "or") if codes else None

    def beyond(self, type: Bounded, var: str) -> Iterator[tuple[Kind, list[Bound]]]:
        """For each JSON kind of a bounded type, the conditions which refuse a value."""
        # x < 0
        # len(x) > 40
        taken = kinds(self.schema, type.of)
        makers: dict[Kind, Callable[[Limits, str], list[Bound]]] = {
            "number": self._number_bounds,
            "array": self._array_bounds,
            "string": self._string_bounds,
        }
        for kind, bounds in makers.items():
            if kind in taken and (conditions := bounds(type.limits, var)):
                yield kind, conditions

    def _number_bounds(self, limits: Limits, var: str) -> list[Bound]:
        # x < 0
        # not is_multiple(x, 5)
        bounds: list[Bound] = [(f"{var} % 1", "integer")] if limits.integer else []
        numbers = (
            (limits.minimum, "<", "at least"),
            (limits.maximum, ">", "at most"),
            (limits.exclusive_minimum, "<=", "more than"),
            (limits.exclusive_maximum, ">=", "less than"),
        )
        bounds += [
            (f"{var} {sign} {b!r}", f"{text} {b}") for b, sign, text in numbers if b is not None
        ]
        if (step := limits.multiple_of) is not None:
            refused = f"not {self._call('is_multiple', var, repr(step))}"
            bounds.append((refused, f"a multiple of {step}"))
        return bounds

    def _array_bounds(self, limits: Limits, var: str) -> list[Bound]:
        # len(x) > 40
        # not are_unique(x)
        bounds = _sizes(limits.min_items, limits.max_items, "item", var)
        if limits.unique_items:
            bounds.append((f"not {self._call('are_unique', var)}", "items that differ"))
        return bounds

    def _string_bounds(self, limits: Limits, var: str) -> list[Bound]:
        # len(x) < 1
        # not matches("^a", x)
        bounds = _sizes(limits.min_length, limits.max_length, "character", var)
        if limits.pattern is not None:
            code = literal(python_pattern(limits.pattern))
            refused = call(f"not {self.use('matches')}", code, var)
            bounds.append((refused, f"text that matches {limits.pattern}"))
        return bounds


def choices(schema: Schema, type: Type) -> list[str]:
    """The literals of a type made of string literals only; empty for other types."""
    # "user", "assistant"
    bare = resolve_aliases(schema, type)
    leaves = arms(schema, bare) if isinstance(bare, Uni) else (bare,)
    opened = [resolve_aliases(schema, leaf) for leaf in leaves]
    strings = [leaf.value for leaf in opened if isinstance(leaf, Lit)]
    names = [literal(value) for value in strings if isinstance(value, str)]
    return names if len(names) == len(leaves) else []


def _is_string(type: Type) -> bool:
    return isinstance(type, Lit) and isinstance(type.value, str)


def _sizes(least: int | None, most: int | None, unit: str, var: str) -> list[Bound]:
    # len(x) < 1
    bounds: list[Bound] = (
        [(f"len({var}) < {least}", f"at least {count_of(least, unit)}")]
        if least is not None
        else []
    )
    if most is not None:
        bounds.append((f"len({var}) > {most}", f"at most {count_of(most, unit)}"))
    return bounds
