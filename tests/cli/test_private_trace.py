"""A trace has whatever was said, so its owner alone may read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mcp_bindgen.cli.options import open_trace
from mcp_bindgen.errors import OutputError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_new_trace_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    before, file = os.umask(umask), tmp_path / "wire.jsonl"
    try:
        open_trace(str(file)).close()
    finally:
        os.umask(before)
    assert mode(file) == 0o600


def test_an_older_trace_becomes_so_before_anything_is_written(tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    file.write_bytes(b'{"at":0}\n')
    file.chmod(0o644)
    with open_trace(str(file)) as trace:
        assert mode(file) == 0o600
        trace.write(b"x")


def test_what_is_no_file_keeps_its_mode(tmp_path: Path) -> None:
    before = mode(Path("/dev/null"))
    open_trace("/dev/null").close()
    assert mode(Path("/dev/null")) == before


def test_a_file_that_is_no_trace_keeps_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    file.write_bytes(b"print()")
    file.chmod(0o644)
    with pytest.raises(OutputError):
        open_trace(str(file))
    assert (file.read_bytes(), mode(file)) == (b"print()", 0o644)
