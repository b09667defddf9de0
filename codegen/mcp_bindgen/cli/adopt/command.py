"""`mcp-bindgen adopt`: moves a server written for `mcp` 1.x or `fastmcp` to this runtime."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from difflib import unified_diff
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.adopt.imports import PREFIX, Adopted, adopt
from mcp_bindgen.cli.show import safe, say, warn
from mcp_bindgen.errors import InputError, count_of

__all__ = ["command"]

_SKIPPED: Final = frozenset(
    {"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"}
)


@click.command("adopt")
@click.option(
    "--diff",
    "shows",
    is_flag=True,
    help="Show the changes as a patch, and write no file (default: write the files).",
)
@click.argument("path", metavar="PATH", type=click.Path(exists=True, path_type=Path))
def command(shows: bool, path: Path) -> int:
    """Rewrite the imports of `mcp` and `fastmcp` in PATH, a file or a folder.

    They become imports of `mcp_runtime.compat`; every other character stays. Files with uncommitted
    changes are refused. Imports without a counterpart stay, and each is reported with its line and
    a replacement. Exit status 0: done; 1: some imports stayed; 2: no file was written.
    """
    files = list(_files(path))
    adopted = {file: _adopted(file) for file in files}
    changed = {file: each for file, each in adopted.items() if each.lines}
    if shows:
        for file, each in changed.items():
            _show(file, each)
    else:
        _require_committed(path, list(changed))
        for file, each in changed.items():
            file.write_text(each.text, encoding="utf-8", newline="")
    return _report(adopted, shows)


def _files(path: Path) -> Iterator[Path]:
    """Yield the modules below a folder, without those of environments and hidden folders."""
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*.py")):
        parts = file.relative_to(path).parts[:-1]
        if not any(part in _SKIPPED or part.startswith(".") for part in parts):
            yield file


def _adopted(file: Path) -> Adopted:
    """Rewrite one file in memory. Raises InputError for a file that is not Python."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return adopt(stream.read(), _fault)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from None


def _fault(module: str, name: str | None) -> str | None:
    """Return the reason why a module or a name cannot be imported from our packages."""
    from mcp_runtime.compat.aliases import missing

    ours = PREFIX + module
    try:
        spec = find_spec(ours)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        return missing(module)
    if name in (None, "*") or hasattr(import_module(ours), name or ""):
        return None
    try:
        inner = find_spec(f"{ours}.{name}")
    except ModuleNotFoundError:
        inner = None
    return missing(f"{module}.{name}") if inner is None else None


def _require_committed(path: Path, files: list[Path]) -> None:
    """Raise InputError if git knows of changes in the files which are not committed."""
    folder = path if path.is_dir() else path.parent
    command = ["git", "status", "--porcelain", "--", *(str(file.absolute()) for file in files)]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return
    if files and done.returncode == 0 and done.stdout.strip():
        rows = [line[3:] for line in done.stdout.splitlines()]
        remedy = "Commit them first, or look at the changes: mcp-bindgen adopt --diff."
        raise InputError(
            "these files have changes that are not committed", rows=rows, remedy=remedy
        )


def _show(file: Path, adopted: Adopted) -> None:
    with file.open(encoding="utf-8", newline="") as stream:
        before = stream.read().splitlines(keepends=True)
    after = adopted.text.splitlines(keepends=True)
    for line in unified_diff(before, after, f"a/{file}", f"b/{file}"):
        say(safe(line.rstrip("\n")))


def _report(adopted: dict[Path, Adopted], shows: bool) -> int:
    """Report the changes, and the lines that need a hand; return the exit status."""
    lines = sum(len(each.lines) for each in adopted.values())
    count = sum(1 for each in adopted.values() if each.lines)
    verb = "would change" if shows else "changed"
    warn(f"{count_of(lines, 'import')} in {count_of(count, 'file')} {verb}.")
    missing = [(file, each) for file, one in adopted.items() for each in one.missing]
    for file, each in missing:
        warn(safe(f"{file}:{each.line}: {each.why}"))
    return FINDINGS if missing else OK
