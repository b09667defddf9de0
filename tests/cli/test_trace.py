"""`call` of a command and `trace`: a server is asked and its wire judged, as a person would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.command import invoke, run, run_here
from tests.support.demo_server import SERVER

RUN: Final = (sys.executable, "-m", "mcp_bindgen", "run")


def call(*words: str) -> subprocess.CompletedProcess[bytes]:
    return run_here("call", *words)


def test_what_a_server_has_is_listed(server: str) -> None:
    done = call("--list", "--", *RUN, server)
    assert done.stdout.decode().splitlines() == [
        "demo 1.2.3, MCP 2026-07-28",
        "  tool      add(a: integer, b: integer): Adds.",
        "  tool      fail()",
        "  tool      tell(password: string)",
        "  template  a://{x}: An a.",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_a_tool_is_called_and_its_prints_stay_off_the_wire(server: str, revision: str) -> None:
    words = ("--revision", revision, "--", *RUN, server, "add", '{"a": 1, "b": 2}')
    done = run("call", *words)
    assert (done.stdout, done.returncode) == (b'{"result":3}\n', 0)
    assert b"this is no message" in done.stderr
    assert b"nor is this" in done.stderr


def test_a_result_is_shown_as_json(server: str) -> None:
    done = call("--format", "json", "--", *RUN, server, "add", '{"a": 1, "b": 2}')
    assert json.loads(done.stdout)["structuredContent"] == {"result": 3}


def test_a_tool_that_fails_is_a_finding_whose_text_cannot_steer_the_terminal(server: str) -> None:
    done = call("--", *RUN, server, "fail")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert b"no" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-command", "x"], "cannot start 'no-such-command'"),
        (["--", sys.executable, "-c", "pass", "x"], "has ended before it said what it speaks"),
        (["ftp://example.com/x", "--list"], "a server's URL begins with http:// or https://"),
        (["--", "x"], "a call has a file, command or URL, and a tool"),
        (["--", "x", "y", "{bad"], "the arguments are not JSON"),
        (["--revision", "1999-01-01", "--", "x", "y"], "no such revision"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_message(words: list[str], said: str) -> None:
    done = call(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()


def test_an_unknown_tool_is_the_servers_own_error(server: str) -> None:
    done = call("--", *RUN, server, "nope")
    assert done.returncode == 2
    assert "Unknown tool: nope (-32602)" in done.stderr.decode()
    assert "--list, written before the server, shows its tools" in done.stderr.decode()


# ---- trace


def recorded(server: str, file: Path, *words: str, revision: str = "2025-11-25") -> list[Any]:
    call("--revision", revision, "--trace", str(file), "--", *RUN, server, *words)
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_trace_has_each_message_and_its_direction(server: str, tmp_path: Path) -> None:
    lines = recorded(server, tmp_path / "t", "add", '{"a": 1, "b": 2}')
    sent = [(line["direction"], line["message"].get("method")) for line in lines]
    assert sent == [
        ("sent", "initialize"),
        ("received", None),
        ("sent", "notifications/initialized"),
        ("sent", "tools/call"),
        ("received", None),
    ]
    times = [line["at"] for line in lines]
    assert times == sorted(times)


def test_secrets_are_left_out_of_a_trace(server: str, tmp_path: Path) -> None:
    lines = recorded(server, tmp_path / "t", "tell", '{"password": "hunter2"}')
    text = json.dumps(lines)
    assert "hunter2" not in text
    assert "abcdefgh12345" not in text
    assert lines[3]["message"]["params"]["arguments"] == {"password": "[redacted]"}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"])
def test_the_wire_of_our_own_sides_is_valid(server: str, tmp_path: Path, revision: str) -> None:
    recorded(server, tmp_path / "t", "add", '{"a": 1, "b": 2}', revision=revision)
    for options in ([], ["--revision", revision]):
        done = run_here("trace", "--check", *options, tmp_path / "t")
        assert done.stdout.decode().endswith(" valid, 0 invalid\n")
        assert done.returncode == 0


def test_a_message_at_fault_is_told_with_its_line_and_path(server: str, tmp_path: Path) -> None:
    file = tmp_path / "t"
    lines = recorded(server, file, "add", '{"a": 1, "b": 2}')
    lines[4]["message"]["result"]["content"] = 5
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    done = run_here("trace", "--check", "--revision", "2025-11-25", file)
    assert done.returncode == 1
    first, last = done.stdout.decode().splitlines()
    assert first.startswith("5: <- invalid CallToolResult at $.result.content: expected array")
    assert last == "5 messages: 4 valid, 1 invalid"


def test_a_trace_replaces_nothing_but_a_trace(tmp_path: Path) -> None:
    """A slip of the hand would empty the server's own source."""
    source = tmp_path / "demo.py"
    source.write_text(SERVER, encoding="utf-8")
    target = f"{source}:server"
    words = ("--", *RUN, target, "add", '{"a": 1, "b": 2}')
    for command in (("run", "--trace", source, target), ("call", "--trace", source, *words)):
        done = run_here(*command)
        assert (done.returncode, done.stdout) == (2, b"")
        said = f"mcp-bindgen: {source}: holds something other than a trace\n"
        assert done.stderr.decode().startswith(said)
        assert source.read_text("utf-8") == SERVER
    for _ in range(2):
        assert run_here("call", "--trace", tmp_path / "t", *words).returncode == 0


