"""A server of ours, in a file, for what runs or asks one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.demo_server import SERVER
from tests.support.projects import shared_bindings


@pytest.fixture(scope="session", autouse=True)
def _bindings() -> Iterator[None]:
    """The projects of all tests here hold the same bindings, which are written once a worker."""
    with shared_bindings():
        yield


@pytest.fixture
def server(tmp_path: Path) -> str:
    path = tmp_path / "demo.py"
    path.write_text(SERVER, encoding="utf-8")
    return f"{path}:server"
