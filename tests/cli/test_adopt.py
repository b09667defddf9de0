"""`adopt`: imports of other packages become imports of ours, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mcp_bindgen.cli.adopt.imports import adopt
from mcp_bindgen.errors import InputError
from mcp_runtime.compat.elsewhere import MODULES, NAMES
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
        (
            "é = mocker.patch('mcp.server.Server'); import fastmcp; patch(\n u\"mcp\")\n",
            "é = mocker.patch('mcp_runtime.compat.mcp.server.Server');"
            ' import mcp_runtime.compat.fastmcp as fastmcp; patch(\n u"mcp_runtime.compat.mcp")\n',
        ),
        (
            "import_module('fastmcp'); a.patch.multiple('mcp.types', Tool=1)\n",
            "import_module('mcp_runtime.compat.fastmcp');"
            " a.patch.multiple('mcp_runtime.compat.mcp.types', Tool=1)\n",
        ),
    ],
)
def test_names_of_modules_are_replaced_and_nothing_else(before: str, after: str) -> None:
    adopted = adopt(before, nothing_is_missing)
    assert adopted.text == after
    assert adopted.lines
    assert adopt(after, nothing_is_missing).lines == ()


@pytest.mark.parametrize(
    "text",
    [
        "from .mcp import x\n",
        "import mcp_other\n",
        "mcp = 1\n",
        "# import mcp\n",
        "",
        "patch('mcp_other')\n",
        "patch('mcp' '.server')\n",
        "patch('m\\x63p')\n",
        "say('mcp.types')\n",
        "patch('mcp and more')\n",
        "patch.object(mcp, 'types')\n",
        "patch(mcp.types)\n",
    ],
)
def test_other_lines_stay(text: str) -> None:
    assert adopt(text, nothing_is_missing).text == text


def test_the_files_of_a_folder_are_written(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/other.py").write_text(SERVER, encoding="utf-8")
    done = run_here("adopt", str(tmp_path))
    assert done.returncode == 0
    assert done.stderr.endswith(b"\n2 lines in 1 file changed.\n")
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
        ("patch('mcp.types.NoSuchThing.x')", "mcp.types.NoSuchThing is not in"),
        ("from mcp import ClientSessionGroup", "instead use a Client for each server"),
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


def test_each_missing_name_is_reported_with_what_to_use_instead(tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    named = {name: name.rpartition(".") for name in NAMES}
    lines = {
        f"from {module} import {name}": NAMES[full] for full, (module, _, name) in named.items()
    }
    lines |= {f"import {name} as x": way for name, way in MODULES.items()}
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    done = run_here("adopt", str(file))
    ways = [line.partition("instead use ")[2] for line in done.stderr.decode().splitlines()[1:]]
    assert ways == [*lines.values()]


@pytest.mark.parametrize("ignored", ["", "server.py"])
def test_changes_that_are_not_committed_are_not_overwritten(ignored: str, tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text(ignored, encoding="utf-8")
    done = run_here("adopt", str(file))
    assert done.returncode == 2
    assert b"changes that are not committed" in done.stderr
    assert file.read_text(encoding="utf-8") == SERVER


def test_a_file_that_is_no_python_is_named(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("from mcp import (\n", encoding="utf-8")
    done = run_here("adopt", str(tmp_path))
    assert done.returncode == 2
    assert b"server.py cannot be read" in done.stderr


# ---- native forms

NOTES = """\
# é
from mcp.server.fastmcp import FastMCP, Context  # kept
from fastmcp.exceptions import ToolError

mcp = FastMCP("notes")


@mcp.tool("plus")
async def add(a: int, ctx: Context) -> int:
    await ctx.report_progress(1, 2); await ctx.info("é")
    held = ctx.request_context.lifespan_context
    if a < 0:
        raise ToolError("no")
    return a


def more(mcp: FastMCP) -> None:
    mcp.tool()(print)


more(mcp)
mcp.run(transport="stdio")
"""
NATIVE = """\
# é
from mcp_runtime import Server, Context  # kept
from mcp_runtime import ToolError

mcp = Server("notes", version="1.0.0", show_errors=True)


@mcp.tool(name="plus")
async def add(a: int, ctx: Context) -> int:
    await ctx.progress(1, 2); await ctx.info("é")
    held = ctx.lifespan
    if a < 0:
        raise ToolError("no")
    return a


def more(mcp: Server) -> None:
    mcp.tool()(print)


