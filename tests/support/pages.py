"""Reads pages of the documentation: their fenced blocks, commands, links and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Block", "Page", "Step", "pages"]

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_STEP: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
_FILE: Final = re.compile(r"# (\w+\.py)\n")
_CODE: Final = re.compile(r"`([^`\n]+)`")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"^#+ (.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a console, and what it prints."""

    command: str
    output: str


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text."""

    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that a block of Python is, if its first line names one."""
        named = _FILE.match(self.text) if self.language == "python" else None
        return named[1] if named else None

    @property
    def steps(self) -> list[Step]:
        return [Step(*shown) for shown in _STEP.findall(self.text)]

    @property
    def lines(self) -> list[str]:
        """Commands of a block of shell, without their comments."""
        lines = (line.partition("  #")[0].strip() for line in self.text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True, slots=True)
class Page:
    path: Path
    text: str

    @property
    def blocks(self) -> list[Block]:
        return [Block(*fence) for fence in _FENCE.findall(self.text)]

    @property
    def prose(self) -> str:
        return _FENCE.sub("", self.text)

    @property
    def code(self) -> list[str]:
        """What the prose sets in backticks."""
        return _CODE.findall(self.prose)

    @property
    def links(self) -> list[str]:
        return _LINK.findall(_CODE.sub("", self.prose))

    @property
    def anchors(self) -> set[str]:
        """Its headings as GitHub makes links of them."""
        return {
            re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in _HEADING.findall(self.prose)
        }


def pages(root: Path) -> Iterator[Page]:
    """README and its like, that of the runtime, then docs/; not the reports of the diff."""
    runtime = root / "runtime" / "README.md"
    for path in (*sorted(root.glob("*.md")), runtime, *sorted((root / "docs").glob("*.md"))):
        yield Page(path, path.read_text("utf-8"))
