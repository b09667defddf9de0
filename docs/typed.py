"""Type-checks the Python of README and docs/ as a reader would: mypy and pyright, both strict.

Usage: python -m docs.typed

Each page is one program, as in the test that runs it, and each checker runs once for all pages.
Packages that a page generates are generated first, from the files that it shows.
Names may be defined again below, as on a page that shows one thing after another.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "build" / "typed"
FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FILE: Final = re.compile(r"# (\w+\.py)\n")
FOREIGN: Final = re.compile(r"^(?:from|import) (?:mcp|fastmcp)\b", re.M)
"""Files written for packages of others, which are not installed here."""
CONSOLE: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
GENERATE: Final = ("mcp-bindgen generate ", "mcp-bindgen client ")
LOOSE: Final = (
    "reportRedeclaration", "reportUnusedFunction", "reportUnusedClass", "reportUnusedVariable",
    "reportUnusedImport", "reportDuplicateImport", "reportUnusedCoroutine", "reportPrivateUsage",
    "reportUnknownMemberType", "reportUnnecessaryIsInstance", "reportConstantRedefinition",
)  # fmt: skip


def main() -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    programs = [path for page in pages() for path in write(page)]
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "include": ["."],
        "extraPaths": [str(ROOT / name) for name in ("codegen", "generated", "runtime")],
        "executionEnvironments": [{"root": folder.name} for folder in sorted(FOLDER.iterdir())],
        **dict.fromkeys(LOOSE, False),
    }
    (FOLDER / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    python = Path(sys.executable)
    pyright = [python.with_name("basedpyright"), "--pythonpath", python, "--project", FOLDER]
    failed = subprocess.run(pyright, cwd=FOLDER, check=False).returncode
    mypy = [python.with_name("mypy"), "--no-error-summary", "--disable-error-code=no-redef"]
    options = ["--config-file", ROOT / "pyproject.toml", "--explicit-package-bases"]
    paths = ":".join(str(path) for path in (*sorted(FOLDER.glob("*/")), *sources()))
    done = subprocess.run(
        [*mypy, *options, *programs], cwd=FOLDER, env=environment(paths), check=False
    )
    return failed or done.returncode


def sources() -> list[Path]:
    return [ROOT / name for name in ("codegen", "generated", "runtime")]


def environment(paths: str) -> dict[str, str]:
    return {**os.environ, "MYPYPATH": paths}


def pages() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "runtime" / "README.md")
    yield from sorted((ROOT / "docs").glob("*.md"))


def write(page: Path) -> Iterator[Path]:
    """Write the files and the program of a page into a folder of its own, and yield the program."""
    text = page.read_text("utf-8")
    room = "" if page.parent in (ROOT, ROOT / "docs") else f"{page.parent.name}_"
    name = room + page.stem.lower().replace("-", "_")
    folder = FOLDER / name
    program: list[str] = []
    for (before, _), (language, block) in pairwise([("", ""), *FENCE.findall(text)]):
        if language == "console":
            generate(folder, block)
        if language != "python" or before == "typescript" or FOREIGN.search(block):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if named := FILE.match(block):
            (folder / named[1]).write_text(block, encoding="utf-8")
        else:
            program.append(block)
    if program:
        path = folder / f"page_{name}.py"
        path.write_text("\n".join(program), encoding="utf-8")
        yield path


def generate(folder: Path, block: str) -> None:
    """Write the files that a console shows, and run its commands that generate a package."""
    for command, output in CONSOLE.findall(block):
        if command.startswith("cat "):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / command.removeprefix("cat ")).write_text(output, encoding="utf-8")
        elif command.startswith(GENERATE) and "--check" not in command:
            folder.mkdir(parents=True, exist_ok=True)
            program, *arguments = shlex.split(command)
            tool = Path(sys.executable).with_name(program)
            subprocess.run([tool, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
