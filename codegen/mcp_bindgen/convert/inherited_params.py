"""Adds the params declared for every JSON-RPC message to the params of each method.

In revisions whose methods extend `Request` instead of `JSONRPCRequest`, a method's params lack the
`_meta` of the JSON-RPC message; on the wire both apply.
"""

from __future__ import annotations

from dataclasses import replace

from mcp_bindgen.ir.envelopes import envelopes
from mcp_bindgen.ir.model import Declaration, Method, Ref, Schema, Struct
from mcp_bindgen.ir.walk import struct_of

__all__ = ["envelope", "with_heritage"]


def envelope(schema: Schema, position: str) -> Struct | None:
    """The struct of a request, notification, response or error; None where there is none."""
    return envelopes(schema).get("result" if position == "response" else position)


def with_heritage(schema: Schema) -> Schema:
    """`schema`, where each method's params also have the members which JSON-RPC messages add to
    params.
    """
    merged: dict[str, Struct] = {}
    for method in schema.methods:
        base = _base(schema, method)
        own = schema.structs.get(method.params.name) if isinstance(method.params, Ref) else None
        if base is not None and own is not None:
            merged[own.name] = _merge(own, base)
    declarations: tuple[Declaration, ...] = tuple(
        merged.get(d.name, d) if isinstance(d, Struct) else d for d in schema.declarations
    )
    return replace(schema, declarations=declarations)


def _base(schema: Schema, method: Method) -> Struct | None:
    """The params of the JSON-RPC message, where the method's own message does not extend it."""
    message = schema.structs[method.type]
    outer = envelope(schema, method.kind)
    travels = method.direction != "input-request" and message.field("jsonrpc") is None
    params = outer.field("params") if outer is not None and travels else None
    return struct_of(schema, params.type) if params is not None else None


def _merge(own: Struct, base: Struct) -> Struct:
    added = tuple(f for f in base.fields if own.field(f.wire) is None)
    return replace(own, fields=(*own.fields, *added))
