"""The JSON-RPC envelope of a schema: the shapes around its messages, by their roles.

The union of all envelopes is known by its name, or else by its arms; without one an envelope is the
first declaration of its role, by its members. So a name that changes hides no envelope.
"""

from __future__ import annotations

from typing import Final

from mcp_bindgen.ir.model import Alias, Ref, Schema, Struct, Uni
from mcp_bindgen.ir.unions import arms

__all__ = ["ENVELOPE_MEMBERS", "batches", "envelopes", "union_of_envelopes"]

ENVELOPE_MEMBERS: Final = ("jsonrpc", "id")
_UNION: Final = "JSONRPCMessage"
"""The union of all envelopes, as every revision calls it."""


def envelopes(schema: Schema) -> dict[str, Struct]:
    """The declared envelopes of a request, a notification, a result and an error, by role."""
    union = union_of_envelopes(schema)
    structs = _arms(schema, union) if union else list(schema.structs.values())
    by_role: dict[str, Struct] = {}
    for struct in structs:
        role = _role(struct) if union == _UNION or _is_framed(struct) else ""
        if role:
            by_role.setdefault(role, struct)
    return by_role


def union_of_envelopes(schema: Schema) -> str:
    """The name of the union of all envelopes; empty if there is none."""
    if _UNION in schema.types:
        return _UNION
    named = [d for d in schema.declarations if isinstance(d, Alias) and isinstance(d.type, Uni)]
    return next((alias.name for alias in named if _has_envelopes(schema, alias.name)), "")


def batches(schema: Schema) -> tuple[str, ...]:
    """The arrays of messages sent by themselves (batches), by name."""
    union = union_of_envelopes(schema)
    leaves = arms(schema, Ref(union)) if union else ()
    return tuple(a.name for a in leaves if isinstance(a, Ref) and a.name not in schema.structs)


def _arms(schema: Schema, union: str) -> list[Struct]:
    leaves = [arm.name for arm in arms(schema, Ref(union)) if isinstance(arm, Ref)]
    return [schema.structs[name] for name in leaves if name in schema.structs]


def _has_envelopes(schema: Schema, union: str) -> bool:
    """Return whether a request and an answer are among the arms of a union."""
    roles = {_role(struct) for struct in _arms(schema, union) if _is_framed(struct)}
    return "request" in roles and not roles.isdisjoint(("result", "error"))


def _is_framed(struct: Struct) -> bool:
    """Return whether a struct is an envelope, and not the message of one method."""
    method = struct.field("method")
    is_general = method is None or (method.const is None and not struct.place)
    return is_general and struct.field("jsonrpc") is not None


def _role(struct: Struct) -> str:
    wires = {field.wire for field in struct.fields}
    if "method" in wires:
        asks = "id" in wires or struct.name.endswith("Request")
        return "request" if asks else "notification"
    return next((kind for kind in ("result", "error") if kind in wires), "")
