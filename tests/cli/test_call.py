"""`call` beside servers of any kind: what it offers, what it lists, and what its errors say."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import Result

from tests.support.command import invoke
from tests.support.scripted_server import raw
from tests.support.terminal import HOSTILE, is_inert


def call(*words: str) -> Result:
    return invoke("call", *words)


TOOLS: Final = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}


# ---- what is offered


def test_a_server_that_dies_of_the_probe_is_listed(tmp_path: Path) -> None:
    done = call(
        "--list", "--", *raw(tmp_path, dies=True, answers={"tools/list": {"result": TOOLS}})
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "raw 1, MCP 2024-11-05\n  tool      t()\n"


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (["--revision", "2025-11-25"], "initialize 2025-11-25"),
        (["--revision", "2024-11-05"], "initialize 2024-11-05"),
        (["--era", "handshake"], "initialize 2025-11-25"),
        (["--era", "auto"], "server/discover "),
    ],
)
def test_a_revision_offers_what_is_older_too(
    options: list[str], offered: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = raw(tmp_path, log=str(log), answers={"tools/list": {"result": TOOLS}})
    done = call("--list", *options, "--", *server)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("raw 1, MCP 2024-11-05\n")
    assert log.read_text("utf-8").split("\n")[0] == offered


def test_exactly_one_revision_is_offered_if_that_is_meant(tmp_path: Path) -> None:
    done = call("--list", "--revision", "2025-11-25", "--exact", "--", *raw(tmp_path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "we speak 2025-11-25; the peer speaks 2024-11-05" in done.stderr
    done = call("--list", "--exact", "--", *raw(tmp_path))
    assert done.exit_code == 2
    assert "--exact goes with --revision" in done.stderr


def test_the_timeout_is_for_the_first_answer_too() -> None:
    command = [
        sys.executable,
        "-S",
        "-c",
        "import sys; print('busy', file=sys.stderr); sys.stdin.read()",
    ]
    done = call("--timeout", "3", "--list", "--", *command)
    assert done.exit_code == 2
    assert done.stderr.count("busy") == 2  # once from each start: with the probe, and without


def test_what_a_dying_server_says_is_shown_once() -> None:
    dying = "import sys; print('no key', file=sys.stderr); sys.exit(3)"
    done = call("--list", "--", sys.executable, "-S", "-c", dying)
    assert done.exit_code == 2
    ended = "the server has ended before it said what it speaks (exit code 3)"
    assert done.stderr == f"no key\nmcp-bindgen: {ended}\n"


def test_a_server_that_prints_where_the_protocol_is_spoken_is_said_to() -> None:
    chatty = "import sys; print('one\\ntwo', flush=True); sys.stdin.readline()"
    done = call("--list", "--", sys.executable, "-S", "-c", chatty)
    assert done.exit_code == 2
    assert "2 lines of its output are not answers: does it print there?" in done.stderr


def test_how_large_an_answer_may_be_is_an_option(tmp_path: Path) -> None:
    large = {"result": {"content": [{"type": "text", "text": "x" * 50_000}]}}
    server = raw(tmp_path, answers={"tools/call": large})
    done = call("--max-message", "20000", "--", *server, "t")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "more than 20000 bytes" in done.stderr
    assert "--max-message" in done.stderr
    assert call("--", *server, "t").exit_code == 0


# ---- what is listed


def test_a_list_that_is_not_there_is_empty(tmp_path: Path) -> None:
    done = call("--list", "--", *raw(tmp_path, answers={"tools/list": {"result": TOOLS}}))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "raw 1, MCP 2024-11-05\n  tool      t()\n"


def test_another_error_of_a_list_is_noted_and_the_others_shown(tmp_path: Path) -> None:
    failed = {"error": {"code": -32603, "message": "fetch\x1b failed"}}
    answers = {"tools/list": {"result": TOOLS}, "prompts/list": failed}
    answers["resources/list"] = {"result": {"resources": "none"}}
    done = call("--list", "--", *raw(tmp_path, answers=answers))
    assert done.exit_code == 2
    assert done.stdout == "raw 1, MCP 2024-11-05\n  tool      t()\n"
    first, second = done.stderr.splitlines()
    assert first.startswith(
        "mcp-bindgen: the resources cannot be listed: resources/list: $.resources"
    )
    assert second == "mcp-bindgen: the prompts cannot be listed: fetch\\u001b failed (-32603)"
    done = call("--list", "--format", "json", "--", *raw(tmp_path, answers=answers))
    document = json.loads(done.stdout)
    assert (done.exit_code, [tool["name"] for tool in document["tools"]]) == (2, ["t"])
    assert document["errors"].keys() == {"resources", "prompts"}
    assert not document.keys() & {"resources", "prompts"}, "a failed list looks like an empty one"


@pytest.mark.parametrize(
    ("kind", "method", "good", "bad"),
    [
        ("tools", "tools/list", TOOLS["tools"][0], {"name": "bad", "inputSchema": {}}),
        ("prompts", "prompts/list", {"name": "p"}, {"name": "bad", "arguments": 1}),
        ("resources", "resources/list", {"name": "r", "uri": "a:b"}, {"name": "bad"}),
    ],
)
def test_an_item_that_is_invalid_is_named_beside_the_others(
    kind: str, method: str, good: Any, bad: Any, tmp_path: Path
) -> None:
    answers = {"tools/list": {"result": TOOLS}, method: {"result": {kind: [bad, good]}}}
    server = raw(tmp_path, answers=answers)
    done = call("--list", "--format", "json", "--", *server)
    document = json.loads(done.stdout)
    assert (done.exit_code, document[kind]) == (1, [good])
    assert document["errors"].keys() == {kind}
    assert document["errors"][kind].startswith(f"{method}: $.{kind}[0]")
    assert "('bad'): expected" in document["errors"][kind]
    (line,) = done.stderr.splitlines()
    assert line == f"mcp-bindgen: the {kind} cannot all be listed: {document['errors'][kind]}"


def test_a_list_of_which_nothing_is_valid_has_failed(tmp_path: Path) -> None:
    answers = {"tools/list": {"result": {"tools": [{"name": "bad"}]}}}
    answers["prompts/list"] = {"result": {"prompts": []}}
    done = call("--list", "--format", "json", "--", *raw(tmp_path, answers=answers))
    document = json.loads(done.stdout)
    assert (done.exit_code, "tools" in document, document["prompts"]) == (2, False, [])
    assert "'bad'" in document["errors"]["tools"]


def test_where_nothing_can_be_listed_that_is_an_error(tmp_path: Path) -> None:
    failed = {"error": {"code": -32603, "message": "no"}}
    done = call(
        "--list", "--", *raw(tmp_path, capabilities={"tools": {}}, answers={"tools/list": failed})
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "mcp-bindgen: nothing could be listed"


def test_a_server_that_dies_while_it_is_listed_is_an_error(tmp_path: Path) -> None:
    done = call("--list", "--", *raw(tmp_path, dies=True, ends="tools/list"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "tools/list: the server has ended" in done.stderr


def test_an_answer_that_does_not_come_says_how_to_wait_longer(tmp_path: Path) -> None:
    silent = raw(tmp_path, answers={"tools/call": None})
    done = call("--timeout", "2", "--", *silent, "t")
    error, remedy = done.stderr.splitlines()
    assert re.fullmatch(r"mcp-bindgen: (?:\S+: )?no answer within [0-9]+(\.[0-9]+)? s", error)
    assert "--timeout" in remedy


def test_a_server_without_a_version_is_shown_by_its_name(tmp_path: Path) -> None:
    server = raw(
        tmp_path, info={"name": "raw", "version": ""}, answers={"tools/list": {"result": TOOLS}}
    )
    assert call("--list", "--", *server).stdout.startswith("raw, MCP 2024-11-05\n")


# ---- what errors say


def test_a_closed_port_says_what_to_check() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = call("--list", f"http://127.0.0.1:{port}/mcp")
    assert done.exit_code == 2
    assert f"http://127.0.0.1:{port}: no connection" in done.stderr
    assert "check the host and the port, and that the server is running" in done.stderr


def test_an_address_without_its_scheme_says_what_to_type() -> None:
    done = call("localhost:8000/mcp", "t")
    assert done.exit_code == 2
    assert "write it in full: http://localhost:8000/mcp" in done.stderr


def test_a_script_instead_of_a_command_says_what_to_type(tmp_path: Path) -> None:
    script = tmp_path / "server.sh"
    script.write_text("", "utf-8")
    done = call("--", str(script), "t")
    assert done.exit_code == 2
    assert f"start it with its interpreter: sh {script}" in done.stderr


def test_an_option_that_is_none_is_no_command() -> None:
    done = call("--lst", "--", "python", "server.py")
    assert done.exit_code == 2
    assert "No such option '--lst'" in done.stderr
    assert "'--list'" in done.stderr


def test_a_server_that_serves_nothing_says_so() -> None:
    done = call("--list", "--", sys.executable, "-S", "-c", "pass")
    assert done.exit_code == 2
    assert "exit code 0, having read nothing: does it serve on standard input?" in done.stderr


# ---- what is shown


SAYABLE: Final = {name: text for name, text in HOSTILE.items() if name != "surrogate"}
"""What JSON can hold."""


@pytest.mark.parametrize("text", SAYABLE.values(), ids=SAYABLE)
@pytest.mark.parametrize("format", ["text", "json"])
def test_nothing_that_a_server_says_steers_the_terminal(
    text: str, format: str, tmp_path: Path
) -> None:
    image = {"type": "image", "mimeType": f"image/{text}", "data": ""}
    link = {"type": "resource_link", "uri": f"a://{text}", "name": text}
    blocks = [{"type": "text", "text": text}, image, link]
    tool = {"name": f"t{text}", "description": text, "inputSchema": {"type": "object"}}
    resource = {"name": text, "uri": f"a:{text}", "description": text}
    answers = {
        "tools/call": {"result": {"content": blocks, "structuredContent": {text: text}}},
        "tools/list": {"result": {"tools": [tool]}},
        "resources/list": {"result": {"resources": [resource]}},
        "prompts/list": {"error": {"code": 1, "message": text}},
    }
    info = {"name": text, "version": text}
    server = raw(tmp_path, answers=answers, info=info, stderr=text, speaks="2025-11-25")
    for words in (["--list", "--", *server], ["--", *server, "t"]):
        done = call("--format", format, *words)
        assert done.exit_code == (2 if "--list" in words else 0), done.stderr
        assert is_inert(done.stdout)
        assert is_inert(done.stderr)
        if format == "json":
            assert (
                text in json.dumps(json.loads(done.stdout), ensure_ascii=False)
                or "\\" in done.stdout
            )


@pytest.mark.parametrize("text", [HOSTILE["ESC"], HOSTILE["OSC"], HOSTILE["C1"]])
def test_nothing_in_an_error_of_a_server_steers_the_terminal(text: str, tmp_path: Path) -> None:
    error = {"error": {"code": 1, "message": f"no {text}", "data": text}}
    done = call("--", *raw(tmp_path, answers={"tools/call": error}), "t")
    assert done.exit_code == 2
    assert "no " in done.stderr
    assert is_inert(done.stderr)


def test_a_result_without_content_says_the_place_and_the_remedy(tmp_path: Path) -> None:
    answers = {
        "tools/list": {"result": TOOLS},
        "tools/call": {"result": {"structuredContent": {"a": 1}}},
    }
    done = call("--", *raw(tmp_path, answers=answers), "t")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "mcp-bindgen: tools/call: $.content: expected array, found nothing; a server sends "
        "`content` beside `structuredContent`, if only an empty list\n"
    )


def test_a_proxy_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    proxy = f"http://me:secret@127.0.0.1:{port}"
    done = call("--proxy", proxy, "--list", "http://example.com/mcp")
    assert (done.exit_code, done.stdout) == (2, "")
    place = f"http://example.com through the proxy http://127.0.0.1:{port}: no connection"
    assert place in done.stderr
    assert "check the address of the proxy, and that it is running" in done.stderr
    assert "secret" not in done.stderr


def test_a_validator_that_is_not_installed_is_no_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("mcp_bindgen.cli.call.command.find_spec", lambda name: None)
    tool = {**TOOLS["tools"][0], "outputSchema": {"type": "object"}}
    content = {"content": [], "structuredContent": {"a": 1}}
    answers = {"tools/list": {"result": {"tools": [tool]}}, "tools/call": {"result": content}}
    done = call("--", *raw(tmp_path, answers=answers), "t", "a=1")
    assert (done.exit_code, done.stderr) == (0, "")
