"""The examples do what they say, as the commands in their first lines run them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import httpx2
import pytest

from mcp_runtime import Client
from mcp_runtime.errors import SessionError
from mcp_runtime.extensions import Extension, apps
from tests.support.loopback import Loopback

ASKED = """\
revision 2026-07-28
tool write_note
tool search_notes
tool delete_note
changed note://tea
found {'result': [{'title': 'tea', 'text': 'Two minutes, not three.'}]}
Delete 'tea'?
deleted True
error True [TextContent(text="there is no note 'coffee'")]
"""


def example(root: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, root / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_client_starts_the_server_of_notes_and_answers_its_question(root: Path) -> None:
    command = [sys.executable, str(root / "examples" / "ask_notes.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ASKED


@pytest.mark.parametrize("name", ["notes", "votes"])
def test_the_command_in_the_first_lines_calls_the_server(
    root: Path, name: str, tmp_path: Path
) -> None:
    (tmp_path / "examples").symlink_to(root / "examples")
    text = (root / "examples" / f"{name}.py").read_text("utf-8")
    (line,) = re.findall(r"^mcp-bindgen (call .*)", text, re.MULTILINE)
    words = [sys.executable if word == "python" else word for word in shlex.split(line)]
    command = [sys.executable, "-m", "mcp_bindgen", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_notes_outlive_the_server(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(root / "examples" / "notes.py"), str(tmp_path / "notes.db")]

    async def write() -> None:
        async with Client.stdio(command) as client:
            await client.call_tool("write_note", {"note": {"title": "a b", "text": "c"}})

    async def read() -> list[str]:
        async with Client.stdio(command, revisions=["2025-06-18"]) as client:
            contents = await client.read_resource("note://a%20b")
            return [getattr(each, "text", "") for each in contents]

    asyncio.run(write())
    assert asyncio.run(read()) == ["c"]


def test_votes_are_text_for_a_client_that_shows_no_pages(root: Path) -> None:
    command = [sys.executable, str(root / "examples" / "votes.py")]

    async def ask(*extensions: Extension) -> tuple[list[str], object]:
        async with Client.stdio(command, extensions=extensions) as client:
            names = [tool.name for tool in await client.list_tools()]
            await client.call_tool("vote", {"question": "Drink?", "choice": "tea"})
            return names, (await client.call_tool("votes")).structured_content

    votes = {"question": "What shall we drink?", "tea": 1, "coffee": 0}
    assert asyncio.run(ask()) == (["votes"], votes)
    assert asyncio.run(ask(apps.extension)) == (["votes", "vote"], votes)


def test_an_application_asks_for_a_token_before_its_server_does_anything(
    root: Path, loopback: Loopback
) -> None:
    module = example(root, "mounted")

    async def add(url: str, headers: dict[str, str]) -> object:
        async with Client.http(f"{url}/mcp", headers=headers) as client:
            return (await client.call_tool("add", {"item": "tea"})).structured_content

    with loopback.mounted(module.app) as url:
        with pytest.raises(SessionError):
            asyncio.run(add(url, {}))
        assert module.items == []
        assert asyncio.run(add(url, {"Authorization": "Bearer ada"})) == {"result": ["tea"]}


def test_an_application_reads_and_writes_the_protocols_models(
    root: Path, loopback: Loopback
) -> None:
    tool = {"name": "add", "inputSchema": {"type": "object"}, "owner": "us"}
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    with loopback.mounted(example(root, "catalog").app) as url, httpx2.Client() as client:

        def post(path: str, body: object) -> httpx2.Response:
            return client.post(url + path, json=body)

        entry: dict[str, object] = {"tool": tool, "team": "maths", "notes": []}
        assert post("/entries", entry).json() == entry
        assert client.get(f"{url}/tools").json() == {"tools": [tool]}
        assert post("/tools/add/notes", image).json() == [image]
        assert post("/tools/add/notes", {"type": "image", "text": "a"}).status_code == 422
        called = post("/call", {"name": "add", "arguments": {"a": None}})
        assert called.content == b'{"content":[],"structuredContent":{"a":null}}'
        assert post("/call", {"name": "sub"}).json()["isError"] is True
        refused = post("/entries", {"tool": {**tool, "title": None}, "team": "maths"})
        assert refused.json()["detail"][0]["loc"] == ["body", "tool", "title"]
        parts = client.get(f"{url}/openapi.json").json()["components"]["schemas"]
        assert "default" not in parts["Tool"]["properties"]["title"]


def test_a_service_of_msgspec_reads_and_writes_models(root: Path) -> None:
    module = example(root, "result_log")
    said = b'{"type": "finished", "tool": "add", "result": {"content": [%s]}}\n'
    block = b'{"type": "text", "text": "three"}'
    asked = [said % block, b'{"type": "last", "tool": "add"}\n', said % b'{"type": "text"}']

    async def converse() -> list[bytes]:
        server = await asyncio.start_server(module.ResultLog().serve, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.writelines(asked)
            writer.write_eof()
            lines = (await reader.read()).splitlines()
            writer.close()
            return lines

    first, again, refused = map(json.loads, asyncio.run(converse()))
    assert (
        first
        == again
        == {
            "count": 1,
            "last": {"content": [{"type": "text", "text": "three"}]},
            "texts": ["three"],
        }
    )
    assert "`text`" in refused["error"]
    assert "$.result.content[0]" in refused["error"]


def test_a_script_reads_dataclasses_without_site_packages(root: Path, tmp_path: Path) -> None:
    recording = tmp_path / "session.jsonl"
    result = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "x": None}
    messages = [
        {"jsonrpc": "2.0", "method": "ping", "id": 1},
        {"jsonrpc": "2.0", "id": 2, "result": result},
        {"jsonrpc": "2.0", "id": 3, "result": {"content": [], "isError": True}},
        {"jsonrpc": "2.0", "id": 4, "result": {}},
    ]
    recording.write_text("\n".join(map(json.dumps, messages)))
    script = [str(root / "examples" / "count_results.py"), str(root / "generated"), str(recording)]
    command = [sys.executable, "-I", "-S", *script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [
        "2 results, 1 errors",
        '{"content":[{"type":"text","text":"a"}],"x":null}',
        '{"content":[],"isError":true}',
    ]
