"""The stores that processes share here: one SQLite file for all tests of a worker, or Redis."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support.redis_server import RedisServer
from tests.support.served_processes import end_kept, keep

HERE: Final = Path(__file__).parent


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a store whose processes serve one test after another."""
    store = f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    keep(store)
    return store


@pytest.fixture(
    params=["sqlite", pytest.param("redis", marks=[pytest.mark.wide, pytest.mark.real_time])]
)
def store(request: pytest.FixtureRequest) -> str:
    """The URL of a store that processes share: each kind in its turn."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite"))
    server: RedisServer = request.getfixturevalue("redis")
    return server.url


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != HERE:
        end_kept()
