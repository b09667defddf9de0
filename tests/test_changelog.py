"""CHANGELOG.md is short, and has the headings that its readers know."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

LONGEST_ENTRY: Final = 40
HEADINGS: Final = ("Breaking", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def entries(text: str) -> dict[str, str]:
    """Split a changelog into its versions, each with its text."""
    parts = re.split(r"^## \[(.+?)\].*\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_an_entry_is_read_in_a_minute_and_has_known_headings_in_their_order(root: Path) -> None:
    versions = entries((root / "CHANGELOG.md").read_text("utf-8"))
    assert versions
    for version, text in versions.items():
        lines = [line for line in text.splitlines() if line.strip()]
        assert len(lines) <= LONGEST_ENTRY, version
        headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert headings == [heading for heading in HEADINGS if heading in headings], version


def test_the_newest_entry_is_that_of_the_version_which_is_built(root: Path) -> None:
    newest = next(iter(entries((root / "CHANGELOG.md").read_text("utf-8"))))
    assert f'version = "{newest}"' in (root / "pyproject.toml").read_text("utf-8")
