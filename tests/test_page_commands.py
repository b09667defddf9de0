"""Commands that pages show in blocks of shell run as they stand, or another test runs them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import Result

from mcp_bindgen.compare.report import ignore
from tests.support.command import invoke
from tests.support.pages import pages

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {page.path.relative_to(ROOT).as_posix(): page for page in pages(ROOT)}
SHOWN: Final = {
    name: [line for block in page.blocks if block.language == "sh" for line in block.lines]
    for name, page in PAGES.items()
}
ELSEWHERE: Final = {
    "pip install": "tests/support/wheels.py",
    "make": "tests/test_docs.py",
    "make -C weather bundle": "tests/scaffold/test_published.py",
    "export": "tests/cli/test_run_workers.py",
    "mcp-bindgen bridge": "tests/cli/test_bridge.py",
    "mcp-bindgen call --login": "tests/cli/test_sign_in.py",
    "mcp-bindgen call --logout": "tests/cli/test_sign_in.py",
    "mcp-bindgen call http": "tests/cli/test_call_url.py",
    "mcp-bindgen generate --confirm": "tests/convert/test_successor.py",
    "mcp-bindgen generate 2025-11-25 --flavour attrs": "tests/emit/test_fourth_flavour.py",
    "mcp-bindgen new": "tests/cli/test_new.py",
    "mcp-bindgen pull": "tests/cli/test_pull.py",
    "mcp-bindgen replay": "tests/cli/test_replay.py",
    "mcp-bindgen run": "tests/cli/test_run.py",
    "mcp-bindgen run --inspect": "tests/cli/test_run_inspect.py",
    "mcp-bindgen run --reload": "tests/cli/test_run_reload.py",
    "mcp-bindgen update": "tests/cli/test_update.py",
    "uvx mcp-bindgen new": "tests/cli/test_new.py",
    "uvicorn": "tests/runtime/server/http/test_serving.py",
}
"""What needs a network, a terminal, a project or a service, and who runs it."""


def elsewhere(line: str) -> bool:
    return line == "mcp-bindgen generate" or line.startswith(tuple(ELSEWHERE))


HERE: Final = {
    name: [line for line in lines if not elsewhere(line)] for name, lines in SHOWN.items()
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """What the reader of a page has: schemas, lists of tools, a server, a record."""
    for version in ("old", "new"):
        (tmp_path / version).mkdir()
        apps = ROOT / "schema/ext/apps/2026-01-26/schema.ts"
        shutil.copy(apps, tmp_path / version / "spec.types.ts")
        tools = {"tools": [{"name": version, "inputSchema": {"type": "object"}}]}
        (tmp_path / f"{version}.json").write_text(json.dumps(tools))
    shutil.copy(ROOT / "schema/ext/tasks/draft-2026-08-21/schema.ts", tmp_path / "schema.ts")
    (tmp_path / "next.ts").write_text("export interface Dog { name: string }\n")
    shutil.copy(ROOT / "schema/2026-07-28/schema.ts", tmp_path / "draft.ts")
    server = next(b.text for b in PAGES["docs/SERVER.md"].blocks if b.file == "weather.py")
    (tmp_path / "weather.py").write_text(server)
    (tmp_path / "wire.jsonl").write_text('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    (tmp_path / "card.json").write_text("{}")
    return tmp_path


@pytest.mark.drawn
@pytest.mark.parametrize("name", [name for name, lines in HERE.items() if lines])
def test_the_commands_of_a_page_run_in_their_order(
    name: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for line in HERE[name]:
        done = ran(line)
        assert done.exit_code in (0, 1), f"{line}: {done.stderr}"


def test_a_command_that_does_not_run_is_seen(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    assert ran("mcp-bindgen diff --tools old.json absent.json").exit_code == 2


def test_what_a_page_installs_has_the_command_that_it_runs() -> None:
    for name, page in PAGES.items():
        for lines in (block.lines for block in page.blocks if block.language == "sh"):
            runs = any(line.startswith("mcp-bindgen") for line in lines)
            runtime = [line for line in lines if line.startswith("pip") and "-runtime" in line]
            assert not (runs and runtime), f"{name}: {runtime}"


def test_the_rows_that_pages_show_are_rows() -> None:
    shown = {name: [b.text for b in p.blocks if b.language == "toml"] for name, p in PAGES.items()}
    pages = {"docs/DIFF.md", "docs/HOSTS.md", "docs/READING.md"}
    assert {name for name, rows in shown.items() if rows} == pages
    (ignored,) = shown["docs/DIFF.md"]
    assert ignore.parse(ignored, "ignore.toml")
    carried, composed, renamed = shown["docs/READING.md"]
    (wire,) = tomllib.loads(carried)["wire"]
    assert {"revisions", "path", "as", "places", "adds"} == wire.keys()
    assert {"path", "up", "down", "parts"} == tomllib.loads(composed).keys()
    assert {"path", "up", "to"} == tomllib.loads(renamed).keys()


def ran(line: str) -> Result:
    """A command of this process, with one ping as standard input."""
    program, *args = shlex.split(line)
    assert program == "mcp-bindgen", line
    return invoke(*args, input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}')


@pytest.mark.parametrize(("start", "test"), ELSEWHERE.items())
def test_what_is_not_run_here_is_shown_by_a_page_and_run_by_a_test(start: str, test: str) -> None:
    assert any(line.startswith(start) for lines in SHOWN.values() for line in lines)
    words = start.split()[1:]
    text = (ROOT / test).read_text("utf-8")
    assert all(re.search(rf"\b{re.escape(word.lstrip('-'))}\b", text) for word in words)
