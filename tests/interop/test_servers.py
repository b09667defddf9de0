"""Servers in the field, old and new, with our client: list, call, structured result, error.

Over stdio the client is that of the wheels, installed without extras; HTTP needs the extra `http`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop import environments, node
from tests.interop.processes import PORT, ours, output, serving
from tests.support.wheels import Environment

pytestmark = pytest.mark.interop

PEERS: Final = Path(__file__).parent / "peers"
PACKAGES: Final = node.FOLDER / "node_modules"
OFFICIAL: Final = PACKAGES / "@modelcontextprotocol"
OLD: Final = {version: f"mcp-{version}" for version in ("1.2", "1.6", "1.8", "1.9")}
SPEAKS: Final = {"1.2": "2024-11-05", "1.6": "2024-11-05", "1.8": "2024-11-05", "1.9": "2025-03-26"}


def ok(text: str, structured: Any = None) -> dict[str, Any]:
    return {"text": text, "structured": structured, "is_error": False}


def failed(text: str) -> dict[str, Any]:
    return {"text": text, "structured": None, "is_error": True}


@dataclass(frozen=True, slots=True)
class Server:
    """Its command, the revision that is agreed on, and calls with what they end in.

    `tools` are some of its tools; FOLDER in a text or command stands for a folder of the test.
    """

    command: Sequence[str]
    revision: str
    tools: frozenset[str]
    calls: Sequence[tuple[str, dict[str, Any], dict[str, Any]]]
    resources: Sequence[str] | None = None
    prompts: Sequence[str] | None = None


def old(version: str, *transport: str) -> Server:
    """What a server on an old `mcp` has; structured content came with 1.10."""
    python = environments.program(OLD[version], "python")
    return Server(
        [python, "-W", "ignore", str(PEERS / "old_server.py"), *transport],
        SPEAKS[version],
        frozenset({"add", "fail"}),
        [
            ("add", {"a": 2, "b": 3}, ok("5")),
            ("fail", {}, failed("Error executing tool fail: broken")),
            ("none", {}, failed("Unknown tool: none")),
        ],
        prompts=["review"],
    )


WEATHER: Final = {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}


def everything(transport: str) -> Server:
    return Server(
        ["node", str(OFFICIAL / "server-everything/dist/index.js"), transport],
        "2025-11-25",
        frozenset({"echo", "get-sum", "get-structured-content"}),
        [
            ("get-sum", {"a": 2, "b": 3}, ok("The sum of 2 and 3 is 5.")),
            (
                "get-structured-content",
                {"location": "Chicago"},
                ok(json.dumps(WEATHER, separators=(",", ":")), WEATHER),
            ),
            ("none", {}, failed("MCP error -32602: Tool none not found")),
        ],
        prompts=["args-prompt", "completable-prompt", "resource-prompt", "simple-prompt"],
    )


ON_STDIO: Final = {
    **{f"mcp {version}": old(version) for version in OLD},
    "mcp-server-sqlite": Server(
        [
            environments.program("mcp-server-sqlite", "mcp-server-sqlite"),
            "--db-path",
            "FOLDER/a.db",
        ],
        "2025-11-25",
        frozenset({"list_tables", "read_query", "write_query"}),
        [
            ("list_tables", {}, ok("[]")),
            (
                "read_query",
                {"query": "DROP x"},
                ok("Error: Only SELECT queries are allowed for read_query"),
            ),
        ],
        resources=["Business Insights Memo"],
        prompts=["mcp-demo"],
    ),
    "server-everything": everything("stdio"),
    "server-filesystem": Server(
        ["node", str(OFFICIAL / "server-filesystem/dist/index.js"), "FOLDER"],
        "2025-11-25",
        frozenset({"read_text_file", "write_file"}),
        [
            (
                "list_allowed_directories",
                {},
                ok("Allowed directories:\nFOLDER", {"content": "Allowed directories:\nFOLDER"}),
            ),
            (
                "read_text_file",
                {"path": "/none"},
                failed("Access denied - path outside allowed directories: /none not in FOLDER"),
            ),
        ],
    ),
}


def check(interpreter: str, server: Server, at: Sequence[str], folder: str, era: str) -> None:
    """Lists and calls over one connection."""
    calls = json.dumps([call[:2] for call in server.calls])
    seen = output(ours(interpreter, "field_client", era, calls, *at))
    expected = json.dumps([call[2] for call in server.calls]).replace("FOLDER", folder)
    assert seen["calls"] == json.loads(expected)
    assert seen["revision"] == server.revision
    assert server.tools <= set(seen["tools"])
    assert server.resources is None or seen["resources"] == server.resources
    assert server.prompts is None or seen["prompts"] == server.prompts


@pytest.mark.parametrize("era", ["auto", "handshake"])
@pytest.mark.parametrize("name", ON_STDIO)
def test_a_server_over_stdio_is_used_without_any_extra(
    name: str, era: str, tmp_path: Path, runtime: Environment
) -> None:
    folder = str(tmp_path.resolve())
    command = [word.replace("FOLDER", folder) for word in ON_STDIO[name].command]
    check(str(runtime.home / "bin/python"), ON_STDIO[name], command, folder, era)


OVER_HTTP: Final = {
    **{f"mcp {version} over sse": (old(version, "sse", PORT), "/sse") for version in OLD},
    # Their servers do not outlive the end of a session, whoever ends it.
    **{
        f"mcp {version} over streamable-http": (old(version, "streamable-http", PORT), "/mcp")
        for version in ("1.8", "1.9")
    },
}


@pytest.mark.parametrize("name", OVER_HTTP)
def test_an_old_server_over_http_is_used(name: str) -> None:
    server, path = OVER_HTTP[name]
    with serving(server.command, path) as url:
        check(sys.executable, server, [url], "", "auto")


@pytest.mark.parametrize(("transport", "path"), [("sse", "/sse"), ("streamableHttp", "/mcp")])
def test_server_everything_over_http_is_used_by_one_client_after_another(
    transport: str, path: str
) -> None:
    server = everything(transport)
    with serving(["env", f"PORT={PORT}", *server.command], path) as url:
        for _ in range(2):
            check(sys.executable, server, [url], "", "auto")


@pytest.mark.parametrize(
    ("transport", "path", "revision"),
    [("sse", "/sse", "2025-11-25"), ("streamableHttp", "/mcp", "2026-07-28")],
)
def test_our_server_behind_supergateway_serves_one_client_after_another(
    transport: str, path: str, revision: str, runtime: Environment
) -> None:
    behind = ours(str(runtime.home / "bin/python"), "ours_server")
    gateway = [str(PACKAGES / ".bin/supergateway"), "--stdio", " ".join(behind)]
    server = Server(
        [*gateway, "--outputTransport", transport, "--port", PORT],
        revision,
        frozenset({"add", "fail"}),
        [
            ("add", {"a": 2, "b": 3}, ok('{"result":5}', {"result": 5})),
            ("fail", {}, failed("ValueError: broken")),
            ("none", {}, {"code": -32602}),
        ],
    )
    with serving(server.command, path) as url:
        for _ in range(2):
            check(sys.executable, server, [url], "", "auto")
