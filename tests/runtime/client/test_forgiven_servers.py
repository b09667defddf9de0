"""Servers that leave out what the newest revision demands: forgiven by its table, and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.errors import BadAnswer
from mcp_runtime.revisions import LATEST, revision
from tests.support.scripted_server import raw

INFO: Final = {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}}
WHOLE: Final[dict[str, Any]] = {
    "tools": [],
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": INFO,
}
DISCOVERED: Final[dict[str, Any]] = {
    **WHOLE,
    "supportedVersions": [LATEST],
    "capabilities": {"tools": {}},
}


async def listed(folder: Path, result: dict[str, Any]) -> dict[str, int]:
    """What a client forgave of a server that answers `tools/list` with `result`."""
    answers = {"server/discover": {"result": DISCOVERED}, "tools/list": {"result": result}}
    async with Client.stdio(raw(folder, answers=answers), stderr="drop") as client:
        assert client.revision == LATEST
        assert await client.list_tools() == []
        return dict(client.forgiven)


@pytest.mark.real_time
@pytest.mark.parametrize("name", [LATEST])
async def test_what_the_table_forgives_is_counted(name: str, tmp_path: Path) -> None:
    rows = [row for row in revision(name).tolerances if "item" not in row.forgives]
    assert {"resultType", "ttlMs", "cacheScope"} == {row.member for row in rows}
    assert await listed(tmp_path, WHOLE) == {}
    for row in rows:
        lacking = {wire: value for wire, value in WHOLE.items() if wire != row.member}
        assert await listed(tmp_path, lacking) == {row.member: 1}
    assert await listed(tmp_path, {"tools": []}) == {row.member: 1 for row in rows}
    assert await listed(tmp_path, {**WHOLE, "ttlMs": -1}) == {"ttlMs": 1}


@pytest.mark.real_time
@pytest.mark.parametrize("name", [LATEST])
async def test_what_the_table_does_not_forgive_fails(name: str, tmp_path: Path) -> None:
    for broken in ({**WHOLE, "resultType": 1}, {**WHOLE, "ttlMs": "0"}):
        with pytest.raises(BadAnswer):
            await listed(tmp_path, broken)
