"""`run --inspect`: the official inspector is started with the command of the server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcp_bindgen.cli.run.inspector import inspector_command, run_inspector
from mcp_bindgen.cli.run.serving import Program
from mcp_bindgen.errors import InputError
from tests.support.command import run_here


def test_the_inspector_is_given_the_server_behind_a_separator(server: str) -> None:
    executed = list[Sequence[str]]()

    def execute(words: Sequence[str]) -> int:
        executed.append(words)
        return 0

    program = Program(server, ("--city", "Oslo"), compat=True, show_errors=True, trace="t.jsonl")
    assert run_inspector(program, {"npx": "/bin/npx"}.get, execute) == 0
    (words,) = executed
    assert words[:4] == ["/bin/npx", "@modelcontextprotocol/inspector", sys.executable, "--"]
    assert words[4:7] == ["-m", "mcp_bindgen", "run"]
    flags = ["--compat", "--show-errors", "--trace=t.jsonl"]
    assert words[7:] == [*flags, server, "--", "--city", "Oslo"]


def test_a_server_without_options_has_none_in_its_command() -> None:
    words = inspector_command(Program("weather.py"))
    assert words[2:] == ["--", "-m", "mcp_bindgen", "run", "weather.py"]


def test_the_exit_code_of_the_inspector_is_told(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_inspector(Program(server), {"npx": "npx"}.get, lambda _: 7) == 2
    assert capsys.readouterr().err == "mcp-bindgen: the inspector ended with exit code 7\n"


def test_nothing_is_started_for_a_server_that_is_not_there(tmp_path: Path) -> None:
    def execute(words: Sequence[str]) -> int:
        raise AssertionError(words)

    with pytest.raises(InputError, match="there is no file"):
        run_inspector(Program(str(tmp_path / "absent.py")), {"npx": "npx"}.get, execute)


def test_without_npx_the_remedy_names_node_and_a_way_without_it(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_here("run", "--inspect", server)
    assert (done.returncode, done.stdout) == (2, b"")
    first, remedy = done.stderr.decode().splitlines()
    assert first == "mcp-bindgen: the inspector needs npx, which is not found"
    assert "Install Node.js" in remedy
    assert "mcp-bindgen call --list" in remedy


def test_the_inspector_starts_the_server_itself(server: str) -> None:
    done = run_here("run", "--inspect", "--http", ":0", server)
    assert done.returncode == 2
    assert b"--inspect goes without --http and --reload" in done.stderr
