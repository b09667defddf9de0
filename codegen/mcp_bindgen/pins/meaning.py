"""Lowers the schemas found, applying the rows of schema/decisions.toml to pinned revisions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bindgen import paths
from mcp_bindgen.errors import InputError, UnansweredError
from mcp_bindgen.pins.files import Found, apart, find, place, schema_path
from mcp_bindgen.pins.table import extensions, pins, read_bytes

if TYPE_CHECKING:
    from mcp_bindgen.ir.decisions.decisions import Decisions
    from mcp_bindgen.ir.model import Schema
    from mcp_bindgen.source import Source

__all__ = [
    "by_facts",
    "decisions",
    "error_codes",
    "extension",
    "extension_decisions",
    "load",
    "lower",
    "lower_alike",
    "meaning",
    "resolve",
]


def lower(
    file: Found, name: str = "", rows: Decisions | None = None, *, lenient: bool = False
) -> Schema:
    """Lower a file under the name `name`; decisions apply to pinned revisions only.

    `rows` replace those of schema/decisions.toml. If `lenient`, a tag of an unpinned file that
    cannot be bound is noted, and binds nothing.
    """
    from mcp_bindgen.ir.lower import lower as lowering

    if file.revision and name in ("", file.revision):
        if "@" in file.revision:
            core = load(extensions()[file.revision].core)
            return extension(file, file.revision, core, rows or extension_decisions())
        rows = rows or decisions()
        return lowering.load(file.data, file.path, file.revision, rows, file.imports)
    name = name or Path(file.path).stem
    return lowering.load(file.data, file.path, name, imports=file.imports, lenient=lenient)


def extension(file: Found, revision: str, core: Schema, rows: Decisions) -> Schema:
    """Lower the schema of an extension, called `revision`, beside a pinned core.

    Raises InputError if an import leads to another revision of the core.
    """
    from mcp_bindgen.ir.lower import extensions as lowering
    from mcp_bindgen.source import Source

    ours = Source(read_bytes(schema_path(core.revision)), core.path)
    imports = {
        name: ours if _is_core(name, source, core) else source
        for name, source in apart(file.imports).items()
    }
    return lowering.load(Source(file.data, file.path), revision, imports, core, rows)


def _is_core(specifier: str, source: Source, core: Schema) -> bool:
    """Return whether an import leads to the core: our text of it, or the official one."""
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
    """Lower several files alike: with all rows, if all are pinned revisions.

    Otherwise each is lowered by its facts and by the rows which change verdicts, as far as they
    apply: a pinned revision with unanswered rows uses those of the previous revision, and a file
    uses those of the revision it names, or of the newest.
    """
    rows = decisions()
    if all(each.revision for each in files):
        try:
            return [lower(each, rows=None if "@" in each.revision else rows) for each in files]
        except UnansweredError:
            pass
    return [_apply_answers(each, by_facts(each, lenient=True), rows) for each in files]


def _apply_answers(file: Found, schema: Schema, rows: Decisions) -> Schema:
    from mcp_bindgen.ir.lower.methods import apply_method_rows
    from mcp_bindgen.ir.lower.narrow import apply_narrow_rows

    if "@" in file.revision:
        return schema
    named = schema.consts.get("LATEST_PROTOCOL_VERSION")
    known = named.value if named and named.value in pins() else max(pins())
    revision, older = file.revision or str(known), bool(file.revision)
    narrowed = apply_narrow_rows(revision, schema, rows, older=older)
    return apply_method_rows(revision, narrowed, rows, older=older)


def meaning(file: Found) -> Schema:
    """Lower a file; by facts alone as long as rows of a pinned revision are unanswered."""
    try:
        return lower(file) if file.revision else by_facts(file)
    except UnansweredError:
        return by_facts(file)


def error_codes(revision: str) -> dict[str, int]:
    """The error codes by which methods of a pinned revision say what later or older ones say by
    another code, by method; empty for an unpinned file.
    """
    if revision not in pins():
        return {}
    codes: dict[str, int] = {}
    steps = [row for row in decisions().rows.values() if row.kind == "step"]
    for row in sorted(steps, key=lambda row: row.revision):
        method, has_code, code = row.path.removeprefix("up ").partition(".error:")
        if row.path.startswith("up ") and has_code and isinstance(row.values.get("to"), int):
            newer = row.revision.partition("..")[2]
            if revision >= newer:
                codes[method] = row.values["to"]
            else:
                codes.setdefault(method, int(code))
    return codes


def decisions() -> Decisions:
    """The rows of schema/decisions.toml, none used yet. Raises DecisionError."""
    from mcp_bindgen.ir.decisions.decisions import load

    return replace(load(paths.schema() / "decisions.toml"), source="schema/decisions.toml")


def extension_decisions() -> Decisions:
    """The rows of schema/ext/decisions.toml, none used yet. Raises DecisionError."""
    from mcp_bindgen.ir.decisions.decisions import load

    return replace(load(paths.schema() / "ext/decisions.toml"), source="schema/ext/decisions.toml")


def by_facts(file: Found, *, lenient: bool = False) -> Schema:
    """Lower a file without any rows; `lenient` as in `lower`."""
    name = file.revision or Path(file.path).stem
    return replace(lower(replace(file, revision=""), lenient=lenient), revision=name)


def load(revision: str) -> Schema:
    """Lower a pinned revision, or a version of an extension (`name@version`).

    Raises InputError, SchemaError or DecisionError.
    """
    schema_path(revision)  # refuses an unknown one
    return lower(find(revision))


def resolve(text: str) -> Schema:
    """Find and lower `REVISION`, `NAME@VERSION`, `FILE` or `DIR`.

    By facts alone as long as rows are unanswered. Raises the errors of `find` and `load`.
    """
    return meaning(find(text))
