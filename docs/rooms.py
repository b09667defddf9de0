"""The rooms of a package, and which room imports which, from the imports in its files.

A room is a folder of the package; `client` and `server` have rooms inside. The facades
`server/server.py` and `client/client.py` stand above their folders and are rooms too, and so is
each module at the root that imports a room. The other modules at the root are one room, the base.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tests.support.imports import Module, edges, modules

__all__ = ["BASE", "House", "Room", "house"]

BASE: Final = "base"
DIVIDED: Final = ("client", "server")
FACADES: Final = ("client/client", "server/server")
PACKAGES: Final = frozenset({"mcp_bindgen", "mcp_runtime", "mcp_wire"})


@dataclass(frozen=True, slots=True)
class Room:
    """`imports` are the rooms that it imports when it runs, in functions too; `names` are those
    that it imports for type checkers only. A room without modules is another package."""

    name: str
    modules: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @property
    def below(self) -> frozenset[str]:
        """What it stands on. The base may name types of the rooms above it."""
        return self.imports if self.name == BASE else self.imports | self.names


@dataclass(frozen=True, slots=True)
class House:
    """The rooms of a package by name, and the folder of the package."""

    folder: Path
    rooms: Mapping[str, Room]


def house(folder: Path) -> House:
    """Reads the package in `folder`."""
    inside = [
        module for module in modules(folder.parent, folder.name) if module.parts[-1] != "__main__"
    ]
    names = _names(inside)
    ever, runs = _between(inside, names), _between(map(_running, inside), names)
    members: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for module, room in names.items():
        members[room] += (module,)
    rooms = {room: Room(room, members[room], runs[room], ever[room] - runs[room]) for room in ever}
    return House(folder, rooms)


def _running(module: Module) -> Module:
    """The same module without what it imports for type checkers."""
    return replace(module, imports=tuple(each for each in module.imports if not each.typing))


def _names(inside: Sequence[Module]) -> dict[str, str]:
    """The room of each module."""
    folders = frozenset(module.name.rpartition(".")[0] for module in inside)
    return {module.name: _room(module, folders) for module in inside}


def _room(module: Module, folders: frozenset[str]) -> str:
    package, *path = module.parts
    folder = path if module.name in folders else path[:-1]
    if "/".join(path) in FACADES:
        return "/".join(path)
    if folder:
        return "/".join(folder[: 2 if folder[0] in DIVIDED else 1])
    imports = (_running(module) if path else module).imports
    rooms = tuple(name for name in folders if "." in name)
    is_above = any(each.within(*rooms) for each in imports)
    return "/".join(path or [package]) if is_above else BASE


def _between(
    inside: Iterable[Module], names: Mapping[str, str]
) -> defaultdict[str, frozenset[str]]:
    """For each room the other rooms, and the other packages of the project, that it imports."""
    read = tuple(inside)
    rooms: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for name, imported in edges(read).items():
        rooms[names[name]] |= {names[there] for there in imported} - {names[name]}
    for module in read:
        others = {each.name.partition(".")[0] for each in module.imports} & PACKAGES
        for other in others - {module.parts[0]}:
            rooms[names[module.name]] |= {other}
            rooms.setdefault(other, frozenset())
    return rooms
