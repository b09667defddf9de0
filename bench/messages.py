"""The messages that are measured, as JSON text."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["TEXTS"]

_RESOURCE: Final = {
    "uri": "file:///notes/today.txt",
    "mimeType": "text/plain",
    "text": "words",
}
_ITEMS: Final[list[dict[str, Any]]] = [
    {"type": "text", "text": "hello world"},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    {
        "type": "resource",
        "resource": _RESOURCE,
        "annotations": {"audience": ["user"], "priority": 0.5},
    },
]
_SCHEMA: Final = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
    "title": "Arguments",
}
_TOOLS: Final = [
    {"name": f"tool{n}", "description": "Does one thing well.", "inputSchema": _SCHEMA}
    for n in range(50)
]


_ROWS: Final = [{"id": n, "name": f"row {n}", "parent": None} for n in range(50)]


def _text(value: dict[str, Any]) -> bytes:
    return json.dumps({"resultType": "complete", **value}, separators=(",", ":")).encode()


TEXTS: Final = {
    "one text item": ("CallToolResult", _text({"content": _ITEMS[:1]})),
    "three items": (
        "CallToolResult",
        _text({"content": _ITEMS, "structuredContent": {"a": 1, "b": [1, 2]}, "isError": False}),
    ),
    "small with nulls": (
        "CallToolResult",
        _text({"content": _ITEMS[:1], "structuredContent": {"a": None, "b": [1, None]}}),
    ),
    "50 rows with nulls": (
        "CallToolResult",
        _text({"content": _ITEMS[:1], "structuredContent": {"rows": _ROWS}}),
    ),
    "the word null": (
        "CallToolResult",
        _text({"content": [{"type": "text", "text": 'The word "null" stands here.'}]}),
    ),
    "50 tools": (
        "ListToolsResult",
        _text({"tools": _TOOLS, "ttlMs": 1000, "cacheScope": "private"}),
    ),
}
"""Each with the name of its type in 2026-07-28."""
