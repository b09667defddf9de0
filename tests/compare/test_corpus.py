"""The corpus: each rule has a case, each case a rule, and all that is said of it is right."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import emit
from mcp_bindgen.compare.judge.rules import RULES
from mcp_bindgen.compare.judge.verdicts import judge
from tests.support.diff_cases import Case, cases, judged, schema_of
from tests.support.schemas import pinned

CASES: Final = {case.name: case for case in cases()}
FOR: Final = {name: case for name, case in CASES.items() if not case.near}
ELSEWHERE: Final = {
    "MEMBER_PYTHON_NAME": "test_a_name_that_a_decision_gives_is_told",
    **{
        id: "test_tool_lists.py, test_listed_items.py, test_ignore.py"
        for id in RULES
        if id.startswith(("TOOL_", "IGNORE_", "PROMPT_", "RESOURCE_", "TEMPLATE_"))
    },
}
"""Rules that no schema text can show, and where they are held."""
SPECIAL: Final = {
    "member_added_required_told": "the same the other way: it is the server that breaks",
    "method_direction_inside": "a request that now travels inside a result",
    "keyed_added": "the index signature is by template",
    "keyed_removed": "the index signature is by template",
}
"""Second cases of a rule, with what is special about them."""


@pytest.mark.parametrize("name", CASES)
def test_all_is_said_of_a_case_and_nothing_more(name: str) -> None:
    case = CASES[name]
    assert tuple(" ".join(row) for row in judged(case)) == case.expected


def test_every_rule_has_a_case() -> None:
    shown = {case.rule for case in FOR.values()}
    assert sorted(RULES.keys() - shown) == sorted(ELSEWHERE)


def test_every_case_has_a_rule_that_needs_it() -> None:
    for case in CASES.values():
        assert case.rule in RULES, case.name
        rules = {line.split()[0] for line in case.expected}
        assert (case.rule in rules) != case.near or case.name == "near_nowhere", case.name
    seconds = {
        name for name, case in FOR.items() if Counter(c.rule for c in FOR.values())[case.rule] > 1
    }
    firsts = {case.rule.lower() for case in FOR.values()}
    assert seconds - firsts - {"method_direction"} == SPECIAL.keys()


def test_a_rule_says_for_source_what_its_case_does() -> None:
    """A snippet for each rule whose verdict on source is not plain to see."""
    lacking = [case.name for case in FOR.values() if not case.python and case.name not in SPECIAL]
    assert lacking == []


@pytest.mark.wide
def test_what_a_rule_says_of_python_source_is_what_the_type_checker_says(tmp_path: Path) -> None:
    schemas = [schema_of(case, side) for case in FOR.values() for side in ("old", "new")]
    files = emit.generate(schemas, emit.Options(flavours=("dataclass",)))
    for path, text in files.items():
        (tmp_path / "wire" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "wire" / path).write_text(text, encoding="utf-8")
    for case in FOR.values():
        for side in ("old", "new") if case.python else ():
            source = f"from wire.{package(case, side)}.models_dataclass import *\n\n{case.python}\n"
            (tmp_path / f"{case.name}__{side}.py").write_text(source, encoding="utf-8")
    refused = mypy(tmp_path)
    snippets = [case for case in FOR.values() if case.python]
    broken = {f"{c.name}__new.py" for c in snippets if RULES[c.rule].source != "holds"}
    assert refused.keys() == broken, refused


def package(case: Case, side: str) -> str:
    return f"v{case.name}_{side}"


def mypy(folder: Path) -> dict[str, str]:
    """The files that are refused, each with why."""
    files = [path.name for path in sorted(folder.glob("*.py"))]
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    errors = re.findall(r"(?m)^([^:]+):\d+: error: (.*)$", done.stdout)
    elsewhere = {name: why for name, why in errors if "__" not in name}
    assert elsewhere == {}
    return dict(errors)


def test_a_name_that_a_decision_gives_is_told() -> None:
    """MEMBER_PYTHON_NAME: names are by rule, and only a row of decisions makes one another."""
    old = pinned("2025-11-25")
    tool = old.structs["Tool"]
    fields = tuple(replace(f, name="heading") if f.wire == "title" else f for f in tool.fields)
    changed = tuple(replace(tool, fields=fields) if d is tool else d for d in old.declarations)
    findings = judge(old, replace(old, declarations=changed))
    assert [(f.rule.id, f.change.path, f.bindings) for f in findings] == [
        ("MEMBER_PYTHON_NAME", "Tool.title", "breaks")
    ]
