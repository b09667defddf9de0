"""Turns a list of tools into typed handlers: for each tool a module with types, a stub and a test.

The list is stored in the project as `tools.json`; an update makes the types from it again.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp_bindgen.compare.judge.samples import UnmakeableError, smallest
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.model import Type
from mcp_bindgen.ir.names import snake
from mcp_bindgen.scaffold.structs import Models
from mcp_bindgen.scaffold.type_checks import check_types
from mcp_bindgen.scaffold.typed import Untyped, typed
from mcp_bindgen.tools.json_document import Node, steps
from mcp_bindgen.tools.listing import listed
from mcp_bindgen.tools.normalize import ANY_OBJECT, Loose, normalize
from mcp_bindgen.tools.remarks import quoted
from mcp_bindgen.tools.surface import Surface, surface

__all__ = ["Tool", "listing", "loose_places", "models", "read", "unsaid"]

_PARTS: Final = {
    "inputSchema": ("params", "arguments"),
    "outputSchema": ("result", "structuredContent"),
}
"""The schemas of a tool, each with its shape and member in `diff`."""
_KINDS: Final = {"inputSchema": "input", "outputSchema": "output"}
_LONGEST: Final = 60
"""Characters of a module's name."""
_SAID: Final = frozenset({"$ref"})
"""Keywords unread by `diff` which the types express nevertheless."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`module` is the name of its module; `output` is None if the tool declares none.

    `declared` is the tool as listed; `unsaid` are keywords missing in the types, each with its
    place; `loose` are places whose types are wider, with reasons.
    """

    name: str
    module: str
    description: str
    declared: Mapping[str, Any]
    input: Models
    output: Models | None
    sample: Any
    unsaid: tuple[str, ...]
    loose: tuple[Loose, ...]


def listing(tools: Sequence[Tool]) -> str:
    """The text of `tools.json`."""
    declared = [tool.declared for tool in tools]
    return json.dumps({"tools": declared}, indent=2) + "\n"


def read(
    data: bytes,
    path: str,
    *,
    strict: bool = False,
    refusal: Callable[[Any], str] = lambda _: "",
    left_out: list[str] | None = None,
) -> list[Tool]:
    """Read the tools of a file.

    `refusal` returns the reason why no server can offer a tool (given in its JSON form), or "".
    Refused tools are named in `left_out`, with place and reason. Raises InputError for them without
    `left_out` or if `strict`; if `strict`, also for tools with incomplete types; SchemaError.
    """
    odd: list[str] = []

    def leave_out(node: Node, why: str) -> None:
        odd.append(_odd(node, why))

    nodes = listed(data, path, leave_out)
    reasons = [refusal(node.value) or _unreadable(node, path) for node in nodes]
    for node, why in zip(nodes, reasons, strict=True):
        if why:
            leave_out(node, why)
    nodes = [node for node, why in zip(nodes, reasons, strict=True) if not why]
    if odd and (strict or left_out is None or not nodes):
        raise InputError(
            f"{path}: {len(odd)} of {len(odd) + len(nodes)} tools cannot be offered",
            rows=odd,
            remedy="Mend them in the file, or take them out of it.",
        )
    if left_out is not None:
        left_out += odd
    if not nodes:
        raise InputError(f"{path}: lists no tools", remedy="Give a list with some.")
    whole = surface(nodes, path)
    modules = _modules(nodes)
    tools = [_tool(node, modules[node.value["name"]], whole) for node in nodes]
    untyped = [tool for tool in tools if tool.loose]
    if strict and untyped:
        head = f"{path}: {len(untyped)} of {len(tools)} tools cannot be typed in full"
        raise InputError(
            head,
            rows=loose_places(untyped),
            remedy="Mend their schemas, take these tools out of the list, or leave --strict out.",
        )
    return tools


def _odd(node: Node, why: str) -> str:
    """A line for an item that is left out: its name, or its path where it has none."""
    name, place = node.members.get("name"), node.document.source.place(node.at)
    named = json.dumps(name) if isinstance(name, str) and name else steps(node.path)
    return f"{named} ({place}): {why}"


def _unreadable(node: Node, path: str) -> str:
    """The reason why the schemas of a tool cannot be read; empty if they can."""
    try:
        surface([node], path)
    except InputError as error:
        return str(error).splitlines()[0].partition(": ")[2]
    return ""


def loose_places(tools: Sequence[Tool]) -> list[str]:
    """A line for each place with a wider type: the tool, the place, and the reason."""
    return [
        f"{json.dumps(tool.name)}: {each.place}: {each.why}"
        for tool in tools
        for each in tool.loose
    ]


_TAKEN: Final = frozenset({*keyword.kwlist, *keyword.softkwlist, "json", "offer", "str", "types"})
"""Forbidden module names: Python's keywords, and names in the joining module."""


def _modules(nodes: Sequence[Node]) -> dict[str, str]:
    """The module of each tool by name. Raises InputError if two tools share a module."""
    modules: dict[str, str] = {}
    for node in nodes:
        name = node.value["name"]
        module = _module(name)
        if module is None:
            raise node.below("name").error("no module can be named after it", remedy="Rename it.")
        twin = next((other for other, taken in modules.items() if taken == module), None)
        if twin is not None:
            raise node.below("name").error(
                f"its module would be {module}, and so would that of {twin!r}",
                remedy="Rename one of them, or take it out.",
            )
        modules[name] = module
    return modules


def _module(name: str) -> str | None:
    module = snake(name).strip("_")[:_LONGEST].strip("_")
    if not module:
        return None
    if module[0].isdigit():
        module = f"n{module}"
    return f"{module}_" if module in _TAKEN else module


def _tool(node: Node, module: str, whole: Surface) -> Tool:
    tool: dict[str, Any] = node.value
    name: str = tool["name"]
    input, sample, loose = models(whole, name, "inputSchema", "Input")
    output = None
    if tool.get("outputSchema") is not None:
        output, _, more = models(whole, name, "outputSchema", "Output")
        loose += more
    description = tool.get("description")
    return Tool(
        name,
        module,
        description if isinstance(description, str) else "",
        tool,
        input,
        output,
        sample,
        tuple(unsaid(whole, name)),
        tuple(loose),
    )


def models(whole: Surface, name: str, schema: str, title: str) -> tuple[Models, Any, list[Loose]]:
    """The types of one schema of a tool, the outermost called `title`; a sample value; and the
    places without a type.

    All of it is an open object if no value satisfies the schema, or the types do not work.
    """
    part, type = _KINDS[schema], _type(whole, name, schema)
    try:
        sample = smallest(whole.side.schema, type)
    except UnmakeableError:
        return typed(ANY_OBJECT, title), {}, [Loose(part, "no value satisfies its schema")]
    try:
        listed = whole.schemas[name, part]
        open = "additionalProperties" in listed.members
        normalized = normalize(whole.side.schema, whole.reader, type, part, open=open)
        models = typed(normalized.schema, title)
        check_types(models, sample)
    except Untyped as error:
        return typed(ANY_OBJECT, title), sample, [Loose(part, error.message)]
    return models, sample, [*normalized.loose]


def _type(whole: Surface, name: str, schema: str) -> Type:
    part, member = _PARTS[schema]
    struct = whole.side.schema.structs[f"{quoted(name)} {part}"]
    return next(field.type for field in struct.fields if field.wire == member)


def unsaid(whole: Surface, name: str) -> Iterator[str]:
    """The keywords of a tool missing in its types."""
    for remark in whole.reader.unread.values():
        if remark.tool == name and remark.keyword not in _SAID:
            yield f"{remark.path.removeprefix(f'{name}.')}: {remark.keyword}"
