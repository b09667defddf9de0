"""MANIFEST.json lists the output; a stamp beside it records the inputs.

The manifest is output like the rest. The stamp lies among Python's caches, which nobody commits:
with it, generation is skipped if the inputs are unchanged. Both ignore line ends. This module
imports no generator code, so checking is cheap.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from mcp_bindgen.errors import InputError

__all__ = [
    "FORMAT",
    "NAME",
    "STAMP",
    "Manifest",
    "describe",
    "digest",
    "fresh",
    "read",
    "sources",
    "stamp",
    "texts",
]

NAME: Final = "MANIFEST.json"
STAMP: Final = "__pycache__/mcp-bindgen.stamp"
FORMAT: Final = "mcp-bindgen-manifest/1"

_PACKAGE: Final = Path(__file__).resolve().parent
_AFTER: Final = frozenset({"__main__.py", "cli", "manifest.py", "pull.py", "scaffold"})
"""Parts of this package without influence on generated files."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`files` are the digests of the outputs by path; `options` has the options with other values
    than their defaults.
    """

    revisions: tuple[str, ...]
    files: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict[str, str])

    def text(self) -> str:
        """The file itself."""
        body = {
            "format": FORMAT,
            "revisions": list(self.revisions),
            **({"options": dict(self.options)} if self.options else {}),
            "files": dict(self.files),
        }
        return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def digest(parts: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 over named texts, in the order given, line ends set aside."""
    total = hashlib.sha256()
    for name, data in parts:
        total.update(f"{name}\0{_sha256(data)}\0".encode())
    return total.hexdigest()


def texts(folder: Path, suffix: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield each file below `folder` with this suffix and its relative path, sorted, without
    caches.

    Raises InputError if a file cannot be read.
    """
    try:
        for path in _paths(folder):
            if path.endswith(suffix):
                yield path, (folder / path).read_bytes()
    except OSError as error:
        raise InputError(f"{error.filename or folder}: cannot be read: {error.strerror}") from None


def sources() -> Iterator[tuple[str, bytes]]:
    """The source files of this package on which generated text depends."""
    for path, data in texts(_PACKAGE, ".py"):
        if path.partition("/")[0] not in _AFTER:
            yield path, data


def describe(
    revisions: Sequence[str], files: Mapping[str, str], options: Mapping[str, str] | None = None
) -> Manifest:
    """The manifest of `files`, texts by path."""
    table = {path: _sha256(text.encode()) for path, text in sorted(files.items())}
    return Manifest(tuple(revisions), table, options or {})


def read(out: Path) -> Manifest | None:
    """The manifest of a folder; None if it is missing or in an unknown format."""
    try:
        body: Any = json.loads((out / NAME).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(body, dict):
        return None
    table = cast("dict[str, Any]", body)
    match table:
        case {"format": format, "revisions": list(), "files": dict()}:
            known = format == FORMAT
        case _:
            known = False
    if not known:
        return None
    return Manifest(tuple(table["revisions"]), table["files"], table.get("options", {}))


def stamp(manifest: Manifest, inputs: str) -> str:
    """The stamp of a folder with this manifest, made from inputs with this digest."""
    return f"{inputs} {_sha256(manifest.text().encode())}\n"


def fresh(out: Path, manifest: Manifest, inputs: str) -> bool:
    """Return whether `out` was made from these inputs and holds exactly the manifest's files."""
    expected = {**manifest.files, NAME: _sha256(manifest.text().encode())}
    try:
        if (out / STAMP).read_text("utf-8") != stamp(manifest, inputs):
            return False
        return set(_paths(out)) == set(expected) and all(
            not (out / path).is_symlink() and _sha256((out / path).read_bytes()) == digest
            for path, digest in expected.items()
        )
    except (OSError, ValueError):
        return False


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _paths(folder: Path) -> list[str]:
    paths: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        paths += [(Path(place) / name).relative_to(folder).as_posix() for name in names]
    return sorted(paths)
