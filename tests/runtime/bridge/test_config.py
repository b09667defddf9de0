"""An `mcp.json` as hosts write it, and a client of all its servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime.bridge import ConfigError, read_config
from mcp_runtime.bridge.config import without_comments
from mcp_runtime.client.client import Client

TEXT: Final = """\ufeff{
  // as VS Code writes it
  "inputs": [],
  "servers": { /* two
    servers */
    "git hub": {
      "type": "http",
      "url": "https://${HOST:-api.example}/mcp?a=//b",
      "headers": { "Authorization": "Bearer ${TOKEN}", },
    },
    "files_2": {
      "command": "${userHome}/bin/files",
      "args": ["--root", "${workspaceFolder}", "${env:TOKEN}", "/* no comment, */"],
      "env": { "MODE": "${MODE:-}", "N": 3 },
      "cwd": "${workspaceFolder}",
    },
    "off": { "command": "x", "disabled": true },
  },
}
"""


def options_of(connect: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the client that a server's `connect` makes."""
    return connect.args, connect.keywords


def test_variables_comments_and_prefixes_are_read(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(TEXT, encoding="utf-8")
    servers = read_config(file, environment={"TOKEN": "t0ken"})
    assert {name: each.names.prefix for name, each in servers.items()} == {
        "git hub": "git-hub",
        "files_2": "files-2",
    }
    assert options_of(servers["git hub"].connect) == (
        ("https://api.example/mcp?a=//b",),
        {"headers": {"Authorization": "Bearer t0ken"}},
    )
    words, options = options_of(servers["files_2"].connect)
    folder = str(tmp_path.absolute())
    assert [*words[0]] == [
        f"{Path.home()}/bin/files",
        "--root",
        folder,
        "t0ken",
        "/* no comment, */",
    ]
    assert options == {"env": {"MODE": "", "N": "3"}, "cwd": folder}
    assert servers["git hub"].where == "https://api.example/mcp"  # of which a log may speak


def test_an_error_has_the_place_and_no_value(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(TEXT, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_config(file, environment={"HOST": "hidden.example"})
    said = str(refused.value)
    assert "git hub: headers: Authorization: ${TOKEN} has no value: set TOKEN" in said
    assert "hidden" not in said


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "{", '{"mcpServers": []}', '{"mcpServers": {}}', '{"mcpServers": {"a": 1,,}}'],
)
def test_a_text_without_servers_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"mcp\.json"):
        read_config(file)


def test_comments_become_blanks_so_that_places_stay() -> None:
    text = '{"a": "//", /* b\n */ "c": [1, 2,], // d\n}'
    plain = without_comments(text)
    assert json.loads(plain) == {"a": "//", "c": [1, 2]}
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in text.splitlines()]


def test_a_client_of_a_file_takes_the_options_of_a_client(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"a": {"command": "a"}}}', encoding="utf-8")
    assert isinstance(Client.from_config(file, timeout=3), Client)
