"""`mcp-bindgen validate`: a verdict for each message, with its place, and never a stop."""

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
from tests.cli.command import invoke, run

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


def test_a_message_is_known_by_its_method(tmp_path: Path) -> None:
    bad = {**CALL, "params": {"cursor": 1}}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert judged(tmp_path, CALL, bad, note) == [
        (True, "ListToolsRequest", None),
        (False, "ListToolsRequest", "$.params.cursor"),
        (True, "InitializedNotification", None),
    ]


def test_a_result_is_known_by_the_request_before_it(tmp_path: Path) -> None:
    bad = {**RESULT, "result": {"tools": [{"name": "a"}]}}
    other = {**RESULT, "id": "1"}
    assert judged(tmp_path, CALL, RESULT, CALL, bad, bad, CALL, other) == [
        (True, "ListToolsRequest", None),
        (True, "ListToolsResult", None),
        (True, "ListToolsRequest", None),
        (False, "ListToolsResult", "$.result.tools[0].inputSchema"),
        (True, "JSONRPCResultResponse", None),
        (True, "ListToolsRequest", None),
        (True, "JSONRPCResultResponse", None),
    ]


def test_requests_of_both_sides_may_have_one_id(tmp_path: Path) -> None:
    roots = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"roots": [{"uri": "file:///a"}]}}
    verdicts = judged(tmp_path, CALL, roots, RESULT)
    assert verdicts[2] == (True, "ListToolsResult", None)
    assert judged(tmp_path, roots, CALL, answer)[2] == (True, "ListRootsResult", None)


@pytest.mark.parametrize(
    ("message", "type", "path"),
    [
        ({**CALL, "method": "tools/lists"}, "JSONRPCRequest", "$.method"),
        ({**CALL, "method": 1}, "JSONRPCRequest", "$.method"),
        ({"jsonrpc": "2.0", "method": "no/such"}, "JSONRPCNotification", "$.method"),
        ({"id": 1, "method": "tools/list"}, "ListToolsRequest", "$.jsonrpc"),
        ({"jsonrpc": "2.0", "method": "tools/list"}, "ListToolsRequest", "$.id"),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "notifications/initialized"},
            "InitializedNotification",
            "$.id",
        ),
        ({**RESULT, "id": None}, "JSONRPCResultResponse", "$.id"),
        ({**RESULT, "error": {}}, "JSONRPCResultResponse", "$.error"),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": ""}},
            "JSONRPCErrorResponse",
            "$.error.code",
        ),
        ({"tools": []}, None, "$"),
        ([CALL], None, "$"),
        (1, None, "$"),
    ],
)
def test_a_fault_has_its_place(tmp_path: Path, message: Any, type: str | None, path: str) -> None:
    assert judged(tmp_path, message) == [(False, type, path)]


def test_batches_are_where_the_revision_has_them(tmp_path: Path) -> None:
    assert (
        judged(tmp_path, [CALL], [CALL, {**CALL, "id": []}], [RESULT], [[]], [1], [])
        == [(False, None, "$")] * 6
    )
    assert judged(
        tmp_path, [CALL], [CALL, {**CALL, "id": []}], [RESULT], [[]], revision="2025-03-26"
    ) == [
        (True, "JSONRPCBatchRequest", None),
        (False, "JSONRPCBatchRequest", "$[1].id"),
        (True, "JSONRPCBatchResponse", None),
        (False, "JSONRPCBatchResponse", "$[0]"),
    ]


def test_a_type_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"name": "a", "inputSchema": {"type": "array"}}')
    done = invoke("validate", *REVISION, "--type", "Tool", file)
    expected = f'{file}:1: invalid Tool at $.inputSchema.type: expected "object", found "array"'
    assert done.stdout.splitlines() == [expected, "1 message: 1 invalid"]


def test_a_type_that_is_not_there_is_a_verdict_for_each_message(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("{}\n{}\n")
    done = invoke("validate", *REVISION, "--type", "Toool", "--format", "json", file)
    assert done.exit_code == 1
    assert [row["valid"] for row in rows(done.stdout)] == [False, False]
    assert all("as Tool" in row["expected"] for row in rows(done.stdout))


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
    found = rows(done.stdout)
    assert done.exit_code == 1
    assert [row["valid"] for row in found] == [False, True] * len(bad)
    for row, expected in zip(found[::2], bad.values(), strict=True):
        assert expected in row["expected"]
        assert row["path"] == "$"


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
    assert "no message was found" in done.stderr


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
    assert b"\x1b" not in run("validate", *REVISION, file).stdout


def test_verdicts_have_colour_on_a_terminal_only(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(CALL))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mcp_bindgen", "validate", *REVISION, str(file)]
    subprocess.run(command, stdout=theirs, check=True)
    os.close(theirs)
    assert b"\x1b[32mvalid" in os.read(ours, 4096)
    os.close(ours)
    assert b"\x1b" not in run("validate", *REVISION, file).stdout


@pytest.mark.parametrize(
    "revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
)
def test_the_messages_of_the_official_pages_are_known(
    shared: Path, tmp_path: Path, revision: str
) -> None:
    rows = json.loads((shared / "official" / revision / "messages.json").read_text("utf-8"))
    messages = [row["json"] for row in rows if "jsonrpc" in row["json"]]
    verdicts = judged(tmp_path, *messages, revision=revision)
    assert len(messages) > 10
    assert all(type for _, type, _ in verdicts)
    faults = {path for valid, _, path in verdicts if not valid}
    assert faults <= LEFT_OUT


LEFT_OUT = {
    "$.method",  # `some_method`
    "$.id",  # of the request on the page about pagination, up to 2025-03-26
    "$.params._meta",
    '$.params._meta["io.modelcontextprotocol/protocolVersion"]',
}
"""What the pages abbreviate; tests/laws/test_official_examples.py says where."""
