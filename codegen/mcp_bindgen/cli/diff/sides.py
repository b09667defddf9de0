"""Reads the sides of a comparison: revisions of the core, versions of one extension, or files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_bindgen import pins
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_bindgen.compare.report.report import Side
    from mcp_bindgen.ir.model import Schema

__all__ = ["sides"]


def sides(names: Sequence[str], imports: Sequence[str] = (), extension: str = "") -> list[Side]:
    """Read the named schemas; files count as versions of `extension`, or of the other side's
    extension.

    Raises InputError.
    """
    known = {name: pins.find(name, imports).revision for name in names}
    like = _extension(known, extension)
    inputs = [pins.find(name, imports, like) for name in names]
    if like:
        return [_of_extension(name, each, like) for name, each in zip(names, inputs, strict=True)]
    schemas = pins.lower_alike(inputs)
    for each, schema in zip(inputs, schemas, strict=True):
        if not schema.methods:
            raise _silent(each, "Give a schema.ts of the protocol, or say --extension NAME.")
    return [_of_core(*row) for row in zip(names, inputs, schemas, strict=True)]


def _extension(known: dict[str, str], extension: str) -> str:
    """The pinned version as which files are read; empty where the core is compared."""
    pinned = [revision for revision in known.values() if "@" in revision]
    like = pins.find_extension(extension) if extension else next(iter(pinned), "")
    for name, revision in known.items():
        if like and revision and revision.partition("@")[0] != like.partition("@")[0]:
            raise InputError(
                f"{name} is not a version of {like.partition('@')[0]}",
                remedy="Compare versions of one extension, or revisions of the core.",
            )
    return like


def _of_core(name: str, file: pins.Found, schema: Schema) -> Side:
    """A revision of the core, or a file without an extension."""
    from dataclasses import replace

    from mcp_bindgen.compare.messages.extension import two_way

    schema, inside = two_way(schema)
    return replace(_side(name, file, schema), inside=inside)


def _of_extension(name: str, file: pins.Found, like: str) -> Side:
    from dataclasses import replace

    from mcp_bindgen.compare.messages.extension import Rows, carried_types, with_directions

    revision = file.revision or like
    rows = Rows(pins.extension_decisions(), revision)
    schema = with_directions(replace(pins.by_facts(file), revision=revision), rows)
    inside = carried_types(schema, rows, pins.load(pins.extensions()[revision].core))
    if not schema.methods and not inside:
        raise _silent(file, f"Give a version of {like.partition('@')[0]}.")
    return replace(_side(name, file, schema), inside=inside)


def _silent(file: pins.Found, remedy: str) -> InputError:
    return InputError(
        f"{file.path}: declares no method, so nothing says what travels", remedy=remedy
    )


def _side(name: str, file: pins.Found, schema: Schema) -> Side:
    from mcp_bindgen.compare.report.report import Side
    from mcp_bindgen.source import Source, link

    source = link(Source(file.data, file.path), file.imports)[0]
    codes = pins.error_codes(file.revision)
    return Side(file.revision or name, schema, source, not file.revision, codes=codes)
