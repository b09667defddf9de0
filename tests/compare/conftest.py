"""Reports of the same few schemas, in every form."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.shared_work import shared_work


@pytest.fixture(scope="session", autouse=True)
def _work() -> Iterator[None]:
    """Equal work of the verbs is done once in each worker."""
    with shared_work():
        yield
