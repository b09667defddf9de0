"""Where the official files of the protocol are: fetched by `make official`, or in ../shared."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

__all__ = ["FETCHED", "SHARED", "find", "require"]

FETCHED: Final = Path(__file__).parents[1] / "official" / "files"
SHARED: Final = Path(__file__).parents[3] / "shared" / "official"


def find(revision: str, name: str) -> Path | None:
    """The file of a revision with that name; None where nobody has it."""
    places = [folder / revision / name for folder in (FETCHED, SHARED)]
    return next((path for path in places if path.is_file()), None)


def require(revision: str, name: str) -> Path:
    """The same; skips the test where nobody has it."""
    path = find(revision, name)
    if path is None:
        pytest.skip(
            f"{revision}/{name} is not in tests/official/files (`make official` fetches it), "
            "nor in ../shared/official"
        )
    return path
