"""Lists of tools for tests: 50 hostile ones that can be typed, and some that cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["FIFTY", "HOSTILE", "UNTYPED", "listing", "of_real_servers"]

HOSTILE: Final = (
    '"""); import os; os.system("x") #',
    "'''); import os #",
    'ends with a quote"',
    'ends with three quotes"""',
    'ends with more \\"""""',
    "ends with a backslash\\",
    "\\N{BULLET} \\x41 %s {0} ${x}",
    "{{ 7 * 7 }} {% for x in y %} {# note #}",
    "line\rfeed\ntab\tnul\0bell\x07",
    "\u2028\u2029\x85\u202e\ufeff\U0001f600",
    "a" * 300,
    "word " * 80,
)
_MEMBERS: Final = (
    *("class", "def", "None", "match", "self", "str", "list", "field", "convert", "type"),
    *("__init__", "__struct_fields__", "_private", "$dollar", "a-b", "a b", "a_b", "1st"),
    *("Meta", "UNSET", "Struct", "Any", "Literal", "annotations", "Input", "handle", "max.Size"),
    *("model_config", "io.example/key", "x" * 80),
)
STRING: Final = {"type": "string"}
NODE: Final = {
    "type": "object",
    "properties": {"value": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
    "required": ["value"],
}


def _object(properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), **more}


