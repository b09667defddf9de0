"""The JSON Schema keywords we read, the values they may have, and their meaning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias

from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.tools.json_document import Node

__all__ = [
    "CONSTRAINTS",
    "OF_ARRAYS",
    "OF_OBJECTS",
    "SCHEMA",
    "TEXTS",
    "canonical",
    "check_keywords",
    "closes",
    "constrains",
    "constraints",
    "has_any",
    "neighbours",
    "without",
]

TEXTS: Final = ("title", "description")
OF_OBJECTS: Final = ("properties", "required", "additionalProperties")
OF_ARRAYS: Final = ("items", "prefixItems", "additionalItems")
_TYPES: Final = ("string", "number", "boolean", "null", "array", "object", "integer")
# fmt: off
_SILENT: Final = frozenset((
    "$schema", "$id", "$comment", "$defs", "definitions", "$anchor", "$vocabulary", "examples",
    "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema",
    "default", "format",
))
"""Keywords without constraints; `default`, `format` and `deprecated` become tags of members."""
_READ: Final = frozenset((
    "type", "enum", "const", "properties", "required", "additionalProperties", "items",
    "prefixItems", "additionalItems", "allOf", "anyOf", "oneOf", "$ref", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
))
# fmt: on
CONSTRAINTS: Final = _READ - {"$ref", "allOf"}
_IDLE: Final = {
    "uniqueItems": False,
    "nullable": False,
    "minProperties": 0,
    "unevaluatedItems": True,
    "unevaluatedProperties": True,
}
"""Unread keywords, each with its value without effect."""


def canonical(value: object) -> str:
    """JSON with sorted keys, ASCII only: equal texts are equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# ---- values of keywords


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: object) -> bool:
    return _is_number(value) and isinstance(value, int) and 0 <= value < 2**53


def _is_list_of(holds: Callable[[Any], bool], least: int = 0) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        items = list_of(value)
        return items is not None and len(items) >= least and all(map(holds, items))

    return check


def _is_table(value: Any) -> bool:
    members = object_of(value)
    return members is not None and all(map(_is_schema, members.values()))


def _is_type(value: object) -> bool:
    return isinstance(value, str) and value in _TYPES


_Check: TypeAlias = tuple[Callable[[Any], bool], str]
SCHEMA: Final[_Check] = (_is_schema, "a schema (an object, true or false)")
_ARMS: Final[_Check] = (_is_list_of(_is_schema, 1), "a list of schemas, not empty")
_NUMBER: Final[_Check] = (_is_number, "a number")
_BOUND: Final[_Check] = (lambda v: _is_number(v) or isinstance(v, bool), "a number")
_SIZE: Final[_Check] = (_is_size, "a whole number from 0 to 2^53")
_SHAPES: Final[dict[str, _Check]] = {
    "type": (
        lambda v: _is_type(v) or _is_list_of(_is_type, 1)(v),
        f"one or some of {', '.join(_TYPES)}",
    ),
    "enum": (lambda v: isinstance(v, list), "a list"),
    "properties": (_is_table, "an object of schemas"),
    "required": (_is_list_of(lambda v: isinstance(v, str)), "a list of names"),
    "additionalProperties": SCHEMA,
    "items": (lambda v: _is_schema(v) or _is_list_of(_is_schema)(v), "a schema or a list of them"),
    "prefixItems": _ARMS,
    "additionalItems": SCHEMA,
    "allOf": _ARMS,
    "anyOf": _ARMS,
    "oneOf": _ARMS,
    "$ref": (lambda v: isinstance(v, str), "a reference"),
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _BOUND,
    "exclusiveMaximum": _BOUND,
    "minLength": _SIZE,
    "maxLength": _SIZE,
    "minItems": _SIZE,
    "maxItems": _SIZE,
}
"""The check of each keyword's value; the boolean exclusive bounds of draft-04 are unread."""


def check_keywords(node: Node) -> Node:
    """Return the node itself. Raises InputError if a keyword has an invalid value."""
    node.require(*SCHEMA)
    for keyword in node.members.keys() & _SHAPES.keys():
        node.below(keyword).require(*_SHAPES[keyword])
    return node


# ---- what a schema says by its keywords


def constrains(keyword: str, value: object) -> bool:
    """Return whether an unread keyword may refuse some instance."""
    known = keyword in _READ or keyword in _SILENT or keyword in TEXTS
    return not (known or keyword.startswith("x-") or _IDLE.get(keyword, ...) == value)


def neighbours(node: Node, keyword: str, declared: Iterable[str]) -> object:
    """The neighbours on which the meaning of an unread keyword depends; usually none.

    `declared` are the members listed at its place: a writer may use a member mentioned only by the
    keyword.
    """
    match keyword:
        case "unevaluatedProperties" | "unevaluatedItems":
            return {k: v for k, v in node.members.items() if k not in TEXTS}
        case "patternProperties" | "additionalProperties" | "$ref":
            return [
                sorted(declared),
                sorted(object_of(node.members.get("patternProperties")) or ()),
            ]
        case "exclusiveMinimum":
            return node.members.get("minimum")
        case "exclusiveMaximum":
            return node.members.get("maximum")
        case _:
            mentioned = set(_texts(node.members[keyword]))
            return sorted(name for name in declared if name in mentioned)


def _texts(value: object) -> Iterator[str]:
    """All names and texts in a JSON value."""
    queue = [value]
    while queue:
        inner = queue.pop()
        if isinstance(inner, str):
            yield inner
        members = object_of(inner) or {}
        yield from members
        queue += [*members.values(), *(list_of(inner) or ())]


def closes(node: Node) -> bool:
    """Return whether a schema constrains unlisted members; unknown if it has patterns."""
    return "additionalProperties" in node.members and "patternProperties" not in node.members


def has_any(basics: Iterable[Node], keywords: Iterable[str]) -> bool:
    return any(keyword in node.members for node in basics for keyword in keywords)


def constraints(node: Node) -> Node:
    """A schema without texts and unread keywords, which are remarked once at its place."""
    if not isinstance(node.value, dict):
        return node
    kept = CONSTRAINTS - (set() if closes(node) else {"additionalProperties"})
    return replace(node, value={k: v for k, v in node.members.items() if k in kept})


def without(node: Node, keyword: str) -> Node:
    kept = {k: v for k, v in constraints(node).members.items() if k != keyword}
    return replace(node, value=kept, part=f"{node.part} without {keyword}")
