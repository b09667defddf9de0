"""The words of `call`: a server by its file, arguments as name=value, and their types."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import Result

from mcp_bindgen.cli.call.words import Words, parse
from mcp_bindgen.errors import InputError
from tests.support.command import invoke
from tests.support.scripted_server import raw

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "deep": {"type": "object", "properties": {"x": {"type": "number"}}},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "flag": {"type": "boolean"},
        "anything": {},
    },
}


def call(*words: str) -> Result:
    return invoke("call", *words)


def echo(folder: Path, **answers: Any) -> tuple[list[str], Path]:
    """A server with one tool `t`, and the file in which it notes the params of each request."""
    script = folder / "server.py"
    noted = folder / "noted"
    answers = {
        "tools/list": {"tools": [{"name": "t", "inputSchema": SCHEMA}]},
        "tools/call": {"content": [{"type": "text", "text": "done"}]},
        **answers,
    }
    script.write_text(
        "import json, sys\n"
        f"answers = json.loads({json.dumps(answers)!r})\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    method, id = message['method'], message.get('id')\n"
        "    if method == 'initialize':\n"
        "        kinds = dict.fromkeys(['tools', 'prompts', 'resources', 'completions'], {})\n"
        "        answer = {'result': {'protocolVersion': '2025-11-25', 'capabilities': kinds,\n"
        "            'serverInfo': {'name': 's', 'version': '1'}}}\n"
        "    elif method in answers:\n"
        "        answer = {'result': answers[method]}\n"
        f"        with open({str(noted)!r}, 'a') as file:\n"
        "            print(json.dumps([method, message.get('params', {})]), file=file)\n"
        "    else:\n"
        "        answer = {'error': {'code': -32601, 'message': 'Method not found'}}\n"
        "    if id is not None:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': id, **answer}), flush=True)\n"
    )
    return [str(script)], noted


def params(noted: Path) -> dict[str, Any]:
    """The params of the last request, without `_meta`."""
    _, params = json.loads(noted.read_text().splitlines()[-1])
    return {name: value for name, value in params.items() if name != "_meta"}


# ---- words


@pytest.mark.parametrize(
    ("words", "server", "tool", "given"),
    [
        ("python -m s add a=1", "python -m s", "add", [("a", "1")]),
        ("./s add a=1 b=x=y", "./s", "add", [("a", "1"), ("b", "x=y")]),
        ("docker run -e A=1 image add", "docker run -e A=1 image", "add", []),
        ("docker run -e A=1 image add a=1", "docker run -e A=1 image", "add", [("a", "1")]),
        ("https://h/mcp?a=1 add a=1 a=2", "https://h/mcp?a=1", "add", [("a", "1"), ("a", "2")]),
        ("env A=1 ./s add tags=", "env A=1 ./s", "add", [("tags", "")]),
    ],
)
def test_arguments_are_the_pairs_behind_the_tool(
    words: str, server: str, tool: str, given: list[tuple[str, str]]
) -> None:
    split = parse(words.split())
    assert split == Words(tuple(server.split()), tool, None, given)


def test_without_a_tool_all_words_but_the_pairs_are_the_server() -> None:
    assert parse(["./s", "--a=1", "b=2"], tool=False).given == [("b", "2")]
    assert parse(["env", "A=1"], tool=False, arguments=False).server == ("env", "A=1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["./s", "add", '{"a": 1}', "b=2"], "JSON or name=value, not both"),
        (["./s", "add", "{"], "the arguments are not JSON"),
        (["./s", "add", "[1]"], "the arguments are not a JSON object"),
        (["missing.py", "add"], "there is no file missing.py"),
        (["missing.py"], "no TOOL is named: 'missing.py' is the server"),
        (["https://h/mcp"], "no TOOL is named: 'https://h/mcp' is the server"),
        (["x"], "a call has a file, command or URL, and a tool"),
    ],
)
def test_words_that_are_no_call_are_said_before_anything_starts(
    words: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        parse(words)


def test_a_python_file_is_started_by_this_python(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("")
    assert parse([str(script), "add"]).server == (sys.executable, str(script))
    script.chmod(0o755)
    assert parse([str(script), "add"]).server == (str(script),)


def test_a_flag_behind_a_file_names_the_form_for_commands(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("")
    with pytest.raises(InputError, match="'add' is neither a tool with arguments") as refused:
        parse([str(script), "add", "--a", "1"])
    assert "-- python" in refused.value.remedy


# ---- types


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ("count=3", {"count": 3}),
        ("name=3", {"name": "3"}),
        ("name=", {"name": ""}),
        ("tags=a", {"tags": ["a"]}),
        ("tags=a tags=b", {"tags": ["a", "b"]}),
        ('tags=["a","b"]', {"tags": ["a", "b"]}),
        ("numbers=1 numbers=2", {"numbers": [1, 2]}),
        ('deep={"x":1.5}', {"deep": {"x": 1.5}}),
        ("maybe=null", {"maybe": "null"}),
        ("flag=true", {"flag": True}),
        ("flag=perhaps", {"flag": "perhaps"}),
        ("anything=1", {"anything": "1"}),
        ("other=1", {"other": "1"}),
    ],
)
def test_a_text_gets_the_type_that_the_schema_asks_for(
    words: str, sent: dict[str, Any], tmp_path: Path
) -> None:
    server, noted = echo(tmp_path)
    done = call(*server, "t", *words.split())
    assert (done.exit_code, done.stdout) == (0, "done\n"), done.stderr
    assert params(noted) == {"name": "t", "arguments": sent}


def test_arguments_in_json_are_sent_as_they_are(tmp_path: Path) -> None:
    server, noted = echo(tmp_path)
    assert call(*server, "t", '{"count": "3"}').exit_code == 0
    assert params(noted)["arguments"] == {"count": "3"}
    assert call("--json", '{"count": "4"}', *server, "t").exit_code == 0
    assert params(noted)["arguments"] == {"count": "4"}


def test_an_unknown_tool_names_the_nearest(tmp_path: Path) -> None:
    tools = [{"name": "forecast", "inputSchema": {"type": "object"}}]
    server, _ = echo(tmp_path, **{"tools/list": {"tools": tools}})
    done = call(*server, "forcast", "a=1")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "mcp-bindgen: the server has no tool 'forcast'",
        "Did you mean 'forecast'?",
    ]


# ---- the other ways


def test_a_prompt_is_got_with_its_arguments(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": {"type": "text", "text": "Hello Al"}}]
    server, noted = echo(tmp_path, **{"prompts/get": {"messages": messages}})
    done = call("--prompt", "greet", *server, "name=1")
    assert (done.exit_code, done.stdout) == (0, "user:\nHello Al\n"), done.stderr
    assert params(noted) == {"name": "greet", "arguments": {"name": "1"}}


def test_a_resource_is_read(tmp_path: Path) -> None:
    contents = [{"uri": "a:b", "text": "one"}, {"uri": "a:c", "blob": "AAEC", "mimeType": "x/y"}]
    server, noted = echo(tmp_path, **{"resources/read": {"contents": contents}})
    done = call("--read", "a:b", *server)
    assert (done.exit_code, done.stdout) == (0, "one\n[blob x/y a:c]\n"), done.stderr
    assert params(noted) == {"uri": "a:b"}
    as_json = call("--format", "json", "--read", "a:b", *server)
    assert json.loads(as_json.stdout) == {"contents": contents}


@pytest.mark.parametrize(
    ("name", "ref"),
    [
        ("greet", {"type": "ref/prompt", "name": "greet"}),
        ("file:///{path}", {"type": "ref/resource", "uri": "file:///{path}"}),
    ],
)
def test_the_last_argument_is_completed_beside_the_chosen_ones(
    name: str, ref: dict[str, str], tmp_path: Path
) -> None:
    completion = {"values": ["Alice", "Albert"], "hasMore": True, "total": 9}
    server, noted = echo(tmp_path, **{"completion/complete": {"completion": completion}})
    done = call("--complete", name, *server, "style=x", "name=Al")
    assert (done.exit_code, done.stdout) == (0, "Alice\nAlbert\n"), done.stderr
    assert done.stderr == "mcp-bindgen: these are 2 of 9; there are more\n"
    assert params(noted) == {
        "ref": ref,
        "argument": {"name": "name", "value": "Al"},
        "context": {"arguments": {"style": "x"}},
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--list", "--read", "a:b", "s"], "--list and --read cannot go together"),
        (["--complete", "greet", "server.py"], "needs the beginning of an argument"),
        (["--prompt", "greet", "server.py", "a=1", "a=2"], "the argument 'a' is given twice"),
        (["--prompt", "greet", "server.py", '{"a": 1}'], "the argument 'a' of a prompt is a text"),
    ],
)
def test_what_does_not_go_together_is_said(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = call(*words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_log_message_is_one_line_on_stderr(tmp_path: Path) -> None:
    message = {"level": "warning", "logger": "db", "data": {"slow": 3, "text": "a\nb"}}
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": message})
    server = raw(
        tmp_path,
        speaks="2025-11-25",
        before={"tools/call": [line]},
        answers={"tools/call": {"result": {"content": []}}},
    )
    done = call("--", *server, "t")
    assert done.stderr == 'warning db: {"slow": 3, "text": "a\\nb"}\n'
