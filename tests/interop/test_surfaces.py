"""`mcp-bindgen new --from-tools`, of tools that were not made for it: a project in order."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.interop import node
from tests.support import tool_lists
from tests.support.projects import environment, run

ROOT: Final = Path(__file__).parents[2]
EVERYTHING: Final = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"


def _fifty(folder: Path) -> str:
    (folder / "fifty.json").write_bytes(tool_lists.listing(*tool_lists.FIFTY))
    return str(folder / "fifty.json")


SURFACES: Final[Mapping[str, Callable[[Path], str]]] = {
    "the package server-everything": lambda _: f"node {node.FOLDER / EVERYTHING} stdio",
    "our example": lambda _: shlex.join([sys.executable, str(ROOT / "examples/everything.py")]),
    "fifty hostile tools": _fifty,
}
"""By name: what gives the tools, a command or a file in the folder."""
LEAST: Final = 10
"""Tools that each surface has, and more."""


def check(command: Sequence[str], project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=project, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.interop
@pytest.mark.parametrize("name", SURFACES)
def test_a_project_of_these_tools_is_in_order(name: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    new = ["mcp_bindgen", "new", "my-server", "--into", str(project)]
    check([*new, "--from-tools", SURFACES[name](tmp_path)], tmp_path)
    tools = json.loads((project / "src/my_server/tools/tools.json").read_bytes())["tools"]
    assert len(tools) > LEAST
    python = environment(project / ".venv", project)
    check(["ruff", "check"], project)
    check(["ruff", "format", "--check"], project)
    check(["basedpyright", "--pythonpath", str(python)], project)
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(tools)} xfailed" in done.stdout
