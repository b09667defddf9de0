"""Every name that CHANGELOG.md says has moved is at its new place, and gone from its old one."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

ROW: Final = re.compile(r"^\| `(mcp_runtime[\w.]*)` \| `(mcp_runtime[\w.]*)` \|$", re.MULTILINE)
MOVED: Final = ROW.findall((Path(__file__).parents[1] / "CHANGELOG.md").read_text("utf-8"))


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or a name that a module makes public."""
    for candidate in (name, name.rpartition(".")[0]):
        with suppress(ModuleNotFoundError):
            public = getattr(import_module(candidate), "__all__", ())
            return candidate == name or name.rpartition(".")[2] in public
    return False


def test_there_are_rows() -> None:
    assert len(MOVED) > 90
    assert len({old for old, _ in MOVED}) == len(MOVED)


@pytest.mark.parametrize(("old", "new"), MOVED)
def test_a_moved_name_is_where_the_table_says_and_nowhere_else(old: str, new: str) -> None:
    assert exists(new)
    # A module may have become a package, and a package may hold a module of the old name.
    assert not exists(old) or old in {"mcp_runtime.client", "mcp_runtime.server"}
