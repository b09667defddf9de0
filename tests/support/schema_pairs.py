"""Random pairs of JSON Schemas that differ a little, and instances as a writer makes them."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

__all__ = ["instances", "pair", "plain"]

NAMES: Final = ("a", "b", "c")
SCALARS: Final = ("string", "integer", "number", "boolean", "null")
PATTERNS: Final = ("^x", "^a", "b$")
VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "string": ("", "a", "abc", "x1", "aaaaaa"),
    "integer": (0, 1, -1, 2, 6, 100),
    "number": (0, 1, -1, 0.5, 2.5, 7, -100.25),
    "boolean": (True, False),
    "null": (None,),
}
BOUNDS: Final = (0, 0, 1, 2, 5, -1)
_DEEPEST: Final = 3

Dice = random.Random


# ---- schemas


def pair(dice: Dice) -> tuple[Any, Any]:
    """Two schemas: mostly one and a mutant of it."""
    old = _root(dice)
    if dice.random() < 0.15:
        return old, _root(dice)
    new = copy.deepcopy(old)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        new = _mutated(dice, new)
    return (old, new) if dice.random() < 0.5 else (new, old)


def _root(dice: Dice) -> Any:
    if dice.random() < 0.8:
        return _object(dice, 0)
    return _schema(dice, 0)


def _schema(dice: Dice, depth: int) -> Any:
    if depth >= _DEEPEST:
        return _scalar(dice)
    makers: tuple[tuple[int, Callable[[Dice, int], Any]], ...] = (
        (6, lambda d, _: _scalar(d)),
        (4, _object),
        (2, _array),
        (4, _union),
        (1, _conjunction),
        (1, lambda d, _: _listed(d)),
        (1, lambda d, _: d.choice((True, {}, {"not": {"type": d.choice(SCALARS)}}))),
    )
    weights = [weight for weight, _ in makers]
    return dice.choices([make for _, make in makers], weights)[0](dice, depth)


def _scalar(dice: Dice) -> Any:
    schema: dict[str, Any] = {"type": dice.choice(SCALARS)}
    if dice.random() < 0.2:
        schema["type"] = dice.sample(SCALARS, 2)
    for _ in range(dice.choice((0, 0, 1, 2))):
        schema |= _facet(dice)
    return schema


def _facet(dice: Dice) -> dict[str, Any]:
    keyword = dice.choice(
        (
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "pattern",
            "multipleOf",
        )
    )
    if keyword == "pattern":
        return {"pattern": dice.choice(PATTERNS)}
    if keyword == "multipleOf":
        return {"multipleOf": dice.choice((1, 2, 3))}
    bound = dice.choice(BOUNDS)
    return {keyword: abs(bound) if "Length" in keyword else bound}


def _listed(dice: Dice) -> Any:
    values: list[Any] = ["a", "abc", 0, 1, True, None, [1], {"a": 1}]
    if dice.random() < 0.3:
        return {"const": dice.choice(values)}
    return {"enum": dice.sample(values, dice.randint(1, 3))}


def _object(dice: Dice, depth: int) -> Any:
    names = dice.sample(NAMES, dice.randint(0, 3))
    schema: dict[str, Any] = {"properties": {n: _schema(dice, depth + 1) for n in names}}
    if dice.random() < 0.85:
        schema["type"] = "object"
    required = [name for name in NAMES if dice.random() < (0.35 if name in names else 0.05)]
    if required:
        schema["required"] = required
    if dice.random() < 0.3:
        schema["additionalProperties"] = dice.choice((False, False, _scalar(dice)))
    if dice.random() < 0.15:
        schema |= _of_objects(dice)
    return schema


def _of_objects(dice: Dice) -> dict[str, Any]:
    """A keyword of objects that is not read."""
    return dice.choice(
        (
            {"patternProperties": {dice.choice(PATTERNS): _scalar(dice)}},
            {"unevaluatedProperties": False},
            {"minProperties": 1},
            {"maxProperties": dice.choice((1, 2))},
            {"propertyNames": {"maxLength": 1}},
            {"dependentRequired": {dice.choice(NAMES): [dice.choice(NAMES)]}},
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        )
    )


def _array(dice: Dice, depth: int) -> Any:
    schema: dict[str, Any] = {"type": "array"}
    if dice.random() < 0.8:
        schema["items"] = _schema(dice, depth + 1)
    if dice.random() < 0.25:
        schema["prefixItems"] = [_schema(dice, depth + 1) for _ in range(dice.randint(1, 2))]
    for keyword in ("minItems", "maxItems"):
        if dice.random() < 0.2:
            schema[keyword] = dice.choice((0, 1, 2))
    if dice.random() < 0.1:
        schema |= dice.choice(({"uniqueItems": True}, {"contains": {"type": "integer"}}))
    return schema


def _union(dice: Dice, depth: int) -> Any:
    keyword = dice.choice(("anyOf", "anyOf", "oneOf"))
    arms = [_schema(dice, depth + 1) for _ in range(dice.randint(1, 3))]
    schema: dict[str, Any] = {keyword: arms}
    if dice.random() < 0.4:
        arms.append({"type": "null"})
    if dice.random() < 0.2:
        schema |= _facet(dice)
    if dice.random() < 0.1:
        schema["properties"] = {dice.choice(NAMES): _scalar(dice)}
    return schema


def _conjunction(dice: Dice, depth: int) -> Any:
    return {"allOf": [_schema(dice, depth + 1) for _ in range(2)]}


# ---- mutants


def _mutated(dice: Dice, root: Any) -> Any:
    places = list(_places(root))
    path, schema = dice.choice(places)
    return _replaced(root, path, _changed(dice, schema, len(path)))


def _places(schema: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every schema inside, with its path."""
    yield path, schema
    if not isinstance(schema, dict):
        return
    for keyword in ("properties", "patternProperties"):
        for name, inner in schema.get(keyword, {}).items():
            yield from _places(inner, (*path, keyword, name))
    for keyword in ("items", "additionalProperties", "not"):
        if keyword in schema:
            yield from _places(schema[keyword], (*path, keyword))
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, inner in enumerate(schema.get(keyword, ())):
            yield from _places(inner, (*path, keyword, number))


