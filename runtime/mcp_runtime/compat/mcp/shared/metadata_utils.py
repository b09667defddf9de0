"""Stand-in for `mcp.shared.metadata_utils`: the name of a feature that people are shown."""

from __future__ import annotations

from typing import Any


def get_display_name(feature: Any) -> str:
    """Return the title of a feature, the title in its annotations, or its name."""
    annotations = getattr(feature, "annotations", None)
    name: str = feature.title or getattr(annotations, "title", None) or feature.name
    return name
