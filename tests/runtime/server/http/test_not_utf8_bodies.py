"""A body that is not UTF-8 is answered with 400, with and without a store."""

from __future__ import annotations

import pytest

from mcp_runtime.stores.memory import MemoryStore
from tests.runtime.core.test_not_utf8 import PLACES
from tests.support.asgi_client import SHAKEN, serving


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("revision", SHAKEN)
async def test_over_http_it_is_answered_with_400(revision: str, stored: bool) -> None:
    options = {"store": MemoryStore()} if stored else {}
    async with serving(**options) as client:
        session = await client.session(revision)
        for place, text in PLACES.items():
            answered = await session.post(text).until_over()
            assert (answered.status, answered.error["code"]) == (400, -32700), place
        assert "result" in (await session.call("echo").until_over()).json
