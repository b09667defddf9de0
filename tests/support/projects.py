"""Scaffolded projects for tests, and environments that hold only libraries."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mcp_bindgen import pins
from mcp_bindgen.cli.new.project import texts
from mcp_bindgen.scaffold.answers import Answers
from mcp_bindgen.scaffold.tools import read

__all__ = ["ALL", "WAYS", "answers", "environment", "made", "run", "write"]

ALL = tuple(pins.revisions())
WAYS = (("stdio",), ("http",), ("stdio", "http"))
TOOLS = b"""{"tools": [
  {"name": "get-sum", "description": "Adds.", "inputSchema": {"type": "object", "properties":
    {"a": {"type": "number"}, "class": {"type": "number"},
     "tags": {"type": "array", "items": {"type": "string"}, "default": []},
     "where": {"oneOf": [{"type": "object", "properties": {"x": {"type": "number"}}},
                         {"type": "object", "properties": {"y": {"type": "number"}}}]}},
    "required": ["a", "class"]},
   "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}}}]}"""


def answers(
    name: str = "my-server",
    revisions: Sequence[str] = ALL,
    tools: bool = False,
    transports: Sequence[str] = ("stdio",),
    auth: str = "none",
    scale: bool = False,
    ui: bool = False,
    runtime: str = "vendored",
) -> Answers:
    return Answers(
        name=name,
        revisions=tuple(revisions),
        tools=tools,
        transports=tuple(transports),
        auth=auth,
        scale=scale,
        ui=ui,
        runtime=runtime,
    )


@cache
def made(chosen: Answers) -> Mapping[str, str]:
    """The texts of a project."""
    return texts(chosen, read(TOOLS, "tools.json") if chosen.tools else ())


def write(files: Mapping[str, str], to: Path) -> Path:
    for path, text in files.items():
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_text(text, "utf-8", newline="\n")
    return to


def environment(home: Path, project: Path, *roots: Path) -> Path:
    """The interpreter of an environment that has the project, our libraries, and `roots` of ours.

    A path that a .pth file names is no place for .pth files, so what is installed from this
    checkout by such a file is not there.
    """
    venv.create(home, with_pip=False, symlinks=True)
    variables = {"base": str(home), "platbase": str(home)}
    site = Path(sysconfig.get_path("purelib", vars=variables))
    lines = [str(project / "src"), *map(str, roots), sysconfig.get_path("purelib")]
    (site / "made.pth").write_text("".join(f"{line}\n" for line in lines))
    return home / "bin" / "python"


def run(python: Path, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command of an environment, seeing no other."""
    hidden = ("PYTHON", "VIRTUAL_ENV", "PYTEST_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return subprocess.run(
        [str(python), *args], cwd=cwd, env=clean, capture_output=True, text=True, timeout=120
    )
