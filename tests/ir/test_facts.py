"""Our reading of the pinned schemas is the TypeScript compiler's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.ir.lower.facts import digest, facts
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import Source, read

REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
SECTIONS: Final = "declared,resolved,tags,methods,order"
ORACLE: Final = Path(__file__).parents[1] / "oracle"


def resolver(data: bytes) -> Resolver:
    return Resolver(Source(data, "a.ts"), read(data, "a.ts"))


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_facts_are_the_compilers(root: Path, tmp_path: Path, revision: str) -> None:
    data = (root / "schema" / revision / "schema.ts").read_bytes()
    ours = tmp_path / "ours.json"
    ours.write_text(json.dumps(facts(resolver(data))), encoding="utf-8")
    files = [ORACLE / "compare.py", ORACLE / f"{revision}.json", ours]
    compare = [sys.executable, *map(str, files), "--sections", SECTIONS]
    done = subprocess.run(compare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted(ORACLE.rglob("*.json")), ids=lambda path: path.stem)
def test_the_compilers_facts_are_written_one_declaration_a_line(path: Path) -> None:
    text = path.read_text("utf-8")
    document = json.loads(text)
    assert text == oracle_text(document), "write it with `oracle_text`"
    for declaration in document.get("declarations", ()):
        assert text.count(f"\n  {compact(declaration)}") == 1


def oracle_text(document: dict[str, Any]) -> str:
    """A file of the oracle: each item of its lists, and of objects of objects, has its own line."""
    members = (f" {compact(key)}: {in_lines(value)}" for key, value in sorted(document.items()))
    return "{\n" + ",\n".join(members) + "\n}\n"


def in_lines(value: object) -> str:
    lines: Iterator[str]
    match value:
        case [_, *_]:
            ends, lines = "[]", map(compact, value)
        case dict() if value and any(isinstance(item, dict) for item in value.values()):
            lines = (f"{compact(key)}: {compact(item)}" for key, item in sorted(value.items()))
            ends = "{}"
        case _:
            return compact(value)
    return f"{ends[0]}\n  " + ",\n  ".join(lines) + f"\n {ends[1]}"


def compact(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def test_the_digest_ignores_prose_and_layout_and_nothing_else() -> None:
    plain = digest(resolver(b"interface A { a: string }"))
    assert digest(resolver(b"/** Says. */\ninterface A {\n  /** More. */ a: string;\n}")) == plain
    for other in (
        "interface B { a: string }",
        "interface A { b: string }",
        "interface A { a?: string }",
        "interface A { a: number }",
        "interface A { readonly a: string }",
        "interface A { 'a': string }",
        "interface A {\n/** @minimum 1 */ a: string }",
        "/** @deprecated */ interface A { a: string }",
        "export interface A { a: string }",
        "interface A { a: string } type B = A;",
    ):
        assert digest(resolver(other.encode())) != plain, other
