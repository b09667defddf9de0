"""Decides whether a value satisfies a JSON Schema, with all keywords: it checks example values.

A comparison of tools proves its findings by example values, made from the types of the IR. These
leave keywords out (`pattern`, `not`, `patternProperties`, …), so the schema may still refuse such a
value. Where the answer is uncertain, UndecidedError is raised: for a reference to another document,
a pattern with unbounded cost, or a keyword such as `unevaluatedProperties`.

Unlike jsonschema-rs, which is an extra, it comes with `diff --tools`, bounds the work for a
stranger's schema, and says "undecided" where validators disagree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.tools.json_document import Node
from mcp_bindgen.tools.keywords import canonical
from mcp_bindgen.tools.references import References

__all__ = ["UndecidedError", "Validator"]

_VISITS: Final = 100_000
"""Subschemas applied to one value."""
_LONGEST: Final = 200
"""Characters of a text matched with a pattern."""
_MOST_REPEATS: Final = 3
"""Unbounded repetitions in one pattern: each may multiply the work by the length."""
_REPEATS: Final = re.compile(r"[*+]|\{\d*,\d*\}")
_GROUP_REPEATS: Final = re.compile(r"\)(?:[*+]|\{\d)")
_UNKNOWN: Final = frozenset(
    ("unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef")
)

_Members: TypeAlias = Mapping[str, Any]


class UndecidedError(Exception):
    """Raised if it cannot be decided whether the value satisfies the schema."""


class Validator:
    """Checks values against the schema `root`; references are followed inside it only."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self._references = References(root)
        self._visits = 0

    def accepts(self, value: Any) -> bool:
        """Return whether the schema accepts `value`, parsed JSON. Raises UndecidedError."""
        self._visits = 0
        return self._accepts(self.root.value, value)

    def _accepts(self, schema: Any, value: Any) -> bool:
        if isinstance(schema, bool):
            return schema
        members = object_of(schema)
        if members is None:
            raise UndecidedError
        self._visits += 1
        if self._visits > _VISITS or not _UNKNOWN.isdisjoint(members):
            raise UndecidedError
        if "$ref" in members:
            target = self._target(members)
            if self._references.stands_alone(members):
                return self._accepts(target, value)
            return self._accepts(target, value) and self._keywords(members, value)
        return self._keywords(members, value)

    def _target(self, members: _Members) -> Any:
        if self._has_own_base(members):
            raise UndecidedError
        target = self._references.target(replace(self.root, value=members))
        if target is None:
            raise UndecidedError
        return target.value

    def _has_own_base(self, members: _Members) -> bool:
        return "$id" in members and members is not self.root.value

    def _keywords(self, members: _Members, value: Any) -> bool:
        return (
            all(_OF_VALUES[k](v, value) for k, v in members.items() if k in _OF_VALUES)
            and self._apply(members, value)
            and ((inside := object_of(value)) is None or self._object(members, inside))
            and ((items := list_of(value)) is None or self._array(members, items))
        )

    def _all(self, schemas: Iterable[Any], value: Any) -> bool:
        return all(self._accepts(schema, value) for schema in schemas)

    # ---- schemas for the same value

    def _apply(self, members: _Members, value: Any) -> bool:
        if not self._all(_list(members, "allOf"), value):
            return False
        if "anyOf" in members and not any(self._accepts(s, value) for s in _list(members, "anyOf")):
            return False
        one_of = _list(members, "oneOf") if "oneOf" in members else None
        if one_of is not None and sum(self._accepts(each, value) for each in one_of) != 1:
            return False
        if "not" in members and self._accepts(members["not"], value):
            return False
        if "if" not in members:
            return True
        branch = "then" if self._accepts(members["if"], value) else "else"
        return branch not in members or self._accepts(members[branch], value)

    # ---- objects

    def _object(self, members: _Members, value: dict[str, Any]) -> bool:
        listed, patterns = _table(members, "properties"), _table(members, "patternProperties")
        for name, item in value.items():
            schemas = [schema for pattern, schema in patterns.items() if _matches(pattern, name)]
            if name in listed:
                schemas.append(listed[name])
            if not schemas and "additionalProperties" in members:
                schemas.append(members["additionalProperties"])
            if "propertyNames" in members and not self._accepts(members["propertyNames"], name):
                return False
            if not self._all(schemas, item):
                return False
        return self._dependent(members, value)

    def _dependent(self, members: _Members, value: dict[str, Any]) -> bool:
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            for name, demand in _table(members, keyword).items():
                if name in value and not self._check_dependencies(demand, value):
                    return False
        return True

    def _check_dependencies(self, demand: Any, value: dict[str, Any]) -> bool:
        """Check `dependencies`: names which must be present too, or a schema for the whole
        object.
        """
        names = list_of(demand)
        return self._accepts(demand, value) if names is None else all(n in value for n in names)

    # ---- arrays

    def _array(self, members: _Members, value: list[Any]) -> bool:
        places, rest = _places(members)
        for number, item in enumerate(value):
            schema = places[number] if number < len(places) else rest
            if not self._accepts(schema, item):
                return False
        if "contains" not in members:
            return True
        count = sum(self._accepts(members["contains"], item) for item in value)
        least, most = members.get("minContains", 1), members.get("maxContains", len(value))
        if not (_number(least) and _number(most)):
            raise UndecidedError
        return bool(least <= count <= most)