def _replaced(root: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = copy.copy(root)
    made[path[0]] = _replaced(root[path[0]], path[1:], value)
    return made


def _changed(dice: Dice, schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or dice.random() < 0.15:
        return _schema(dice, min(depth, _DEEPEST))
    changes = (_drop_keyword, _add_facet, _change_properties, _change_required, _nullable, _close)
    return dice.choice(changes)(dice, dict(schema))


def _drop_keyword(dice: Dice, schema: dict[str, Any]) -> Any:
    droppable = [k for k in schema if k not in ("then",)]
    if droppable:
        del schema[dice.choice(droppable)]
    return schema


def _add_facet(dice: Dice, schema: dict[str, Any]) -> Any:
    return schema | _facet(dice)


def _change_properties(dice: Dice, schema: dict[str, Any]) -> Any:
    properties = dict(schema.get("properties", {}))
    name = dice.choice(NAMES)
    if name in properties and dice.random() < 0.5:
        del properties[name]
    else:
        properties[name] = _schema(dice, _DEEPEST - 1)
    return schema | {"properties": properties}


def _change_required(dice: Dice, schema: dict[str, Any]) -> Any:
    required = set(schema.get("required", ())) ^ {dice.choice(NAMES)}
    return schema | {"required": sorted(required)}


def _nullable(_: Dice, schema: dict[str, Any]) -> Any:
    return {"anyOf": [schema, {"type": "null"}]}


def _close(dice: Dice, schema: dict[str, Any]) -> Any:
    return schema | {"additionalProperties": dice.choice((False, True, _scalar(dice)))}


# ---- instances


def plain(schema: Any, known: frozenset[str] = frozenset()) -> Any:
    """The schema without squatters: refuses members of `NAMES` that the arm in question, and what
    is around it, does not declare. Where it refuses, a writer means no such thing."""
    if not isinstance(schema, dict):
        return schema
    conjuncts = [each for each in schema.get("allOf", ()) if isinstance(each, dict)]
    known |= {name for each in (schema, *conjuncts) for name in _declared(each)}
    made = dict(schema)
    arms = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if arms:
        made.pop("oneOf", None)
        made["anyOf"] = [plain(arm, known) for arm in arms]
    else:
        made |= {"propertyNames": {"not": {"enum": sorted(set(NAMES) - known)}}}
    for keyword, inner in schema.items():
        if keyword == "properties":
            made[keyword] = {name: plain(each) for name, each in inner.items()}
        elif keyword in ("items", "additionalProperties"):
            made[keyword] = plain(inner)
        elif keyword == "prefixItems":
            made[keyword] = [plain(each) for each in inner]
        elif keyword == "allOf":
            made[keyword] = [plain(each, known | _everything(schema)) for each in inner]
    return made


def _declared(schema: dict[str, Any]) -> set[str]:
    """The names that a schema mentions for its members; patterns and lists may mean any."""
    named = {*schema.get("properties", ()), *schema.get("required", ())}
    if schema.keys() & {"patternProperties", "enum", "const", "if", "not"}:
        named |= set(NAMES)
    return named


def _everything(schema: dict[str, Any]) -> set[str]:
    """What the conjuncts of a schema declare, in whatever arm."""
    inside = [*schema.get("allOf", ())]
    names: set[str] = set()
    while inside:
        each = inside.pop()
        if isinstance(each, dict):
            names |= _declared(each)
            inside += [arm for k in ("allOf", "anyOf", "oneOf") for arm in each.get(k, ())]
    return names


def instances(dice: Dice, schema: Any, count: int) -> Iterator[Any]:
    """Values that a writer of the schema may mean; not all are valid."""
    for _ in range(count):
        yield _instance(dice, [schema], 0)


def _instance(dice: Dice, schemas: list[Any], depth: int) -> Any:
    nodes = _flat(dice, schemas)
    listed = [value for node in nodes for value in _literals(node)]
    if listed and dice.random() < 0.9:
        return dice.choice(listed)
    kind = _kind(dice, nodes)
    if kind == "object" and depth < 6:
        return _members(dice, nodes, depth)
    if kind == "array" and depth < 6:
        return _items(dice, nodes, depth)
    return _near(dice, nodes, kind)


def _flat(dice: Dice, schemas: list[Any]) -> list[dict[str, Any]]:
    """The schemas that hold together, with one arm of each union."""
    nodes: list[dict[str, Any]] = []
    queue = list(schemas)
    while queue:
        node = queue.pop()
        if isinstance(node, dict):
            nodes.append(node)
            queue += node.get("allOf", ())
            queue += [dice.choice(node[k]) for k in ("anyOf", "oneOf") if node.get(k)]
    return nodes


def _literals(node: dict[str, Any]) -> list[Any]:
    return list(node.get("enum", ())) + ([node["const"]] if "const" in node else [])


def _kind(dice: Dice, nodes: list[dict[str, Any]]) -> str:
    kinds = {"string", "integer", "number", "boolean", "null", "array", "object"}
    for node in nodes:
        if "type" in node:
            named = {node["type"]} if isinstance(node["type"], str) else set(node["type"])
            kinds &= named | ({"integer"} if "number" in named else set())
    shaped = "object" in kinds and any("properties" in node for node in nodes)
    if shaped and dice.random() < 0.8:
        return "object"
    return dice.choice(sorted(kinds) or ["null"])


def _near(dice: Dice, nodes: list[dict[str, Any]], kind: str) -> Any:
    """A value of a kind, near the bounds."""
    if kind in ("object", "array"):
        return {} if kind == "object" else []
    values = list(VALUES[kind])
    bounds = [v for n in nodes for k, v in n.items() if k.endswith(("imum", "Length"))]
    for bound in bounds:
        if kind == "string" and 0 <= bound < 9:
            values += ["a" * bound, "a" * (bound + 1), "x" * max(0, bound - 1)]
        elif kind in ("integer", "number"):
            values += [bound, bound + 1, bound - 1]
            values += [bound + 0.5, bound - 0.5] if kind == "number" else []
    return dice.choice(values)


def _members(dice: Dice, nodes: list[dict[str, Any]], depth: int) -> Any:
    """Declared members, and one whose name is nobody's."""
    declared = {name for node in nodes for name in node.get("properties", ())}
    required = {name for node in nodes for name in node.get("required", ())}
    names = sorted(n for n in declared | required if n in required or dice.random() < 0.5)
    patterns = [p for node in nodes for p in node.get("patternProperties", ())]
    if patterns and dice.random() < 0.5:
        names += dice.sample(("x1", "ax", "zb"), 1)
    if dice.random() < 0.25:
        names.append("zz")
    return {name: _instance(dice, _of_member(nodes, name), depth + 1) for name in names}


def _of_member(nodes: list[dict[str, Any]], name: str) -> list[Any]:
    """What holds for a member by its name, or for members without one."""
    return [
        node["properties"][name]
        if name in node.get("properties", ())
        else node.get("additionalProperties", {})
        for node in nodes
    ] + [
        schema
        for node in nodes
        for pattern, schema in node.get("patternProperties", {}).items()
        if (name.startswith(pattern[1:]) if pattern[0] == "^" else name.endswith(pattern[:-1]))
    ]


def _items(dice: Dice, nodes: list[dict[str, Any]], depth: int) -> Any:
    sizes = [v for n in nodes for k, v in n.items() if k in ("minItems", "maxItems")]
    size = dice.choice([0, 1, 2, 3, *sizes, *(s + 1 for s in sizes)])
    return [_instance(dice, _of_item(nodes, number), depth + 1) for number in range(size)]


def _of_item(nodes: list[dict[str, Any]], number: int) -> list[Any]:
    schemas: list[Any] = []
    for node in nodes:
        places = node.get("prefixItems", [])
        schemas.append(places[number] if number < len(places) else node.get("items", {}))
    return schemas
