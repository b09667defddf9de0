"""The projects of all tests here hold the same bindings, which are written once in each worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.projects import shared_bindings


@pytest.fixture(scope="session", autouse=True)
def _bindings() -> Iterator[None]:
    with shared_bindings():
        yield
