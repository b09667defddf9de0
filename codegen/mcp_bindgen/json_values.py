"""Narrows parsed JSON: the value as an object or an array, or empty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

__all__ = ["list_of", "object_of"]


def object_of(value: Any) -> dict[str, Any] | None:
    """The value, where it is a JSON object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def list_of(value: Any) -> list[Any] | None:
    """The value, where it is a JSON array."""
    return list(cast("Iterable[Any]", value)) if isinstance(value, list) else None
