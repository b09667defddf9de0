"""Both wheels, built once for all tests, and an empty environment with each."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

__all__ = ["Environment", "environment", "run", "wheel", "wheels"]


_INSTALLED: Final = """
import importlib.metadata, json
print(json.dumps([each.name for each in importlib.metadata.distributions()]))
"""


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment that holds a wheel and what it needs, and nothing of the checkout."""

    wheel: Path
    home: Path

    def run(self, program: str, *arguments: str) -> str:
        return run([str(self.home / "bin" / program), *arguments], cwd=self.wheel.parent)

    def python(self, code: str) -> str:
        return self.run("python", "-c", code)

    def distributions(self) -> set[str]:
        return {*json.loads(self.python(_INSTALLED))}


def run(command: Sequence[str], cwd: Path) -> str:
    """What the command says on stdout. It sees no environment but its own, and must succeed."""
    hidden = ("PYTHON", "VIRTUAL_ENV", "PYTEST_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout.decode()


def wheels(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both wheels, and an environment with each.

    Made once for all workers: the first one here does it, the others wait at the lock.
    """
    own = tmp_path_factory.getbasetemp()
    home = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "wheels"
    home.mkdir(exist_ok=True)
    done = home / "done"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _build(root, home)
            _install(root, home, "runtime", [wheel(home, "mcp_bindgen_runtime")])
            both = [wheel(home, "mcp_bindgen_runtime"), wheel(home, "mcp_bindgen")]
            _install(root, home, "generator", both)
            done.touch()
    return home


def _build(root: Path, home: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(home)]
    for project in (root, root / "runtime"):
        run([*build, str(project)], cwd=home)


def _install(root: Path, home: Path, name: str, wheels: Sequence[Path]) -> None:
    """With the pip of this environment. Bytecode is left to the first import that needs it."""
    venv.create(home / name, clear=True)
    pip = [sys.executable, "-m", "pip", "--python", str(home / name / "bin/python")]
    options = ["--disable-pip-version-check", "-q", "--no-compile"]
    constraints = ["-c", str(root / "constraints.txt")]
    run([*pip, "install", *options, *map(str, wheels), *constraints], cwd=home)


def wheel(home: Path, distribution: str) -> Path:
    (wheel,) = home.glob(f"{distribution}-*.whl")
    return wheel


def environment(home: Path, name: str) -> Environment:
    """That of the `runtime` or of the `generator`, of a folder that `wheels` made."""
    distribution = {"runtime": "mcp_bindgen_runtime", "generator": "mcp_bindgen"}[name]
    return Environment(wheel(home, distribution), home / name)