def _tool(name: str, input: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": dict(input), **more}


def listing(*tools: Mapping[str, Any]) -> bytes:
    return json.dumps({"tools": tools}).encode()


_SHAPES: Final[tuple[Mapping[str, Any], ...]] = (
    {"type": "object"},
    _object({}),
    _object(dict.fromkeys(_MEMBERS, STRING)),
    _object({name: _object({name: STRING}) for name in _MEMBERS}, required=[*_MEMBERS]),
    _object({"n": {"$ref": "#/$defs/n"}}, required=["n"], **{"$defs": {"n": NODE}}),
    _object({"me": {"$ref": "#"}}),
    _object({"a": {"$ref": "#/properties/b"}, "b": _object({"x": STRING})}),
    _object({"kind": {"enum": ["", "a b", "class", "1", '"', "\\", "\n", "\u202e", "None"]}}),
    _object({"n": {"enum": [1, -1, 0]}, "m": {"enum": ["a", 1, None]}, "c": {"const": "x"}}),
    _object({"x": {"oneOf": [STRING, {"type": "integer"}, {"type": "null"}]}}),
    _object(
        {
            "shape": {
                "oneOf": [
                    _object(
                        {"kind": {"const": "circle"}, "r": {"type": "number"}}, required=["kind"]
                    ),
                    _object({"kind": {"const": "dot"}}, required=["kind"]),
                ]
            }
        },
        required=["shape"],
    ),
    _object({"t": {"type": "array", "prefixItems": [STRING, {"type": "integer"}]}}),
    _object({"m": {"type": "object", "additionalProperties": {"type": "integer"}}}),
    {"type": "object", "additionalProperties": STRING},
    _object({"a": STRING}, required=["a", "undeclared"]),
    _object({"any": {}, "yes": True, "free": {"type": "object"}, "nil": {"type": "null"}}),
    _object({"n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}}),
    _object({"s": {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "(a+)+$"}}),
    _object({"n": {"type": "integer", "default": "no integer"}, "s": {**STRING, "default": None}}),
    _object({"l": {"type": "array", "items": STRING, "default": ["a"]}, "b": {"default": False}}),
    _object({"o": {**_object({"q": STRING}), "default": {"q": "1"}}}),
    _object({"d": {"type": "string", "format": "date-time"}, "u": {**STRING, "format": "uuid"}}),
    {
        "allOf": [{"$ref": "#/$defs/a"}, _object({"b": {"type": "integer"}})],
        "$defs": {"a": _object({"a": STRING})},
        "type": "object",
    },
    _object(
        {
            "a": {"$ref": "#/$defs/any"},
            "s": {"$ref": "#/$defs/Struct"},
            "i": {"$ref": "#/$defs/ids"},
        },
        **{
            "$defs": {
                "any": _object({"a": STRING}),
                "Struct": _object({}),
                "ids": {"type": "array"},
            }
        },
    ),
    _object({"f": {"type": "string", "description": "", "title": "T", "examples": ["e"]}}),
    _object({"x": STRING}, customTypePath="os.system", customBasePath="os.system"),
    _object({"x": {**STRING, "x-python-import": {"module": "os", "name": "system"}}}),
    _object({"if": STRING}, **{"if": {"required": ["if"]}, "then": {"minProperties": 1}}),
)
_NAMES: Final = ("class", "import", "get-sum", "Init", "a.b", "X1", "9lives", "tools", "input")

FIFTY: Final = (
    *(_tool(f"shape-{number}", shape) for number, shape in enumerate(_SHAPES)),
    *(
        _tool(
            f"text_{number}",
            _object(
                {"a": {**STRING, "description": text, "default": text}},
                description=text,
                title=text,
            ),
            description=text,
            title=text,
            outputSchema=_object({"o": {"enum": [text, "b"], "description": text}}, required=["o"]),
        )
        for number, text in enumerate(HOSTILE)
    ),
    *(_tool(name, _object({"a": STRING}), outputSchema=_object({})) for name in _NAMES),
    _tool("dotted.name-with_all.1", _object({"x": {"anyOf": [{"enum": ["a"]}, STRING]}})),
    _tool("both", _object({"e": _object({})}), outputSchema=_object({"e": _object({"a": STRING})})),
    _tool("unicode", _object({"prénom": STRING, "naïve": {"enum": ["ä", "ß"]}})),
)

_UNTAGGED: Final = {"oneOf": [_object({"a": STRING}), _object({"b": STRING})]}
_NESTED: Final = _object({"y": _UNTAGGED, "z": STRING}, description="Says.")

UNTYPED: Final[Mapping[str, tuple[Mapping[str, Any], str, str]]] = {
    "remote": (_object({"x": {"$ref": "https://example.com/s"}}), ".x", "not in the schema"),
    "file": (_object({"x": {"$ref": "file:///etc/passwd"}}), ".x", "not in the schema"),
    "anchor": (_object({"x": {"$ref": "#there"}}), ".x", "not in the schema"),
    "objects": (_object({"x": _UNTAGGED}), ".x", "objects apart"),
    "nested": (_object({"x": _NESTED}), ".x.y", "objects apart"),
    "items": (_object({"x": {"type": "array", "items": _UNTAGGED}}), ".x[]", "objects apart"),
    "members": (
        _object({"x": {"type": "object", "additionalProperties": _UNTAGGED}}),
        ".x{}",
        "objects apart",
    ),
    "shared": (
        _object({"x": {"$ref": "#/$defs/u"}}, **{"$defs": {"u": _UNTAGGED}}),
        ".x",
        "objects apart",
    ),
    "arms": (_object({"x": {"anyOf": [STRING, _NESTED]}}), ".x.y", "objects apart"),
    "merged": (_object({"x": {"allOf": [_NESTED, {"$ref": "#no"}]}}), ".x", "not in the schema"),
    "lists": (
        _object({"x": {"anyOf": [{"type": "array", "items": STRING}, {"type": "array"}]}}),
        ".x",
        "arrays apart",
    ),
    "unnamed": (_object({"日本": STRING}), "", "no Python name"),
    "inside": (_object({"x": _object({"日本": STRING})}), ".x", "no Python name"),
    "quoted": (_object({'a"b': STRING}), "", "no Python name"),
    "escaped": (_object({"a\\": STRING}), "", "no Python name"),
    "never": (_object({"x": False}, required=["x"]), "", "no value satisfies"),
    "endless": (_object({"me": {"$ref": "#"}}, required=["me"]), "", "no value satisfies"),
}
"""By name: the input of a tool that has no types in full, the place where, and why."""


def of_real_servers(shared: Path) -> list[Path]:
    """The files with the lists of known servers: those of `../shared`, and ten without texts."""
    ours = Path(__file__).parents[1] / "scaffold" / "lists"
    return [*sorted((shared / "tool-lists").glob("*.json")), *sorted(ours.glob("*.json"))]
