"""docs/: what is made from the code is what the code makes, and the check sees a difference."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
import pytest

from docs import pictures
from mcp_bindgen.cli import VERBS, main
from tests.support.browser import chromium


def docs(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Of that folder; what it imports of tests/ is the checkout's."""
    command = [sys.executable, "-m", "docs", *args]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root / "docs", tmp_path / "docs")
    return tmp_path


PAGES: Final = (
    "ARCHITECTURE.md",
    "CLI.md",
    "COMPATIBILITY.md",
    "changes/2024_2025.md",
    "changes/2025-06-18_2025-11-25.md",
    "img/rooms.svg",
)
"""One of each kind, and one that nothing makes."""


@pytest.mark.wide
def test_pages_that_differ_are_named_and_written_anew(copy: Path) -> None:
    before = {page: text(copy / "docs" / page) for page in PAGES}
    for page, old in before.items():
        (copy / "docs" / page).write_text((old or "") + "more\n", encoding="utf-8")
    checked = docs(copy, "--check")
    assert (checked.returncode, checked.stdout) == (
        1,
        "".join(f"docs/{page}: differs\n" for page in PAGES),
    )
    assert docs(copy).returncode == 0
    assert {page: text(copy / "docs" / page) for page in PAGES} == before
    assert docs(copy, "--check").returncode == 0


def text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


@pytest.mark.wide
def test_the_pages_are_up_to_date_whatever_prose_their_authors_write(copy: Path) -> None:
    for page in ("ARCHITECTURE.md", "CLI.md", "COMPATIBILITY.md"):
        path = copy / "docs" / page
        path.write_text("# My words\n\n" + path.read_text("utf-8"), encoding="utf-8")
    checked = docs(copy, "--check")
    assert (checked.returncode, checked.stdout) == (0, "")


def test_the_command_line_has_every_verb_and_option(root: Path) -> None:
    page = (root / "docs" / "CLI.md").read_text("utf-8")
    context = click.Context(main)
    for verb in VERBS:
        command = main.get_command(context, verb)
        assert command is not None
        section = page.partition(f"\n### {verb}\n")[2].partition("\n### ")[0]
        shown = [option for option in command.params if not getattr(option, "hidden", False)]
        options = [name for option in shown for name in option.opts if name[0] == "-"]
        assert options
        assert [name for name in options if f"`{name}`" not in section] == []


@pytest.mark.wide
def test_the_picture_of_readme_is_drawn_by_a_browser(tmp_path: Path) -> None:
    browser = chromium()
    if browser is None:
        pytest.skip("no Chromium is installed")
    pictures.draw(browser, tmp_path / "img" / "diff.png")
    assert size(tmp_path / "img" / "diff.png") == (pictures.WIDTH, pictures.HEIGHT)


def test_the_picture_of_readme_is_small_and_of_that_size() -> None:
    assert size(pictures.PICTURE) == (pictures.WIDTH, pictures.HEIGHT)
    assert pictures.PICTURE.stat().st_size < 150_000


def size(picture: Path) -> tuple[int, int]:
    """Width and height, which begin a PNG."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", head[16:])
    return width, height
