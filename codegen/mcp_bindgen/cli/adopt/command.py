"""`mcp-bindgen adopt`: moves a server written for `mcp` 1.x or `fastmcp` to this runtime."""

from __future__ import annotations

import ast
import subprocess
from difflib import unified_diff
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import click

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.adopt.edits import apply_edits
from mcp_bindgen.cli.adopt.imports import PREFIX, Adopted, adopt
from mcp_bindgen.cli.adopt.native import Use, servers_of, uses
from mcp_bindgen.cli.adopt.tools import compare_after, tools_of
from mcp_bindgen.cli.python_files import python_files
from mcp_bindgen.cli.show import safe, say, warn
from mcp_bindgen.errors import InputError, count_of

__all__ = ["command"]


@click.command("adopt")
@click.option(
    "--diff",
    "shows",
    is_flag=True,
    help="Show the changes as a patch, and write no file (default: write the files).",
)
@click.option(
    "--native",
    "is_native",
    is_flag=True,
    help="Write a server of mcp_runtime itself, if every use in PATH has an equal form there "
    "(default: rewrite the imports alone).",
)
@click.option(
    "--tools",
    "start",
    metavar="COMMAND",
    help="Start the server by COMMAND before and after, and compare its tools as diff --tools "
    "does (default: start nothing).",
)
@click.argument("path", metavar="PATH", type=click.Path(exists=True, path_type=Path))
def command(shows: bool, is_native: bool, start: str | None, path: Path) -> int:
    """Rewrite the imports of `mcp` and `fastmcp` in PATH, a file or a folder.

    They become imports of `mcp_runtime.compat`, and so do names in calls such as
    patch("mcp.server.Server"); every other character stays. Files with uncommitted
    changes are refused. Imports without a counterpart stay, and each is reported with its line and
    a replacement; so is each use that stays on compat, with its native form. Exit status 0: done;
    1: some imports stayed, or tools broke, or the server does not start any more; 2: no file was
    written.
    """
    if shows and start is not None:
        raise click.UsageError(
            "--tools starts the server that was written, and --diff writes none."
        )
    from mcp_bindgen.emit import tree

    files = [path] if path.is_file() else list(python_files(path))
    held = _uses(files)
    if is_native and all(use.edits is not None for each in held.values() for use in each):
        adopted = {file: _native(file, each) for file, each in held.items()}
        held = {}
    else:
        adopted = {file: adopt(_read(file), _fault) for file in files}
    changed = {file: each for file, each in adopted.items() if each.lines}
    gaps = {(file, miss.line) for file, each in adopted.items() for miss in each.missing}
    _report_uses(held, gaps, is_native)
    if shows:
        for file, each in changed.items():
            _show(file, each)
        return _report(adopted, shows)
    _require_committed(path, list(changed))
    before = None if start is None else tools_of(start)
    tree.rewrite({file: each.text for file, each in changed.items()})
    status = _report(adopted, shows)
    if start is not None and before is not None:
        status = max(status, compare_after(before, start))
    return status


def _parse(file: Path) -> ast.Module:
    """Parse a file. Raises InputError if it is not Python."""
    try:
        return ast.parse(_read(file))
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from None


def _read(file: Path) -> str:
    with file.open(encoding="utf-8", newline="") as stream:
        return stream.read()


def _uses(files: list[Path]) -> dict[Path, list[Use]]:
    """Return the uses of the originals in each file. Raises InputError for other than Python."""
    trees = {file: _parse(file) for file in files}
    servers = frozenset[str]().union(*map(servers_of, trees.values()))
    return {file: uses(tree, servers) for file, tree in trees.items()}


def _native(file: Path, in_file: list[Use]) -> Adopted:
    """Make a file native in memory."""
    edits = [edit for use in in_file for edit in use.edits or ()]
    lines = sorted({edit.start[0] for edit in edits})
    return Adopted(apply_edits(_read(file), edits), tuple(lines), ())


def _report_uses(held: dict[Path, list[Use]], gaps: set[tuple[Path, int]], is_native: bool) -> None:
    """Report the uses that stay on compat, in one line for each form; `gaps` are reported later."""
    rows: dict[tuple[Path, str], list[Use]] = {}
    for file, in_file in held.items():
        for use in in_file:
            if (file, use.line) not in gaps and (not is_native or use.edits is None):
                rows.setdefault((file, use.form), []).append(use)
    if is_native and rows:
        warn("PATH stays on mcp_runtime.compat, because these uses have no equal native form:")
    for (file, form), alike in rows.items():
        lines = ", ".join(str(line) for line in sorted({use.line for use in alike}))
        warn(safe(f"{file}:{lines}: {alike[0].text:.60} stays on compat; natively: {form}"))


def _fault(module: str, name: str | None) -> str | None:
    """Return the reason why a module or a name cannot be imported from our packages."""
    from mcp_runtime.compat.elsewhere import missing

    ours = PREFIX + module
    try:
        spec = find_spec(ours)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        return missing(module)
    if name is None or name == "*" or _has(import_module(ours), name):
        return None
    try:
        inner = find_spec(f"{ours}.{name}")
    except ModuleNotFoundError:
        inner = None
    return missing(f"{module}.{name}") if inner is None else None


def _has(module: ModuleType, name: str) -> bool:
    """Return True if a module has a name; one that is elsewhere is an ImportError there."""
    try:
        getattr(module, name)
    except (AttributeError, ImportError):
        return False
    return True


def _require_committed(path: Path, files: list[Path]) -> None:
    """Raise InputError if git knows of changes in the files which are not committed."""
    folder = path if path.is_dir() else path.parent
    names = [str(file.absolute()) for file in files]
    command = ["git", "status", "--porcelain", "--ignored", "--", *names]
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
    before = _read(file).splitlines(keepends=True)
    after = adopted.text.splitlines(keepends=True)
    for line in unified_diff(before, after, f"a/{file}", f"b/{file}"):
        say(safe(line.rstrip("\n")))


def _report(adopted: dict[Path, Adopted], shows: bool) -> int:
    """Report the changes, and the lines that need a hand; return the exit status."""
    lines = sum(len({*each.lines}) for each in adopted.values())
    count = sum(1 for each in adopted.values() if each.lines)
    verb = "would change" if shows else "changed"
    warn(f"{count_of(lines, 'line')} in {count_of(count, 'file')} {verb}.")
    missing = [(file, each) for file, one in adopted.items() for each in one.missing]
    for file, each in missing:
        warn(safe(f"{file}:{each.line}: {each.why}"))
    return FINDINGS if missing else OK
