"""The log says once that a server is away, however often it is tried and asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.bridge import Bridge, Names, Upstream
from mcp_runtime.errors import NotReached, RemoteError
from tests.support.virtual_time import elapse


class Fickle:
    """A server that is away for the reason `why`, or there if `why` is empty."""

    def __init__(self) -> None:
        self.why = "no such command"
        self.clients: list[Any] = []
        self._server = Server("s", "1")
        self._server.tool(name="add")(lambda: "3")

    def upstream(self) -> Upstream:
        return Upstream(connect=self._connect, names=Names(prefix="gone"))

    def _connect(self, **options: Any) -> Client:
        if self.why:
            raise NotReached(self.why)
        self.clients.append(Client(self._server, **options))
        return self.clients[-1]


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return a function that returns the warnings since its last call."""

    def new_warnings() -> list[str]:
        texts = [each.message for each in caplog.records if each.levelname == "WARNING"]
        caplog.clear()
        return texts

    return new_warnings


@pytest.mark.parametrize("others", [0, 1])
async def test_a_server_that_is_away_is_one_warning_for_each_reason(
    others: int, warnings: Callable[[], list[str]]
) -> None:
    fickle, here = Fickle(), Upstream.of(Server("here", "1"), Names(prefix="here"))
    servers = {"gone": fickle.upstream(), **({"here": here} if others else {})}
    async with Client(Bridge(servers).server) as client:
        for why in ("no such command", "another reason"):
            fickle.why = why
            for _ in range(3):
                with pytest.raises(RemoteError, match="gone is not available; the log says why"):
                    await client.call_tool("gone_add")
                if others:
                    assert await client.list_tools() == []
                await elapse(60.0)
            assert warnings() == [f"gone is not available: {why}"]


async def test_a_server_that_has_answered_and_is_away_again_is_a_warning_again(
    warnings: Callable[[], list[str]],
) -> None:
    fickle = Fickle()
    async with Client(Bridge({"gone": fickle.upstream()}).server) as client:
        for _ in range(2):
            fickle.why = "no such command"
            if fickle.clients:
                await fickle.clients[-1].connection.wire.close()
            for _ in range(2):
                with pytest.raises(RemoteError):
                    await client.call_tool("gone_add")
                await elapse(60.0)
            assert warnings() == ["gone is not available: no such command"]
            fickle.why = ""
            assert (await client.call_tool("gone_add")).text == "3"
        assert warnings() == []
