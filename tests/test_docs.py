"""docs/: what is made from the code is what the code makes, and the check sees a difference."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


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
    "page", ["COMPATIBILITY.md", "changes/2025-06-18_2025-11-25.md", "changes/2024_2025.md"]
)
def test_a_page_that_differs_is_named_and_written_anew(copy: Path, page: str) -> None:
    path = copy / "docs" / page
    before = path.read_text("utf-8") if path.exists() else None
    path.write_text((before or "") + "more\n", encoding="utf-8")
    found = docs(copy, "--check")
    assert (found.returncode, found.stdout) == (1, f"docs/{page}: differs\n")
    assert docs(copy).returncode == 0
    assert (path.read_text("utf-8") if path.exists() else None) == before
    assert docs(copy, "--check").returncode == 0


def test_the_prose_of_a_page_is_nobodys_but_its_authors(copy: Path) -> None:
    path = copy / "docs" / "COMPATIBILITY.md"
    path.write_text("# My words\n\n" + path.read_text("utf-8"), encoding="utf-8")
    assert docs(copy, "--check").returncode == 0
