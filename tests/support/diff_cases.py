"""The cases of the diff: small pairs of schemas, and the findings that are expected.

tests/corpus/diff/README.md has the form of a case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.ir.lower import lower
from mcp_bindgen.ir.model import Schema

__all__ = ["Case", "cases", "findings", "judged", "load_text", "schema_of"]

FOLDER: Final = Path(__file__).parents[1] / "corpus" / "diff"
_WORDS: Final = {"holds": "holds", "if used": "used", "breaks": "breaks"}
_SECTION: Final = re.compile(r"(?m)^// (for|near|old|new|expect|python)\b ?(.*)$")
_NAMES: Final = re.compile(r"(?m)^export (?:interface|type|const) (\w+)")
_DECLARATION: Final = re.compile(r"(?m)^(?=export )")


@dataclass(frozen=True, slots=True)
class Case:
    """`rule` is what it is for, or what it nearly is; `expected` each finding as a line."""

    name: str
    rule: str
    near: bool
    old: str
    new: str
    expected: tuple[str, ...]
    python: str


def cases() -> list[Case]:
    paths = (path for path in sorted(FOLDER.glob("*.ts")) if path.name != "preamble.ts")
    return [load_text(path.read_text("utf-8"), path.stem) for path in paths]


def load_text(text: str, name: str = "case") -> Case:
    marks = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    parts = [(m[1], m[2], text[m.end() : end]) for m, end in zip(marks, ends, strict=True)]
    kind, rule, _ = parts[0]
    assert kind in ("for", "near"), name
    body = {what: rest for what, _, rest in parts}
    expected = tuple(word for what, word, _ in parts if what == "expect" and word != "nothing")
    lines = re.findall(r"(?m)^// \| ?(.*)$", body.get("python", ""))
    python = "\n".join(lines)
    return Case(name, rule, kind == "near", body["old"], body["new"], expected, python)


def schema_of(case: Case, side: str) -> Schema:
    """The side's declarations, and those of the preamble that it has not."""
    text = case.old if side == "old" else case.new
    own = set(_NAMES.findall(text))
    head, *shared = _DECLARATION.split((FOLDER / "preamble.ts").read_text("utf-8"))
    kept = [each for each in shared if not own & set(_NAMES.findall(each))]
    data = "\n".join([head, *kept, text]).encode()
    name = f"{case.name}-{side}"
    return lower.load(data, f"{name}.ts", name.replace("_", "-"), lenient=True)


def findings(case: Case) -> tuple[Finding, ...]:
    return judge(schema_of(case, "old"), schema_of(case, "new"))


def judged(case: Case) -> list[tuple[str, ...]]:
    """Rule, path and verdicts of each finding, in the words of the corpus."""
    return [
        (
            finding.rule.id,
            finding.change.path.replace(" ", "_"),
            f"client={_WORDS[finding.client]}",
            f"server={_WORDS[finding.server]}",
            f"bindings={_WORDS[finding.bindings]}",
        )
        for finding in findings(case)
    ]
