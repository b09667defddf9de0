"""`validate`: files, blocks, streams, and what cannot be read."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from tests.support.command import invoke, run_here

CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
RESULT: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
REVISION = ("--revision", "2025-11-25")


def rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def judged(folder: Path, *messages: Any, revision: str = "2025-11-25") -> list[tuple[Any, ...]]:
    """`valid`, `type`, `path` of each message, written as JSON lines."""
    file = folder / "messages.jsonl"
    file.write_text("".join(f"{json.dumps(m)}\n" for m in messages), encoding="utf-8")
    output = invoke("validate", "--revision", revision, "--format", "json", file).stdout
    assert [row["line"] for row in rows(output)] == list(range(1, len(messages) + 1))
    return [(row["valid"], row["type"], row["path"]) for row in rows(output)]


def test_no_bad_text_stops_the_file(tmp_path: Path) -> None:
    good = json.dumps(CALL).encode()
    bad = {
        b"nonsense": "JSON",
        b'{"jsonrpc":"2.0"': "JSON",
        b"\xef\xbb\xbf" + good: "JSON",
        b'{"a":"\xff"}': "UTF-8",
        '{"a":1}'.encode("utf-16"): "UTF-8",
        b'{"a":NaN}': "JSON",
        b'{"a":1e999}': "JSON",
        b'{"a":"\\ud800"}': "JSON",
        b"[" * 200 + b"]" * 200: "nested up to 128",
        b'{"a":' * 100_000: "JSON",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000: "nested up to 128",
        b'{"a":"' + b"x" * MAX_MESSAGE_BYTES + b'"}': f"at most {MAX_MESSAGE_BYTES} bytes",
    }
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"".join(b"%b\n%b\n" % (text, good) for text in bad))
    done = invoke("validate", *REVISION, "--format", "json", file)
    shown = rows(done.stdout)
    assert done.exit_code == 1
    assert [row["valid"] for row in shown] == [False, True] * len(bad)
    for row, expected in zip(shown[::2], bad.values(), strict=True):
        assert expected in row["expected"]
        assert row["path"] == "$"


@pytest.mark.parametrize(
    "command",
    [
        "validate --revision 2025-11-25",
        "convert --from 2025-11-25 --to 2026-07-28",
    ],
)
def test_a_byte_order_mark_is_refused_with_what_to_do(tmp_path: Path, command: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(CALL), encoding="utf-8-sig")
    done = invoke(*command.split(), file)
    assert done.exit_code
    assert "found a byte order mark at the start (save the text without it)" in done.output


def test_blocks_of_markdown_that_are_no_messages_are_told_but_no_finding(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    blocks = [CALL, {"name": "a part"}, {**RESULT, "result": {"tools": 1}}]
    body = "\n".join(f"```json\n{json.dumps(b)}\n```" for b in blocks[:2])
    file.write_text(body)
    done = invoke("validate", *REVISION, file)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"{file}:2: valid ListToolsRequest",
        f"{file}:5: not judged",
        "2 messages: 1 valid, 1 not judged",
    ]
    file.write_text(body + f"\n```json\n{json.dumps(blocks[2])}\n```\n")
    done = invoke("validate", *REVISION, file)
    assert done.exit_code == 1
    assert f"{file}:8: invalid ListToolsResult at $.result.tools: " in done.stdout


def test_a_batch_in_a_block_of_markdown_is_a_message(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(f"```json\n{json.dumps([CALL])}\n```\n```json\n[{{}}]\n```\n")
    done = invoke("validate", *REVISION, "--format", "json", file)
    assert [row["valid"] for row in rows(done.stdout)] == [False, None]


def test_a_log_may_begin_with_other_lines_and_be_indented(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(f"started\n{json.dumps(CALL)}\n{json.dumps(RESULT)}\n")
    done = invoke("validate", *REVISION, "--format", "json", file)
    assert [row["valid"] for row in rows(done.stdout)] == [False, True, True]
    file.write_text(f"{json.dumps(CALL, indent=2)}\n{json.dumps(RESULT, indent=2)}\n")
    done = invoke("validate", *REVISION, "--format", "json", file)
    assert [(row["line"], row["type"]) for row in rows(done.stdout)] == [
        (1, "ListToolsRequest"),
        (6, "ListToolsResult"),
    ]


def test_files_that_cannot_be_read_do_not_hide_the_others(tmp_path: Path) -> None:
    good, gone = tmp_path / "a.json", tmp_path / "gone.json"
    good.write_text(json.dumps(CALL))
    done = invoke("validate", *REVISION, "--format", "json", gone, tmp_path, good)
    assert done.exit_code == 1
    assert [(row["file"], row["valid"]) for row in rows(done.stdout)] == [(str(good), True)]
    assert str(gone) in done.stderr


@pytest.mark.parametrize("text", [None, "", "\n\n"])
def test_nothing_to_read_is_code_2(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "a.json"
    if text is not None:
        file.write_text(text)
    done = invoke("validate", *REVISION, file)
    assert done.exit_code == 2
    assert f"{file}: no message was found\nGive JSON, JSON lines, or Markdown" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "validate --revision 2025-11-25",
        "convert --from 2025-11-25 --to 2025-06-18",
        "trace",
    ],
)
def test_standard_input_that_is_closed_is_code_2(words: str) -> None:
    shell = f"{sys.executable} -m mcp_bindgen {words} - <&-"
    done = subprocess.run(shell, shell=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"mcp-bindgen: -: standard input is closed\n")


def test_an_unknown_revision_is_code_2_and_names_those_there_are() -> None:
    done = invoke("validate", "--revision", "2025-11-26", "-")
    assert done.exit_code == 2
    assert "2025-11-25" in done.stderr


def test_standard_input_is_judged_as_it_comes() -> None:
    command = [sys.executable, "-m", "mcp_bindgen", "validate", *REVISION, "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (CALL, RESULT):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            assert b"valid ListTools" in process.stdout.readline()
        process.stdin.close()
        assert process.stdout.read() == b"2 messages: 2 valid\n"
    assert process.returncode == 0


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text((json.dumps(CALL) + "\n") * 20_000)
    shell = f"{sys.executable} -m mcp_bindgen validate --revision 2025-11-25 {file} | head -1"
    done = subprocess.run(shell, shell=True, capture_output=True, check=True)
    assert (done.stdout.count(b"\n"), done.stderr) == (1, b"")


def test_a_message_cannot_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({**CALL, "method": "a\x1b[2J\n"}))
    assert b"\x1b" not in run_here("validate", *REVISION, file).stdout
    named = tmp_path / "\x9b\u202e.json"
    named.write_text(json.dumps(CALL))
    for format in ("text", "json"):
        shown = on_terminal("validate", *REVISION, "--format", format, str(file), str(named))
        assert b"u202e.json" in shown
        assert not {"\x9b", "\u202e"} & set(shown.decode())


def test_a_long_text_of_a_message_is_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({**CALL, "method": "x" * 100_000}))
    assert len(run_here("validate", *REVISION, file).stdout) < 1_000


def on_terminal(*args: str) -> bytes:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mcp_bindgen", *args]
    subprocess.run(command, stdout=theirs, check=False)
    os.close(theirs)
    shown = os.read(ours, 4096)
    os.close(ours)
    return shown


def test_verdicts_have_colour_on_a_terminal_only(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(CALL))
    assert b"\x1b[32mvalid" in on_terminal("validate", *REVISION, str(file))
    assert b"\x1b" not in run_here("validate", *REVISION, file).stdout
