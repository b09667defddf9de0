"""The options of a client: the same for each way to make one, with their types."""

from __future__ import annotations

import inspect
import math
from typing import Any, get_type_hints

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.client.options import ClientOptions
from mcp_runtime.errors import LocalError


def test_stdio_and_http_take_the_keyword_arguments_of_the_class() -> None:
    parameters = inspect.signature(Client.__init__).parameters
    keywords = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    assert keywords == list(ClientOptions.__annotations__)
    hints = get_type_hints(Client.__init__, include_extras=True)
    options = get_type_hints(ClientOptions, include_extras=True)
    assert {name: hints[name] for name in keywords} == options


def test_an_unknown_option_is_refused_before_anything_is_started() -> None:
    unknown: dict[str, Any] = {"timeouts": 1}
    for make in (
        lambda: Client.stdio(["true"], **unknown),
        lambda: Client(Server("s", "1"), **unknown),
    ):
        with pytest.raises(TypeError, match="timeouts"):
            make()


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_an_unknown_log_level_is_refused_and_the_level_stays(revision: str) -> None:
    server, logs = Server("s", "1"), list[Any]()

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.log("info", "hello")

    async with Client(server, revisions=[revision], on_log=logs.append) as client:
        await client.set_log_level("info")
        with pytest.raises(ValueError, match=r"^'loud' is not a log level; .* debug, info, notice"):
            await client.set_log_level("loud")
        await client.call_tool("work")
    assert [log.data for log in logs] == ["hello"]
    with pytest.raises(ValueError, match=r"^'loud' is not a log level"):
        Client(server, log_level="loud")


@pytest.mark.parametrize("wrong", ["3", math.nan], ids=repr)
async def test_what_is_no_number_of_seconds_is_refused(wrong: Any) -> None:
    server = Server("s", "1")

    @server.tool
    async def work() -> None: ...

    for option in ("timeout", "ping_every"):
        with pytest.raises(ValueError, match=f"^{option} is .*: give a number of seconds$"):
            Client(server, **{option: wrong})
    async with Client(server) as client:
        with pytest.raises(ValueError, match=r"^timeout is .*: give a number of seconds$"):
            await client.call_tool("work", timeout=wrong)


def test_a_client_under_another_event_loop_than_that_of_asyncio_starts_nothing() -> None:
    """As `trio.run` does: it drives the coroutine itself."""
    for client in (Client.stdio(["no-such-program"]), Client(Server("s", "1"))):
        with pytest.raises(LocalError, match="asyncio"):
            client.__aenter__().send(None)
