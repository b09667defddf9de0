"""A server of ours, in a file, for what runs or asks one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.demo_server import SERVER
from tests.support.shared_work import shared_work


@pytest.fixture(scope="session", autouse=True)
def _work() -> Iterator[None]:
    """Equal work of the verbs is done once in each worker."""
    with shared_work():
        yield


@pytest.fixture
def server(tmp_path: Path) -> str:
    path = tmp_path / "demo.py"
    path.write_text(SERVER, encoding="utf-8")
    return f"{path}:server"
