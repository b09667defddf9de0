"""Repairs arguments by their schema: JSON text where it takes no text, null for an absent member.

Models send `"[1, 2]"` for an array, `"3"` for a number, and null for absent members. If a schema
leaves any doubt, for example without a `type`, a text stays a text and null stays null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from mcp_runtime.json_schema.walk import Schema
from mcp_runtime.revisions import DecodeError, parse

_DEEPEST: Final = 32
"""The depth of references and choices followed at one place of a schema."""
_ANY: Final[frozenset[str]] = frozenset(
    ("array", "boolean", "integer", "null", "number", "object", "string")
)


def repair_arguments(
    schema: Schema, value: Any, *, texts: bool = True, nulls: bool = True
) -> tuple[Any, list[str], list[str]]:
    """Return a copy of `value` with repairs, the paths of parsed texts and those of removed nulls.

    The result is not validated. Nothing is repaired if the value or the schema nests too deeply.
    """
    repair = _Repair(schema, texts=texts, nulls=nulls)
    try:
        return repair.read([schema], value, "$"), repair.parsed, repair.absent
    except RecursionError:
        return value, [], []


class _Repair:
    def __init__(self, root: Schema, *, texts: bool, nulls: bool) -> None:
        self._root = root
        self._texts = texts
        self._nulls = nulls
        self.parsed: list[str] = []
        self.absent: list[str] = []

    def read(self, schemas: list[Any], value: Any, path: str) -> Any:
        if isinstance(value, str):
            parsed = self._parse(schemas, value) if self._texts else None
            if parsed is None:
                return value
            self.parsed.append(path)
            (inner,) = parsed
            return inner if isinstance(inner, str) else self.read(schemas, inner, path)
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return {
                name: self.read(self._of_member(schemas, name), each, f"{path}.{name}")
                for name, each in members.items()
                if each is not None or not self._leave_out(schemas, name, path)
            }
        if isinstance(value, list):
            items = cast("list[object]", value)
            return [
                self.read(self._of_item(schemas, i), each, f"{path}[{i}]")
                for i, each in enumerate(items)
            ]
        return value

    def _leave_out(self, schemas: list[Any], name: str, path: str) -> bool:
        """Remove a null if its member is optional and has no null; return True if removed."""
        arms = list(self._arms(schemas)) if self._nulls else []
        declared = [arm["properties"][name] for arm in arms if name in _dict(arm, "properties")]
        if not declared or any(name in _list(arm, "required") for arm in arms):
            return False
        if any("null" in self._kinds(each) for each in declared):
            return False
        self.absent.append(f"{path}.{name}")
        return True

    def _parse(self, schemas: list[Any], text: str) -> tuple[Any] | None:
        """Return the value of a JSON text, in a tuple.

        None if the schemas take a text, or do not take the value.
        """
        kinds = frozenset[str]().union(*(self._kinds(each) for each in schemas))
        if "string" in kinds:
            return None
        try:
            value = parse(text)
        except DecodeError:
            return None
        return (value,) if kinds & _kinds_of(value) else None

    def _kinds(self, schema: Any, depth: int = 0) -> frozenset[str]:
        """Return the JSON types allowed by a schema; all of them if it does not name any."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return _ANY
        known = cast("Schema", schema)
        kinds = _named_kinds(known)
        for choices in (known.get("anyOf"), known.get("oneOf")):
            if isinstance(choices, list):
                each = (self._kinds(one, depth + 1) for one in cast("list[object]", choices))
                kinds &= frozenset[str]().union(*each)
        whole = known.get("allOf")
        needed = list(cast("list[object]", whole)) if isinstance(whole, list) else []
        if "$ref" in known:
            needed.append(self._target(known["$ref"]))
        for one in needed:
            kinds &= self._kinds(one, depth + 1)
        return kinds

    def _target(self, reference: Any) -> Any:
        """Return the schema of a reference; `true` if it leads outside of the document."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return True
        at: Any = self._root
        for step in filter(None, reference[1:].split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            at = cast("Schema", at).get(name) if isinstance(at, dict) else None
        return True if at is None else at

    def _arms(self, schemas: list[Any], depth: int = 0) -> Iterator[Schema]:
        """Yield the schemas and all schemas they refer to, choose from or combine."""
        for each in schemas:
            if isinstance(each, dict) and depth <= _DEEPEST:
                known = cast("Schema", each)
                yield known
                inner: list[Any] = [self._target(known["$ref"])] if "$ref" in known else []
                for keyword in ("anyOf", "oneOf", "allOf"):
                    choices = known.get(keyword)
                    inner += cast("list[object]", choices) if isinstance(choices, list) else []
                yield from self._arms(inner, depth + 1)

    def _of_member(self, schemas: list[Any], name: str) -> list[Any]:
        """Return the schemas of a member; `true` if no schema names it."""
        possible: list[Any] = []
        for arm in self._arms(schemas):
            properties = arm.get("properties")
            if isinstance(properties, dict) and name in properties:
                possible.append(properties[name])
            elif "patternProperties" in arm:
                return [True]
            elif isinstance(arm.get("additionalProperties"), dict):
                possible.append(arm["additionalProperties"])
        return possible or [True]

    def _of_item(self, schemas: list[Any], number: int) -> list[Any]:
        possible: list[Any] = []
        for arm in self._arms(schemas):
            first, items = arm.get("prefixItems"), arm.get("items")
            if isinstance(first, list) and number < len(cast("list[object]", first)):
                possible.append(first[number])
            elif isinstance(items, dict):
                possible.append(items)
        return possible or [True]


def _dict(schema: Schema, keyword: str) -> dict[str, Any]:
    given = schema.get(keyword)
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def _list(schema: Schema, keyword: str) -> list[object]:
    given = schema.get(keyword)
    return cast("list[object]", given) if isinstance(given, list) else []


def _named_kinds(schema: Schema) -> frozenset[str]:
    """Return the types left by `type`, `enum` and `const`."""
    kinds = _ANY
    match schema.get("type"):
        case str(name):
            kinds = frozenset((name,))
        case [*names]:
            kinds = frozenset(name for name in names if isinstance(name, str))
        case _:
            pass
    if "number" in kinds:
        kinds |= {"integer"}
    if isinstance(schema.get("enum"), list):
        kinds &= frozenset[str]().union(*map(_kinds_of, schema["enum"]))
    if "const" in schema:
        kinds &= _kinds_of(schema["const"])
    return kinds


def _kinds_of(value: Any) -> frozenset[str]:
    """Return the JSON types of a parsed value."""
    if isinstance(value, bool):
        return frozenset(("boolean",))
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        return frozenset(("integer", "number") if is_whole else ("number",))
    kinds: dict[type, str] = {str: "string", list: "array", dict: "object", type(None): "null"}
    return frozenset((kinds[type(value)],))
