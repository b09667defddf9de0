"""`mcp-bindgen diff --tools`: files with results of tools/list, commits, commands and URLs."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import invoke
from tests.support.scripted_server import raw

OLD = {"name": "sum", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}}}
NEW = {"name": "sum", "inputSchema": {**OLD["inputSchema"], "required": ["a"]}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    for name, tool in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"tools": [tool]}))
    return tmp_path / "old.json", tmp_path / "new.json"


def test_findings_are_told_and_breaking_ones_fail(files: tuple[Path, Path]) -> None:
    result = invoke("diff", "--tools", *files)
    assert result.exit_code == 1
    assert "sum.input.a  MEMBER_BECAME_REQUIRED" in result.stdout
    assert invoke("diff", "--tools", *files, "--fail-on", "never").exit_code == 0
    assert invoke("diff", "--tools", files[0], files[0]).exit_code == 0


def test_the_document_is_that_of_schemas(files: tuple[Path, Path]) -> None:
    body: dict[str, Any] = json.loads(invoke("diff", "--tools", *files, "--format", "json").stdout)
    (finding,) = body["findings"]
    assert finding["methods"] == ["sum"]
    assert finding["ways"] == ["client-to-server"]
    assert finding["witnesses"][0]["message"]["params"] == {"name": "sum", "arguments": {}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "old.json:1:2: is not JSON"),
        ("{}", "old.json:1:1: $: expected the result of `tools/list`"),
        ('{"tools": [{"name": "a\x1b[31m"}]}', "old.json:1:23: is not JSON"),
        ('[{"name": "\\u001b[31m", "inputSchema": 1}]', "expected a schema"),
    ],
)
def test_a_file_that_is_none_could_not_be_compared(
    files: tuple[Path, Path], text: str, said: str
) -> None:
    files[0].write_text(text)
    result = invoke("diff", "--tools", *files)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert "\x1b" not in result.stderr


def test_lists_of_tools_without_the_option_say_which_one_is_missing(
    files: tuple[Path, Path],
) -> None:
    refused = invoke("diff", *map(str, files))
    assert refused.exit_code == 2
    assert f"{files[0]} is JSON, and not a schema.ts" in refused.stderr
    assert "mcp-bindgen diff --tools OLD NEW" in refused.stderr


def test_a_file_that_is_not_there_could_not_be_compared(files: tuple[Path, Path]) -> None:
    files[1].unlink()
    result = invoke("diff", "--tools", *files)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "new.json: is not a readable file, a program or a URL" in result.stderr


def test_a_name_steers_no_terminal(files: tuple[Path, Path]) -> None:
    files[0].write_text(json.dumps([{**OLD, "name": "\x1b[31m"}]))
    result = invoke("diff", "--tools", *files)
    assert "\x1b" not in result.stdout
    assert "\\u001b[31m" in result.stdout


# ---- the other sides

PROMPT = {"name": "greet", "arguments": [{"name": "who", "required": True}]}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, in which `sub/old.json` is."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/old.json").write_text(json.dumps({"tools": [OLD]}))
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (["init", "-q"], ["add", "--all"], [*settings, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_side_may_be_a_file_of_a_commit(
    repository: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "sub/old.json").unlink()
    result = invoke("diff", "--tools", "git:HEAD:sub/old.json", files[1])
    assert result.exit_code == 1, result.stderr
    assert result.stdout.startswith("git:HEAD:sub/old.json → ")
    monkeypatch.chdir(repository / "sub")
    assert invoke("diff", "--tools", "git:HEAD:./old.json", files[0]).exit_code == 0


@pytest.mark.parametrize(
    ("side", "said"),
    [
        (
            "git:HEAD:absent.json",
            "git:HEAD:absent.json cannot be read: path 'absent.json' does not",
        ),
        ("git:absent:a.json", "git:absent:a.json cannot be read"),
        ("git:--help:a.json", "git:--help:a.json cannot be read"),
        ("git:HEAD", "git:HEAD names no file\nFor instance: git:main:tools.json"),
    ],
)
def test_a_commit_without_the_file_could_not_be_compared(
    repository: Path, files: tuple[Path, Path], side: str, said: str
) -> None:
    result = invoke("diff", "--tools", side, files[0])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_side_may_be_a_server(tmp_path: Path) -> None:
    lists = {"tools": [OLD], "prompts": [PROMPT]}
    (tmp_path / "old.json").write_text(json.dumps(lists))
    answers = {f"{name}/list": {"result": {name: items}} for name, items in lists.items()}
    answers["prompts/list"] = {"result": {"prompts": []}}
    capabilities = {"tools": {}, "prompts": {}}
    command = raw(tmp_path, answers=answers, capabilities=capabilities)
    result = invoke("diff", "--tools", tmp_path / "old.json", shlex.join(command))
    assert result.exit_code == 1, result.stderr
    assert "prompt greet  PROMPT_REMOVED" in result.stdout


def test_a_server_with_an_invalid_item_could_not_be_compared(tmp_path: Path) -> None:
    answers = {"tools/list": {"result": {"tools": [OLD, {"name": "x"}]}}}
    command = shlex.join(raw(tmp_path, answers=answers))
    result = invoke("diff", "--tools", command, command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "lists invalid items\n| tools/list" in result.stderr


def test_a_proxy_is_for_a_url(files: tuple[Path, Path]) -> None:
    result = invoke("diff", "--tools", *files, "--proxy", "http://127.0.0.1:1")
    assert result.exit_code == 2
    assert "are for tools at a URL" in result.stderr
