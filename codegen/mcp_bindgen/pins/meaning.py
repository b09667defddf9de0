"""What a schema that was found means, with the rows of schema/decisions.toml where it is pinned."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bindgen import paths
from mcp_bindgen.errors import InputError, UnansweredError
from mcp_bindgen.pins.files import Found, find, place, schema_path
from mcp_bindgen.pins.table import extensions, pins, read_bytes

if TYPE_CHECKING:
    from mcp_bindgen.ir.decisions.decisions import Decisions
    from mcp_bindgen.ir.model import Schema
    from mcp_bindgen.source import Source

__all__ = [
    "by_facts",
    "decisions",
    "extension",
    "extension_decisions",
    "load",
    "lower",
    "lower_alike",
    "meaning",
    "resolve",
]


def lower(file: Found, name: str = "", rows: Decisions | None = None) -> Schema:
    """The meaning of a found file, called `name`; decisions answer for a pinned revision only.

    `rows` stand for those of schema/decisions.toml.
    """
    from mcp_bindgen.ir.lower import lower as lowering

    if file.revision and name in ("", file.revision):
        if "@" in file.revision:
            core = load(extensions()[file.revision].core)
            return extension(file, file.revision, core, rows or extension_decisions())
        rows = rows or decisions()
        return lowering.load(file.data, file.path, file.revision, rows, file.imports)
    name = name or Path(file.path).stem
    return lowering.load(file.data, file.path, name, imports=file.imports)


def extension(file: Found, revision: str, core: Schema, rows: Decisions) -> Schema:
    """The meaning of an extension's schema, called `revision`, beside a pinned core.

    Raises InputError for an import that stands for another revision of the core.
    """
    from mcp_bindgen.ir.lower import extensions as lowering
    from mcp_bindgen.source import Source

    ours = Source(read_bytes(schema_path(core.revision)), core.path)
    imports = {
        name: ours if _is_core(name, source, core) else source
        for name, source in file.imports.items()
    }
    return lowering.load(Source(file.data, file.path), revision, imports, core, rows)


def _is_core(specifier: str, source: Source, core: Schema) -> bool:
    """Whether an import stands for the core, by our text of it or by the official one."""
    digest = hashlib.sha256(source.data).hexdigest()
    for revision, pin in pins().items():
        if source.path != f"schema/{place(revision)}" and digest != pin.sha256:
            continue
        if revision != core.revision:
            raise InputError(
                f"the import of {specifier!r} is mapped to {revision}, the core is {core.revision}",
                remedy=f"Map it to {core.revision}, or choose the other core.",
            )
        return True
    return False


def lower_alike(files: Sequence[Found]) -> list[Schema]:
    """The meaning of several files by one measure: with all rows, if all are pinned revisions.

    Else each is read by its facts and by those rows that change verdicts, as far as they hold in
    it: a pinned one whose rows are not answered yet by those of the revision before, and a file by
    those of the revision that it names, or of the newest.
    """
    rows = decisions()
    if all(each.revision for each in files):
        try:
            return [lower(each, rows=None if "@" in each.revision else rows) for each in files]
        except UnansweredError:
            pass
    return [_answered(each, by_facts(each), rows) for each in files]


def _answered(file: Found, schema: Schema, rows: Decisions) -> Schema:
    from mcp_bindgen.ir.lower.methods import answered_as
    from mcp_bindgen.ir.lower.narrow import narrowed_as

    if "@" in file.revision:
        return schema
    named = schema.consts.get("LATEST_PROTOCOL_VERSION")
    known = named.value if named and named.value in pins() else max(pins())
    revision, older = file.revision or str(known), bool(file.revision)
    narrowed = narrowed_as(revision, schema, rows, older=older)
    return answered_as(revision, narrowed, rows, older=older)


def meaning(file: Found) -> Schema:
    """The meaning of a found file; by facts alone before the rows of a pinned one are answered."""
    try:
        return lower(file) if file.revision else by_facts(file)
    except UnansweredError:
        return by_facts(file)


def decisions() -> Decisions:
    """The rows of schema/decisions.toml, none asked for yet. Raises DecisionError."""
    from mcp_bindgen.ir.decisions.decisions import load

    return replace(load(paths.schema() / "decisions.toml"), source="schema/decisions.toml")


def extension_decisions() -> Decisions:
    """The rows of schema/ext/decisions.toml, none asked for yet. Raises DecisionError."""
    from mcp_bindgen.ir.decisions.decisions import load

    return replace(load(paths.schema() / "ext/decisions.toml"), source="schema/ext/decisions.toml")


def by_facts(file: Found) -> Schema:
    """The meaning of a found file without any rows."""
    name = file.revision or Path(file.path).stem
    return replace(lower(replace(file, revision="")), revision=name)


def load(revision: str) -> Schema:
    """The meaning of a pinned revision, or version of an extension (`name@version`).

    Raises InputError, SchemaError or DecisionError.
    """
    schema_path(revision)  # refuses an unknown one
    return lower(find(revision))


def resolve(text: str) -> Schema:
    """The meaning of `REVISION`, `NAME@VERSION`, `FILE` or `DIR`.

    By facts alone before its rows are answered. Raises as `find` and `load` do.
    """
    return meaning(find(text))
