"""Reads and writes schema/PINS.toml and schema/ext/PINS.toml: the official file behind each schema.

Each revision of the core has a table: `path` and `commit` in the protocol's repository, `git_blob`,
`sha256` and `bytes` of the official file, and `structure`, the digest of its facts, which our file
shares. A version of an extension is called `name@version`, and also has `repository`, `core` and
`modules`. If its official file is not available whole, it lacks `git_blob`, `sha256` and `bytes`.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from mcp_bindgen import paths
from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_PROJECT_BYTES

__all__ = [
    "CORE",
    "EXTENSIONS",
    "Pin",
    "extensions",
    "official",
    "official_file",
    "parse",
    "pins",
    "read_bytes",
    "read_text",
    "render",
    "require_name",
    "revisions",
]

CORE: Final = "PINS.toml"
EXTENSIONS: Final = "ext/PINS.toml"
"""The two tables, in a schema folder."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(@[A-Za-z0-9][A-Za-z0-9._-]{0,63})?\Z")
_HEADS: Final = {
    CORE: (
        "# Where each revision's declarations come from: the official file, "
        "and the digest of its facts.\n"
        "# Written by `mcp-bindgen pull`.\n"
    ),
    EXTENSIONS: (
        "# Where each extension's declarations come from: the official file, the digest of its\n"
        "# facts, the core that it extends, and what each of its imports stands for.\n"
        "# Written by `mcp-bindgen pull --extension`.\n"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One table: `path` and `commit` name the official file, `structure` is the digest.

    `core` is the revision extended by an extension. `modules` maps the specifier of each import to
    a pinned schema: a revision, or the `name@version` of another extension; or to a name in
    `files`, each with the path, the blob and the checksum of an official file beside the first.
    """

    repository: str = ""
    path: str
    commit: str = ""
    git_blob: str = ""
    sha256: str = ""
    bytes: int = 0
    structure: str = ""
    core: str = ""
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, Mapping[str, str | int]] = field(
        default_factory=dict[str, Mapping[str, str | int]]
    )


_REQUIRED: Final = ("path", "commit", "structure")


def require_name(revision: str) -> str:
    """`revision`, or `name@version`, if it can name a folder. Raises InputError."""
    if not _NAME.match(revision):
        raise InputError(
            f"{revision!r} cannot name a revision",
            remedy="Use letters, digits, `.`, `_` and `-`, as in 2025-11-25.",
        )
    return revision


def official(data: bytes, *, path: str, commit: str, structure: str) -> Pin:
    """The pin of an official file with the text `data`."""
    return Pin(
        path=path,
        commit=commit,
        git_blob=_git_blob(data),
        sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data),
        structure=structure,
    )


def official_file(data: bytes, *, path: str) -> Mapping[str, str | int]:
    """The entry in `files` of a pin, for an official file with the text `data`."""
    digest = hashlib.sha256(data).hexdigest()
    return {"path": path, "git_blob": _git_blob(data), "sha256": digest, "bytes": len(data)}


def _git_blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def parse(text: str, where: str) -> dict[str, Pin]:
    """Parse a PINS.toml, oldest revision first. Raises InputError if it is invalid."""
    try:
        tables: dict[str, dict[str, Any]] = tomllib.loads(text)
        pinned = {require_name(revision): Pin(**table) for revision, table in tables.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error}", remedy="Mend the file, or pull again.") from None
    return dict(sorted(pinned.items()))


def render(pins: Mapping[str, Pin], table: str = CORE) -> str:
    """The text of a PINS.toml, for the core or for the extensions."""
    tables = [
        "\n".join([f'["{revision}"]', *(_row(k, v) for k, v in _rows(pin))])
        for revision, pin in sorted(pins.items())
    ]
    return "\n\n".join([_HEADS[table].rstrip("\n"), *tables]) + "\n"


def _rows(pin: Pin) -> Iterator[tuple[str, object]]:
    """The rows of a table; optional rows without a value are left out."""
    for row in fields(Pin):
        value = getattr(pin, row.name)
        if value or row.name in _REQUIRED:
            yield row.name, value


def _row(key: str, value: object) -> str:
    """A line of a table; a nested table is written inline."""
    text = json.dumps(value, separators=(", ", " = "))
    return f"{key} = {text}"


def pins(folder: Path | None = None) -> dict[str, Pin]:
    """The pins of a schema folder (default: ours). Empty before the first pull."""
    return _read(folder, CORE)


def extensions(folder: Path | None = None) -> dict[str, Pin]:
    """The pins of the extensions, by `name@version`, likewise."""
    return _read(folder, EXTENSIONS)


def _read(folder: Path | None, table: str) -> dict[str, Pin]:
    path = (folder or paths.schema()) / table
    if folder is not None and not path.exists():
        return {}
    return parse(_decode(read_bytes(path), f"schema/{table}"), f"schema/{table}")


def revisions() -> list[str]:
    """The pinned revisions, oldest first."""
    return list(pins())


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises InputError if it cannot be read, or has no end."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROJECT_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}",
            remedy="Give a file that exists and that you may read.",
        ) from None
    if len(data) > MAX_PROJECT_BYTES:
        message = f"{path}: has more than {MAX_PROJECT_BYTES} bytes"
        raise InputError(message, remedy="Nothing that is read here is so large; look at the file.")
    return data


def read_text(path: Path) -> str:
    """The text of a file. Raises InputError if it cannot be read, or is not UTF-8."""
    return _decode(read_bytes(path), str(path))


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError(f"{where}: is not UTF-8", remedy="Mend the file.") from None
