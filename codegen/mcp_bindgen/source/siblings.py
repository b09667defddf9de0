"""Finds the other files of a schema that is written in several, by their relative imports.

`"./common.js"` names `common.ts` in the folder of the file that imports it. Each file is read once,
and the files which it imports are found in turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_SCHEMA_FILES
from mcp_bindgen.source.reader import read_source
from mcp_bindgen.source.text import Source

__all__ = ["file_names", "is_relative", "siblings", "stored_name"]

_IMPORT: Final = re.compile(rb"""(?:from|import\s*\(?)\s*["']\.""")
_ENDINGS: Final = (".d.ts", ".mjs", ".js", ".ts")

Read: TypeAlias = Callable[[Source, str], Source | None]
"""Read what the specifier names, seen from a file of the schema; None where nothing is there."""


def is_relative(specifier: str) -> bool:
    return specifier.startswith(("./", "../"))


def file_names(specifier: str) -> Iterator[str]:
    """The paths of the files that a relative specifier may mean, likeliest first."""
    stem = next((specifier.removesuffix(e) for e in _ENDINGS if specifier.endswith(e)), specifier)
    yield f"{stem}.ts"
    yield from () if stem == specifier else (f"{specifier}.ts",)


def siblings(main: Source, known: Mapping[str, Source], read: Read) -> dict[str, Source]:
    """The files beside `main` which it imports, or which they import, by specifier.

    `known` specifiers need no file; files among them are looked through too. Raises InputError if
    one specifier means two files, or for more than MAX_SCHEMA_FILES, before the next is read.
    """
    asked: set[str] = set()
    files: dict[str, Source] = {}
    seen: list[Source] = []
    queue = [main, *(each for each in known.values() if each.part)]
    while queue:
        file = queue.pop(0)
        seen.append(file)
        for specifier in _specifiers(file):
            if specifier in known:
                continue
            asked.add(specifier)
            if len(asked) >= MAX_SCHEMA_FILES:
                raise InputError(f"{main.path}: imports more than {MAX_SCHEMA_FILES - 1} files")
            if (target := read(file, specifier)) is None:
                continue
            other = files.setdefault(specifier, target)
            if other.path != target.path:
                raise InputError(
                    f"{specifier!r} means {other.path} for one file, and {target.path} for another",
                    remedy=f"Give one of the files another name, or say --import {specifier}=FILE.",
                )
            if all(target.path != each.path for each in (*seen, *queue)):
                queue.append(target)
    return files


def _specifiers(file: Source) -> list[str]:
    """The relative specifiers of a file, each once."""
    if not _IMPORT.search(file.data):
        return []
    module = read_source(file)
    names = [each.module for each in module.imports]
    names += [ref.module for ref in _references(module.declarations)]
    return [name for name in dict.fromkeys(names) if is_relative(name)]


def _references(node: Any) -> Iterator[syntax.Ref]:
    if isinstance(node, syntax.Ref) and node.module:
        yield node
    for child in syntax.children(node):
        yield from _references(child)


def stored_name(path: str, taken: Mapping[str, object]) -> str:
    """A name for a file in the folder of a revision, beside `schema.ts` and the `taken` names."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    for folder in reversed(parts[:-1]):
        if name != "schema.ts" and name not in taken:
            break
        name = f"{folder}-{name}"
    return name
