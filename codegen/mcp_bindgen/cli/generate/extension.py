"""`mcp-bindgen generate --extension`: writes the package of an unpinned extension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcp_bindgen import pins
from mcp_bindgen.cli.generate.choices import Beside, Target
from mcp_bindgen.errors import DecisionError

if TYPE_CHECKING:
    from mcp_bindgen.emit.options import Options
    from mcp_bindgen.ir.decisions.decisions import Decisions
    from mcp_bindgen.ir.model import Schema

__all__ = ["extension_files", "extension_target"]


def extension_target(
    file: str,
    core: str | None,
    out: Path | None,
    name: str | None,
    imports: tuple[str, ...],
    decisions: Path | None,
) -> Target:
    """The package of the extension declared in a file, called `name` or as in its rows."""
    if core is None or out is None:
        raise click.UsageError("--extension FILE needs --core REVISION and --out DIR")
    pins.schema_path(core)  # refuses an unknown one
    version = name or _version_of(_rows(decisions))
    if "@" not in pins.require_name(version):
        raise click.UsageError("an extension is called NAME@VERSION (--revision)")
    return Target(out, {version: pins.find(file, imports)}, None, Beside(core, decisions))


def _version_of(rows: Decisions) -> str:
    """The version to which all rows belong. Raises UsageError if they belong to several."""
    versions = {row.revision for row in rows.rows.values()}
    if len(versions) != 1:
        raise click.UsageError("say which extension it is: --revision NAME@VERSION")
    return versions.pop()


def _versions(rows: Decisions, version: str) -> set[str]:
    """The versions of the same extension with rows in the file."""
    extension = version.partition("@")[0]
    named = {row.revision for row in rows.rows.values()}
    return {each for each in named if each.startswith(f"{extension}@")}


def _rows(decisions: Path | None) -> Decisions:
    from mcp_bindgen.ir.decisions import decisions as rows

    if decisions is None:
        return rows.Decisions({}, "--decisions FILE (not given)")
    return rows.load(decisions)


def extension_files(target: Target, options: Options) -> dict[str, str]:
    """The text of every file of the package, by path."""
    from mcp_bindgen import emit

    assert target.beside is not None
    ((version, file),) = target.schema_files.items()
    rows = _rows(target.beside.decisions)
    rows.require_known({version, *_versions(rows, version)}, ())
    core = pins.load(target.beside.core)
    schema = pins.extension(replace(file, revision=""), version, core, rows)
    _require_apart(schema)
    assert schema.extension is not None
    elsewhere = replace(schema.extension, wire="mcp_wire.")
    return emit.extension(replace(schema, extension=elsewhere), options)


def _require_apart(schema: Schema) -> None:
    """Raise DecisionError if a pinned extension adds a member this one adds too."""
    from mcp_bindgen.ir.lower.extensions import require_apart

    for other in _others(schema.revision):
        require_apart([other, schema])


def _others(version: str) -> Iterator[Schema]:
    name = version.partition("@")[0]
    for pinned in pins.extensions():
        if pinned.partition("@")[0] != name:
            try:
                yield pins.load(pinned)
            except DecisionError:
                continue
