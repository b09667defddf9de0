"""Applies the `[[narrow]]` rows of decisions.toml, which give a member a literal type.

The specification's pages allow these members fewer values than schema.ts declares.
"""

from __future__ import annotations

import json
from dataclasses import replace

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
from mcp_bindgen.ir.model import Declaration, Field, Lit, Schema
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.walk import resolve_aliases

__all__ = ["apply_narrow_rows", "narrow"]


def narrow(schema: Schema, decisions: Decisions | None) -> Schema:
    """Return `schema` with the literal types of the `[[narrow]]` rows; a row's `type` is JSON.

    A row of the previous revision must stand again for this one if its member still exists. Raises
    DecisionError for such a row, and for a row whose member or literal does not exist.
    """
    for path in [] if decisions is None else decisions.paths("narrow", schema.revision):
        assert decisions is not None
        schema = _ask(schema, decisions, path)
    return schema


def apply_narrow_rows(
    revision: str, schema: Schema, decisions: Decisions, *, older: bool
) -> Schema:
    """`schema`, lowered by facts alone, with the narrowed members of `revision`, as far as present.

    With `older`, a row of the previous revision replaces a missing one.
    """
    for path in decisions.paths("narrow", revision):
        row = decisions.get("narrow", revision, path)
        if row is None and older:
            row = decisions.before("narrow", revision, path)
        member = _member(schema, path)
        if row is not None and member is not None:
            type = _narrow(member, row).type
            if isinstance(type, Lit) and accepts(schema, member.type, type.value):
                schema = replace(schema, declarations=_apply(schema, row))
    return schema


def _member(schema: Schema, path: str) -> Field | None:
    """The member at a row's path: `Owner.member`."""
    owner, _, wire = path.partition(".")
    struct = schema.structs.get(owner)
    return struct.field(wire) if struct is not None else None


def _ask(schema: Schema, decisions: Decisions, path: str) -> Schema:
    member = _member(schema, path)
    if member is None:
        if decisions.get("narrow", schema.revision, path) is not None:
            raise DecisionError(f"[[narrow]] `{path}`: {schema.revision} has no such member")
        return schema
    subject = resolve_aliases(schema, member.type)
    question = f"{schema.path}: is `{path}` still narrower than it is declared?"
    row = decisions.ask("narrow", schema.revision, path, subject, question, {"type": ""})
    if row is None:
        return schema
    return replace(schema, declarations=_apply(schema, row))


def _apply(schema: Schema, row: Row) -> tuple[Declaration, ...]:
    owner, _, wire = row.path.partition(".")
    struct = schema.structs[owner]
    new = replace(
        struct, fields=tuple(_narrow(f, row) if f.wire == wire else f for f in struct.fields)
    )
    return tuple(new if d is struct else d for d in schema.declarations)


def _narrow(field: Field, row: Row) -> Field:
    try:
        value = json.loads(row.values["type"])
    except (ValueError, TypeError):
        value = None
    if not isinstance(value, str | int | float | bool):
        raise DecisionError(f"[[narrow]] `{row.path}`: type is not a JSON literal")
    return replace(field, type=Lit(value))
