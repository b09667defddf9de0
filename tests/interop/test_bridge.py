"""Software of others: clients of one era in front of servers of the other, a bridge between."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop import environments, node
from tests.interop.processes import PORT, ours, output, serving
from tests.interop.scenario import CLIENTS, HERE, PER_REQUEST, SERVERS, TOOL_ERROR, expected, seen
from tests.support.command import run_here
from tests.support.tapped import check_traces, tapped

pytestmark = pytest.mark.interop

OLDEST: Final = "2024-11-05"
BRIDGE: Final = (sys.executable, "-m", "mcp_bindgen", "bridge")


def old_server(version: str) -> list[str]:
    python = environments.program(f"mcp-{version}", "python")
    return [python, "-W", "ignore", str(HERE / "peers" / "old_server.py")]


def our_server(revision: str) -> list[str]:
    return ours(sys.executable, "ours_server", revision)


OLD_TOOLS: Final = ["add", "echo", "fail", "grow", "sample", "wait", "where", "work"]
OLD_SERVER: Final = {
    "server": "old-server",
    "tools": OLD_TOOLS,
    "grown": sorted([*OLD_TOOLS, "grown"]),
    "add": [["5"], None],
    "again": [["2"], None],
    "ask": TOOL_ERROR,
    "asked": [],
    "unknown": TOOL_ERROR,
    "missing": {"code": 0},
}
"""An old server has neither forms nor structured content, and errors in its own words."""
NO_COMPLETION: Final = {"complete": {"code": -32601}}
"""Version 1.9 completes, but does not declare it, which its revision demands."""
NO_FORMS: Final = {
    "add": [['{"result":5}'], None],
    "again": [['{"result":2}'], None],
    "ask": TOOL_ERROR,
    "asked": [],
}

PAIRS: Final = {
    "mcp in front of mcp 1.2": ("mcp-client", PER_REQUEST, old_server("1.2"), OLD_SERVER),
    "mcp in front of mcp 1.9": (
        "mcp-client",
        PER_REQUEST,
        old_server("1.9"),
        OLD_SERVER | NO_COMPLETION,
    ),
    "npm's client in front of mcp 1.2": ("v2-client", PER_REQUEST, old_server("1.2"), OLD_SERVER),
    "npm's client in front of mcp 1.9": (
        "v2-client",
        PER_REQUEST,
        old_server("1.9"),
        OLD_SERVER | NO_COMPLETION,
    ),
    "mcp in front of the oldest revision": (
        "mcp-client",
        PER_REQUEST,
        our_server(OLDEST),
        NO_FORMS,
    ),
    "npm's client in front of the oldest revision": (
        "v2-client",
        "auto",
        our_server(OLDEST),
        NO_FORMS,
    ),
    "npm's sdk in front of the newest revision": (
        "sdk-client",
        "legacy",
        our_server(PER_REQUEST),
        dict[str, Any](),
    ),
}
"""A client, its mode, a server, and how it looks otherwise than our server without a bridge."""


@pytest.mark.parametrize(("client", "mode", "server", "other"), PAIRS.values(), ids=[*PAIRS])
def test_a_client_sees_through_a_bridge_all_that_the_server_can_express(
    client: str, mode: str, server: Sequence[str], other: dict[str, Any], tmp_path: Path
) -> None:
    losses, front, behind = tmp_path / "losses", tmp_path / "front", tmp_path / "behind"
    bridge = [*BRIDGE, "--losses", str(losses), "--", *tapped(behind, server)]
    saw = seen(CLIENTS[client], mode, tapped(front, bridge))
    wanted = expected(CLIENTS[client], mode, SERVERS["ours-server"]) | other
    if wanted["server"] == "old-server":
        saw["wait"] = wanted["wait"]  # these versions end when a request is cancelled
    if client == "mcp-client":
        wanted["server"] = None  # it does not ask for the name
    assert saw == wanted
    assert losses.read_text() == ""
    check_traces(front)
    check_traces(behind)


# ---- five servers at once


def official(name: str, *arguments: str) -> dict[str, Any]:
    program = node.FOLDER / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js"
    return {"command": "node", "args": [str(program), *arguments]}


def test_five_servers_of_others_are_one_by_an_mcp_json(tmp_path: Path) -> None:
    folder, behind = tmp_path.resolve(), tmp_path / "behind"
    sqlite = environments.program("mcp-server-sqlite", "mcp-server-sqlite")
    servers = {
        "files": official("server-filesystem", "${workspaceFolder}"),
        "everything": official("server-everything", "stdio"),
        "memory": official("server-memory")
        | {"env": {"MEMORY_FILE_PATH": "${workspaceFolder}/memory.json"}},
        "thinking": official("server-sequential-thinking"),
        "sqlite": {"command": sqlite, "args": ["--db-path", "${workspaceFolder}/a.db"]},
    }
    for server in servers.values():
        command = tapped(behind, [server["command"], *server["args"]])
        server["command"], server["args"] = command[0], command[1:]
    config, trace = folder / "mcp.json", folder / "front.jsonl"
    config.write_text(f"// five servers\n{json.dumps({'mcpServers': servers})}")
    entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    calls = {
        "files_list_allowed_directories": {},
        "everything_get-sum": {"a": 2, "b": 3},
        "memory_create_entities": {"entities": [entity]},
        "thinking_sequentialthinking": {
            "thought": "one",
            "nextThoughtNeeded": False,
            "thoughtNumber": 1,
            "totalThoughts": 1,
        },
        "sqlite_list_tables": {},
        "list_tables": {},
    }
    bridge = [*BRIDGE, "--config", str(config), "--trace", str(trace)]
    asked = json.dumps([*calls.items()])
    saw = output(ours(sys.executable, "field_client", "auto", asked, *bridge))
    *texts, unknown = (call.get("text") for call in saw["calls"])
    assert texts[0] == f"Allowed directories:\n{folder}"
    assert texts[1] == "The sum of 2 and 3 is 5."
    assert json.loads(texts[2]) == [entity]
    assert json.loads(texts[3])["thoughtNumber"] == 1
    assert texts[4] == "[]"
    assert unknown is None
    assert saw["calls"][-1] == {"code": -32602}
    assert {name.partition("_")[0] for name in saw["tools"]} == servers.keys()
    assert {name.partition("_")[0] for name in saw["prompts"]} == {"everything", "sqlite"}
    assert run_here("trace", "--check", trace).returncode == 0
    check_traces(behind)


def test_over_http_a_client_sees_through_a_bridge_all_that_an_old_server_can_express(
    tmp_path: Path,
) -> None:
    trace, behind = tmp_path / "front.jsonl", tmp_path / "behind"
    address = ["--http", f"127.0.0.1:{PORT}", "--trace", str(trace)]
    bridge = [*BRIDGE, *address, "--", *tapped(behind, old_server("1.2"))]
    client = CLIENTS["v2-client"]
    with serving(bridge, "/mcp") as url:
        saw = seen(client, "auto", [url])
    saw["wait"] = "given up"
    assert saw == expected(client, "auto", SERVERS["ours-server"]) | OLD_SERVER
    assert run_here("trace", "--check", trace).returncode == 0
    check_traces(behind)
