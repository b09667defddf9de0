"""`make steady` ends with the first run that fails, and says which."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import steady

PYTEST = """
import os, pathlib, sys
log = pathlib.Path(sys.argv[1])
log.write_text(log.read_text() + os.environ.get("PYTHONASYNCIODEBUG", "0"))
sys.exit(1 if len(log.read_text()) == int(sys.argv[2]) else 0)
"""


@pytest.mark.parametrize(
    ("fails", "runs", "said"),
    [
        (2, "00", "not steady: run 2 of 3 beside 4 busy loops has failed with status 1"),
        (4, "0001", "not steady: the run with PYTHONASYNCIODEBUG=1 has failed with status 1"),
        (5, "0001", "steady: no run has failed"),
    ],
)
def test_the_first_run_that_fails_ends_it_and_is_named(
    fails: int,
    runs: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONASYNCIODEBUG", raising=False)
    (log := tmp_path / "log").touch()
    status = steady.main([], (sys.executable, "-c", PYTEST, str(log), str(fails)))
    assert (status, log.read_text()) == (int(fails < 5), runs)
    assert capsys.readouterr().out.splitlines()[-1] == said
