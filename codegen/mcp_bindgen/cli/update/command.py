"""`mcp-bindgen update`: merges newer bindings and templates into a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mcp_bindgen import __version__, pins
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.show import safe, say, warn
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold.record import (
    BASE,
    NAME,
    Record,
    digest,
    pack,
    parse,
    unpack,
    with_comments,
)

if TYPE_CHECKING:
    from mcp_bindgen.scaffold.answers import Answers
    from mcp_bindgen.scaffold.merge import Change
    from mcp_bindgen.scaffold.tools import Tool

__all__ = ["command"]

_OWN: Final = (NAME, BASE)
_VENDORED: Final = "tests/test_vendored.py"
"""The file of each project that has a copy of the runtime."""
_COPIES: Final = "/_mcp/"
_SAID: Final = {
    "written": "",
    "removed": "no template makes it any more",
    "merged": "yours and the template's changes are both in it",
    "conflict": "both changed the same lines: look for <<<<<<<",
    "kept": "no template makes it any more, but you changed it: it stays",
    "rewritten": "its template changed, but you have written your own: it stays",
    "left out": "its template changed, but you removed it: it stays away",
    "moved": "its imports name the runtime where it is now",
}


@dataclass(frozen=True, slots=True)
class _Project:
    """`old` are the texts of the last update, `new` the current ones, `yours` those on disk; `crlf`
    are the paths with CR LF line ends on disk; `record` is the new record.
    """

    folder: Path
    old: Mapping[str, str]
    new: Mapping[str, str]
    yours: Mapping[str, str]
    crlf: frozenset[str]
    record: str
    moved: Mapping[str, str]
    """Your Python with the imports of a runtime in another place, by path; `yours` has them too."""


@click.command("update")
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with status 1 if the project is behind."
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would change as a diff.")
def command(check: bool, dry_run: bool) -> int:
    """Bring the project in this folder up to date: its bindings, runtime and templates.

    Your changes are merged with the new version; if both changed the same lines, git's conflict
    markers show both. Exit status 0: done, or nothing to do; 1: conflicts, or behind (--check).
    """
    from mcp_bindgen.cli import git
    from mcp_bindgen.scaffold.merge import plan

    folder = Path()
    record = _record(folder)
    if not (check or dry_run):
        git.require_clean(folder)
    project = _project(folder, record)
    merge = git.merging(f"mcp-bindgen {__version__}")
    changes = plan(project.old, project.new, project.yours, merge)
    changes += _moved(project, changes)
    behind = bool(changes) or project.old != project.new
    if check:
        say(_behind(record, changes) if behind else "up to date")
        return FINDINGS if behind else OK
    if dry_run:
        say("".join(_diffs(project, changes)), nl=False)
    elif behind:
        _write(project, changes)
    summary = "\n".join(_list(changes)) or "up to date"
    warn(summary) if dry_run else say(summary)
    return FINDINGS if any(change.kind == "conflict" for change in changes) else OK


# ---- what is there


def _record(folder: Path) -> Record:
    if not (folder / NAME).exists():
        raise InputError(
            f"{NAME} is not here, so this is not a project of mcp-bindgen",
            remedy="Go to the folder that `mcp-bindgen new` wrote.",
        )
    record = parse(pins.read_text(folder / NAME), tuple(pins.revisions()))
    if _numbers(record.version) > _numbers(__version__):
        raise InputError(
            f"the project was written by mcp-bindgen {record.version}, and this is {__version__}",
            remedy="Install that version or a newer one.",
        )
    return record


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal() and part.isascii()]


def _project(folder: Path, record: Record) -> _Project:
    from mcp_bindgen.cli.new.project import texts

    old = unpack(pins.read_text(folder / BASE))
    if {path: digest(text) for path, text in old.items()} != record.files:
        raise InputError(
            f"{NAME} and {BASE} are not of the same update",
            remedy="Take both back from the project's history.",
        )
    files = texts(record.answers, *_tools(folder, record.answers))
    new = {path: text for path, text in files.items() if path not in _OWN}
    present = {path: text for path in {*old, *new} if (text := _read(folder, path)) is not None}
    crlf = frozenset(path for path, text in present.items() if _ends_in_crlf(text))
    yours = {p: t.replace("\r\n", "\n") if p in crlf else t for p, t in present.items()}
    written = with_comments(files[NAME], pins.read_text(folder / NAME))
    moved: dict[str, str] = {}
    if (_VENDORED in old) != (_VENDORED in new):
        answers = record.answers
        old = {path: _move(path, text, answers) for path, text in old.items()}
        everything = {**_other_modules(folder, answers, {*old, *new}), **yours}
        moves = {path: _move(path, text, answers) for path, text in everything.items()}
        moved = {path: text for path, text in moves.items() if text != everything[path]}
        yours.update((path, moved[path]) for path in moved.keys() & yours.keys())
    return _Project(folder, old, new, yours, crlf, written, moved)


def _move(path: str, text: str, answers: Answers) -> str:
    if not path.endswith(".py") or _COPIES in path:
        return text
    from mcp_bindgen.scaffold.merge import move_imports

    return move_imports(text, answers.package, answers.runtime)


def _other_modules(folder: Path, answers: Answers, ours: Collection[str]) -> dict[str, str]:
    """The Python files that you have added beside those of the templates, by path."""
    paths = (
        path.relative_to(folder).as_posix()
        for top in (f"src/{answers.package}", "tests", "examples")
        for path in (folder / top).rglob("*.py")
    )
    texts = {
        path: _read(folder, path) for path in paths if path not in ours and _COPIES not in path
    }
    return {path: text for path, text in texts.items() if text is not None}


def _moved(project: _Project, changes: Sequence[Change]) -> Iterator[Change]:
    """The files of which nothing changes but the place of the runtime."""
    from mcp_bindgen.scaffold.merge import Change

    changed = {change.path for change in changes if change.text is not None}
    for path, text in sorted(project.moved.items()):
        if path not in changed and not _is_removed(path, changes):
            yield Change(path, "moved", text)


def _is_removed(path: str, changes: Sequence[Change]) -> bool:
    return any(change.path == path and change.kind == "removed" for change in changes)


def _tools(folder: Path, answers: Answers) -> tuple[list[Tool], str]:
    """The tools of the project's own list, and the text of the list."""
    from mcp_bindgen.cli.new.project import tools_of
    from mcp_bindgen.scaffold.render import tools_path

    if not answers.tools:
        return [], ""
    path = tools_path(answers)
    text = pins.read_text(folder / path)
    return tools_of(text.encode(), path), text.replace("\r\n", "\n")


