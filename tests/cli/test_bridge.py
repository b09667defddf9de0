"""`bridge`: a client in front of servers of an mcp.json, or it is said why there is no bridge."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import pytest

from mcp_runtime import Client
from mcp_runtime import types as t
from mcp_runtime.revisions import ALL
from tests.support import pair_server
from tests.support.command import run_here

PROGRAM: Final = str(Path(pair_server.__file__))
BRIDGE: Final = (sys.executable, "-m", "mcp_bindgen", "bridge")


@pytest.mark.real_time
async def test_two_servers_of_a_file_are_served_to_a_client_of_another_revision(
    tmp_path: Path,
) -> None:
    config, losses = tmp_path / "mcp.json", tmp_path / "losses.jsonl"
    servers = {
        name: {"command": sys.executable, "args": [PROGRAM, "${" + name.upper() + "}"]}
        for name in ("old", "new")
    }
    broken = {"command": str(tmp_path / "missing")}
    failing = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no luck')"]}
    text = json.dumps({"mcpServers": {**servers, "broken": broken, "failing": failing}})
    config.write_text(f"// servers\n{text}", encoding="utf-8")
    words = [*BRIDGE, "--config", str(config), "--losses", str(losses), "--offer", ALL[1]]
    words += ["--rename", "new_add=sum", "--tool", "*_threaded", "--tool", "sum"]
    env, errors = {"OLD": ALL[0], "NEW": ALL[-1]}, bytearray()
    async with Client.stdio(words, env=env, stderr=errors.extend) as client:
        assert client.revision == ALL[1]
        assert [tool.name for tool in await client.list_tools()] == [
            "old_threaded",
            "sum",
            "new_threaded",
        ]
        for name, spoken in (("old_threaded", ALL[0]), ("new_threaded", ALL[-1])):
            (block,) = (await client.call_tool(name)).content
            assert isinstance(block, t.TextContent)
            assert block.text == spoken
        await client.call_tool("sum", {"a": 1})
    for once in (b"broken is not available", b"failing is not available"):
        assert errors.count(once) == 1
    assert b"no luck" in errors
    assert b"standard error ends with" not in errors  # it is shown already
    written = [json.loads(line) for line in losses.read_text("utf-8").splitlines()]
    calls = [line for line in written if line["name"] == "sum"]
    assert [(line["upstream"], line["server"], line["client"]) for line in calls] == [
        ("new", ALL[-1], ALL[1])
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Give a file, a URL, a command behind --, or --config FILE."),
        (("--config", "no.json", "server.py"), "Give a file, a URL, a command behind --"),
        (("--config", "no.json"), "no.json"),
        (("--offer", "2020-01-01", "http://x"), "no such revision: 2020-01-01"),
        (("--header", "A: b", "--", "python"), "a header is for a server that has a URL"),
        (("--header", "secret", "http://x"), "a header is a name, a colon and a value"),
        (("--rename", "a", "http://x"), "'a' is not OLD=NEW"),
        (("--tasks", "--offer", "2025-03-26", "http://x"), "tasks extends the revisions"),
        (("--http", "nowhere", "http://x"), "nowhere"),
        (("--allow-host", "x", "http://x"), "go with --http"),
        (("http://x", "more"), "'more' stands behind the URL"),
        (("ftp://x",), "is not a URL"),
        (("missing.py",), "there is no file missing.py"),
    ],
)
def test_words_that_name_no_bridge_are_refused(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("bridge", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "python", "env": {"TOKEN": "${NO_SUCH}"}}, "set NO_SUCH in the environment"),
        ({"url": "https://x", "headers": {"A": "${input:key}"}}, "write the value there"),
        ({"command": 3}, "a command or a url is expected"),
        ({"command": "python", "args": "-m x"}, "args: a list of strings"),
        ({"type": "carrier pigeon", "url": "https://x"}, "type is not one of"),
        ("python", "an object is expected"),
        ({"command": "python", "disabled": True}, "no server in mcpServers"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place(
    entry: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mcp.json").write_text(json.dumps({"servers": {"one": entry}}), encoding="utf-8")
    done = run_here("bridge", "--config", "mcp.json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "mcp.json" in done.stderr.decode()
    assert said in done.stderr.decode()
