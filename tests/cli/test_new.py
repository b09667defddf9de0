"""`mcp-bindgen new`: a whole project or none, and nothing asked but on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcp_bindgen import pins
from mcp_bindgen.cli.new import command as new
from mcp_bindgen.emit import tree
from mcp_bindgen.scaffold import record
from mcp_runtime import Server
from tests.support import tool_lists
from tests.support.command import invoke, run_here
from tests.support.loopback import Loopback
from tests.support.projects import TOOLS, answers, made

NEWEST = pins.revisions()[-1]


def written(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


def unpacked(files: Mapping[str, str]) -> dict[str, object]:
    """The files of a project, and those in its record: what it is packed with does not matter."""
    return {**files, record.BASE: record.unpack(files[record.BASE])}


def test_a_project_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("new", "my-server", "--revisions", NEWEST)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Next: make -C my-server try" in done.stderr
    assert unpacked(written(tmp_path / "my-server")) == unpacked(made(answers(revisions=(NEWEST,))))
    assert [path.name for path in tmp_path.iterdir()] == ["my-server"]


@pytest.mark.wide
def test_transports_are_chosen(tmp_path: Path) -> None:
    options = ("--revisions", NEWEST, "--transports", "http, stdio", "--into", tmp_path / "a")
    assert invoke("new", "my-server", *options).exit_code == 0
    chosen = answers(revisions=(NEWEST,), transports=("stdio", "http"))
    assert written(tmp_path / "a") == made(chosen)


@pytest.mark.wide
def test_authorization_is_chosen(tmp_path: Path) -> None:
    options = ("--revisions", NEWEST, "--transports", "http", "--auth", "bearer")
    assert invoke("new", "my-server", *options, "--into", tmp_path / "a").exit_code == 0
    chosen = answers(revisions=(NEWEST,), transports=("http",), auth="bearer")
    assert written(tmp_path / "a") == made(chosen)


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    into = tmp_path / "there"
    into.mkdir()
    assert invoke("new", "a", "--revisions", NEWEST, "--into", into).exit_code == 0
    assert (into / "pyproject.toml").is_file()
    plain = tmp_path / "plain"
    plain.mkdir()
    assert into.stat().st_mode == plain.stat().st_mode


@pytest.mark.wide
def test_the_next_command_names_the_folder_as_a_shell_reads_it(tmp_path: Path) -> None:
    options = ("--revisions", NEWEST, "--into", tmp_path / "my projects")
    done = invoke("new", "weather", *options)
    assert f"{tmp_path}/my projects is written" in done.stderr
    assert done.stderr.endswith(f"Next: make -C '{tmp_path}/my projects' try\n")


@pytest.mark.wide
def test_nothing_is_asked_where_standard_input_is_closed(tmp_path: Path) -> None:
    shell = f"{sys.executable} -m mcp_bindgen new weather --revisions {NEWEST} --dry-run <&-"
    done = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    into = tmp_path / "there"
    done = invoke("new", "my-server", "--revisions", NEWEST, "--into", into, "--dry-run")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == list(made(answers(revisions=(NEWEST,))))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "NAME is needed"),
        (["My Server"], "cannot name a project"),
        (["class"], "reserved word"),
        (["a", "--revisions", "1999-01-01"], "no revision is called '1999-01-01'"),
        (["a", "--revisions", "2024-11-05"], "would be lacking"),
        (["a", "--transports", "stdio,pigeon"], "Known transports: stdio, http"),
        (["a", "--auth", "bearer"], "Say --transports http"),
        (["a", "--scale"], "Say --transports http"),
        (["a", "--ui", "--from-tools", "tools.json"], "Leave out --ui, or --from-tools"),
        (["a", "--transports", "http", "--auth", "basic"], "'basic' is not one of"),
        (["a", "--into", "file/where"], "is not a folder"),
        (["a", "--into", "file"], "is not a folder"),
        (["a", "--into", "full"], "is not empty"),
        (["a", "--from-tools", "absent.json"], "absent.json: is not a readable file"),
        (["a", "--from-tools", "'unclosed"], "'unclosed: is not a readable file"),
        (["a", "--from-tools", "file"], "is not JSON"),
        (["a", "--from-tools", "untyped.json", "--strict"], "cannot be typed"),
        (["a", "--from-tools", "http://127.0.0.1:1/mcp"], "lists no tools"),
        (["a", "--from-tools", "program"], "lists no tools"),
        (["a", "--from-tools", "absent-command x"], "lists no tools"),
        (["a", "--from-tools", f"{sys.executable} -c pass"], "lists no tools"),
        (["a", "--from-tools", f"{sys.executable} -c 1/0"], "\nZeroDivisionError: division by"),
    ],
)
def test_what_cannot_be_done_leaves_no_trace(
    args: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema, *_ = tool_lists.UNTYPED["remote"]
    listing = tool_lists.listing({"name": "t", "inputSchema": schema})
    (tmp_path / "untyped.json").write_bytes(listing)
    (tmp_path / "file").write_text("x")
    (tmp_path / "program").write_text("#!/bin/sh\nexit\n")
    (tmp_path / "program").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    done = invoke("new", *args)
    assert done.exit_code == 2
    assert said in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "member", "said"),
    [
        ("get sum", {}, "cannot be the name of a tool"),
        ("get-sum", {"x-mcp-header": "a b"}, "x-mcp-header"),
    ],
)
def test_a_tool_that_no_server_may_offer_is_refused_by_name(
    name: str, member: dict[str, str], said: str, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", **member}}}
    (tmp_path / "f.json").write_bytes(tool_lists.listing({"name": name, "inputSchema": schema}))
    done = invoke("new", "a", "--from-tools", tmp_path / "f.json", "--into", tmp_path / "a")
    assert done.exit_code == 2
    assert "1 of 1 tools cannot be offered" in done.stderr
    assert f'"{name}" (' in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "a").exists()


def test_a_disk_that_is_full_leaves_no_half_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **options: object) -> list[str]:
        (Path(str(args[0])) / "half").write_text("x")
        raise OSError(28, "No space left on device", "half")

    monkeypatch.setattr(tree, "write", full)
    done = invoke("new", "a", "--revisions", NEWEST, "--into", tmp_path / "a")
    assert done.exit_code == 2
    assert "Nothing was written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_filled_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into = tmp_path / "a"

    def late(folder: Path) -> None:
        folder.mkdir()
        (folder / "mine").write_text("mine")

    monkeypatch.setattr(new, "_require_free", late)
    done = invoke("new", "a", "--revisions", NEWEST, "--into", into)
    assert done.exit_code == 2
    assert written(tmp_path) == {"a/mine": "mine"}


@pytest.mark.wide
def test_tools_of_a_file_are_typed(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_bytes(TOOLS)
    options = ("--revisions", NEWEST, "--from-tools", tmp_path / "tools.json")
    assert invoke("new", "my-server", *options, "--into", tmp_path / "a").exit_code == 0
    assert written(tmp_path / "a") == made(answers(revisions=(NEWEST,), tools=True))


SERVER = """
from mcp_runtime import Server
server = Server("s", "1")
@server.tool
def add(a: int, b: int = 2) -> int: ...
server.run()
"""


@pytest.mark.wide
def test_tools_of_a_running_server_are_typed(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    command = f"{sys.executable} {tmp_path / 'server.py'}"
    options = ("--revisions", NEWEST, "--from-tools", command)
    done = invoke("new", "my-server", *options, "--into", tmp_path / "a")
    assert done.exit_code == 0, done.stderr
    listed = json.loads((tmp_path / "a/src/my_server/tools/tools.json").read_bytes())["tools"]
    assert [tool["name"] for tool in listed] == ["add"]
    assert "    b: int = 2\n" in (tmp_path / "a/src/my_server/tools/add.py").read_text()


def test_a_command_of_one_word_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "mcp-server-add"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{SERVER}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    options = ("--revisions", NEWEST, "--into", tmp_path / "a", "--dry-run")
    for command in (str(program), "mcp-server-add"):
        done = invoke("new", "a", "--from-tools", command, *options)
        assert done.exit_code == 0, done.stderr
        assert "src/a/tools/add.py" in done.stdout.splitlines()


def test_the_server_of_a_url_is_asked(tmp_path: Path, loopback: Loopback) -> None:
    server = Server("s", "1")

    @server.tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    with loopback.mounted(server.asgi()) as url:
        options = ("--from-tools", f"{url}/mcp", "--revisions", NEWEST, "--into", tmp_path / "a")
        done = invoke("new", "a", *options)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "a/src/a/tools/add.py").exists()


@pytest.mark.wide
def test_what_has_no_type_is_said(tmp_path: Path) -> None:
    schema, *_ = tool_lists.UNTYPED["nested"]
    listing = tool_lists.listing({"name": "t", "inputSchema": schema})
    (tmp_path / "tools.json").write_bytes(listing)
    options = ("--from-tools", tmp_path / "tools.json", "--into", tmp_path / "a")
    done = invoke("new", "a", *options, "--revisions", NEWEST)
    assert done.exit_code == 0, done.stderr
    assert '  "t": input.x.y: Python cannot tell its objects ' in done.stderr
    handler = (tmp_path / "a/src/a/tools/t.py").read_text()
    assert "    y: dict[str, Any] | UnsetType = UNSET\n" in handler


def typed_in(text: str, *args: str, cwd: Path) -> tuple[str, int]:
    """What the command says on a terminal on which `text` is typed, and its exit code."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mcp_bindgen", *args],
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, text.encode())
        said = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 4096):
                said += part
    os.close(ours)
    return said.decode(), process.returncode


@pytest.mark.wide
def test_on_a_terminal_it_asks(tmp_path: Path) -> None:
    said, code = typed_in(f"my-server\n{NEWEST}\n\n\n", "new", cwd=tmp_path)
    assert code == 0, said
    assert "Name of the project" in said
    assert "Transports, by commas [stdio]" in said
    assert "Folder [my-server]" in said
    assert unpacked(written(tmp_path / "my-server")) == unpacked(made(answers(revisions=(NEWEST,))))


@pytest.mark.wide
def test_on_a_terminal_yes_asks_nothing(tmp_path: Path) -> None:
    said, code = typed_in("", "new", "a", "--yes", "--dry-run", "--revisions", NEWEST, cwd=tmp_path)
    assert code == 0
    assert "Folder" not in said
    assert "pyproject.toml" in said


def test_folders_above_the_project_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke("new", "weather", "--revisions", NEWEST, "--into", "a/b/c", "--yes")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "a" / "b" / "c" / "pyproject.toml").is_file()
