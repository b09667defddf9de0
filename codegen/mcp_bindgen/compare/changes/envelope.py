"""The JSON-RPC envelope of a schema: the shapes around its messages."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.changes.assignable import leaves
from mcp_bindgen.ir.model import Ref, Schema, Struct

__all__ = ["ENVELOPE", "ENVELOPE_MEMBERS", "envelopes"]

ENVELOPE: Final = "JSONRPCMessage"
"""The union of all envelopes, as every revision calls it."""
ENVELOPE_MEMBERS: Final = ("jsonrpc", "id")


def envelopes(schema: Schema) -> dict[str, Struct]:
    """The declared envelopes of a request, a notification, a result and an error, by role."""
    if ENVELOPE not in schema.types:
        return {}
    arms = (arm for arm in leaves(schema, Ref(ENVELOPE)) if isinstance(arm, Ref))
    structs = [schema.structs[arm.name] for arm in arms if arm.name in schema.structs]
    return {kind: struct for struct in structs if (kind := _kind(struct))}


def _kind(struct: Struct) -> str:
    wires = {field.wire for field in struct.fields}
    if "method" in wires:
        asks = "id" in wires or struct.name.endswith("Request")
        return "request" if asks else "notification"
    return next((kind for kind in ("result", "error") if kind in wires), "")
