"""The stores that processes share here: one SQLite file for all tests of a worker, or Redis."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.redis_server import RedisServer
from tests.support.served_processes import kept


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a store whose processes serve one test after another."""
    with kept(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db") as store:
        yield store


@pytest.fixture(
    params=["sqlite", pytest.param("redis", marks=[pytest.mark.wide, pytest.mark.real_time])]
)
def store(request: pytest.FixtureRequest) -> str:
    """The URL of a store that processes share: each kind in its turn."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite"))
    server: RedisServer = request.getfixturevalue("redis")
    return server.url
