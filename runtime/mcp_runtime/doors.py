"""Doors to higher rooms: a method of a facade whose work is done in a room above the facades.

A room is imported when its door is first opened, so a program without it does not pay for it, and
no lower room imports a higher one.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

DOORS: Final = {
    "Client.from_config": ("mcp_runtime.bridge.bridge", "config_server"),
    "Server.mount": ("mcp_runtime.bridge.mount", "mount"),
}
"""The module and the name of the function behind each method."""


def open_door(method: str) -> Any:
    """Return the function behind a method. Raises KeyError for a method without a door."""
    module, name = DOORS[method]
    return getattr(import_module(module), name)
