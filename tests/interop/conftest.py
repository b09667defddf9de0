"""Tests beside other implementations need them."""

from __future__ import annotations

import pytest

from bench import peers
from tests.interop import node


@pytest.fixture(autouse=True)
def _needed(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("peers") and not peers.ready():
        pytest.skip("needs the peer in an environment of its own: make peers")
    if request.node.get_closest_marker("interop") and not (peers.ready() and node.ready()):
        pytest.fail("needs Node's packages and the peer's environment: make interop")
