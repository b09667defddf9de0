"""`[[narrow]]` rows: where the protocol's pages admit less than the declaration."""

from __future__ import annotations

import json
from dataclasses import replace

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import Decisions, Row
from mcp_bindgen.ir.model import Declaration, Field, Lit, Schema

__all__ = ["narrow"]


def narrow(schema: Schema, decisions: Decisions | None) -> Schema:
    """`schema` with each narrowed member given its literal type. The row's `type` is JSON.

    Raises DecisionError for a row that names no member, or no literal.
    """
    rows = [] if decisions is None else decisions.of("narrow", schema.revision)
    for row in rows:
        schema = replace(schema, declarations=_apply(schema, row))
    return schema


def _apply(schema: Schema, row: Row) -> tuple[Declaration, ...]:
    owner, _, wire = row.path.partition(".")
    struct = schema.structs.get(owner)
    if struct is None or struct.field(wire) is None:
        raise DecisionError(f"[[narrow]] `{row.path}`: {schema.revision} has no such member")
    new = replace(
        struct, fields=tuple(_narrowed(f, row) if f.wire == wire else f for f in struct.fields)
    )
    return tuple(new if d is struct else d for d in schema.declarations)


def _narrowed(field: Field, row: Row) -> Field:
    try:
        value = json.loads(row.values["type"])
    except (ValueError, TypeError):
        value = None
    if not isinstance(value, str | int | float | bool):
        raise DecisionError(f"[[narrow]] `{row.path}`: type is not a JSON literal")
    return replace(field, type=Lit(value))
