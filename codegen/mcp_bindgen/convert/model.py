"""The parts of a plan: ways through a pair of types, functions, and the decisions in them.

A way says what becomes of a value. Functions are the ways through structs and unions, by name; a
way that changes nothing is `Carry`, and a function that changes nothing is not in the plan.
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
"""What a default may take from the context; `revision` is the target's name."""

ALLOWED: Final = ("result_types",)
"""What `unless` of a row may name: members of the context that hold the values not to refuse."""

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
"""What the `as` of a row calls each function of _substitutes.py, and what losses say of it."""


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
    """What a function of the plan makes of it."""

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
    """A member that both sides declare.

    `decision` says what to do where it is absent and the target requires it, or where what it
    becomes is empty; `to` is its name in the target.
    """

    wire: str
    way: Way
    to: str
    optional: bool
    required: bool
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """A member that cannot stay as it is; where `admits` is given, only what that type refuses.

    `undone`: what the way back fills in is taken out again, and any other value stays. Where there
    are `others`, it is lost only if it has the member that the row's `alone` names, and none of
    these.
    """

    wire: str
    decision: Decision
    admits: Type | None = None
    undone: bool = False
    others: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class New:
    """A member that only the target declares.

    What stands there under its name is kept if the target's type admits it; `decision` fills it in
    or mends it.
    """

    wire: str
    type: Type
    required: bool
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """A member that both sides declare, and that names the revision of its message."""

    wire: str


@dataclass(frozen=True, slots=True)
class Part:
    """A member that is part of an array: its items, or with `name` one object of it.

    The object has the value as `name`, and `marks` beside it; `way` is that of an item or value.
    """

    wire: str
    way: Way
    name: str = ""
    marks: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Composed:
    """An array that one side has in place of other members: built of `parts`, or taken apart."""

    wire: str
    parts: tuple[Part, ...]
    built: bool
    decision: Decision


Member: TypeAlias = Kept | Lost | New | Stamp | Composed


@dataclass(frozen=True, slots=True)
class StructStep:
    """The members of an object that need attention; `source` and `target` are its two types."""

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
    """The arms in the order that decides; a value goes the way of the first that accepts it."""

    name: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """Params that may be absent: `fill` makes them of nothing, `empty` makes nothing of them."""

    name: str
    way: Way
    mode: str


@dataclass(frozen=True, slots=True)
class Code:
    """An error code that one side alone knows, or that means something else in the other."""

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
    """`ways` by method and position: params, result, error, and of any other method (``) request,
    notification, response, error. `refused` are methods that cannot pass."""

    name: str
    source: Schema
    target: Schema
    functions: Mapping[str, Function]
    ways: Mapping[tuple[str, str], Way]
    refused: Mapping[str, Decision]


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
