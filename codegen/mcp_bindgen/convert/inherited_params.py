"""Adds the params declared for every JSON-RPC message to the params of each method.

In revisions whose methods extend `Request` instead of `JSONRPCRequest`, a method's params lack the
`_meta` of the JSON-RPC message; on the wire both apply.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_bindgen.ir.model import Declaration, Method, Ref, Schema, Struct
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import struct_of

__all__ = ["batches", "envelope", "with_heritage"]

_MESSAGE = "JSONRPCMessage"


def envelope(schema: Schema, position: str) -> Struct | None:
    """The struct of a request, notification, response or error; None where there is none."""
    return next((s for s in _envelopes(schema) if _position(s) == position), None)


def batches(schema: Schema) -> tuple[str, ...]:
    """The arrays of messages sent by themselves (batches), by name."""
    if _MESSAGE not in schema.types:
        return ()
    leaves = arms(schema, Ref(_MESSAGE))
    return tuple(a.name for a in leaves if isinstance(a, Ref) and a.name not in schema.structs)


def _envelopes(schema: Schema) -> Iterator[Struct]:
    leaves = arms(schema, Ref(_MESSAGE)) if _MESSAGE in schema.types else ()
    for leaf in leaves:
        if isinstance(leaf, Ref) and leaf.name in schema.structs:
            yield schema.structs[leaf.name]


def _position(struct: Struct) -> str:
    if struct.field("method") is not None:
        return "request" if struct.field("id") is not None else "notification"
    return "response" if struct.field("result") is not None else "error"


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
