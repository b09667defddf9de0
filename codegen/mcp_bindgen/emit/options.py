"""The user's choices at generation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["FLAVOURS", "Options"]

FLAVOURS: Final = ("dataclass", "pydantic", "msgspec")


@dataclass(frozen=True, slots=True)
class Options:
    """`flavours` of the models; `unknown` keep, drop or reject; `literals` closed or open; `format`
    off or black; `templates` a folder used instead of ours. `lean` writes one module of plain
    pydantic models, with None or pydantic's MISSING for `absent` members.
    """

    flavours: tuple[str, ...] = FLAVOURS
    unknown: str = "keep"
    literals: str = "closed"
    format: str = "off"
    templates: Path | None = None
    lean: bool = False
    absent: str = "missing"
