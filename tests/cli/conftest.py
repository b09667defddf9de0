"""A server of ours, in a file, for what runs or asks one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.demo_server import SERVER


@pytest.fixture
def server(tmp_path: Path) -> str:
    path = tmp_path / "demo.py"
    path.write_text(SERVER, encoding="utf-8")
    return f"{path}:server"
