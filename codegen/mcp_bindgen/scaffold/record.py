"""Reads and writes a project's memory of its making: `.mcp-bindgen.toml`, and all texts as written.

The texts are the base of the next merge. They lie compressed in the project (`.mcp-bindgen.base`),
because nothing else is sure to exist at the next update: neither the old version of mcp-bindgen,
nor a git history reaching back to it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import lzma
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, NoReturn, cast

from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_PROJECT_BYTES
from mcp_bindgen.scaffold.answers import (
    AUTHS,
    RUNTIMES,
    Answers,
    require_auth,
    require_name,
    require_revisions,
    require_runtime,
    require_scale,
    require_transports,
    require_ui,
)

__all__ = ["BASE", "NAME", "Record", "digest", "pack", "parse", "render", "unpack", "with_comments"]

NAME: Final = ".mcp-bindgen.toml"
BASE: Final = ".mcp-bindgen.base"

_HEAD: Final = """\
# How this project was made. `mcp-bindgen update` reads it, and writes it anew.
"""
_FILES: Final = """\
# SHA-256 of each file as it was written.
"""
_ROWS: Final = {"version": "str", "answers": "dict", "files": "dict"}
_ANSWERS: Final = {
    "name": "str",
    "revisions": "list",
    "transports": "list",
    "tools": "bool",
    "auth": "str",
    "scale": "bool",
    "ui": "bool",
    "runtime": "str",
}
_DEFAULTS: Final = {"auth": AUTHS[0], "scale": False, "ui": False, "runtime": RUNTIMES[0]}
"""Defaults for answers missing in older records."""
_FOLDERS: Final = frozenset(
    {".cursor", ".github", ".vscode", "clients", "examples", "src", "tests"}
)
_TOP: Final = frozenset(
    {
        *(".dockerignore", ".gitattributes", ".gitignore", ".mcp.json", "Dockerfile", "LICENSE"),
        *("Makefile", "NOTICE", "README.md", "compose.yaml", "manifest.json", "nginx.conf"),
        *("pyproject.toml", "server.json"),
    }
)
"""The only places where a project has files from us; an update writes and removes nowhere else."""
_WIDTH: Final = 100
_PRESET: Final = 3
"""Of lzma: the best takes five times as long for a seventh less."""
_GIVE_BACK: Final = "Take both .mcp-bindgen files back from the project's history."


@dataclass(frozen=True, slots=True)
class Record:
    """`version` is the version of mcp-bindgen; `files` are the digests of its output, by path."""

    version: str
    answers: Answers
    files: Mapping[str, str]


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def render(version: str, answers: Answers, files: Mapping[str, str]) -> str:
    """The text of `.mcp-bindgen.toml` for a project of these texts by path."""
    rows = {
        "name": answers.name,
        "revisions": list(answers.revisions),
        "transports": list(answers.transports),
        "tools": answers.tools,
        "auth": answers.auth,
        "scale": answers.scale,
        "ui": answers.ui,
        "runtime": answers.runtime,
    }
    return "\n".join(
        [
            f"{_HEAD}version = {json.dumps(version)}",
            "",
            "[answers]",
            *(f"{key} = {json.dumps(value)}" for key, value in rows.items()),
            "",
            f"{_FILES}[files]",
            *(f"{json.dumps(path)} = {json.dumps(digest(files[path]))}" for path in sorted(files)),
            "",
        ]
    )


def parse(text: str, revisions: tuple[str, ...]) -> Record:
    """Parse a `.mcp-bindgen.toml`. Raises InputError if it is invalid.

    `revisions` are the known ones. A project of all revisions up to a former newest revision also
    gets all newer ones.
    """
    try:
        body: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _wrong(str(error))
    _require(body, _ROWS, "the file")
    rows: dict[str, Any] = {**_DEFAULTS, **body["answers"]}
    _require(rows, _ANSWERS, "[answers]")
    chosen: list[str] = _texts(rows["revisions"])
    transports = require_transports(_texts(rows["transports"]))
    spoken = require_revisions([*chosen, *_newer(chosen, revisions)], revisions)
    answers = Answers(
        name=require_name(rows["name"]),
        revisions=spoken,
        transports=transports,
        tools=rows["tools"],
        auth=require_auth(rows["auth"], transports),
        scale=require_scale(rows["scale"], transports),
        ui=require_ui(rows["ui"], rows["tools"]),
        runtime=require_runtime(rows["runtime"], spoken, revisions),
    )
    digests = zip(body["files"], _texts([*body["files"].values()]), strict=True)
    files = {_own(path, answers.package): value for path, value in digests}
    return Record(body["version"], answers, files)


def _require(table: dict[str, Any], rows: Mapping[str, str], place: str) -> None:
    """Raise InputError unless a table has exactly these rows."""
    types = {key: type(value).__name__ for key, value in table.items()}
    if types != rows:
        expected = ", ".join(f"{key} ({type})" for key, type in rows.items())
        _wrong(f"{place} should have {expected}")


def _texts(values: list[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        _wrong("holds a number or the like where a text should be")
    return values


def _newer(chosen: Sequence[str], revisions: tuple[str, ...]) -> tuple[str, ...]:
    """The known revisions after the newest chosen one."""
    known = [revision for revision in revisions if revision in chosen]
    return revisions[revisions.index(known[-1]) + 1 :] if known else ()


def with_comments(record: str, old: str) -> str:
    """The record followed by the comments the user wrote into the old record."""
    ours = record.splitlines()
    added = [line for line in old.splitlines() if line.startswith("#") and line not in ours]
    return "".join([record, *(f"{line}\n" for line in added)])


def pack(files: Mapping[str, str]) -> str:
    """The text of `.mcp-bindgen.base`: texts by path, compressed."""
    packed = lzma.compress(json.dumps(dict(sorted(files.items()))).encode(), preset=_PRESET)
    text = base64.b85encode(packed).decode()
    return "".join(f"{text[at : at + _WIDTH]}\n" for at in range(0, len(text), _WIDTH))


def unpack(text: str) -> dict[str, str]:
    """Unpack a `.mcp-bindgen.base` into texts by path. Raises InputError if it is invalid."""
    try:
        packed = base64.b85decode(text.replace("\n", "").replace("\r", ""))
        data = lzma.LZMADecompressor().decompress(packed, MAX_PROJECT_BYTES + 1)
        if len(data) > MAX_PROJECT_BYTES:
            raise InputError(
                f"{BASE}: holds more than {MAX_PROJECT_BYTES} bytes", remedy=_GIVE_BACK
            )
        body: Any = json.loads(data)
    except (ValueError, binascii.Error, lzma.LZMAError, RecursionError) as error:
        raise InputError(f"{BASE}: cannot be read: {error}", remedy=_GIVE_BACK) from None
    if not isinstance(body, dict):
        raise InputError(f"{BASE}: holds no files", remedy=_GIVE_BACK)
    files = cast("dict[str, Any]", body)
    return {_inside(path): str(value) for path, value in files.items()}


def _inside(path: str) -> str:
    """`path`, if it stays in the project, and out of git's own folder on every file system.

    Raises InputError.
    """
    parts = PurePosixPath(path).parts
    plain = path.isprintable() and not {"\\", ":"} & {*path}
    if not (parts and plain) or path.startswith("/") or any(map(_leads_away, parts)):
        raise InputError(f"{path!r}: leads out of the project", remedy=_GIVE_BACK)
    return path


def _leads_away(part: str) -> bool:
    """Return whether some file system takes a part of a path for `..` or `.git`."""
    return part.rstrip(". ").casefold() in {"", ".git", "git~1"}


def _own(path: str, package: str) -> str:
    """Return `path` if we may write it into a project of this package. Raises InputError."""
    top, _, below = _inside(path).partition("/")
    is_ours = top in _FOLDERS if below else top in _TOP
    if not is_ours or (top == "src" and not below.startswith(f"{package}/")):
        raise InputError(f"{path!r}: is not a file that mcp-bindgen writes", remedy=_GIVE_BACK)
    return path


def _wrong(message: str) -> NoReturn:
    raise InputError(f"{NAME}: {message}", remedy=_GIVE_BACK)
