"""A stranger's extension, examples/stamps: from its two schema files to a conversation."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.errors import NotOffered, RemoteError
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from tests.support.command import run
from tests.support.loopback import Loopback

GENERATE: Final = (
    *("generate", "--extension", "schema/stamps.ts", "--revision", "stamps@1"),
    *(
        "--core",
        "2026-07-28",
        "--import",
        "./core.js=2026-07-28",
        "--import",
        "./shared.js=schema/shared.ts",
    ),
    *("--flavour", "msgspec", "--decisions", "schema/decisions.toml", "--out", "stamps_wire"),
)
MODULES: Final = ("stamps_wire", "stamps", "office")


def generate(folder: Path, *more: str) -> None:
    done = run(*GENERATE, *more, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.wide
def test_the_bindings_of_the_example_are_those_of_its_schema(root: Path) -> None:
    generate(root / "examples" / "stamps", "--check")


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example without its bindings, which are generated here."""
    copy = tmp_path_factory.mktemp("stamps") / "stamps"
    left_out = shutil.ignore_patterns("stamps_wire", "__pycache__")
    shutil.copytree(root / "examples" / "stamps", copy, ignore=left_out)
    generate(copy)
    return copy


@pytest.fixture
def modules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules of the example, imported anew."""
    monkeypatch.syspath_prepend(str(folder))
    importlib.import_module("stamps_wire.models_msgspec")
    yield {name: importlib.import_module(name) for name in MODULES}
    for name in [name for name in sys.modules if name.partition(".")[0] in MODULES]:
        del sys.modules[name]


def text(result: t.CallToolResult) -> str:
    (item,) = result.content
    assert isinstance(item, t.TextContent)
    return item.text


async def talk(client: Client, wire: Any) -> None:
    """All that the extension adds: a widened result, a method, a member of a filter."""
    assert (
        text(await client.call_tool("apply", {"name": "A"})) == "A permit for A (stamped in Oslo)"
    )
    params = t.CallToolRequestParams(name="apply", arguments={"name": "B"}, meta=client.meta())
    stamped = await client.request("tools/call", params)
    assert isinstance(stamped, wire.StampedResult)
    wanted = wire.GetStampRequestParams(stamp_id=stamped.stamp_id, meta=client.meta())
    document = await client.request("stamps/get", wanted)
    assert document.text == "A permit for B"
    assert document.marks == [wire.Mark(office="Oslo", day=1)]
    missing = wire.GetStampRequestParams(stamp_id="none", meta=client.meta())
    with pytest.raises(RemoteError, match="there is no stamp 'none'"):
        await client.request("stamps/get", missing)
    async with client.listen(more={"stampIds": [stamped.stamp_id]}) as subscription:
        assert subscription.served.extra_ == {"stampIds": [stamped.stamp_id]}


@pytest.mark.wide
async def test_a_conversation_in_memory(modules: dict[str, ModuleType]) -> None:
    stamps, wire = modules["stamps"], modules["stamps_wire"].models_msgspec
    async with Client(modules["office"].server, extensions=[stamps.Stamps()]) as client:
        await talk(client, wire)


@pytest.mark.real_time
async def test_a_conversation_over_stdio(folder: Path, modules: dict[str, ModuleType]) -> None:
    stamps, wire = modules["stamps"], modules["stamps_wire"].models_msgspec
    command = [sys.executable, str(folder / "office.py")]
    async with Client.stdio(command, env=dict(os.environ), extensions=[stamps.Stamps()]) as client:
        await talk(client, wire)


@pytest.mark.real_time
async def test_a_conversation_over_http(modules: dict[str, ModuleType], loopback: Loopback) -> None:
    stamps, wire = modules["stamps"], modules["stamps_wire"].models_msgspec
    with loopback.mounted(modules["office"].server.asgi()) as url:
        async with Client.http(f"{url}/mcp", extensions=[stamps.Stamps()]) as client:
            await talk(client, wire)


async def test_a_notification_is_of_the_extensions_type(modules: dict[str, ModuleType]) -> None:
    stamps, wire = modules["stamps"], modules["stamps_wire"].models_msgspec
    ours, server = stamps.Stamps(), modules["office"].server
    async with (
        Client(server, extensions=[ours]) as client,
        client.listen(more={"stampIds": ["s"]}),
    ):
        mark = wire.Mark(office="Bergen", day=2)
        params = wire.StampedNotificationParams(stamp_id="s", mark=mark)
        server.publish("notifications/stamps/stamped", params, "stampIds", "s")
        await client.list_tools()
    assert ours.marks == [mark]


@pytest.mark.parametrize("revision", ALL)
async def test_a_client_without_the_extension_gets_the_plain_result(
    modules: dict[str, ModuleType], revision: str
) -> None:
    async with Client(modules["office"].server, revisions=[revision]) as client:
        assert text(await client.call_tool("apply", {"name": "A"})) == "A permit for A"
        with pytest.raises(NotOffered):
            await client.request("stamps/get", t.RequestParams(meta=client.meta()))


@pytest.mark.wide
def test_the_client_of_the_example_tells_both_ways(root: Path) -> None:
    command = [sys.executable, str(root / "examples" / "stamps" / "ask_office.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "A permit for Ada (stamped in Oslo)\nA permit for Ada\n"
