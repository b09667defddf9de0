"""The parts of a plan: ways through a pair of types, functions, and decisions.

A way tells how a value is converted. Functions are the ways through structs and unions, by name; a
way without effect is `Carry`, and a function without effect is not in the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mcp_bindgen.ir.model import Schema, Struct, Type

__all__ = [
    "ALLOWED",
    "CARRY",
    "CONTEXTS",
    "DEGRADES",
    "DOWN",
    "TEXTS",
    "UP",
    "Arm",
    "Call",
    "Carry",
    "Code",
    "Composed",
    "Decision",
    "Direction",
    "Each",
    "Errors",
    "Function",
    "Kept",
    "Lost",
    "Member",
    "New",
    "Pair",
    "Part",
    "Stamp",
    "StructStep",
    "UnionStep",
    "Values",
    "Way",
    "Whole",
]

UP: Final = "up"
DOWN: Final = "down"


CONTEXTS: Final = ("client_info", "client_capabilities", "server_info", "log_level", "revision")
"""Parts of the context usable as a default; `revision` is the target's name."""

ALLOWED: Final = ("result_types",)
"""Members of the context which `unless` of a row may name: they list values not to refuse."""

DEGRADES: Final[Mapping[str, tuple[str, str]]] = {
    "blocks": ("blocks_as_one", "becomes one block"),
    "choice": ("choice_as_enum", "has its labels apart from its values"),
    "json": ("json_as_text", "becomes its JSON as text"),
    "link": ("link_as_text", "becomes text"),
    "media": ("media_as_text", "becomes text"),
    "schemas": ("schemas_as_objects", "has objects for `true` and `false`"),
    "structured": ("structured_as_text", "becomes text"),
    "task": ("task_as_text", "becomes text"),
    "text": ("json_as_text_item", "becomes a text item with its JSON"),
    "tool_result": ("tool_result_as_text", "becomes text"),
    "tool_use": ("tool_use_as_text", "becomes text"),
    "urls": ("urls_in_message", "has its addresses in the message"),
}
"""For each `as` of a row: the function in _substitutes.py, and its wording in losses."""

TEXTS: Final = frozenset(("link", "media", "text", "tool_result", "tool_use"))
"""The `as` of rows which make a text item of the source's revision."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One direction of a `[[step]]` row; `values` are its keys."""

    action: str
    path: str
    why: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Carry:
    """The value as it is."""


@dataclass(frozen=True, slots=True)
class Call:
    """The result of a function of the plan."""

    name: str


@dataclass(frozen=True, slots=True)
class Each:
    """Every item of an array."""

    way: Way


@dataclass(frozen=True, slots=True)
class Values:
    """Every value of an object."""

    way: Way


Way: TypeAlias = Carry | Call | Each | Values

CARRY: Final = Carry()


@dataclass(frozen=True, slots=True)
class Kept:
    """A member declared by both sides.

    `decision` applies if the member is absent and the target requires it, or if its converted value
    is empty; `to` is its name in the target. `context` is the part of the context in it, which is
    converted with it; empty for other members.
    """

    wire: str
    way: Way
    to: str
    optional: bool
    required: bool
    decision: Decision | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """A member removed from the message; with `admits`, only if its value is not of this type.

    `undone`: a value filled in by the way back is removed again, and any other value stays. With
    `others`, the member is removed only if its value has the member `alone` of the row and none of
    `others`.
    """

    wire: str
    decision: Decision
    admits: Type | None = None
    undone: bool = False
    others: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class New:
    """A member declared only by the target.

    A value already present is kept if the target's type admits it; `decision` fills it in or
    repairs it.
    """

    wire: str
    type: Type
    required: bool
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """A member declared by both sides which names the revision of its message."""

    wire: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an array: the items of a member, one object for a member, or a constant object.

    With `name`, the object has the member's value as `name`, and `marks` beside it; without `wire`
    it is `marks` alone. `way` converts an item or value. `fill` holds the member's value where no
    item has one, and is empty for a member that may be absent.
    """

    wire: str
    way: Way
    name: str = ""
    marks: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fill: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Composed:
    """An array which replaces other members of the other side: built of `parts`, or taken apart."""

    wire: str
    parts: tuple[Part, ...]
    built: bool
    decision: Decision


Member: TypeAlias = Kept | Lost | New | Stamp | Composed


@dataclass(frozen=True, slots=True)
class StructStep:
    """The members of an object to be converted; `source` and `target` are its two types."""

    name: str
    source: Struct
    target: Struct
    members: tuple[Member, ...]
    rest: Way = CARRY


@dataclass(frozen=True, slots=True)
class Arm:
    type: Type
    way: Way | Decision


@dataclass(frozen=True, slots=True)
class UnionStep:
    """The arms in deciding order; a value takes the way of the first arm which accepts it."""

    name: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """Optional params: `fill` creates them if absent, `empty` removes them if empty."""

    name: str
    way: Way
    mode: str


@dataclass(frozen=True, slots=True)
class Code:
    """An error code known to one side only, or with another meaning in the other side."""

    code: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class Errors:
    """An error response: its envelope's way, then its code. `method` is empty for all others."""

    name: str
    method: str
    way: Way
    codes: tuple[Code, ...]


Function: TypeAlias = StructStep | UnionStep | Whole | Errors


@dataclass(frozen=True, slots=True)
class Direction:
    """`ways` by method and position: params, result, error, and for other methods (``) request,
    notification, response, error. `refused` are the methods which cannot pass, `renamed` those
    with another name in the target, each with that name.
    """

    name: str
    source: Schema
    target: Schema
    functions: Mapping[str, Function]
    ways: Mapping[tuple[str, str], Way]
    refused: Mapping[str, Decision]
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbours, older first."""

    old: Schema
    new: Schema
    up: Direction
    down: Direction

    @property
    def directions(self) -> tuple[Direction, Direction]:
        return self.up, self.down
