"""A list of tools as typed handlers: one module a tool, with its types, a stub and a test.

The list goes into the project as `tools.json`, from which an update makes the types anew.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp_bindgen.compare.judge.samples import UnmakeableError, smallest
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.model import Type
from mcp_bindgen.ir.names import snake
from mcp_bindgen.scaffold.fits import fitting
from mcp_bindgen.scaffold.structs import Class, Models
from mcp_bindgen.scaffold.typed import Untyped, typed
from mcp_bindgen.tools.json_document import Node, list_of, object_of
from mcp_bindgen.tools.listing import listed
from mcp_bindgen.tools.remarks import quoted
from mcp_bindgen.tools.surface import Surface, surface

__all__ = ["Tool", "listing", "read"]

_PARTS: Final = {
    "inputSchema": ("params", "arguments"),
    "outputSchema": ("result", "structuredContent"),
}
"""The schemas of a tool, each with the shape and the member that `diff` has of it."""
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_TABLES: Final = frozenset({"$defs", "definitions", "properties"})
_INNER: Final = frozenset({"additionalProperties", "items"})
_PLAIN: Final = frozenset(
    {
        "$ref",
        "const",
        "default",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "multipleOf",
        "required",
        "type",
    }
)
"""Keywords that types say; all others are left out before anything is made of a schema."""
_LONGEST: Final = 60
"""Characters of a module's name."""
_SAID: Final = frozenset({"$ref", "multipleOf"})
"""Of the keywords that `diff` does not read, those that are said by the types all the same."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`module` is the name of its module; `output` is None where the tool declares none.

    `declared` is the tool as it was listed; `unsaid` are keywords of its schemas that the types do
    not say, each with its place.
    """

    name: str
    module: str
    description: str
    declared: Mapping[str, Any]
    input: Models
    output: Models | None
    sample: Any
    unsaid: tuple[str, ...]


def listing(tools: Sequence[Tool]) -> str:
    """The text of `tools.json`."""
    declared = [tool.declared for tool in tools]
    return json.dumps({"tools": declared}, indent=2) + "\n"


def read(data: bytes, path: str) -> list[Tool]:
    """The tools of a file. Raises InputError, which names each tool that cannot be typed, and why;
    SchemaError."""
    nodes = listed(data, path)
    if not nodes:
        raise InputError(f"{path}: lists no tools", remedy="Give a list with some.")
    whole = surface(nodes, path)
    modules = _modules(nodes)
    found: list[Tool] = []
    refused: list[str] = []
    for node in nodes:
        try:
            found.append(_tool(node, modules[node.value["name"]], whole))
        except Untyped as error:
            refused.append(f"{json.dumps(node.value['name'])}: {error.message}")
    if refused:
        raise InputError(
            "\n".join([f"{path}: {len(refused)} of {len(nodes)} tools cannot be typed", *refused]),
            remedy="Mend their schemas in the file, or take these tools out of it.",
        )
    return found


def _modules(nodes: Sequence[Node]) -> dict[str, str]:
    """The module of each tool by name. Raises InputError for two of one module."""
    found: dict[str, str] = {}
    for node in nodes:
        name = node.value["name"]
        module = _module(name)
        if module is None:
            raise node.below("name").error("no module can be named after it", remedy="Rename it.")
        twin = next((other for other, taken in found.items() if taken == module), None)
        if twin is not None:
            raise node.below("name").error(
                f"its module would be {module}, and so would that of {twin!r}",
                remedy="Rename one of them, or take it out.",
            )
        found[name] = module
    return found


def _module(name: str) -> str | None:
    module = snake(name).strip("_")[:_LONGEST].strip("_")
    if not module:
        return None
    if module[0].isdigit():
        module = f"n{module}"
    return f"{module}_" if keyword.iskeyword(module) or keyword.issoftkeyword(module) else module


