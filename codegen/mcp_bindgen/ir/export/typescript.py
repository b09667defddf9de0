"""Types as TypeScript writes them, for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Limits,
    Lit,
    LiteralValue,
    Map,
    Prim,
    Ref,
    Tup,
    Type,
    Uni,
)

__all__ = ["spelled_type", "spelled_value"]

_SIGNS: Final = (
    ("≥", "minimum"),
    ("≤", "maximum"),
    (">", "exclusive_minimum"),
    ("<", "exclusive_maximum"),
    ("items ≥", "min_items"),
    ("items ≤", "max_items"),
    ("length ≥", "min_length"),
    ("length ≤", "max_length"),
    ("multiple of", "multiple_of"),
    ("matching", "pattern"),
)


def spelled_type(type: Type, named: Callable[[str], str] = str) -> str:
    """`type` in TypeScript, its bounds in words; `named` says how a reference is written."""
    match type:
        case Prim():
            return "JSON" if type.name == "json" else type.name
        case Lit():
            return spelled_value(type.value)
        case Ref():
            return named(type.name)
        case Arr():
            return f"{_operand(type.of, named)}[]"
        case Map():
            return f"{{ [key: string]: {spelled_type(type.of, named)} }}"
        case Uni():
            return " | ".join(spelled_type(arm, named) for arm in type.arms) or "never"
        case Tup():
            return _tuple(type, named)
        case Bounded():
            return f"{_operand(type.of, named)} ({_bounds(type.limits)})"


def spelled_value(value: LiteralValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _operand(type: Type, named: Callable[[str], str]) -> str:
    text = spelled_type(type, named)
    return f"({text})" if isinstance(type, Uni) else text


def _tuple(type: Tup, named: Callable[[str], str]) -> str:
    items = [spelled_type(e.type, named) + "?" * e.optional for e in type.of]
    rest = [] if type.rest is None else [f"...{_operand(type.rest, named)}[]"]
    return f"[{', '.join(items + rest)}]"


def _bounds(limits: Limits) -> str:
    bounds = [(sign, getattr(limits, name)) for sign, name in _SIGNS]
    words = [f"{sign} {bound}" for sign, bound in bounds if bound is not None]
    flags = ["integer"] * limits.integer + ["unique items"] * limits.unique_items
    return ", ".join(flags + words)
