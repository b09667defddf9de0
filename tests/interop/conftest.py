"""Tests beside other implementations need them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import peers
from tests.interop import environments, node
from tests.support import wheels


@pytest.fixture(autouse=True)
def _needed(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("peers") and not peers.ready():
        pytest.skip("needs the peer in an environment of its own: make peers")
    if request.node.get_closest_marker("interop") and not _is_ready():
        pytest.fail("needs Node's packages and the peers' environments: make interop")


def _is_ready() -> bool:
    return peers.ready() and node.ready() and environments.ready()


@pytest.fixture(scope="session")
def runtime(root: Path, tmp_path_factory: pytest.TempPathFactory) -> wheels.Environment:
    """The wheel of the runtime, installed without extras."""
    return wheels.environment(wheels.wheels(root, tmp_path_factory), "runtime")
