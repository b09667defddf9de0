"""The prompts, resources and templates of one side, as methods beside the tools.

The arguments of a prompt are an object of strings; a resource has an address, a template many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.model import Arr, Field, Lit, Method, Prim, Ref, Struct, Type
from mcp_bindgen.tools.json_document import Node
from mcp_bindgen.tools.json_schema import Reader
from mcp_bindgen.tools.keywords import TEXTS, canonical
from mcp_bindgen.tools.listing import KINDS
from mcp_bindgen.tools.remarks import Remark, add, quoted
from mcp_bindgen.tools.shapes import ANY

__all__ = ["Item", "items", "read_items", "rest_of"]

_REQUESTS: Final = {
    "prompt": ("prompts/get", "messages"),
    "resource": ("resources/read", "contents"),
    "template": ("resources/read", "contents"),
}
"""The method by which a client asks for each kind, and the list in its result."""
_VARIABLE: Final = re.compile(r"\{[^}]*\}")
_OF_CONTENTS: Final = (("size", ""), ("annotations", "lastModified"))
"""Members that say how the contents are today, and nothing of the definition."""


@dataclass(frozen=True, slots=True)
class Item:
    """A prompt, resource or template; `name` is its name as a method, such as `prompt greet`."""

    kind: str
    key: str
    node: Node

    @property
    def name(self) -> str:
        return f"{self.kind} {self.key}"


def items(lists: Mapping[str, Sequence[Node]], tools: Sequence[Node]) -> list[Item]:
    """The items of all lists. Raises InputError for a tool which has the name of one."""
    entries = [
        Item(kind, node.value[KINDS[kind][1]], node)
        for kind, nodes in lists.items()
        for node in nodes
    ]
    names = {each.name for each in entries}
    for tool in tools:
        if tool.value["name"] in names:
            message = f"a tool is called {tool.value['name']!r}, as the report calls another item"
            raise InputError(message, remedy="Rename the tool.")
    return entries


def read_items(entries: Sequence[Item], reader: Reader) -> tuple[list[Struct], list[Method]]:
    """The messages and methods of the items; texts of arguments go to `reader`."""
    shapes = [shape for each in entries for shape in _shapes(each, reader)]
    return shapes, [_method(each.name) for each in entries]


def _method(name: str) -> Method:
    result = Ref(f"{name} result")
    return Method(name, f"{name} call", "request", "client-to-server", None, False, result)


def _shapes(item: Item, reader: Reader) -> Iterator[Struct]:
    name, node = item.name, item.node
    method, answered = _REQUESTS[item.kind]
    uri = _VARIABLE.sub(_expand, item.key) if item.kind == "template" else item.key
    params: dict[str, Type] = {"uri": Lit(uri)}
    if item.kind == "prompt":
        yield _arguments(item, reader)
        params = {"name": Lit(item.key), "arguments": Ref(name)}
    yield _shape(f"{name} params", node, params)
    yield _shape(f"{name} call", node, {"method": Lit(method), "params": Ref(f"{name} params")})
    yield _shape(f"{name} result", node, {answered: Arr(Prim("unknown"))})


def _expand(variable: re.Match[str]) -> str:
    """An example of a variable's value; a query may be left out."""
    return "" if variable[0][1:2] in ("?", "&") else "x"


def _shape(name: str, node: Node, members: dict[str, Type]) -> Struct:
    fields = tuple(
        Field(wire, wire, type, required=True, at=node.at) for wire, type in members.items()
    )
    return Struct(name, fields, None, place=name, at=node.at)


def _arguments(item: Item, reader: Reader) -> Struct:
    """The arguments of a prompt, open like the input of a tool. Raises InputError."""
    listed = item.node.members.get("arguments")
    fields: dict[str, Field] = {}
    if listed is not None:
        whole = item.node.below("arguments")
        whole.require(lambda v: isinstance(v, list), "a list of arguments")
        for number in range(len(whole.items)):
            each = whole.below(number)
            each.require(lambda v: isinstance(v, dict), "an argument (an object)")
            wire = each.members.get("name")
            if not isinstance(wire, str):
                each.document.wrong(each.path, "an argument with `name`", each.value)
            required = each.members.get("required") is True
            fields[wire] = Field(wire, wire, Prim("string"), required, at=each.at)
            _remark(item, each, wire, reader)
    return Struct(item.name, tuple(fields.values()), ANY, place=item.name, at=item.node.at)


def _remark(item: Item, argument: Node, wire: str, reader: Reader) -> None:
    id = f"{item.name}.{quoted(wire)}"
    reader.seen.add(id)
    for keyword in TEXTS:
        if argument.members.get(keyword) is not None:
            value, at = canonical(argument.members[keyword]), argument.below(keyword).at
            said = Remark(f"{item.name}.{wire}", keyword, value, at, item.name, "input")
            add(reader.texts, id, said)


def rest_of(item: Item) -> Iterator[Remark]:
    """The members of an item beside its key and arguments; `annotations` member by member."""
    for member, value in item.node.members.items():
        inner = item.node.below(member)
        if member in (KINDS[item.kind][1], "arguments") or (member, "") in _OF_CONTENTS:
            continue
        if member == "annotations" and isinstance(value, dict):
            for key, hint in inner.members.items():
                if (member, key) not in _OF_CONTENTS:
                    path = f"{item.name}.{member}.{key}"
                    at = inner.below(key).at
                    yield Remark(path, member, canonical(hint), at, item.name, "")
        else:
            path = f"{item.name}.{member}"
            yield Remark(path, member, canonical(value), inner.at, item.name, "")
