"""The site: every page stands in its navigation once, and links lead to pages of the site."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from docs import site

ROOT: Final = Path(__file__).parents[1]


def test_every_page_stands_in_the_navigation_once() -> None:
    named = [name for names in site.NAVIGATION.values() for name in names]
    there = {path.relative_to(site.FOLDER).as_posix() for path in site.FOLDER.rglob("*.md")}
    assert len(named) == len(set(named))
    assert set(named) == there - {"index.md"}


def test_what_the_reference_shows_is_there() -> None:
    for names in site.API.values():
        for name in names:
            module, _, member = name.rpartition(".")
            assert hasattr(import_module(module), member) or import_module(name)


@pytest.mark.parametrize(
    ("page", "text", "moved"),
    [
        ("SERVER.md", "[a](CLIENT.md#ask)", "[a](client.md#ask)"),
        ("SERVER.md", "[a](../examples/notes.py)", "[a](files/examples-notes-py.md)"),
        ("SERVER.md", "[a](https://example.com/A.md)", "[a](https://example.com/A.md)"),
        ("SERVER.md", "```text\n[a](CLIENT.md)\n```", "```text\n[a](CLIENT.md)\n```"),
        ("changes/x.md", "[a](../DIFF.md)", "[a](../diff.md)"),
        ("index.md", "![a](img/diff.png)", "![a](img/diff.png)"),
    ],
)
def test_a_link_leads_to_a_page_of_the_site(page: str, text: str, moved: str) -> None:
    assert site.relinked(site.FOLDER / page, text) == moved


PLANTED: Final = {
    "link": "[nowhere](NOWHERE.md)",
    "anchor": "[nowhere](CLIENT.md#no-such-heading)",
    "anchor of the same page": "[nowhere](#no-such-heading)",
    "picture": "![nothing](img/nothing.png)",
}


def plant(docs: Path, text: str) -> None:
    """Copy the pages, with `text` at the end of one of them."""
    shutil.copytree(site.FOLDER, docs, ignore=shutil.ignore_patterns("__pycache__"))
    page = docs / "SERVER.md"
    page.write_text(f"{page.read_text('utf-8')}\n{text}\n", encoding="utf-8")


def test_links_of_the_pages_as_they_are_lead_somewhere() -> None:
    assert site.broken() == []


@pytest.mark.parametrize("text", PLANTED.values(), ids=PLANTED)
def test_a_link_or_an_anchor_that_leads_nowhere_is_named_and_fails_the_build(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "docs", text)
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "FOLDER", tmp_path / "docs")
    monkeypatch.setattr(site, "BUILD", tmp_path / "build")
    for path in ROOT.iterdir():
        if path.name not in ("docs", "build"):
            (tmp_path / path.name).symlink_to(path)
    assert site.main() == 1
    (target,) = re.findall(r"\((.*)\)", text)
    assert f"docs/SERVER.md: {target} leads nowhere" in capsys.readouterr().err
    assert not (tmp_path / "build" / "html").exists()


def test_files_outside_of_docs_that_pages_link_to_are_pages_too() -> None:
    pages = site.site()
    assert "# examples/notes.py" in pages["files/examples-notes-py.md"]
    assert "files/changelog.md" in pages


def test_language_models_get_a_list_of_all_pages_and_their_text() -> None:
    files = site.for_models()
    assert files["llms.txt"].count("\n- [") == len(site.pages())
    assert all(path.read_text("utf-8").strip() in files["llms-full.txt"] for path in site.pages())


@pytest.mark.real_time
def test_the_client_of_the_conformance_suite_starts_from_any_folder(tmp_path: Path) -> None:
    """Without a URL it ends in its own module, which it has found."""
    done = subprocess.run(
        [ROOT / "conformance" / "client"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tests/conformance/client.py" in done.stderr
    assert "IndexError" in done.stderr