def _read(folder: Path, path: str) -> str | None:
    """The text of a file of the project; None where it is not there."""
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path}: leads out of the project", remedy="Move the link away.")
    if place.is_dir():
        raise InputError(f"{path}: is a folder", remedy="Move it away.")
    return pins.read_text(place) if place.exists() else None


def _ends_in_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


# ---- the work


def _write(project: _Project, changes: Sequence[Change]) -> None:
    """Write the files, then the record, so an interrupted update can be repeated."""
    from mcp_bindgen.emit import tree

    texts = {change.path: change.text for change in changes if change.text is not None}
    ended = {
        path: text.replace("\n", "\r\n") if path in project.crlf else text
        for path, text in texts.items()
    }
    unparsed = {change.path for change in changes if change.kind in ("conflict", "merged", "moved")}
    tree.write(project.folder, ended, force=True, within=(), unparsed=unparsed)
    for change in changes:
        if change.kind == "removed":
            (project.folder / change.path).unlink()
    tree.write(
        project.folder, {NAME: project.record, BASE: pack(project.new)}, force=True, within=()
    )


# ---- the result


def _behind(record: Record, changes: Sequence[Change]) -> str:
    counted = Counter(change.kind for change in changes)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counted.items()) or "the record alone"
    versions = f"written by mcp-bindgen {safe(record.version)}, this is {__version__}"
    return f"behind: {versions}; what an update would do: {kinds}"


def _diffs(project: _Project, changes: Sequence[Change]) -> Iterator[str]:
    from mcp_bindgen.emit import tree

    for change in changes:
        if change.text is not None or change.kind == "removed":
            diff = tree.diff(change.path, project.yours.get(change.path), change.text)
            yield "".join(f"{_show(line)}\n" for line in diff.split("\n")[:-1])


def _show(line: str) -> str:
    return "\t".join(map(safe, line.split("\t")))


def _list(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        why = _SAID[change.kind]
        yield safe(f"{change.kind:9} {change.path}" + (f" ({why})" if why else ""))
