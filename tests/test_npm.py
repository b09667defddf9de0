"""What installs packages for Node does so once for each lock file, and says what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support import npm

NPM: Final = '#!/bin/sh\necho "$@" >> calls.txt\nmkdir -p node_modules\n'


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a lock file; `npm` notes how it is called, and installs nothing."""
    folder = tmp_path / "locked"
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_text("{}", "utf-8")
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(NPM, "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return folder


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text("utf-8").splitlines()


def test_a_lock_file_is_installed_once(locked: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    assert not npm.is_installed(locked, folder)
    npm.install(locked, folder, "--ignore-scripts")
    npm.install(locked, folder, "--ignore-scripts")
    assert npm.is_installed(locked, folder)
    assert calls(folder) == ["ci --no-audit --no-fund --loglevel=error --ignore-scripts"]


def test_another_lock_file_is_installed_anew(locked: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    npm.install(locked, folder)
    (locked / "package-lock.json").write_text('{"lockfileVersion": 3}', "utf-8")
    assert not npm.is_installed(locked, folder)
    npm.install(locked, folder)
    assert npm.is_installed(locked, folder)
    assert len(calls(folder)) == 2


def test_without_npm_it_says_what_is_needed(
    locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="npm are needed"):
        npm.install(locked, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
