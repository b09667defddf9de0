"""One difference between two schemas: its kind, and its place in both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from mcp_bindgen.ir.model import Type

__all__ = [
    "ITEM",
    "NOTHING",
    "VALUE",
    "Change",
    "Key",
    "Owner",
    "Place",
    "Spot",
    "path_step",
    "value_of",
]

Key: TypeAlias = tuple[str, str, str]
"""Subject, kind of change, and detail: the key of its rule."""
Owner: TypeAlias = tuple[str, str]
"""The declaration or anonymous shape around a change: its old and its new name."""

ITEM: Final = "[]"
VALUE: Final = "{}"


def value_of(key: str) -> str:
    """The step to the members of an index signature by template: ``{`x-${string}`}``."""
    return f"{VALUE[0]}{key}{VALUE[1]}"


def path_step(step: str) -> str:
    """A step as it stands in a path."""
    inside = step == ITEM or (step.startswith(VALUE[0]) and step.endswith(VALUE[1]))
    return step if inside else f".{step}"


@dataclass(frozen=True, slots=True)
class Spot:
    """The state in one schema: `text` in TypeScript, its type, its byte offset in the file."""

    text: str = ""
    type: Type | None = None
    at: int | None = None


NOTHING: Final = Spot()


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    `path` is in wire names, as the new schema writes it; `was` is the old path where that differs.
    `old` and `new` are what stands there, or the arm in question. `steps` lead from the owner to
    the place (wire names, ITEM, VALUE, `value_of`). `heirs` are other owners with the same change,
    inherited. `root` is `result` for what lies in a method's result itself.
    """

    key: Key
    path: str
    old: Spot = NOTHING
    new: Spot = NOTHING
    was: str = ""
    owner: Owner | None = None
    steps: tuple[str, ...] = ()
    heirs: tuple[Owner, ...] = ()
    method: str = ""
    root: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where two types stand in the old and in the new schema."""

    path: str
    was: str
    owner: Owner | None
    steps: tuple[str, ...]
    old_at: int | None
    new_at: int | None
    method: str = ""
    root: str = ""

    def below(self, step: str) -> Place:
        path, was = self.path + path_step(step), self.was + path_step(step)
        return replace(self, path=path, was=was, steps=(*self.steps, step))

    def change(self, key: Key, old: Spot = NOTHING, new: Spot = NOTHING) -> Change:
        return Change(
            key,
            self.path,
            replace(old, at=self.old_at) if old.at is None else old,
            replace(new, at=self.new_at) if new.at is None else new,
            self.was if self.was != self.path else "",
            self.owner,
            self.steps,
            method=self.method,
            root=self.root,
        )

    def text_change(self, key: Key, old: str, new: str) -> Change:
        return self.change(key, Spot(old), Spot(new))
