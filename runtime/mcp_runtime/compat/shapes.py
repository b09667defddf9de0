"""Views of values of unknown type: as a list, or as an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def items_of(value: object) -> list[Any] | None:
    """Return the items of a list or a tuple; None for any other value."""
    return [*cast("list[Any]", value)] if isinstance(value, list | tuple) else None


def members_of(value: object) -> dict[str, Any] | None:
    """Return the members of a mapping; None for any other value."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else None
