"""`mcp-bindgen diff --tools`: two files with the results of tools/list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import invoke

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
    assert "new.json: cannot be read" in result.stderr


def test_a_name_steers_no_terminal(files: tuple[Path, Path]) -> None:
    files[0].write_text(json.dumps([{**OLD, "name": "\x1b[31m"}]))
    result = invoke("diff", "--tools", *files)
    assert "\x1b" not in result.stdout
    assert "\\u001b[31m" in result.stdout
