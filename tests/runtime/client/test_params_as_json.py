"""`Client.request` takes params as JSON, as methods need that only a newer revision has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.revisions import ALL, LATEST, EncodeError, latest

CALL: Final = {"name": "get"}
NO_JSON: Final = (float("nan"), float("inf"), "\ud800", 10**5000)


@asynccontextmanager
async def connected(revision: str) -> AsyncIterator[Client]:
    server = Server("s", "1")

    @server.tool
    async def get(ctx: Context) -> str:
        await ctx.progress(1)
        return "got"

    async with Client(server, revisions=[revision]) as client:
        yield client


@pytest.mark.parametrize("way", ["absent", "model", "json"])
@pytest.mark.parametrize("revision", ALL)
async def test_params_as_json_get_the_meta_that_they_need(way: str, revision: str) -> None:
    async with connected(revision) as client:
        given: dict[str, Any] = {"model": client.meta(), "json": latest.to_wire(client.meta())}
        params = {**CALL, **({"_meta": given[way]} if way in given else {})}
        (item,) = (await client.request("tools/call", params)).content
        assert item.text == "got"


async def test_progress_of_params_as_json_arrives() -> None:
    async with connected(LATEST) as client:
        seen: list[float] = []

        def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append(progress)

        await client.request("tools/call", CALL, on_progress=note)
        assert seen == [1]


@pytest.mark.parametrize("value", NO_JSON, ids=["nan", "inf", "surrogate", "digits"])
@pytest.mark.parametrize("revision", ALL)
async def test_an_argument_that_is_no_json_is_refused_whatever_the_server_speaks(
    revision: str, value: Any
) -> None:
    async with connected(revision) as client:
        with pytest.raises(EncodeError, match=r"^\$\.arguments\.x"):
            await client.call_tool("get", {"x": value, "y": None})
        assert (await client.call_tool("get")).is_error is not True
