"""docs/: what is made from the code is what the code makes, and the check sees a difference."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import click
import pytest

from docs import pictures
from mcp_bindgen.cli import VERBS, main
from tests.support.browser import chromium


def docs(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docs", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root / "docs", tmp_path / "docs")
    return tmp_path


def test_the_pages_are_up_to_date(root: Path) -> None:
    assert docs(root, "--check").stdout == ""


@pytest.mark.parametrize(
    "page",
    ["CLI.md", "COMPATIBILITY.md", "changes/2025-06-18_2025-11-25.md", "changes/2024_2025.md"],
)
def test_a_page_that_differs_is_named_and_written_anew(copy: Path, page: str) -> None:
    path = copy / "docs" / page
    before = path.read_text("utf-8") if path.exists() else None
    path.write_text((before or "") + "more\n", encoding="utf-8")
    checked = docs(copy, "--check")
    assert (checked.returncode, checked.stdout) == (1, f"docs/{page}: differs\n")
    assert docs(copy).returncode == 0
    assert (path.read_text("utf-8") if path.exists() else None) == before
    assert docs(copy, "--check").returncode == 0


@pytest.mark.parametrize("page", ["CLI.md", "COMPATIBILITY.md"])
def test_the_prose_of_a_page_is_nobodys_but_its_authors(copy: Path, page: str) -> None:
    path = copy / "docs" / page
    path.write_text("# My words\n\n" + path.read_text("utf-8"), encoding="utf-8")
    assert docs(copy, "--check").returncode == 0


def test_the_command_line_has_every_verb_and_option(root: Path) -> None:
    page = (root / "docs" / "CLI.md").read_text("utf-8")
    context = click.Context(main)
    for verb in VERBS:
        command = main.get_command(context, verb)
        assert command is not None
        section = page.partition(f"\n### {verb}\n")[2].partition("\n### ")[0]
        options = [name for option in command.params for name in option.opts if name[0] == "-"]
        assert options
        assert [name for name in options if f"`{name}`" not in section] == []


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
