"""Every name that CHANGELOG.md says has moved is at its new place, and gone from its old one."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from tests.support.public_names import defined, listed

ROW: Final = re.compile(r"^\| `(mcp_runtime[\w.]*)` \| `(mcp_runtime[\w.]*)` \|$", re.MULTILINE)
MOVED: Final = ROW.findall((Path(__file__).parents[1] / "CHANGELOG.md").read_text("utf-8"))


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or a name that a module lists or defines."""
    for candidate in (name, name.rpartition(".")[0]):
        with suppress(ModuleNotFoundError):
            module = import_module(candidate)
            return candidate == name or name.rpartition(".")[2] in names(module)
    return False


def names(module: ModuleType) -> Collection[str]:
    """What a module lists in `__all__`, or else what it defines."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    return defined(tree) if (public := listed(tree)) is None else public


def test_there_are_rows() -> None:
    assert len(MOVED) > 90
    assert len({old for old, _ in MOVED}) == len(MOVED)


@pytest.mark.parametrize(("old", "new"), MOVED)
def test_a_moved_name_is_where_the_table_says_and_nowhere_else(old: str, new: str) -> None:
    assert exists(new)
    # A module may have become a package, and a package may hold a module of the old name.
    assert not exists(old) or old in {"mcp_runtime.client", "mcp_runtime.server"}