def _list(members: _Members, keyword: str) -> list[Any]:
    schemas = list_of(members.get(keyword, []))
    if schemas is None:
        raise UndecidedError
    return schemas


def _table(members: _Members, keyword: str) -> dict[str, Any]:
    table = object_of(members.get(keyword, {}))
    if table is None:
        raise UndecidedError
    return table


def _places(members: _Members) -> tuple[list[Any], Any]:
    """The schemas of items by place, and the schema of the items after them."""
    if isinstance(members.get("items"), list):
        return _list(members, "items"), members.get("additionalItems", True)
    return _list(members, "prefixItems"), members.get("items", True)


# ---- keywords that look at the value alone


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of bounded cost. Raises UndecidedError for other patterns."""
    if len(_REPEATS.findall(pattern)) > _MOST_REPEATS or _GROUP_REPEATS.search(pattern):
        raise UndecidedError
    try:
        return re.compile(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        raise UndecidedError from None


def _matches(pattern: Any, text: str) -> bool:
    if not isinstance(pattern, str) or len(text) > _LONGEST:
        raise UndecidedError
    return _compile(pattern).search(text) is not None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": _number,
    "integer": lambda value: _number(value) and value == value // 1,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _is_of(types: Any, value: Any) -> bool:
    names = [types] if isinstance(types, str) else types
    return any(_KINDS[name](value) for name in names)


def _equal(a: Any, b: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not."""
    return _spell(a) == _spell(b)


def _spell(value: Any) -> str:
    return canonical(_with_whole_numbers(value))


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in list_of(value) or ()]
    if isinstance(value, dict):
        return {k: _with_whole_numbers(v) for k, v in (object_of(value) or {}).items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_multiple(divisor: Any, value: Any) -> bool:
    if not _number(divisor) or divisor <= 0:
        raise UndecidedError
    if isinstance(divisor, int) and value == value // 1:
        return int(value) % divisor == 0
    if isinstance(divisor, int):
        return False
    raise UndecidedError  # validators differ in how they round


def _bound(holds: Callable[[Any, Any], bool], measure: Callable[[Any], Any]) -> _Check:
    """A check of a bound; `measure` returns None for values outside its scope."""

    def check(bound: Any, value: Any) -> bool:
        size = measure(value)
        if size is None:
            return True
        if not _number(bound):
            raise UndecidedError
        return holds(size, bound)

    return check


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, str) else None


def _items(value: Any) -> int | None:
    items = list_of(value)
    return None if items is None else len(items)


def _names(value: Any) -> int | None:
    members = object_of(value)
    return None if members is None else len(members)


def _amount(value: Any) -> Any:
    return value if _number(value) else None


def _at_least(size: Any, bound: Any) -> bool:
    return bool(size >= bound)


def _at_most(size: Any, bound: Any) -> bool:
    return bool(size <= bound)


_Check: TypeAlias = Callable[[Any, Any], bool]
_OF_VALUES: Final[dict[str, _Check]] = {
    "type": _is_of,
    "enum": lambda values, value: any(_equal(each, value) for each in values),
    "const": _equal,
    "minimum": _bound(_at_least, _amount),
    "maximum": _bound(_at_most, _amount),
    "exclusiveMinimum": _bound(lambda size, bound: bool(size > bound), _amount),
    "exclusiveMaximum": _bound(lambda size, bound: bool(size < bound), _amount),
    "multipleOf": lambda divisor, value: not _number(value) or _is_multiple(divisor, value),
    "minLength": _bound(_at_least, _length),
    "maxLength": _bound(_at_most, _length),
    "pattern": lambda pattern, value: not isinstance(value, str) or _matches(pattern, value),
    "minItems": _bound(_at_least, _items),
    "maxItems": _bound(_at_most, _items),
    "minProperties": _bound(_at_least, _names),
    "maxProperties": _bound(_at_most, _names),
    "required": lambda names, value: not isinstance(value, dict) or all(n in value for n in names),
    "uniqueItems": lambda on, value: on is not True or _unique(list_of(value) or []),
}


def _unique(items: list[Any]) -> bool:
    return len({_spell(item) for item in items}) == len(items)
