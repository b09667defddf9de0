"""Settings that pages show: those of hosts start the server of the page, and workflows parse."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.pages import Page
from tests.test_page_names import faults

ROOT: Final = Path(__file__).parents[1]
READ: Final = {"json": json.loads, "toml": tomllib.loads}
LISTS: Final = {"mcpServers", "servers", "context_servers", "mcp_servers"}
"""The member in which a host keeps its servers."""
URL: Final = "http://127.0.0.1:8000/mcp"


def page(name: str) -> Page:
    path = ROOT / "docs" / name
    return Page(path, path.read_text("utf-8"))


def servers(name: str) -> Iterator[Mapping[str, Any]]:
    """The settings of each server that a page has."""
    for block in page(name).blocks:
        if block.language in READ:
            ((member, servers),) = READ[block.language](block.text).items()
            assert member in LISTS
            yield from servers.values()


@pytest.mark.parametrize("name", ["HOSTS.md", "TUTORIAL.md"])
def test_the_settings_of_every_host_start_a_server_or_name_its_url(name: str) -> None:
    offered = list(servers(name))
    assert offered
    for one in offered:
        if "command" in one:
            assert one["command"] == "/path/to/.venv/bin/python"
            assert Path(one["args"][-1]).parent == Path("/path/to")
            assert one.keys() <= {"type", "command", "args", "env"}
        else:
            assert URL in (one.get("url"), one.get("httpUrl"))
            assert one.keys() <= {"type", "url", "httpUrl"}


def test_each_host_has_its_own_form() -> None:
    members = [
        next(iter(READ[block.language](block.text)))
        for block in page("HOSTS.md").blocks
        if block.language in READ
    ]
    assert set(members) == LISTS


SERVERS_OWN: Final = ["pip", "install", "-r", "requirements.txt"]
"""Installs packages of the reader, whose names no page knows."""


def steps(name: str) -> list[str]:
    """What the workflow of a page runs."""
    text = "".join(block.text for block in page(name).blocks if block.language == "yaml")
    return re.findall(r"^ +- run: (.*)$", text, re.M)


def test_the_commands_of_the_workflow_are_there() -> None:
    commands = [shlex.split(line.partition(" > ")[0]) for line in steps("DIFF-IN-CI.md")]
    installed = [words for words in commands if words[0] == "pip"]
    assert SERVERS_OWN in installed
    ours = [w for w in commands if w[0] in ("mcp-bindgen", "pip") and w != SERVERS_OWN]
    assert len(ours) == 2
    assert [problem for words in ours for problem in faults(words)] == []


def test_the_workflow_compares_the_list_that_the_page_has_committed() -> None:
    *_, fetched, last = steps("DIFF-IN-CI.md")
    committed = set(re.findall(r"git add (\S+)", page("DIFF-IN-CI.md").text))
    assert fetched.startswith("git fetch")
    assert set(re.findall(r"git:FETCH_HEAD:(\S+)", last)) == committed


def test_the_action_runs_what_the_workflow_runs() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    *_, fetched, compared = steps("DIFF-IN-CI.md")
    inputs = dict(re.findall(r"^  ([\w-]+):\n    description: .+\.\n +(.*)$", text, re.M))
    env = dict(re.findall(r"^ +([A-Z_]+): \$\{\{ inputs\.([\w-]+) \}\}$", text, re.M))
    assert {*env.values()} == inputs.keys()
    values = {name: inputs[input].removeprefix("default: ") for name, input in env.items()}
    assert values.pop("SERVER") == "required: true"
    values["SERVER"] = "mcp-bindgen run weather.py"
    command = text.partition("run: >-")[2].partition("env:")[0]
    words = [re.sub(r"\$(\w+)", lambda m: values[m[1]], word) for word in shlex.split(command)]
    assert [*faults(words)] == []
    assert "      run: " + fetched.partition('"')[0] in text
    assert words == [*shlex.split(compared)[:-2], "--fail-on", "breaking", "--format", "github"]
