"""What a schema that was found means, with the rows of schema/decisions.toml where it is pinned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bindgen import paths
from mcp_bindgen.errors import UnansweredError
from mcp_bindgen.pins.files import Found, find, schema_path

if TYPE_CHECKING:
    from mcp_bindgen.ir.decisions import Decisions
    from mcp_bindgen.ir.model import Schema

__all__ = ["decisions", "load", "lower", "lower_alike", "meaning", "resolve"]


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
