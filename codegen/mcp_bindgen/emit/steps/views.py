"""Values for the templates of conversion: a module for each pair of revisions, and a package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_bindgen.convert.inherited_params import envelope
from mcp_bindgen.convert.method_names import first_names
from mcp_bindgen.convert.model import DEGRADES, Call, Decision, Direction, Pair
from mcp_bindgen.emit.steps.functions import Writer
from mcp_bindgen.emit.steps.parts import refusal_parts
from mcp_bindgen.emit.steps.predicates import Admits
from mcp_bindgen.emit.support.steps import _parts
from mcp_bindgen.emit.text.imports import import_order
from mcp_bindgen.emit.text.layout import STEP, Group, as_tuple, call, lay, literal
from mcp_bindgen.ir.model import Schema

__all__ = ["step_view", "steps_view"]

_PREFERRED: Final = ("msgspec", "dataclass", "pydantic")
"""`convert` validates with the first of these flavours which is present."""

_POSITIONS: Final = ("request", "notification", "response", "error")

_BOUNDS: Final = ("are_unique", "is_multiple", "matches")
"""The functions called by predicates for bounds beyond a comparison."""

_SUBSTITUTES: Final = frozenset(name for name, _ in DEGRADES.values())
_PARTS: Final = frozenset(_parts.__all__)


def step_view(pair: Pair) -> dict[str, Any]:
    """The values for step.py.jinja."""
    used = {"Refusal", "Step"}
    admits = {"old": Admits(pair.old, "old"), "new": Admits(pair.new, "new")}
    up, down = (Writer(direction, admits, used) for direction in pair.directions)
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
        "bounds": [name for name in _BOUNDS if f"{name}(" in text],
        "composition": sorted(used & _PARTS, key=import_order),
        "imports": sorted(used - _SUBSTITUTES - _PARTS, key=import_order),
        "substitutes": sorted(used & _SUBSTITUTES, key=import_order),
        "parts": [part for part in parts if part["functions"]],
        "names": [f"{k}: Final = {literal(v)}" for k, v in sorted((up.names | down.names).items())],
        "squatters": [*_squatter("UP", old, new, text), *_squatter("DOWN", new, old, text)],
        "up": list(_entries(pair.up)),
        "down": list(_entries(pair.down)),
        "refused_up": [line for row in pair.up.refused.items() for line in _refusals(*row)],
        "refused_down": [line for row in pair.down.refused.items() for line in _refusals(*row)],
        "context": context,
    }


def _squatter(name: str, source: str, target: str, text: str) -> Iterator[str]:
    """The line of code with the reason why a member unknown to its sender's revision is dropped."""
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


def _refusals(name: str, decision: Decision) -> Iterator[str]:
    parts = refusal_parts(decision)
    yield from lay(STEP, f"{literal(name)}: ", call("Refusal", *parts), ",")


# ---- steps/__init__.py and convert.py


def steps_view(
    modules: Mapping[str, Pair], schemas: Sequence[Schema], models: tuple[str, ...]
) -> dict[str, Any]:
    """The values for steps.py.jinja and convert.py.jinja; `modules` are pairs by module name."""
    flavours = [literal(name) for name in _PREFERRED if name in models]
    return {
        "modules": [line for row in modules.items() for line in _module(*row)],
        "first_names": [
            line for row in first_names([*modules.values()]).items() for line in _names(*row)
        ],
        "flavours": lay("", "_FLAVOURS: Final = ", as_tuple(flavours)),
        "envelopes": [line for schema in schemas for line in _envelopes(schema)],
    }


def _module(name: str, pair: Pair) -> list[str]:
    key = f"({literal(pair.old.revision)}, {literal(pair.new.revision)}): "
    return lay(STEP, key, literal(name), ",")


def _names(revision: str, names: Mapping[str, str]) -> list[str]:
    items = tuple(f"{literal(name)}: {literal(first)}" for name, first in names.items())
    return lay(STEP, f"{literal(revision)}: ", Group("{", items, "}"), ",")


def _envelopes(schema: Schema) -> list[str]:
    structs = (envelope(schema, position) for position in _POSITIONS)
    names = tuple(literal(struct.name if struct else "") for struct in structs)
    return lay(STEP, f"{literal(schema.revision)}: ", Group("(", names, ")"), ",")
