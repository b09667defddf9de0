"""The lists of one side as a schema: a tool is a method, its calls and results are messages.

Calls carry the input to the server, results carry the output back. Prompts, resources and templates
are methods too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from mcp_bindgen.compare.report.report import Side
from mcp_bindgen.ir.model import Arr, Field, Lit, Method, Prim, Ref, Schema, Struct, Type
from mcp_bindgen.source import Source
from mcp_bindgen.tools.items import items, read_items, rest_of
from mcp_bindgen.tools.json_document import Node
from mcp_bindgen.tools.json_schema import Reader
from mcp_bindgen.tools.keywords import canonical
from mcp_bindgen.tools.listing import listed, other_lists
from mcp_bindgen.tools.remarks import Remark, Remarks, quoted

__all__ = ["ARGUMENTS", "STRUCTURED", "WRAPPERS", "Surface", "read", "read_both", "surface"]

ARGUMENTS: Final = "arguments"
STRUCTURED: Final = "structuredContent"
WRAPPERS: Final = (" params", " result")
"""Suffixes of the names of the wrapper shapes around arguments and structured content."""
_SCHEMAS: Final = {"inputSchema": "input", "outputSchema": "output"}
_NO_TASKS: Final = ("taskSupport", "forbidden")
"""The meaning of an absent member of `execution`."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools of one side: `side` has them as methods, `reader` has the remarks, `members` the
    other members of each tool by its name and path, `schemas` its input and output; `kinds` are the
    kinds of the methods that are not tools.
    """

    side: Side
    reader: Reader
    members: Remarks
    schemas: Mapping[tuple[str, str], Node]
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])


def read(data: bytes, path: str) -> Surface:
    """Read the tools of a file and their schemas.

    Raises the errors of `listed`, and InputError for invalid schemas.
    """
    return surface(listed(data, path), path)


def read_both(old: tuple[bytes, str], new: tuple[bytes, str]) -> tuple[Surface, Surface]:
    """Read two files, each given by its data and its path: their tools, and the kinds of other
    lists that both have, since a list that is not there proves nothing. Raises the errors of
    `read`.
    """
    lists = [other_lists(*side) for side in (old, new)]
    both = [kind for kind in lists[0] if kind in lists[1]]
    before, after = (
        surface(listed(*side), side[1], {kind: others[kind] for kind in both})
        for side, others in zip((old, new), lists, strict=True)
    )
    return before, after


_NO_OTHERS: Final[Mapping[str, Sequence[Node]]] = {}


def surface(
    tools: Sequence[Node], path: str, others: Mapping[str, Sequence[Node]] = _NO_OTHERS
) -> Surface:
    """The surface of these tools, and of other lists by their kind. Raises InputError for invalid
    schemas.
    """
    reader, methods = Reader(), [_method(tool) for tool in tools]
    shapes = [shape for tool in tools for shape in _shapes(tool, reader)]
    entries = items(others, tools)
    more_shapes, more_methods = read_items(entries, reader)
    nodes = [*tools, *(item.node for item in entries)]
    digest = sha256(canonical([node.value for node in nodes]).encode()).hexdigest()
    declared = (*shapes, *more_shapes, *reader.declarations)
    schema = Schema(path, path, digest, declared, (*methods, *more_methods))
    remarks = [
        *(r for tool in tools for r in _rest(tool)),
        *(r for i in entries for r in rest_of(i)),
    ]
    rest = {(quoted(r.tool), r.path): r for r in remarks}
    source = nodes[0].document.source if nodes else Source(b"", path)
    schemas = {(tool.value["name"], part): node for tool in tools for part, node in _schemas(tool)}
    kinds = {item.name: item.kind for item in entries}
    return Surface(Side(path, schema, source), reader, rest, schemas, kinds)


def _call(name: str) -> str:
    return f"{quoted(name)} call"


def _result(name: str) -> str:
    return f"{quoted(name)} result"


def _method(tool: Node) -> Method:
    name = tool.value["name"]
    return Method(name, _call(name), "request", "client-to-server", None, False, Ref(_result(name)))


def _schemas(tool: Node) -> Iterator[tuple[str, Node]]:
    """Input and output, where there are schemas of them."""
    for member, part in _SCHEMAS.items():
        if tool.members.get(member) is not None:
            yield part, tool.below(member)


def _shapes(tool: Node, reader: Reader) -> Iterator[Struct]:
    """A call of the tool and its result, as they are on the wire."""
    name = tool.value["name"]
    given = reader.read(tool.below("inputSchema"), name, "input")
    params = _shape(f"{quoted(name)} params", tool, {"name": Lit(name), ARGUMENTS: given})
    yield params
    yield _shape(_call(name), tool, {"method": Lit("tools/call"), "params": Ref(params.name)})
    result: dict[str, Type] = {"content": Arr(Prim("unknown"))}
    if tool.members.get("outputSchema") is not None:
        result[STRUCTURED] = reader.read(tool.below("outputSchema"), name, "output")
    yield _shape(_result(name), tool, result)


def _shape(name: str, tool: Node, members: dict[str, Type]) -> Struct:
    fields = tuple(
        Field(wire, wire, type, required=True, at=_at(tool, wire)) for wire, type in members.items()
    )
    return Struct(name, fields, None, place=tool.value["name"], at=tool.at)


def _at(tool: Node, wire: str) -> int:
    place = {ARGUMENTS: "inputSchema", STRUCTURED: "outputSchema"}.get(wire)
    return tool.below(place).at if place in tool.members else tool.at


def _rest(tool: Node) -> Iterator[Remark]:
    """The members of a tool beside name and schemas; `annotations` and the like member by
    member.
    """
    name = tool.value["name"]
    for member, value in tool.members.items():
        if member in ("name", *_SCHEMAS):
            continue
        inner = tool.below(member)
        if member in ("annotations", "execution") and isinstance(value, dict):
            for key, hint in inner.members.items():
                if (key, hint) != _NO_TASKS:
                    path = f"{name}.{member}.{key}"
                    yield Remark(path, member, canonical(hint), inner.below(key).at, name, "")
        else:
            yield Remark(f"{name}.{member}", member, canonical(value), inner.at, name, "")