def test_a_trace_without_messages_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "t").touch()
    for check in ((), ("--check",)):
        done = run_here("trace", *check, tmp_path / "t")
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"mcp-bindgen: {tmp_path / 't'}: holds no message")


def test_a_trace_is_shown_message_by_message(server: str, tmp_path: Path) -> None:
    recorded(server, tmp_path / "t", "add", '{"a": 1, "b": 2}')
    shown = invoke("trace", tmp_path / "t").stdout.splitlines()
    assert len(shown) == 5
    assert shown[1].endswith("…")
    assert json.loads(invoke("trace", "--full", tmp_path / "t").stdout.splitlines()[1][14:])
    assert "-> " in shown[0]
    assert '"initialize"' in shown[0]


@pytest.mark.parametrize("text", ["nonsense\n", "[]\n", '{"direction": "up", "message": 1}\n'])
def test_a_file_that_is_no_trace_is_refused_by_its_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(text, encoding="utf-8")
    done = run_here("trace", tmp_path / "t")
    assert done.returncode == 2
    assert b"line 1 is not a line of a trace" in done.stderr


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-11-25"])
def test_the_trace_of_an_older_server_is_judged_as_it_negotiated(
    tmp_path: Path, revision: str
) -> None:
    (tmp_path / "old.py").write_text(
        f"from mcp_runtime import Server\nserver = Server('old', '1', revisions=['{revision}'])\n"
        "@server.tool\ndef add(a: int) -> int: return a\n"
    )
    traced = tmp_path / "t"
    call("--trace", str(traced), "--", *RUN, str(tmp_path / "old.py"), "add", '{"a": 1}')
    lines = [json.loads(line) for line in traced.read_text("utf-8").splitlines()]
    methods = [line["message"].get("method") for line in lines]
    assert methods[0] == "server/discover"
    assert "initialize" in methods
    done = run_here("trace", "--check", traced)
    assert done.stdout.decode() == f"{len(lines)} messages: {len(lines)} valid, 0 invalid\n"
    assert done.returncode == 0
    lines[-1]["message"]["result"]["content"] = 5
    traced.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    done = run_here("trace", "--check", traced)
    assert b"invalid CallToolResult at $.result.content: expected array" in done.stdout


def test_a_trace_that_negotiates_nothing_needs_a_revision(tmp_path: Path) -> None:
    line = {"at": 0, "direction": "sent", "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
    (tmp_path / "t").write_text(json.dumps(line), encoding="utf-8")
    assert (
        b"line 1: no message up to this one" in run_here("trace", "--check", tmp_path / "t").stderr
    )
    done = run_here("trace", "--check", "--revision", "2025-11-25", tmp_path / "t")
    assert done.stdout == b"1 message: 1 valid, 0 invalid\n"
