"""A skipped test is no pass: `--strict-skips` fails a run for every skip but one of `../shared`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PASSES: Final = "import pytest\n\n\ndef test_passes():\n    pass\n"
SKIPS: Final = "\n\ndef test_skips():\n    pytest.skip({!r})\n"
ABSENT: Final = "pytest.importorskip('absent')\n"
MARKED: Final = "@pytest.mark.skip\ndef test_marked():\n    pass\n"


@pytest.mark.wide
@pytest.mark.parametrize(
    ("workers", "text", "status", "said"),
    [
        ("0", PASSES, 0, "1 passed"),
        ("0", PASSES + SKIPS.format("../shared is absent"), 0, "1 passed, 1 skipped"),
        (
            "0",
            PASSES + SKIPS.format("no network"),
            1,
            "test_skips: Skipped: no network",
        ),
        (
            "2",
            PASSES + SKIPS.format("no network"),
            1,
            "test_skips: Skipped: no network",
        ),
        ("0", PASSES + ABSENT, 1, "could not import 'absent'"),
        ("2", PASSES + ABSENT, 1, "could not import 'absent'"),
        ("0", PASSES + MARKED, 1, "unconditional skip"),
        ("0", "import pytest" + SKIPS.format("../shared is absent"), 1, "no test ran"),
        ("2", "", 1, "no test ran"),
    ],
)
def test_a_skip_is_not_a_pass(
    tmp_path: Path, root: Path, workers: str, text: str, status: int, said: str
) -> None:
    shutil.copy(root / "tests/conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(text, "utf-8")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {root}\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", workers, "--strict-skips", "--no-header", "."],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert said in run.stdout
