"""The JSON Schema of the IR as `dump` writes it: a promise to generators in other languages."""

from __future__ import annotations

from typing import Any, Final

from mcp_bindgen.ir.export.dump import FORMAT

__all__ = ["IR_SCHEMA"]

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_FLAG: Final[dict[str, Any]] = {"type": "boolean"}
_TYPE: Final[dict[str, Any]] = {"$ref": "#/$defs/type"}
_DIRECTIONS: Final = ("client-to-server", "server-to-client", "both", "input-request", "none")
_NOTES: Final[dict[str, Any]] = {"doc": _TEXT, "deprecated": _TEXT}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of an object without other members."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": [*required],
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _declaration(kind: str, required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    head = {"kind": {"const": kind}, "name": _TEXT}
    notes = {**_NOTES, "internal": _FLAG, "category": _TEXT}
    return _object({**head, **required}, **optional, **notes)


IR_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": FORMAT,
    "description": "The types and methods of one revision. A change which a reader of this "
    "version could misread gets a new version in `format`.",
    **_object(
        {
            "format": {"const": FORMAT},
            "revision": _TEXT,
            "structure": {**_TEXT, "description": "Digest of the meaning, without prose."},
            "era": {"enum": ["handshake", "per-request"]},
            "declarations": _list(
                {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in ("struct", "alias", "const")]}
            ),
            "methods": _list({"$ref": "#/$defs/method"}),
        }
    ),
    "$defs": {
        "struct": _declaration(
            "struct",
            {"fields": _list({"$ref": "#/$defs/field"})},
            index={**_TYPE, "description": "The type of members that are not fields."},
            keyed=_list(_object({"key": _TEXT, "pattern": _TEXT, "type": _TYPE})),
            bases=_list(_TEXT),
            place={**_TEXT, "description": "Where an unnamed shape stands in the schema."},
        ),
        "alias": _declaration("alias", {"type": _TYPE}),
        "const": _declaration("const", {"value": {"type": ["string", "number", "boolean"]}}),
        "field": _object(
            {"wire": _TEXT, "name": _TEXT, "type": _TYPE, "required": _FLAG},
            origin=_TEXT,
            format=_TEXT,
            default=_TEXT,
            **_NOTES,
        ),
        "method": _object(
            {
                "name": _TEXT,
                "type": _TEXT,
                "kind": {"enum": ["request", "notification"]},
                "direction": {"enum": [*_DIRECTIONS]},
            },
            params=_TYPE,
            params_optional=_FLAG,
            result=_TYPE,
            capability=_TEXT,
            **_NOTES,
        ),
        "type": {
            "oneOf": [
                _object({"prim": _TEXT}),
                _object({"lit": {"type": ["string", "number", "boolean", "null"]}}),
                _object({"ref": _TEXT}),
                _object({"array": _TYPE}),
                _object({"map": _TYPE}),
                _object(
                    {
                        "tuple": _list(_object({"type": _TYPE, "optional": _FLAG})),
                        "rest": {"anyOf": [_TYPE, {"type": "null"}]},
                    }
                ),
                _object({"union": _list(_TYPE)}),
                _object({"bounded": _TYPE, "limits": {"type": "object"}}),
            ]
        },
    },
}
