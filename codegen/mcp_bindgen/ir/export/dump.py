"""The IR as plain JSON, for other tools.

    {"format": "mcp-bindgen-ir/1", "revision", "structure", "era",
     "declarations": [struct | alias | const], "methods": [method]}

    struct   {"kind": "struct", "name", "fields": [field], "index"?: type, "bases"?, "place"?, …}
    alias    {"kind": "alias", "name", "type", …}
    const    {"kind": "const", "name", "value", …}
    field    {"wire", "name", "type", "required", "origin"?, "format"?, "default"?, …}
    method   {"name", "type", "kind", "direction", "params"?, "params_optional"?, "result"?,
              "capability"?, …}
    type     {"prim": name} | {"lit": value} | {"ref": name} | {"array": type} | {"map": type}
             | {"tuple": [{"type", "optional"}], "rest": type | null} | {"union": [type]}
             | {"bounded": type, "limits": {…}}

`…` is "doc", "deprecated" and, for declarations, "internal" and "category". Empty, false and absent
values are left out, except "required", "optional", "value" and "rest".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Const,
    Declaration,
    Field,
    Lit,
    Map,
    Method,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)

__all__ = ["FORMAT", "dump"]

FORMAT: Final = "mcp-bindgen-ir/1"

_Json = dict[str, Any]


def dump(schema: Schema) -> _Json:
    """The whole schema; order is the schema's own."""
    return {
        "format": FORMAT,
        "revision": schema.revision,
        "structure": schema.digest,
        "era": schema.era,
        "declarations": [_declaration(d) for d in schema.declarations],
        "methods": [_method(m) for m in schema.methods],
    }


def _declaration(declaration: Declaration) -> _Json:
    match declaration:
        case Const():
            head = {"kind": "const", "name": declaration.name, "value": declaration.value}
            return head | _prose(declaration.doc, declaration.deprecated)
        case Alias():
            body: _Json = {"kind": "alias", "name": declaration.name}
            body["type"] = _type(declaration.type)
        case Struct():
            body = {"kind": "struct", "name": declaration.name}
            body["fields"] = [_field(f) for f in declaration.fields]
            if declaration.index is not None:
                body["index"] = _type(declaration.index)
            if declaration.keyed:
                body["keyed"] = [
                    {"key": k.key, "pattern": k.pattern, "type": _type(k.type)}
                    for k in declaration.keyed
                ]
            body |= _present({"bases": list(declaration.bases), "place": declaration.place})
    return (
        body
        | _prose(declaration.doc, declaration.deprecated)
        | _present({"internal": declaration.internal, "category": declaration.category})
    )


def _field(field: Field) -> _Json:
    return {
        "wire": field.wire,
        "name": field.name,
        "type": _type(field.type),
        "required": field.required,
        **_present({"origin": field.origin, "format": field.format, "default": field.default}),
        **_prose(field.doc, field.deprecated),
    }


def _method(method: Method) -> _Json:
    return {
        "name": method.name,
        "type": method.type,
        "kind": method.kind,
        "direction": method.direction,
        **({"params": _type(method.params)} if method.params is not None else {}),
        **_present({"params_optional": method.params_optional}),
        **({"result": _type(method.result)} if method.result is not None else {}),
        **_present({"capability": method.capability}),
        **_prose(method.doc, method.deprecated),
    }


def _prose(doc: str, deprecated: str | None) -> _Json:
    return _present({"doc": doc}) | ({} if deprecated is None else {"deprecated": deprecated})


def _present(values: Mapping[str, Any]) -> _Json:
    return {name: value for name, value in values.items() if value}


def _type(type: Type) -> _Json:
    """A type, as the grammar above writes it."""
    match type:
        case Prim():
            return {"prim": type.name}
        case Lit():
            return {"lit": type.value}
        case Ref():
            return {"ref": type.name}
        case Arr():
            return {"array": _type(type.of)}
        case Map():
            return {"map": _type(type.of)}
        case Tup():
            places = [{"type": _type(e.type), "optional": e.optional} for e in type.of]
            return {"tuple": places, "rest": _type(type.rest) if type.rest else None}
        case Uni():
            return {"union": [_type(arm) for arm in type.arms]}
        case Bounded():
            limits = asdict(type.limits).items()
            stated = {name: v for name, v in limits if v is not None and v is not False}
            return {"bounded": _type(type.of), "limits": stated}
