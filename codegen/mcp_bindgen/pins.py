"""schema/PINS.toml: which official file each revision's facts come from; and how a schema is found.

Each revision has a table: `path` and `commit` in the protocol's repository, `git_blob`, `sha256`
and `bytes` of the official file, `structure` the digest of its facts, which our file has too.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_bindgen import paths
from mcp_bindgen.errors import InputError, UnansweredError

if TYPE_CHECKING:
    from mcp_bindgen.ir.decisions import Decisions
    from mcp_bindgen.ir.model import Schema
    from mcp_bindgen.source import Source

__all__ = [
    "Found",
    "Pin",
    "decisions",
    "find",
    "load",
    "lower",
    "lower_alike",
    "meaning",
    "official",
    "parse",
    "pins",
    "read_bytes",
    "read_text",
    "render",
    "require_name",
    "resolve",
    "revisions",
    "schema_path",
]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_HEAD: Final = (
    "# Where each revision's declarations come from: the official file, "
    "and the digest of its facts.\n"
    "# Written by `mcp-bindgen pull`.\n"
)


@dataclass(frozen=True, slots=True)
class Pin:
    """One table: `path` and `commit` name the official file, `structure` is the digest.

    `modules` has the pinned revision that each specifier of an import stands for.
    """

    path: str
    commit: str
    git_blob: str
    sha256: str
    bytes: int
    structure: str
    modules: Mapping[str, str] = field(default_factory=dict[str, str])


_NO_IMPORTS: Final[Mapping[str, Source]] = {}
_ROWS: Final = tuple(row.name for row in fields(Pin))


@dataclass(frozen=True, slots=True)
class Found:
    """A schema file: its text, what errors and headers call it, and the revision that it is.

    `revision` is empty for a file that is no pinned revision. `imports` are the texts that the
    specifiers of imports stand for.
    """

    data: bytes
    path: str
    revision: str
    imports: Mapping[str, Source] = field(default_factory=lambda: _NO_IMPORTS)


def require_name(revision: str) -> str:
    """`revision`, if it can name a folder. Raises InputError."""
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
        git_blob=hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest(),
        sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data),
        structure=structure,
    )


def parse(text: str, where: str) -> dict[str, Pin]:
    """The tables of a PINS.toml, oldest revision first. Raises InputError for what is none."""
    try:
        tables: dict[str, dict[str, Any]] = tomllib.loads(text)
        pinned = {require_name(revision): Pin(**table) for revision, table in tables.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error}", remedy="Mend the file, or pull again.") from None
    return dict(sorted(pinned.items()))


def render(pins: Mapping[str, Pin]) -> str:
    """The text of a PINS.toml."""
    tables = [
        "\n".join([f'["{revision}"]', *(_row(k, v) for k in _ROWS if (v := getattr(pin, k)) != {})])
        for revision, pin in sorted(pins.items())
    ]
    return "\n\n".join([_HEAD.rstrip("\n"), *tables]) + "\n"


def _row(key: str, value: object) -> str:
    """A line of a table; a table in it is written in one line."""
    text = json.dumps(value, separators=(", ", " = "))
    return f"{key} = {text}"


def pins(folder: Path | None = None) -> dict[str, Pin]:
    """The pins of a schema folder; of ours without one. None are there before the first pull."""
    path = (folder or paths.schema()) / "PINS.toml"
    if folder is not None and not path.exists():
        return {}
    return parse(_decoded(read_bytes(path), "schema/PINS.toml"), "schema/PINS.toml")


def revisions() -> list[str]:
    """The pinned revisions, oldest first."""
    return list(pins())


def schema_path(revision: str) -> Path:
    """Where our file of a pinned revision lies. Raises InputError for another revision."""
    known = revisions()
    if revision not in known:
        raise InputError(
            f"no revision is called {revision!r}",
            remedy=f"Known revisions: {', '.join(known)}.",
        )
    return paths.schema() / revision / "schema.ts"


def find(text: str, imports: Sequence[str] = ()) -> Found:
    """The schema that `REVISION`, `FILE` or `DIR` (its schema.ts) stands for.

    A file is a pinned revision where it is our file of it, or has the text of the official one.
    `imports` are SPECIFIER=FILE or SPECIFIER=REVISION; a pin has those of its own.
    Raises InputError.
    """
    schema = _found(text)
    pinned = pins()[schema.revision].modules.items() if schema.revision else ()
    rows = [*(f"{name}={target}" for name, target in pinned), *imports]
    return replace(schema, imports=dict(_imported(row) for row in rows)) if rows else schema


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
    known = pins()
    if text in known:
        return Found(read_bytes(schema_path(text)), f"schema/{text}/schema.ts", text)
    path = Path(text)
    if not path.exists():
        raise InputError(
            f"{text!r} is neither a revision nor a file",
            remedy=f"Known revisions: {', '.join(known)}.",
        )
    path = path / "schema.ts" if path.is_dir() else path
    data = read_bytes(path)
    for revision, pin in known.items():
        ours = paths.schema() / revision / "schema.ts"
        if ours.exists() and path.samefile(ours):
            return Found(data, f"schema/{revision}/schema.ts", revision)
        if pin.sha256 == hashlib.sha256(data).hexdigest():
            return Found(data, str(path), revision)
    return Found(data, str(path), "")


def lower(file: Found, name: str = "", rows: Decisions | None = None) -> Schema:
    """The meaning of a found file, called `name`; decisions answer for a pinned revision only.

    `rows` stand for those of schema/decisions.toml.
    """
    from mcp_bindgen.ir import lower as lowering

    if file.revision and name in ("", file.revision):
        rows = rows or decisions()
        return lowering.load(file.data, file.path, file.revision, rows, file.imports)
    name = name or Path(file.path).stem
    return lowering.load(file.data, file.path, name, imports=file.imports)


def lower_alike(files: Sequence[Found]) -> list[Schema]:
    """The meaning of several files by one measure: by facts alone, if one is no pinned revision.

    A pinned one whose rows are not answered yet counts as none.
    """
    if all(each.revision for each in files):
        rows = decisions()
        try:
            return [lower(each, rows=rows) for each in files]
        except UnansweredError:
            pass
    return [_by_facts(each) for each in files]


def meaning(file: Found) -> Schema:
    """The meaning of a found file; by facts alone before the rows of a pinned one are answered."""
    (schema,) = lower_alike([file])
    return schema


def _by_facts(file: Found) -> Schema:
    name = file.revision or Path(file.path).stem
    return replace(lower(replace(file, revision="")), revision=name)


def decisions() -> Decisions:
    """The rows of schema/decisions.toml, none asked for yet. Raises DecisionError."""
    from mcp_bindgen.ir.decisions import load

    return replace(load(paths.schema() / "decisions.toml"), source="schema/decisions.toml")


def load(revision: str) -> Schema:
    """The meaning of a pinned revision. Raises InputError, SchemaError or DecisionError."""
    data = read_bytes(schema_path(revision))
    return lower(Found(data, f"schema/{revision}/schema.ts", revision))


def resolve(text: str) -> Schema:
    """The meaning of `REVISION`, `FILE` or `DIR`; by facts alone before its rows are answered.

    Raises as `find` and `load` do.
    """
    return meaning(find(text))


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises InputError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}",
            remedy="Give a file that exists and that you may read.",
        ) from None


def read_text(path: Path) -> str:
    """The text of a file. Raises InputError if it cannot be read, or is not UTF-8."""
    return _decoded(read_bytes(path), str(path))


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError(f"{where}: is not UTF-8", remedy="Mend the file.") from None
