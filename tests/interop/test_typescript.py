"""The TypeScript compiler judges the corpus: what we read, and what we refuse, is TypeScript."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.interop import node
from tests.support.constructs import CASES, Case

pytestmark = pytest.mark.interop


def files(case: Case) -> dict[str, str]:
    """The texts of a case by file name: `./core.js` means the file core.ts."""
    imported = {name.replace(".js", ".ts"): text for name, text in case.imports.items()}
    return {"root.ts": case.schema, **imported}


@pytest.fixture(scope="module")
def diagnostics() -> dict[str, list[str]]:
    """What the compiler finds wrong in each case."""
    programs = json.dumps({name: files(case) for name, case in CASES.items()})
    done = subprocess.run(
        node.command("typescript.cjs"), input=programs, capture_output=True, text=True, check=True
    )
    faults: dict[str, list[str]] = json.loads(done.stdout)
    return faults


def test_what_is_read_is_legal_typescript(diagnostics: dict[str, list[str]]) -> None:
    legal = [name for name, case in CASES.items() if not case.illegal]
    assert {name: diagnostics[name] for name in legal if diagnostics[name]} == {}


def test_what_is_marked_as_illegal_is_refused_by_the_compiler_too(
    diagnostics: dict[str, list[str]],
) -> None:
    illegal = [name for name, case in CASES.items() if case.illegal]
    assert illegal
    assert [name for name in illegal if not diagnostics[name]] == []
