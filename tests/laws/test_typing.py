"""mypy and pyright, strict: typical use is right, and what the laws refuse is an error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.support.judges import FLAVOURS

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(__file__).parent / "typing"
_PLACE: Final = re.compile(r"([\w./]+\.py):(\d+): error:")


@cache
def mypy() -> tuple[set[tuple[str, int]], str]:
    """File and line of each error that mypy strict reports in the folder, and its words."""
    command = [sys.executable, "-m", "mypy", "--strict", *sorted(map(str, FOLDER.glob("*.py")))]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stdout + ran.stderr
    places = {(Path(m[1]).name, int(m[2])) for m in map(_PLACE.match, ran.stdout.splitlines()) if m}
    return places, ran.stdout


@cache
def pyright() -> tuple[set[tuple[str, int]], str]:
    """The same of pyright strict."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--level", "error"]
    command += ["--pythonpath", sys.executable, *sorted(map(str, FOLDER.glob("*.py")))]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stdout + ran.stderr
    diagnostics = json.loads(ran.stdout)["generalDiagnostics"]
    places = {(Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in diagnostics}
    return places, "\n".join(
        f"{d['file']}:{d['range']['start']['line'] + 1}: {d['message']}" for d in diagnostics
    )


CHECKERS: Final[dict[str, Callable[[], tuple[set[tuple[str, int]], str]]]] = {
    "mypy": mypy,
    "pyright": pyright,
}


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_typical_use_has_no_error_and_the_types_that_it_asserts(checker: str, flavour: str) -> None:
    places, words = CHECKERS[checker]()
    assert not [place for place in places if place[0] == f"typical_use_{flavour}.py"], words


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_the_laws_refuse_is_an_error(checker: str, flavour: str) -> None:
    name = f"refused_use_{flavour}.py"
    lines = (FOLDER / name).read_text().splitlines()
    wanted = {(name, n) for n, line in enumerate(lines, 1) if "# wrong: " in line}
    places, words = CHECKERS[checker]()
    assert {place for place in places if place[0] == name} == wanted, words
