"""Doors lead from the facades to rooms above them, and nothing else goes through."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from mcp_runtime.doors import DOORS, open_door


@pytest.mark.parametrize("method", DOORS)
def test_a_door_is_opened_by_its_method_alone_and_leads_above_the_facades(
    root: Path, method: str
) -> None:
    target, name = DOORS[method]
    assert target.startswith("mcp_runtime.bridge.")
    assert open_door(method) is getattr(import_module(target), name)
    runtime, opening = root / "runtime" / "mcp_runtime", f'open_door("{method}")'
    using = [each for each in runtime.rglob("*.py") if opening in each.read_text("utf-8")]
    facade = method.partition(".")[0].lower()
    assert using == [runtime / facade / f"{facade}.py"]
