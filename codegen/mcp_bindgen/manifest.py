"""MANIFEST.json beside the output: what it was made from, so that unchanged work is not done again.

Line ends count for nothing in it: a checkout that converts them has the same manifest. It imports
none of the machinery whose files it counts, so that asking costs little.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from mcp_bindgen.errors import InputError

__all__ = ["FORMAT", "NAME", "Manifest", "digest", "fresh", "made", "read", "sources", "texts"]

NAME: Final = "MANIFEST.json"
FORMAT: Final = "mcp-bindgen-manifest/1"

_PACKAGE: Final = Path(__file__).resolve().parent
_AFTER: Final = frozenset({"__main__.py", "cli", "manifest.py", "pull.py", "scaffold"})
"""Parts of this package that no generated file depends on."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`inputs` is the digest of all that went in, `files` that of each output by path."""

    revisions: tuple[str, ...]
    inputs: str
    files: Mapping[str, str]

    def text(self) -> str:
        """The file itself."""
        body = {
            "format": FORMAT,
            "revisions": list(self.revisions),
            "inputs": self.inputs,
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
    """Each file below `folder` whose name ends so, by its path there, sorted; caches left out.

    Raises InputError for one that cannot be read.
    """
    try:
        for path in _paths(folder):
            if path.endswith(suffix):
                yield path, (folder / path).read_bytes()
    except OSError as error:
        raise InputError(f"{error.filename or folder}: cannot be read: {error.strerror}") from None


def sources() -> Iterator[tuple[str, bytes]]:
    """The source files of this package that generated text depends on."""
    for path, data in texts(_PACKAGE, ".py"):
        if path.partition("/")[0] not in _AFTER:
            yield path, data


def made(revisions: Sequence[str], inputs: str, files: Mapping[str, str]) -> Manifest:
    """The manifest of `files`, texts by path."""
    table = {path: _sha256(text.encode()) for path, text in sorted(files.items())}
    return Manifest(tuple(revisions), inputs, table)


def read(out: Path) -> Manifest | None:
    """The manifest of a folder; None where there is none that we understand."""
    try:
        body: Any = json.loads((out / NAME).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(body, dict):
        return None
    table = cast("dict[str, Any]", body)
    match table:
        case {"format": format, "revisions": list(), "inputs": str(), "files": dict()}:
            known = format == FORMAT
        case _:
            known = False
    return Manifest(tuple(table["revisions"]), table["inputs"], table["files"]) if known else None


def fresh(out: Path, manifest: Manifest) -> bool:
    """Whether `out` holds exactly the files of its manifest, and that as we write it."""
    expected = {**manifest.files, NAME: _sha256(manifest.text().encode())}
    if set(_paths(out)) != set(expected):
        return False
    try:
        return all(
            not (out / path).is_symlink() and _sha256((out / path).read_bytes()) == digest
            for path, digest in expected.items()
        )
    except OSError:
        return False


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _paths(folder: Path) -> list[str]:
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [(Path(place) / name).relative_to(folder).as_posix() for name in names]
    return sorted(found)
