"""The wheel is the project: built, installed into an empty environment, and used there."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment that holds the wheel and its dependencies, and nothing of the checkout."""

    wheel: Path
    home: Path

    def run(self, program: str, *arguments: str) -> str:
        return _run([str(self.home / "venv/bin" / program), *arguments], cwd=self.home)

    def python(self, code: str) -> str:
        return self.run("python", "-c", code)


def _run(command: Sequence[str], cwd: Path) -> str:
    """What the command says on stdout. It sees no environment but its own, and must succeed."""
    hidden = ("PYTHON", "VIRTUAL_ENV", "PYTEST_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout.decode()


@pytest.fixture(scope="session")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Made once for all workers: the first one here does it, the others wait at the lock."""
    own = tmp_path_factory.getbasetemp()
    home = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "wheel"
    home.mkdir(exist_ok=True)
    done = home / "done"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _install(root, home)
            done.touch()
    (wheel,) = home.glob("*.whl")
    return Installed(wheel, home)


def _install(root: Path, home: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(home)]
    _run([*build, str(root)], cwd=home)
    (wheel,) = home.glob("*.whl")
    venv.create(home / "venv", with_pip=True, clear=True)
    pip = [str(home / "venv/bin/python"), "-m", "pip", "--disable-pip-version-check", "install"]
    _run([*pip, "-q", str(wheel), "-c", str(root / "constraints.txt")], cwd=home)


def test_templates_schema_and_notice_travel_inside(installed: Installed, root: Path) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = set(archive.namelist())
        assert b"Apache-2.0" in archive.read("mcp_bindgen-0.1.0.dist-info/METADATA")
    for source, target in (("templates", "_templates"), ("schema", "_schema")):
        files = [path for path in (root / source).rglob("*") if path.is_file()]
        carried = {f"mcp_bindgen/{target}/{p.relative_to(root / source).as_posix()}" for p in files}
        assert files
        assert carried <= names
    assert "mcp_bindgen/_schema/NOTICE" in names
    for package in ("mcp_bindgen", "mcp_wire", "mcp_runtime"):
        assert f"{package}/py.typed" in names


def test_nothing_else_travels(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {"mcp_bindgen", "mcp_wire", "mcp_runtime", "mcp_bindgen-0.1.0.dist-info"}


def test_packages_import_from_the_environment(installed: Installed) -> None:
    for package in ("mcp_bindgen", "mcp_wire", "mcp_runtime"):
        place = installed.python(f"import {package}; print({package}.__file__)").strip()
        assert Path(place).is_relative_to(installed.home / "venv")


def test_templates_and_schema_are_found(installed: Installed) -> None:
    code = "from mcp_bindgen import paths; print(paths.templates()); print(paths.schema())"
    for place in installed.python(code).splitlines():
        assert Path(place).is_relative_to(installed.home / "venv")
        assert any(Path(place).iterdir())


def test_help_lists_the_verbs(installed: Installed) -> None:
    said = installed.run("mcp-bindgen", "--help")
    for verb in ("generate", "inspect", "pull"):
        assert verb in said


def test_inspect_shows_a_type_in_both_languages(installed: Installed) -> None:
    said = installed.run("mcp-bindgen", "inspect", "2025-11-25", "Tool")
    assert "interface Tool " in said
    assert "class Tool" in said
    assert "2026-07-28" in said  # among the revisions that have it


def test_generate_writes_what_the_wheel_carries(installed: Installed, tmp_path: Path) -> None:
    out = tmp_path / "out"
    installed.run("mcp-bindgen", "generate", "2025-06-18", "--out", str(out))
    (written,) = out.rglob("v2025_06_18/models_dataclass.py")
    carried = installed.python(
        "import mcp_wire.v2025_06_18.models_dataclass as m; print(m.__file__)"
    )
    assert written.read_bytes() == Path(carried.strip()).read_bytes()


def test_the_models_decode_without_other_libraries(installed: Installed) -> None:
    code = (
        "import mcp_wire.v2025_11_25.models_dataclass as m\n"
        """tool = m.decode(m.Tool, b'{"name": "add", "inputSchema": {"type": "object"}}')\n"""
        "print(tool.name, m.encode(tool).decode())"
    )
    name, _, wire = installed.python(code).partition(" ")
    assert name == "add"
    assert '"inputSchema"' in wire
