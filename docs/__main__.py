"""Writes the pages of this folder that are made from the code; `--check` says which differ.

Usage: python -m docs [--check]
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.rules import RULES, Rule
from mcp_bindgen.compare.report.markdown import markdown
from mcp_bindgen.compare.report.report import Side, compare
from mcp_bindgen.source import Source
from mcp_runtime import limits as runtime_limits

FOLDER: Final = Path(__file__).parent
HEAD: Final = "## The rules\n"


def changes(old: str, new: str) -> str:
    """The report of two neighbours."""
    return markdown(compare(side(old), side(new)))


def side(revision: str) -> Side:
    found = pins.find(revision)
    return Side(revision, pins.lower(found), Source(found.data, found.path))


def compatibility() -> str:
    """The prose as it stands, and the rules of the table."""
    prose = (FOLDER / "COMPATIBILITY.md").read_text("utf-8").partition(HEAD)[0]
    return prose + HEAD + "".join(map(rule, RULES.values()))


def rule(row: Rule) -> str:
    verdicts = (
        ("A new reader refuses of what old writers send there", row.new_refuses),
        ("An old reader refuses of what new writers send there", row.old_refuses),
        ("Python source against the old bindings", row.source),
    )
    told = "\n".join(f"- {what}: {how}." for what, how in verdicts)
    informs = " Informs only." if row.docs else ""
    return f"\n### {row.id}\n\n{row.asks}{informs}\n\n{told}\n\n{row.why} Example: {row.example}.\n"


def limits() -> str:
    """The table of the runtime's limits, from the class that has them."""
    body = ast.parse(Path(runtime_limits.__file__).read_text("utf-8")).body
    fields = next(node for node in body if isinstance(node, ast.ClassDef)).body[1:]
    rows = [
        f"| `{field.target.id}` | {_shown(field.target.id)} | {_told(said)} |\n"
        for field, said in zip(fields[::2], fields[1::2], strict=True)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    ]
    return LIMITS + "".join(rows)


def _shown(name: str) -> str:
    value = getattr(runtime_limits.DEFAULT, name)
    return f"{value // 1024:,} KiB" if name.endswith("_bytes") else f"{value:,g}"


def _told(node: ast.stmt) -> str:
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Constant)
    return " ".join(str(node.value.value).split())


LIMITS: Final = """\
# Limits of the runtime

Each is a field of `mcp_runtime.Limits`, which servers and clients take as `limits`. Times are in
seconds. What crosses a limit is refused with an error that names it, and the session lives on.
Nesting of JSON is limited to 128 by the models. The threads beside the event loop, in which plain
functions run, are the whole process's: `mcp_runtime.limits.THREADS`, four more than it has
processors, at most 32. To check one value by a peer's JSON Schema a validator may make 10,000,000
visits of its subschemas (`SCHEMA_VISITS`): what would make more is refused before it is begun.

| limit | default | what it bounds |
| --- | --- | --- |
"""


def pages() -> Mapping[str, Callable[[], str]]:
    """Each page by its path, and what makes it."""
    pairs = pairwise(pins.revisions())
    found = {f"changes/{old}_{new}.md": partial(changes, old, new) for old, new in pairs}
    return {**found, "COMPATIBILITY.md": compatibility, "LIMITS.md": limits}


def main(check: bool) -> int:
    made = {path: make() for path, make in pages().items()}
    there = {
        path: (FOLDER / path).read_text("utf-8") if (FOLDER / path).exists() else None
        for path in (*made, *(f"changes/{p.name}" for p in (FOLDER / "changes").glob("*.md")))
    }
    differ = sorted(path for path, text in there.items() if made.get(path) != text)
    for path in differ:
        print(f"docs/{path}: {'differs' if check else 'is written'}")
        if not check:
            write(FOLDER / path, made.get(path))
    return int(check and bool(differ))


def write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
