"""Clients of the frameworks in the field, with our server: list, call, structured result, error."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop import environments
from tests.interop.processes import PORT, ours, output, serving
from tests.interop.scenario import TOOLS, invalid, tapped
from tests.support.wheels import Environment

pytestmark = pytest.mark.interop

PROGRAM: Final = Path(__file__).parent / "peers/framework_client.py"
TEXT: Final = '{"result":5}'


@dataclass(frozen=True, slots=True)
class Framework:
    """Its name in the program, the revision that it speaks, and what it makes of an answer."""

    name: str
    revision: str
    text: str = TEXT
    structured: Any = None
    error: str = "ValueError: broken"


STRUCTURED: Final = {"result": 5}
OF_TOOL: Final = "ToolError: ValueError: broken"
FRAMEWORKS: Final = {
    "fastmcp-2": Framework("fastmcp", "2025-11-25", TEXT, STRUCTURED, OF_TOOL),
    "fastmcp-4": Framework("fastmcp", "2026-07-28", TEXT, STRUCTURED, OF_TOOL),
    "langchain": Framework("langchain", "2025-11-25", TEXT, STRUCTURED),
    "openai-agents": Framework("openai-agents", "2026-07-28", TEXT, STRUCTURED),
    # It hands on what is in `result`, and no text beside it.
    "pydantic-ai": Framework("pydantic-ai", "2026-07-28", "5", 5, "ModelRetry: ValueError: broken"),
}


def check(name: str, server: list[str], wire: Path) -> None:
    framework = FRAMEWORKS[name]
    python = environments.program(name, "python")
    assert output([python, "-W", "ignore", str(PROGRAM), framework.name, *server]) == {
        "tools": TOOLS,
        "text": framework.text,
        "structured": framework.structured,
        "error": framework.error,
    }
    assert list(invalid(wire, framework.revision)) == []


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_uses_our_server_over_stdio_without_any_extra(
    name: str, tmp_path: Path, runtime: Environment
) -> None:
    wire = tmp_path / "wire.jsonl"
    python = str(runtime.home / "bin/python")
    check(name, tapped(wire, ours(python, "ours_server")), wire)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_uses_our_server_over_http(name: str, tmp_path: Path) -> None:
    wire = tmp_path / "wire.jsonl"
    server = ["env", f"WIRE={wire}", *ours(sys.executable, "ours_server", "http", PORT)]
    with serving(server, "/mcp") as url:
        check(name, [url], wire)
