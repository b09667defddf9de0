"""Messages count in good English: one helper in each package, and no plural beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcp_bindgen import errors as ours
from mcp_runtime import errors as theirs

COUNTED = re.compile(
    r"\{(?:len\([^{}]*\)|[\w.]*(?:count|ignored|arity|dropped|total)\w*)\} [a-z]+s\b|%d [a-z]+s\b"
)
CHOOSES = re.compile(r"== 1 else|> 1\b|< 2\b|to \{len|\} of \{|more than|, over")
"""Where the number decides, or is more than a limit."""


@pytest.mark.parametrize("counted", [ours.count_of, theirs.counted])
def test_one_is_singular(counted: object) -> None:
    assert callable(counted)
    assert [counted(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]


def test_no_message_writes_a_plural_that_may_be_one(root: Path) -> None:
    sources = [*(root / "runtime" / "mcp_runtime").rglob("*.py")]
    sources += (root / "codegen" / "mcp_bindgen").rglob("*.py")
    plurals = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in sources
        if path.parent.name != "stores" or path.name != "contract.py"
        for line in path.read_text("utf-8").splitlines()
        if COUNTED.search(line) and not CHOOSES.search(line)
    ]
    assert plurals == []


def test_such_a_plural_is_seen() -> None:
    assert COUNTED.search('f"{len(files)} files"')
    assert COUNTED.search('"%d messages"')
    assert not COUNTED.search('f"{limits.page} pages"')
