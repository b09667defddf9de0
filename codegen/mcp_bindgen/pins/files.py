"""Finds a schema: a revision, a version of an extension, a file, or a folder with a schema.ts."""

from __future__ import annotations

import hashlib
import os
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

__all__ = [
    "Found",
    "apart",
    "beside",
    "find",
    "find_extension",
    "imported_files",
    "place",
    "schema_path",
]

_NO_IMPORTS: Final[Mapping[str, Source]] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """A schema file: its text, its name in errors and headers, and its revision.

    `revision` is empty for an unpinned file, and `name@version` for an extension. `imports` maps
    specifiers of imports to texts; those that are parts belong to the same schema.
    """

    data: bytes
    path: str
    revision: str
    imports: Mapping[str, Source] = field(default_factory=lambda: _NO_IMPORTS)

    def text_with_imports(self) -> Source:
        """The text that offsets point into: of this file, and of those which it imports."""
        from mcp_bindgen.source import Source, link

        return link(Source(self.data, self.path), self.imports)[0]


def place(revision: str) -> str:
    """The path of a revision's file, or of `name@version`, in a schema folder."""
    name, _, version = revision.rpartition("@")
    return f"ext/{name}/{version}/schema.ts" if name else f"{revision}/schema.ts"


def schema_path(revision: str) -> Path:
    """The path of our file of a pinned revision, or of `name@version`. Raises InputError."""
    if revision not in _pin_of():
        kind, known = ("version", extensions()) if "@" in revision else ("revision", pins())
        raise InputError(
            f"no {kind} is called {revision!r}",
            remedy=f"Known {kind}s: {', '.join(known)}.",
        )
    return paths.schema() / place(revision)


def find_extension(text: str, folder: Path | None = None) -> str:
    """The pinned `name@version` for `NAME` or `NAME@VERSION`. Raises InputError."""
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
    """Find the schema for `REVISION`, `NAME@VERSION`, `FILE` or `DIR` (its schema.ts).

    A file counts as a pinned revision if it is our file of it, or equal to the official one.
    `imports` are SPECIFIER=FILE or SPECIFIER=REVISION; without them the imports of the pin apply,
    or for an unpinned file those of the pinned `like`, and then the files beside it. Raises
    InputError.
    """
    schema = _read_file(text)
    pin = _pin_of().get(schema.revision or like)
    files = imported_files(pin, schema.revision or like, imports)
    if not schema.revision:
        from mcp_bindgen.source import Source

        files |= beside(Source(schema.data, schema.path), _home(text), files)
    if "@" in (schema.revision or like):
        files = apart(files)
    return replace(schema, imports=files) if files else schema


def imported_files(
    pin: Pin | None, revision: str, rows: Sequence[str] = (), folder: Path | None = None
) -> dict[str, Source]:
    """The texts for import specifiers, from the pin of `revision` and from SPECIFIER=FILE.

    Files of the revision itself are read in a schema folder (default: ours). Raises InputError.
    """
    from mcp_bindgen.source import Source

    known = _pin_of()
    files: dict[str, Source] = {}
    modules: Mapping[str, str] = pin.modules if pin else {}
    for row in (*(f"{name}={target}" for name, target in modules.items()), *rows):
        name, _, target = row.rpartition("=")
        if target not in known and pin and target in pin.files:
            ours = place(revision).replace("schema.ts", target)
            data = read_bytes((folder or paths.schema()) / ours)
            files[name] = Source(data, f"schema/{ours}", part=True)
        else:
            files |= [_read_import(row)]
        if target in known and known[target].files:
            files = {**apart(imported_files(known[target], target)), **files}
    return files


def beside(main: Source, home: Path, known: Mapping[str, Source]) -> dict[str, Source]:
    """The files on this machine which `main`, in the folder `home`, imports by relative paths."""
    from mcp_bindgen.source import Source
    from mcp_bindgen.source.siblings import file_names, siblings

    homes = {main.path: home}
    read: dict[Path, Source] = {}

    def look(file: Source, specifier: str) -> Source | None:
        for name in file_names(specifier):
            path = Path(os.path.normpath(homes.get(file.path, home) / name))
            if path not in read and path.is_file():
                read[path] = Source(read_bytes(path), str(path), part=True)
                homes[read[path].path] = path.parent
            if path in read:
                return read[path]
        return None

    return siblings(main, known, look)


def apart(files: Mapping[str, Source]) -> dict[str, Source]:
    """The same files, none of which is a part of the schema that imports it."""
    from mcp_bindgen.source import Source

    return {name: Source(file.data, file.path) for name, file in files.items()}


def _home(text: str) -> Path:
    path = Path(text)
    return path if path.is_dir() else path.parent


def _pin_of() -> dict[str, Pin]:
    return {**pins(), **extensions()}


def _read_import(row: str) -> tuple[str, Source]:
    """A specifier and its text; a relative one of a file that is not pinned is of one schema."""
    from mcp_bindgen.source import Source
    from mcp_bindgen.source.siblings import is_relative

    name, separator, target = row.rpartition("=")
    if not (separator and name and target):
        raise InputError(
            f"{row!r} maps no import", remedy="Write SPECIFIER=FILE or SPECIFIER=REVISION."
        )
    schema = _read_file(target)
    part = is_relative(name) and not schema.revision
    return name, Source(schema.data, schema.path, part=part)


def _read_file(text: str) -> Found:
    from mcp_bindgen.source.text import printable

    known = _pin_of()
    if text in known:
        return _ours(text)
    path = Path(text)
    if not path.exists():
        raise _unknown(text)
    path = path / "schema.ts" if path.is_dir() else path
    if path.suffix == ".json":
        remedy = "Compare lists of tools with `mcp-bindgen diff --tools OLD NEW`."
        raise InputError(f"{text} is JSON, and not a schema.ts", remedy=remedy)
    data = read_bytes(path) if path.is_file() else _read_pipe(path)
    name, digest = printable(str(path)), hashlib.sha256(data).hexdigest()
    for revision, pin in known.items():
        ours = paths.schema() / place(revision)
        if ours.exists() and path.samefile(ours):
            return _ours(revision)
        if pin.sha256 == digest:
            return Found(data, name, revision)
    return Found(data, name, "")


@cache
def _read_pipe(path: Path) -> bytes:
    """Read a pipe, such as `<(git show HEAD:schema.ts)`, which can be read only once."""
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