more(mcp)
mcp.run()
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_server_whose_uses_all_have_equal_forms_becomes_native(ends: str, tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    file.write_text(NOTES, encoding="utf-8", newline=ends)
    done = run_here("adopt", "--native", str(file))
    assert (done.returncode, done.stderr) == (0, b"8 lines in 1 file changed.\n")
    assert file.read_bytes().decode() == NATIVE.replace("\n", ends)


@pytest.mark.parametrize(
    ("before", "after", "form"),
    [
        ('"stdio"', '"sse"', "natively: server.run()"),
        ('FastMCP("notes")', 'FastMCP("notes", port=80)', "natively: Server(NAME, VERSION, ...)"),
        ('tool("plus")', 'tool(tags={"a"})', "natively: @server.tool(name="),
        ("-> int", "-> list[int]", "one text instead of one for each item"),
        ("report_progress(1, 2)", "sample('x')", "natively: ctx.sample("),
        ("more(mcp)", "app = mcp", "the Server itself"),
        ("mcp = FastMCP", "self.mcp = FastMCP", "natively: Server(NAME, VERSION, ...)"),
        ("import ToolError", "import ToolError, FastMCPError", "see docs/FROM-MCP.md"),
        ("# é", "Server = 1; Server", "by another name"),
    ],
)
def test_one_use_without_an_equal_form_keeps_the_server_on_compat(
    before: str, after: str, form: str, tmp_path: Path
) -> None:
    file = tmp_path / "server.py"
    file.write_text(NOTES.replace(before, after, 1), encoding="utf-8")
    done = run_here("adopt", "--diff", "--native", str(file))
    assert b"PATH stays on mcp_runtime.compat" in done.stderr
    assert form in done.stderr.decode()
    assert b"+from mcp_runtime.compat.mcp.server.fastmcp import FastMCP" in done.stdout


def test_uses_in_another_file_of_the_server_count(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(NOTES, encoding="utf-8")
    (tmp_path / "more.py").write_text("from app import mcp as x\nx.mount(1)\n", encoding="utf-8")
    (tmp_path / "late.py").write_text("import app\napp.mcp.mount(1)\n", encoding="utf-8")
    done = run_here("adopt", "--diff", "--native", str(tmp_path))
    assert "more.py:2: x.mount(1) stays on compat" in done.stderr.decode()
    assert "late.py:2: app.mcp stays on compat" in done.stderr.decode()


@pytest.mark.parametrize(
    ("after", "status", "said"),
    [
        (InputError("it ended"), 1, b"before, and does not after: it ended\n"),
        ({"type": "object"}, 0, b"The tools are the same before and after.\n"),
        ({"type": "object", "required": ["a"]}, 1, b"The tools differ before and after:\n"),
    ],
)
def test_tools_are_compared_before_and_after(
    after: object, status: int, said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listings = iter([{"type": "object"}, after])

    def listed(command: str) -> bytes:
        if isinstance(listing := next(listings), InputError):
            raise listing
        return json.dumps({"tools": [{"name": command, "inputSchema": listing}]}).encode()

    for module in ("command", "tools"):
        monkeypatch.setattr(f"mcp_bindgen.cli.adopt.{module}.tools_of", listed)
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    done = run_here("adopt", "--tools", "start", str(tmp_path))
    assert done.returncode == status
    assert said in done.stderr
    assert (tmp_path / "server.py").read_text(encoding="utf-8") == ADOPTED


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    too_long = f"{'z' * 245}.py"  # longer than a file name may be, with the prefix of a new file
    for name in ("server.py", too_long):
        (tmp_path / name).write_text(SERVER, encoding="utf-8")
    done = run_here("adopt", str(tmp_path))
    assert done.returncode == 2
    assert b"No file was written." in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["server.py", too_long]
    assert {file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == {SERVER}


def test_permissions_and_links_of_a_written_file_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "server.py", tmp_path / "link.py"
    file.write_text(SERVER, encoding="utf-8")
    file.chmod(0o755)
    link.symlink_to(file)
    assert run_here("adopt", str(link)).returncode == 0
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == ADOPTED
    assert file.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("command", ["", "'"])
def test_a_command_for_tools_must_be_words(command: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    done = run_here("adopt", "--tools", command, str(tmp_path))
    assert done.returncode == 2
    assert (tmp_path / "server.py").read_text(encoding="utf-8") == SERVER
