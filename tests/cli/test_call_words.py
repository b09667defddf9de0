"""What `call` and `run` say of words that name no tool, of silence, and of noise at the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_bindgen.cli.call.words import require_tool
from mcp_bindgen.cli.run.target import _parts  # pyright: ignore[reportPrivateUsage]
from mcp_bindgen.errors import InputError

COMMAND = Path(sys.executable).with_name("mcp-bindgen")
SILENT = "import time\nwhile True: time.sleep(60)\n"
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SILENT
CHATTY = """
import sys, threading
def chat():
    while True:
        print('{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}', flush=True)
        sys.stdin.readline()
chat()
"""
NOISY = """
import sys
sys.stderr.write("a page of errors\\n" * 50)
sys.stderr.flush()
from mcp_runtime import Server
server = Server("s", "1")
@server.tool(description="one\\r\\ntwo")
def add() -> int:
    sys.stderr.write("in the call\\n")
    return 3
server.run()
"""


def ran(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), *words], capture_output=True, text=True, timeout=120, cwd=cwd, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        "python server.py",
        "python3.12 -u server.py",
        "/usr/bin/python server.py",
        "python -m server",
        "C:\\Python\\python.exe server.py",
        "node dist/index.js",
        "npx -y some-server",
        "uvx some-server",
        "uv run server",
        "docker run image",
        "mcp-bindgen run ok.py",
        "mcp-bindgen run weather",
        "./start.sh serve.sh",
    ],
)
def test_a_command_without_a_tool_is_seen_at_once(words: str) -> None:
    *command, tool = words.split()
    with pytest.raises(InputError, match="no TOOL is named") as refused:
        require_tool(command, tool)
    assert "--list" in str(refused.value.remedy)


@pytest.mark.parametrize(
    "words",
    [
        "python server.py add",
        "python -m server add",
        "npx -y some-server add",
        "uv run server.py add",
        "docker run -i image add",
        "mcp-bindgen run weather.py forecast",
        "./server add",
        "my-server git.log",
        "https://example.com/mcp add",
    ],
)
def test_a_command_with_a_tool_is_taken(words: str) -> None:
    *command, tool = words.split()
    require_tool(command, tool)


def test_a_file_that_is_there_is_no_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.server").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no TOOL is named"):
        require_tool(["launch"], "my.server")
    (tmp_path / "add").write_text("")
    require_tool(["launch"], "add")


def test_arguments_that_are_a_list_are_no_tool() -> None:
    with pytest.raises(InputError, match="the arguments are not a JSON object"):
        require_tool(["server", "add"], "[1]")


def test_the_command_says_so_and_starts_nothing(tmp_path: Path) -> None:
    done = ran("call", "--", sys.executable, "server.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "no TOOL is named: 'server.py' belongs to the command" in done.stderr


@pytest.mark.parametrize("server", [SILENT, DEAF, CHATTY])
def test_a_time_limit_holds_whatever_the_server_does(server: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(server)
    done = ran(
        "call", "--timeout", "0.5", "--list", "--", sys.executable, "server.py", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "no answer within 0.5 s" in done.stderr


@pytest.mark.wide
def test_what_a_server_prints_at_its_start_is_held_back(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(NOISY)
    done = ran("call", "--", sys.executable, "server.py", "add", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == '{"result":3}\n'
    assert "a page of errors" not in done.stderr
    loud = ran("call", "-v", "--", sys.executable, "server.py", "add", cwd=tmp_path)
    assert loud.stderr.count("a page of errors") == 50


def test_the_last_lines_are_shown_where_the_server_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(NOISY.partition("from mcp_runtime")[0] + "1 / 0\n")
    done = ran("call", "--list", "--", sys.executable, "server.py", cwd=tmp_path)
    assert done.returncode == 2
    assert 0 < done.stderr.count("a page of errors") < 20
    assert "ZeroDivisionError" in done.stderr


def test_the_first_line_of_a_description_ends_at_any_line_end(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(NOISY)
    done = ran("call", "--list", "--", sys.executable, "server.py", cwd=tmp_path)
    assert "add(): one\n" in done.stdout


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("server.py", ("server.py", "")),
        ("server.py:server", ("server.py", "server")),
        ("pkg.mod:app", ("pkg.mod", "app")),
        ("C:\\Users\\me\\server.py:server", ("C:\\Users\\me\\server.py", "server")),
        ("C:\\Users\\me\\server.py", ("C:\\Users\\me\\server.py", "")),
        ("C:/Users/me/server.py", ("C:/Users/me/server.py", "")),
    ],
)
def test_a_target_is_split_at_its_last_colon(target: str, parts: tuple[str, str]) -> None:
    assert _parts(target) == parts


@pytest.mark.parametrize("target", ["C:\\Users\\me\\server.py:server", "C:\\Users\\me\\server.py"])
def test_a_file_that_is_missing_is_named(target: str) -> None:
    done = ran("run", target)
    assert done.returncode == 2
    assert "there is no file C:\\Users\\me\\server.py" in done.stderr