def _tool(node: Node, module: str, whole: Surface) -> Tool:
    tool: dict[str, Any] = node.value
    name: str = tool["name"]
    schemas = {s: tool[s] for s in _PARTS if tool.get(s) is not None}
    samples = {s: _sample(whole, name, s) for s in schemas}
    models = {
        schema: _models(schemas[schema], title, samples[schema])
        for schema, title in zip(_PARTS, ("Input", "Output"), strict=True)
        if schema in schemas
    }
    description = tool.get("description")
    return Tool(
        name,
        module,
        description if isinstance(description, str) else "",
        tool,
        models["inputSchema"],
        models.get("outputSchema"),
        samples["inputSchema"],
        tuple(_unsaid(whole, name)),
    )


def _models(schema: Any, title: str, sample: Any) -> Models:
    """The types of one schema of a tool. Raises Untyped."""
    try:
        return fitting(_closed(typed(_pruned(schema), title), schema), sample)
    except Untyped as error:
        raise Untyped(f"{title.lower()}: {error.message}") from None


def _closed(models: Models, schema: Any) -> Models:
    """The models, the whole one refusing other members where its schema does."""
    *inner, whole = models.types
    if schema.get("additionalProperties") is not False or not isinstance(whole, Class):
        return models
    closed = replace(whole, options=(*whole.options, "forbid_unknown_fields=True"))
    return replace(models, types=(*inner, closed))


def _sample(whole: Surface, name: str, schema: str) -> Any:
    """The smallest value of a schema of a tool. Raises Untyped where there is none."""
    found = whole.side.schema
    try:
        return smallest(found, _type(whole, name, schema))
    except UnmakeableError:
        raise Untyped(f"no value satisfies its {schema}") from None


def _type(whole: Surface, name: str, schema: str) -> Type:
    part, member = _PARTS[schema]
    struct = whole.side.schema.structs[f"{quoted(name)} {part}"]
    return next(field.type for field in struct.fields if field.wire == member)


def _unsaid(whole: Surface, name: str) -> Iterator[str]:
    """The keywords of a tool that no type says."""
    for remark in whole.reader.unread.values():
        if remark.tool == name and remark.keyword not in _SAID:
            yield f"{remark.path.removeprefix(f'{name}.')}: {remark.keyword}"


def _pruned(schema: Any) -> dict[str, Any]:
    """A schema of the keywords that types say alone. Raises Untyped."""
    members = object_of(schema)
    if members is None:
        raise Untyped("its schema is no object")
    _require_local(members.get("$ref"))
    found: dict[str, Any] = {}
    for key, value in members.items():
        if key in _PLAIN:
            _require_no_reference(value)
            found[key] = value
        elif key in _LISTS or (key == "items" and list_of(value) is not None):
            found[key] = [_pruned_if_any(each) for each in list_of(value) or ()]
        elif key in _TABLES:
            found[key] = {n: _pruned_if_any(each) for n, each in (object_of(value) or {}).items()}
        elif key in _INNER:
            found[key] = _pruned_if_any(value)
    return _with_required(found)


def _pruned_if_any(schema: Any) -> Any:
    """The same, of what may be true or false too."""
    return schema if isinstance(schema, bool) else _pruned(schema)


def _with_required(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose required members are all declared."""
    declared: Mapping[str, Any] = schema.get("properties", {})
    lacking = [name for name in schema.get("required", ()) if name not in declared]
    if lacking and declared:
        schema["properties"] = {**declared, **{name: {} for name in lacking}}
    return schema


def _require_local(ref: Any) -> None:
    """Raises Untyped for a reference that leads out of the schema: nothing is fetched."""
    if ref is not None and not (ref == "#" or str(ref).startswith("#/")):
        raise Untyped(f"refers to {str(ref)[:80]!r}, which is not in the schema")


def _require_no_reference(value: Any) -> None:
    """Raises Untyped for a value in which datamodel-code-generator would follow a reference."""
    for key, inner in (object_of(value) or {}).items():
        if key == "$ref":
            raise Untyped("has `$ref` in a value, where it is no reference")
        _require_no_reference(inner)
    for inner in list_of(value) or ():
        _require_no_reference(inner)
