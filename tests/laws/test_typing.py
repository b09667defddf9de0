"""mypy and pyright, strict: typical use is right, and what the laws refuse is an error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.support.judges import FLAVOURS

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(__file__).parent / "typing"
_PLACE: Final = re.compile(r"([\w./]+\.py):(\d+): error:")


def mypy() -> tuple[set[tuple[str, int]], str]:
    """File and line of each error that mypy strict reports in the folder, and its words."""
    command = [sys.executable, "-m", "mypy", "--strict", *sorted(map(str, FOLDER.glob("*.py")))]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stdout + ran.stderr
    places = {(Path(m[1]).name, int(m[2])) for m in map(_PLACE.match, ran.stdout.splitlines()) if m}
    return places, ran.stdout


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


@pytest.mark.drawn
@pytest.mark.parametrize("checker", CHECKERS)
def test_typical_use_has_the_types_that_it_asserts_and_what_the_laws_refuse_is_an_error(
    checker: str,
) -> None:
    places, words = CHECKERS[checker]()
    refused = [FOLDER / f"refused_use_{flavour}.py" for flavour in FLAVOURS]
    wanted = {
        (path.name, number)
        for path in refused
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if "# wrong: " in line
    }
    assert {name for name, _ in wanted} == {path.name for path in refused}
    assert places == wanted, words
