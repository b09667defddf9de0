"""Writes the pages of this folder that are made from the code; `--check` says which differ.

Usage: python -m docs [--check]
"""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import mcp_bindgen
import mcp_runtime
from docs.drawing import draw
from docs.reference import reference
from docs.rooms import house
from mcp_bindgen import limits as limits_of_input
from mcp_bindgen import paths, pins
from mcp_bindgen.compare.judge.rules import RULES, Rule
from mcp_bindgen.compare.report.markdown import markdown
from mcp_bindgen.compare.report.report import Side, compare
from mcp_bindgen.source import Source
from mcp_runtime import Limits
from mcp_runtime import limits as runtime_limits

FOLDER: Final = Path(__file__).parent
RULES_HEAD: Final = "## The rules\n"
REFERENCE_HEAD: Final = "## All options\n"
ROWS_HEAD: Final = "## By a row of `schema/decisions.toml`\n"
MAP_HEAD: Final = "## Code map\n"
PACKAGES: Final = (Path(mcp_bindgen.__path__[0]), Path(mcp_runtime.__path__[0]))


def changes(old: str, new: str) -> str:
    """The report of two neighbours."""
    return markdown(compare(side(old), side(new)))


def side(revision: str) -> Side:
    schema = pins.find(revision)
    codes = pins.error_codes(revision)
    return Side(revision, pins.lower(schema), Source(schema.data, schema.path), codes=codes)


def compatibility() -> str:
    """The prose as it stands, and the rules of the table."""
    return below("COMPATIBILITY.md", RULES_HEAD, "".join(map(rule, RULES.values())))


def command_line() -> str:
    """The prose as it stands, and the options that the command has."""
    return below("CLI.md", REFERENCE_HEAD, reference())


def architecture() -> str:
    """The prose as it stands, and a line for each package folder and each module beside them."""
    return below("ARCHITECTURE.md", MAP_HEAD, "".join(map(code_map, PACKAGES)))


def code_map(package: Path) -> str:
    folders = sorted(path.parent for path in package.rglob("__init__.py"))
    modules = sorted(path for path in package.glob("*.py") if not path.name.startswith("__"))
    files = [folder / "__init__.py" for folder in folders] + modules
    rows = "".join(f"| `{place(file, package)}` | {summary(file)} |\n" for file in files)
    return f"\n| {package.parent.name} | |\n| --- | --- |\n{rows}"


def place(file: Path, package: Path) -> str:
    path = file.relative_to(package.parent)
    return f"{path.parent.as_posix()}/" if path.name == "__init__.py" else path.as_posix()


def summary(file: Path) -> str:
    """The first line of its docstring."""
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]


def rooms() -> str:
    """The picture of the imports."""
    return draw([house(package) for package in PACKAGES])


def below(page: str, head: str, text: str) -> str:
    """The page down to that heading as somebody wrote it; what is below it is made."""
    return (FOLDER / page).read_text("utf-8").partition(head)[0] + head + text


def rule(row: Rule) -> str:
    verdicts = (
        ("A new reader refuses of what old writers send there", row.new_refuses),
        ("An old reader refuses of what new writers send there", row.old_refuses),
        ("Python source against the old bindings", row.source),
    )
    lines = "\n".join(f"- {what}: {how}." for what, how in verdicts)
    informs = " Informs only." if row.docs else ""
    hint = f" What to do: {row.hint[0].lower()}{row.hint[1:]}" if row.hint else ""
    says = f"{row.why} Example: {row.example}.{hint}"
    return f"\n### {row.id}\n\n{row.asks}{informs}\n\n{lines}\n\n{says}\n"


def limits() -> str:
    """The prose as it stands, and the limits of a session, of a process and of the command."""
    body = ast.parse(Path(runtime_limits.__file__).read_text("utf-8")).body
    fields = next(node for node in body if isinstance(node, ast.ClassDef)).body
    parts = (
        _limit_rows(fields, {name: getattr(Limits(), name) for name in Limits.__slots__}),
        f"\n{PROCESS_HEAD}\n{LIMIT_ROWS}",
        _limit_rows(body, {**vars(runtime_limits), **SHOWN_LIMITS}),
        f"\n{COMMAND_HEAD}\n{LIMIT_ROWS}",
        _limit_rows(
            ast.parse(Path(limits_of_input.__file__).read_text("utf-8")).body, vars(limits_of_input)
        ),
    )
    return below("LIMITS.md", LIMITS_HEAD, f"\n{LIMIT_ROWS}" + "".join(parts))


def _limit_rows(body: Sequence[ast.stmt], values: Mapping[str, Any]) -> str:
    """The rows of the names that are declared in `body` with a text below them."""
    return "".join(
        f"| `{field.target.id}` | {_shown(field.target.id, values[field.target.id])}"
        f" | {_text(said)} |\n"
        for field, said in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    )


def _shown(name: str, value: Any) -> str:
    match value:
        case tuple():
            return ", ".join(_shown(name, one) for one in value)
        case int() if name.lower().endswith("_bytes"):
            return f"{value // 1024:,} KiB"
        case int() | float():
            return f"{value:,g}" if isinstance(value, float) else f"{value:,}"
        case _:
            return "none" if value is None else str(value)


def _text(node: ast.stmt) -> str:
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Constant)
    return " ".join(str(node.value.value).split()).replace(" | ", " \\| ")


LIMITS_HEAD: Final = "## Of a session: `Limits`\n"
PROCESS_HEAD: Final = "## Of the process\n"
COMMAND_HEAD: Final = "## Of the reader and the command\n"
LIMIT_ROWS: Final = "| limit | default | bounds |\n| --- | --- | --- |\n"
SHOWN_LIMITS: Final = {"THREADS": "4 more than processors, at most 32"}
"""Limits that differ from machine to machine."""


def tolerances() -> str:
    """What is forgiven to peers; the members are those of the table of decisions."""
    table = tomllib.loads((paths.schema() / "decisions.toml").read_text("utf-8"))["tolerance"]
    rows = [_row(row) for row in table if "value" in row and row["forgives"]]
    return below("TOLERANCES.md", ROWS_HEAD, ROWS + "".join(rows))


def _row(row: Mapping[str, Any]) -> str:
    name, revisions = row["path"].partition(".")[2], ", ".join(row["revisions"])
    faults = " or ".join(row["forgives"])
    return (
        f"| `{name}` | `{row['path']}` in {revisions} | {faults} | `{json.dumps(row['value'])}`"
        f" | {row['why']} ({row['page']}) |\n"
    )


ROWS: Final = """
| name | read by the client | fault | read as | why |
| --- | --- | --- | --- | --- |
"""


def pages() -> Mapping[str, Callable[[], str]]:
    """Each page by its path, and what makes it."""
    pairs = pairwise(pins.revisions())
    reports = {f"changes/{old}_{new}.md": partial(changes, old, new) for old, new in pairs}
    return {
        **reports,
        "ARCHITECTURE.md": architecture,
        "CLI.md": command_line,
        "COMPATIBILITY.md": compatibility,
        "LIMITS.md": limits,
        "TOLERANCES.md": tolerances,
        "img/rooms.svg": rooms,
    }


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
