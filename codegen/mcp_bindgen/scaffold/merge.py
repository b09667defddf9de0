"""Plans an update file by file: from the old text, the new text, and the user's text.

The user's work is never lost: an edited file is merged or kept; removed files and lines stay away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

__all__ = ["Change", "Kind", "Merge", "Merged", "move_imports", "plan"]

Kind: TypeAlias = Literal[
    "written", "removed", "merged", "conflict", "kept", "rewritten", "left out", "moved"
]


class Merged(NamedTuple):
    text: str
    conflicts: bool


Merge: TypeAlias = Callable[[str, str, str], Merged]
"""Merges the user's text, the old text and the new text."""


@dataclass(frozen=True, slots=True)
class Change:
    """`text` is the new content of the file: None for `removed`; ignored for `kept`, `rewritten`
    and `left out`, which are left to the user.
    """

    path: str
    kind: Kind
    text: str | None = None


_CONFLICT: Final = re.compile(r"^<<<<<<< ", re.MULTILINE)
_DELETED: Final = re.compile(
    r"^<<<<<<< [^\n]*\n=======\n(?:(?!>>>>>>> )[^\n]*\n)*>>>>>>> [^\n]*\n", re.MULTILINE
)
"""A conflict with lines that the user deleted."""
_VENDORED: Final = "/_mcp/"
_FEWEST: Final = 8
"""Lines from which on a file is one that can be rewritten; a shorter one is edited."""


def move_imports(text: str, package: str, runtime: str) -> str:
    """Return Python with its imports of the runtime from where a project has it now."""
    if runtime == "vendored":
        return _OF_LIBRARY.sub(rf"\1from {package}._mcp.\2", text)
    return re.sub(_OF_COPY.format(package=package), r"\1from mcp_\2", text, flags=re.MULTILINE)


_OF_COPY: Final = r"^([ \t]*)from (?:\.+|{package}\.)_mcp\.(runtime|wire)\b"
_OF_LIBRARY: Final = re.compile(r"^([ \t]*)from mcp_(runtime|wire)\b", re.MULTILINE)


def plan(
    old: Mapping[str, str], new: Mapping[str, str], yours: Mapping[str, str], merge: Merge
) -> list[Change]:
    """Plan the changes by path: `old` and `new` are all texts of the templates, `yours` the
    project's texts of the same paths.
    """
    changes: list[Change] = []
    for path in sorted({*old, *new}):
        changes += _change(path, old.get(path), new.get(path), yours.get(path), merge)
    return changes


def _change(
    path: str, old: str | None, new: str | None, yours: str | None, merge: Merge
) -> Iterator[Change]:
    if yours == new or (new == old and not _is_lost(path, yours)):
        return
    if new is None:
        yield Change(path, "removed" if yours == old else "kept")
    elif yours == old or (yours is None and (old is None or _VENDORED in path)):
        yield Change(path, "written", new)
    elif yours is None:
        yield Change(path, "left out")
    elif old is not None and _is_rewritten(old, yours):
        yield Change(path, "rewritten")
    else:
        merged = _without_deleted(merge(yours, old or "", new))
        yield Change(path, "conflict" if merged.conflicts else "merged", merged.text)


def _without_deleted(merged: Merged) -> Merged:
    """Leave out what the user deleted, though the template has changed it since."""
    text = _DELETED.sub("", merged.text)
    return Merged(text, merged.conflicts and _CONFLICT.search(text) is not None)


def _is_lost(path: str, yours: str | None) -> bool:
    """Return whether it is a file of the protocol, which the project cannot do without."""
    return yours is None and _VENDORED in path


def _is_rewritten(old: str, yours: str) -> bool:
    """Return whether the user replaced the sample by a text of their own, instead of editing it."""
    lines = {line.strip() for line in old.splitlines() if line.strip()}
    left = lines & {line.strip() for line in yours.splitlines()}
    return len(lines) >= _FEWEST and 4 * len(left) < len(lines)
