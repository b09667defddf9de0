"""`mcp-bindgen convert`: the message on stdout, its losses on stderr, a code for each end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from tests.support.command import invoke, run_here

CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "a"},
}
AUDIO: dict[str, Any] = {"type": "audio", "data": "", "mimeType": "audio/wav"}
RESULT: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"content": [AUDIO]}}


def written(folder: Path, value: Any) -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_a_message_that_loses_nothing(tmp_path: Path) -> None:
    ended = invoke("convert", "--from", "2025-06-18", "--to", "2025-11-25", written(tmp_path, CALL))
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert json.loads(ended.stdout) == CALL


def test_losses_are_told_on_stderr(tmp_path: Path) -> None:
    down = ("--from", "2025-03-26", "--to", "2024-11-05", "--method", "tools/call")
    ended = invoke("convert", *down, written(tmp_path, RESULT))
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["result"]["content"][0]["type"] == "text"
    assert ended.stderr.startswith("$.result.content[0]: AudioContent becomes text. ")
    assert len(ended.stderr.splitlines()) == 1


def test_losses_in_json_are_beside_the_message(tmp_path: Path) -> None:
    down = ("--from", "2025-03-26", "--to", "2024-11-05", "--method", "tools/call")
    ended = invoke("convert", *down, "--format", "json", written(tmp_path, RESULT))
    assert (ended.exit_code, ended.stderr) == (1, "")
    body = json.loads(ended.stdout)
    assert [loss["path"] for loss in body["losses"]] == ["$.result.content[0]"]
    assert set(body) == {"message", "losses"}


def test_a_context_is_written_into_the_message(tmp_path: Path) -> None:
    info = {"name": "c", "version": "1"}
    context = written(tmp_path, {"clientInfo": info, "clientCapabilities": {}, "logLevel": "info"})
    up = ("--from", "2024-11-05", "--to", "2026-07-28", "--context", context)
    ended = invoke("convert", *up, written(tmp_path, CALL))
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["params"]["_meta"] == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": info,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "info",
    }


@pytest.mark.parametrize(
    ("options", "message", "said"),
    [
        (("2024-11-05", "2026-07-28"), CALL, 'for instance {"clientCapabilities": {}}'),
        (("2025-03-26", "2024-11-05"), RESULT, "--method METHOD"),
        (("2025-06-18", "2025-11-25"), {**CALL, "params": {}}, "$.params.name: expected string"),
        (("2025-06-18", "2025-11-25"), '{"a": NaN}', "NaN"),
        (("2025-06-18", "2025-11-25"), "7", "$: expected object, found 7"),
        (("2025-06-18", "2025-11-25"), "[]", "$: expected object, found array"),
        (("2025-06-18", "2025-11-25"), "{}", "a method of 2025-06-18, found nothing"),
        (("2025-06-18", "1999-01-01"), CALL, "1999-01-01"),
        (
            ("2025-11-25", "2026-07-28"),
            {**CALL, "method": "ping"},
            "mcp_runtime.core.session.lifecycle",
        ),
        (("2025-11-25", "2025-06-18"), {**CALL, "method": "tasks/list"}, "(-32601)"),
    ],
)
def test_what_cannot_be_converted_is_one_message(
    tmp_path: Path, options: tuple[str, str], message: Any, said: str
) -> None:
    ended = invoke("convert", "--from", options[0], "--to", options[1], written(tmp_path, message))
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("mcp-bindgen: ")
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("tools/cal", "has a method 'tools/cal'\nDid you mean tools/call?"),
        ("server/discover", "neither 2025-03-26 nor 2024-11-05 has a method"),
    ],
)
def test_the_method_of_a_response_is_one_that_a_revision_has(
    tmp_path: Path, method: str, said: str
) -> None:
    down = ("--from", "2025-03-26", "--to", "2024-11-05", "--method", method)
    ended = invoke("convert", *down, written(tmp_path, RESULT))
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("method", "message", "near"),
    [
        ("tools/cal", {"content": []}, "tools/call"),
        (None, {"method": "sampling/createMesage", "params": {}}, "sampling/createMessage"),
    ],
)
def test_what_has_no_envelope_and_a_misspelt_method_is_told_the_right_one(
    tmp_path: Path, method: str | None, message: Any, near: str
) -> None:
    named = () if method is None else ("--method", method)
    down = ("--from", "2025-03-26", "--to", "2024-11-05", *named)
    ended = invoke("convert", *down, written(tmp_path, message))
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.endswith(f"\nDid you mean {near}?\n")


def test_a_request_whose_method_is_almost_a_known_one_passes_with_a_warning(tmp_path: Path) -> None:
    """An extension may have such a method, so nothing is refused."""
    down = ("convert", "--from", "2025-03-26", "--to", "2024-11-05")
    ended = invoke(*down, written(tmp_path, CALL | {"method": "tools/cal"}))
    assert (ended.exit_code, json.loads(ended.stdout)["method"]) == (0, "tools/cal")
    assert ended.stderr == (
        "mcp-bindgen: neither 2025-03-26 nor 2024-11-05 has a method 'tools/cal', so the message"
        " passes as it is\nDid you mean tools/call?\n"
    )
    ended = invoke(*down, written(tmp_path, CALL | {"method": "ui/open-link"}))
    assert (ended.exit_code, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"clientName": 1}', "'clientName'"),
        ("[]", "a context is an object"),
        ('{"resultTypes": "task"}', "resultTypes is not a list of strings"),
        ('{"clientCapabilities": 3}', "context.client_capabilities: 2026-07-28 does not take it"),
    ],
)
def test_a_context_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    up = ("--from", "2025-11-25", "--to", "2026-07-28", "--context", written(tmp_path, text))
    ended = invoke("convert", *up, written(tmp_path, CALL))
    assert ended.exit_code == 2
    assert said in ended.stderr


def test_a_message_over_the_limit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    file.write_bytes(b" " * (MAX_MESSAGE_BYTES + 1))
    ended = invoke("convert", "--from", "2025-06-18", "--to", "2025-11-25", file)
    assert ended.exit_code == 2
    assert str(MAX_MESSAGE_BYTES) in ended.stderr


def test_a_file_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    ended = invoke("convert", "--from", "2025-06-18", "--to", "2025-11-25", tmp_path / "none")
    assert ended.exit_code == 2
    assert ended.stderr.count("\n") == 1


def test_a_context_names_the_types_of_results_that_extensions_add(tmp_path: Path) -> None:
    result = written(tmp_path, {"content": [], "resultType": "task"})
    down = ("--from", "2026-07-28", "--to", "2025-11-25", "--method", "tools/call")
    refused = invoke("convert", *down, result)
    assert refused.exit_code == 2
    assert "the result is of a type that is not part of the protocol" in refused.stderr
    context = tmp_path / "extensions.json"
    context.write_text('{"resultTypes": ["task"]}', encoding="utf-8")
    ended = invoke("convert", *down, "--context", context, result)
    assert (ended.exit_code, json.loads(ended.stdout)) == (1, {"content": []})


def test_stdin_is_a_file_and_nothing_steers_the_terminal() -> None:
    command = [sys.executable, "-m", "mcp_bindgen", "convert", "--from", "2025-06-18"]
    tool = {"name": "\x1b[31m", "inputSchema": {"type": "object"}, "title": "t"}
    message = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}}
    ended = subprocess.run(
        [*command, "--to", "2025-03-26", "--method", "tools/list", "-"],
        input=json.dumps(message).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["result"]["tools"] == [
        {"name": "\x1b[31m", "inputSchema": {"type": "object"}}
    ]
    assert b"\x1b" not in ended.stderr + ended.stdout


def test_its_help_says_the_exit_statuses() -> None:
    assert b"Exit status 0" in run_here("convert", "--help").stdout
