"""README.md and docs/HTTP.md: what they show in Python runs as it stands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/HTTP.md")]
BLOCKS = [re.findall(r"^```python\n(.*?)^```", page, re.M | re.S) for page in PAGES]
CONSOLE = re.findall(r"^```console\n(.*?)^```", PAGES[0], re.M | re.S)


def test_each_page_shows_python() -> None:
    assert all(BLOCKS)


@pytest.mark.parametrize("block", [*chain(*BLOCKS)])
def test_python_in_a_page_runs_and_prints_what_it_says(block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=True)
    said = re.findall(r"^ *print\(.*\) +# (.*)$", block, re.M)
    assert done.stdout.splitlines() == said


@pytest.mark.parametrize("block", CONSOLE)
def test_a_console_in_readme_says_what_it_shows(block: str, tmp_path: Path) -> None:
    """`cat` shows a file that is there; every other command prints what stands below it."""
    shown = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    assert shown
    for command, output in shown:
        if command.startswith("cat "):
            (tmp_path / command.removeprefix("cat ")).write_text(output, encoding="utf-8")
        else:
            assert said(command, tmp_path) == output


def said(command: str, folder: Path) -> str:
    program, *args = shlex.split(command)
    assert program == "mcp-bindgen"
    line = [sys.executable, "-m", "mcp_bindgen", *args]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout
