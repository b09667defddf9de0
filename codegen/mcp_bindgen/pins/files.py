"""Finding a schema: a revision, a version of an extension, a file or a folder with one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_bindgen import paths
from mcp_bindgen.errors import InputError
from mcp_bindgen.pins.table import Pin, extensions, pins, read_bytes

if TYPE_CHECKING:
    from mcp_bindgen.source import Source

__all__ = ["Found", "extension_named", "find", "imported", "place", "schema_path"]

_NO_IMPORTS: Final[Mapping[str, Source]] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """A schema file: its text, what errors and headers call it, and the revision that it is.

    `revision` is empty for a file that is not pinned; a version of an extension is called
    `name@version`. `imports` are the texts that the specifiers of imports stand for.
    """

    data: bytes
    path: str
    revision: str
    imports: Mapping[str, Source] = field(default_factory=lambda: _NO_IMPORTS)


def place(revision: str) -> str:
    """Where the file of a revision, or of `name@version`, lies in a schema folder."""
    name, _, version = revision.rpartition("@")
    return f"ext/{name}/{version}/schema.ts" if name else f"{revision}/schema.ts"


def schema_path(revision: str) -> Path:
    """Where our file of a pinned revision, or of `name@version`, lies. Raises InputError."""
    if revision not in _pinned():
        kind, known = ("version", extensions()) if "@" in revision else ("revision", pins())
        raise InputError(
            f"no {kind} is called {revision!r}",
            remedy=f"Known {kind}s: {', '.join(known)}.",
        )
    return paths.schema() / place(revision)


def extension_named(text: str, folder: Path | None = None) -> str:
    """The pinned `name@version` that `NAME` or `NAME@VERSION` stands for. Raises InputError."""
    known = extensions(folder)
    versions = [pinned for pinned in known if text in (pinned, pinned.partition("@")[0])]
    if len(versions) == 1:
        return versions[0]
    if versions:
        raise InputError(
            f"{text!r} has several versions", remedy=f"Say which: {', '.join(versions)}."
        )
    raise InputError(
        f"no extension is called {text!r}", remedy=f"Known extensions: {', '.join(known)}."
    )


def find(text: str, imports: Sequence[str] = (), like: str = "") -> Found:
    """The schema that `REVISION`, `NAME@VERSION`, `FILE` or `DIR` (its schema.ts) stands for.

    A file is a pinned revision where it is our file of it, or has the text of the official one.
    `imports` are SPECIFIER=FILE or SPECIFIER=REVISION; a pin has those of its own, and a file that
    is none those of the pinned `like`. Raises InputError.
    """
    schema = _found(text)
    pin = _pinned().get(schema.revision or like)
    files = imported(pin.modules if pin else {}, imports)
    return replace(schema, imports=files) if files else schema


def imported(modules: Mapping[str, str], rows: Sequence[str] = ()) -> dict[str, Source]:
    """The texts that specifiers stand for, by a pin and by SPECIFIER=FILE. Raises InputError."""
    every = [*(f"{name}={target}" for name, target in modules.items()), *rows]
    return dict(_imported(row) for row in every)


def _pinned() -> dict[str, Pin]:
    return {**pins(), **extensions()}


def _imported(row: str) -> tuple[str, Source]:
    """A specifier and the text that it stands for."""
    from mcp_bindgen.source import Source

    name, separator, target = row.rpartition("=")
    if not (separator and name and target):
        raise InputError(
            f"{row!r} maps no import", remedy="Write SPECIFIER=FILE or SPECIFIER=REVISION."
        )
    schema = _found(target)
    return name, Source(schema.data, schema.path)


def _found(text: str) -> Found:
    from mcp_bindgen.source.text import printable

    known = _pinned()
    if text in known:
        return _ours(text)
    path = Path(text)
    if not path.exists():
        raise _unknown(text)
    path = path / "schema.ts" if path.is_dir() else path
    if path.suffix == ".json":
        remedy = "Compare lists of tools with `mcp-bindgen diff --tools OLD NEW`."
        raise InputError(f"{text} is JSON, and not a schema.ts", remedy=remedy)
    data = read_bytes(path) if path.is_file() else _piped(path)
    name, digest = printable(str(path)), hashlib.sha256(data).hexdigest()
    for revision, pin in known.items():
        ours = paths.schema() / place(revision)
        if ours.exists() and path.samefile(ours):
            return _ours(revision)
        if pin.sha256 == digest:
            return Found(data, name, revision)
    return Found(data, name, "")


@cache
def _piped(path: Path) -> bytes:
    """What a pipe holds, such as `<(git show HEAD:schema.ts)`: it can be read but once."""
    return read_bytes(path)


def _ours(revision: str) -> Found:
    return Found(read_bytes(schema_path(revision)), f"schema/{place(revision)}", revision)


def _unknown(text: str) -> InputError:
    if "@" in text:
        return InputError(
            f"{text!r} is neither a version of an extension nor a file",
            remedy=f"Known versions: {', '.join(extensions())}.",
        )
    return InputError(
        f"{text!r} is neither a revision nor a file",
        remedy=f"Known revisions: {', '.join(pins())}; of extensions: {', '.join(extensions())}.",
    )
