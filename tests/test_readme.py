"""README.md: what it shows in Python runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


def test_readme_shows_python() -> None:
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_python_in_readme_runs_and_prints_what_it_says(block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=True)
    said = re.findall(r"^ *print\(.*\) +# (.*)$", block, re.M)
    assert done.stdout.splitlines() == said
