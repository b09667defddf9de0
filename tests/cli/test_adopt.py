"""`adopt`: imports of other packages become imports of ours, and nothing else changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcp_bindgen.cli.adopt.imports import adopt
from tests.support.command import run_here

SERVER = """\
import mcp.types as types  # the types
from mcp.server.fastmcp import (
    Context,  # kept
    FastMCP,
)

server = FastMCP("notes")
"""
ADOPTED = SERVER.replace("mcp.types", "mcp_runtime.compat.mcp.types").replace(
    "from mcp.server", "from mcp_runtime.compat.mcp.server"
)


def nothing_is_missing(module: str, name: str | None) -> str | None:
    return None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from mcp import ClientSession\n", "from mcp_runtime.compat.mcp import ClientSession\n"),
        ("import fastmcp\n", "import mcp_runtime.compat.fastmcp as fastmcp\n"),
        (
            "A = '\x0c\u2028'\r\n\x0c\r\nimport mcp.types as t\r\n",
            "A = '\x0c\u2028'\r\n\x0c\r\nimport mcp_runtime.compat.mcp.types as t\r\n",
        ),
        ("import mcp.types as t\n", "import mcp_runtime.compat.mcp.types as t\n"),
        (
            "import os, mcp.types\n",
            "import os, mcp_runtime.compat.mcp as mcp, mcp_runtime.compat.mcp.types\n",
        ),
        (
            "def f():\n    from fastmcp import Client; return Client\n",
            "def f():\n    from mcp_runtime.compat.fastmcp import Client; return Client\n",
        ),
        (
            "é = 1; from  mcp.server import Server # ü\r\n",
            "é = 1; from  mcp_runtime.compat.mcp.server import Server # ü\r\n",
        ),
        (SERVER, ADOPTED),
    ],
)
def test_names_of_modules_are_replaced_and_nothing_else(before: str, after: str) -> None:
    adopted = adopt(before, nothing_is_missing)
    assert adopted.text == after
    assert adopted.lines
    assert adopt(after, nothing_is_missing).lines == ()


@pytest.mark.parametrize(
    "text", ["from .mcp import x\n", "import mcp_other\n", "mcp = 1\n", "# import mcp\n", ""]
)
def test_other_lines_stay(text: str) -> None:
    assert adopt(text, nothing_is_missing).text == text


def test_the_files_of_a_folder_are_written(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/other.py").write_text(SERVER, encoding="utf-8")
    done = run_here("adopt", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, b"2 imports in 1 file changed.\n")
    assert (tmp_path / "server.py").read_text(encoding="utf-8") == ADOPTED
    assert (tmp_path / ".venv/other.py").read_text(encoding="utf-8") == SERVER


def test_a_patch_is_shown_and_no_file_written(tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    done = run_here("adopt", "--diff", str(file))
    assert done.returncode == 0
    assert b"+from mcp_runtime.compat.mcp.server.fastmcp import (" in done.stdout
    assert file.read_text(encoding="utf-8") == SERVER


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("import mcp.client.websocket as ws", "mcp.client.websocket is not in mcp_runtime.compat"),
        ("from fastmcp.server.openapi import RouteMap", "instead use a function"),
        ("from mcp.types import NoSuchThing", "mcp.types.NoSuchThing is not in"),
    ],
)
def test_an_import_without_a_counterpart_stays_and_is_reported(
    line: str, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "server.py"
    file.write_text(f"import os\n{line}\n", encoding="utf-8")
    done = run_here("adopt", str(file))
    assert done.returncode == 1
    assert "server.py:2: " in done.stderr.decode()
    assert reason in done.stderr.decode()
    assert file.read_text(encoding="utf-8") == f"import os\n{line}\n"


def test_changes_that_are_not_committed_are_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    done = run_here("adopt", str(file))
    assert done.returncode == 2
    assert b"changes that are not committed" in done.stderr
    assert file.read_text(encoding="utf-8") == SERVER


def test_a_file_that_is_no_python_is_named(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("from mcp import (\n", encoding="utf-8")
    done = run_here("adopt", str(tmp_path))
    assert done.returncode == 2
    assert b"server.py cannot be read" in done.stderr
