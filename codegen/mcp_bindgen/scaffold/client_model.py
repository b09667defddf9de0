"""The lists of a server as methods of a typed client: names, parameters, types, texts.

All text of the server is data here; `client_text` writes it as literals, docstrings and comments.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_bindgen.emit.text.layout import Code, Group, Or
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.names import identifier, member_name, snake
from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.scaffold.structs import Class, Member, Models, drop_defaults
from mcp_bindgen.scaffold.tools import models, unsaid
from mcp_bindgen.tools.json_document import Node
from mcp_bindgen.tools.listing import KINDS, listed, other_lists
from mcp_bindgen.tools.normalize import Loose
from mcp_bindgen.tools.surface import Surface, surface

__all__ = ["Lists", "Param", "PromptMethod", "ToolMethod", "UriMethod", "pascal", "read_client"]

_LONGEST: Final = 60
_TAKEN: Final = frozenset((
    *keyword.kwlist, *keyword.softkwlist,
    "bool", "bytes", "classmethod", "dict", "float", "int", "list", "object", "property", "self",
    "str", "tuple", "type",
    "msgspec", "types",
    "client", "completions", "connect", "prompts", "resources", "templates", "using",
))  # fmt: skip
"""Names that a method may not have: it would hide what other lines of its class need."""
_NOT_ASCII: Final = re.compile(r"[^A-Za-z0-9]|^[0-9]+")
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_EXPRESSION: Final = re.compile(r"[+?&]?[A-Za-z_]\w*(?:,[A-Za-z_]\w*)*\Z")


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its key in the arguments, its Python name, its type, whether it is required."""

    wire: str
    name: str
    type: Code
    required: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class ToolMethod:
    """A tool. `params` is None if its arguments are given as one mapping; `input` and `output` are
    None without types of their own. `loose` are places with a wider type, `unsaid` are keywords
    that no type says.
    """

    wire: str
    name: str
    text: str
    params: tuple[Param, ...] | None
    input: Models | None
    output: Models | None
    loose: tuple[Loose, ...] = ()
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMethod:
    wire: str
    name: str
    text: str
    params: tuple[Param, ...]


@dataclass(frozen=True, slots=True)
class UriMethod:
    """A resource, or a template: its `params` are its variables; None if it has other expressions,
    and takes a whole URI.
    """

    wire: str
    name: str
    text: str
    params: tuple[Param, ...] | None


@dataclass(frozen=True, slots=True)
class Lists:
    """The methods of a client; `left_out` are items without a name, each with its reason."""

    tools: tuple[ToolMethod, ...]
    prompts: tuple[PromptMethod, ...]
    resources: tuple[UriMethod, ...]
    templates: tuple[UriMethod, ...]
    left_out: tuple[str, ...]

    @property
    def places(self) -> list[str]:
        """A line for each place that no type says, with the reason."""
        return [
            f"{tool.name}: {each.place}: {each.why}" for tool in self.tools for each in tool.loose
        ]


def read_client(data: bytes, path: str, taken: Iterable[str] = ()) -> Lists:
    """Read the lists of a server. A tool whose schemas cannot be read takes any arguments; no type
    has a name in `taken`.

    Raises InputError for a text without lists, and SchemaError for one that is too large.
    """
    left_out: list[str] = []

    def leave_out(node: Node, why: str) -> None:
        left_out.append(f"{node.document.source.place(node.at)}: {why}")

    nodes = listed(data, path, leave_out)
    others = other_lists(data, path)
    prompts, resources, templates = (others.get(kind, []) for kind in KINDS)
    return Lists(
        tuple(_tools(nodes, path, {*taken})),
        tuple(
            _prompt(node, name) for node, name in _with_names(prompts, lambda n: n.value["name"])
        ),
        tuple(_uri(node, name, "uri") for node, name in _with_names(resources, _title)),
        tuple(_uri(node, name, "uriTemplate") for node, name in _with_names(templates, _title)),
        tuple(left_out),
    )


# ---- names


def _with_names(nodes: Sequence[Node], said: Callable[[Node], str]) -> list[tuple[Node, str]]:
    taken: set[str] = set()
    return [(node, _name(said(node), taken)) for node in nodes]


def _name(text: str, taken: set[str]) -> str:
    """A Python name made of `text`, which is added to `taken`; it ends in `_` where it must."""
    plain = unicodedata.normalize("NFKC", text)
    names = (identifier(made).strip("_")[:_LONGEST].strip("_") for made in (snake(plain), plain))
    name = next((each for each in names if each), "")
    if not any(c.isalpha() for c in name):
        name = f"n{name}" if name else "unnamed"
    elif name[0].isdigit() or not name.isidentifier():
        name = f"n{name}"
    while name in taken or name in _TAKEN:
        name += "_"
    taken.add(name)
    return name


def _title(node: Node) -> str:
    """The name of a resource or template, else its URI."""
    name = node.members.get("name")
    return name if isinstance(name, str) and name else str(node.value.get("uri") or "resource")


def _text(node: Node) -> str:
    texts = (node.members.get(member) for member in ("description", "title"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_") if part)


# ---- tools


def _tools(nodes: Sequence[Node], path: str, classes: set[str]) -> Iterable[ToolMethod]:
    whys = {node.value["name"]: _fault(node, path) for node in nodes}
    whole = surface([node for node in nodes if not whys[node.value["name"]]], path)
    for node, name in _with_names(nodes, lambda n: n.value["name"]):
        if why := whys[node.value["name"]]:
            loose = (Loose("input", why),)
            yield ToolMethod(node.value["name"], name, _text(node), None, None, None, loose)
        else:
            yield _tool(node, name, whole, classes)


def _fault(node: Node, path: str) -> str:
    """The reason why the schemas of a tool cannot be read; empty if they can."""
    try:
        surface([node], path)
    except InputError as error:
        return error.message.partition(": ")[2] or error.message
    return ""


def _tool(node: Node, name: str, whole: Surface, classes: set[str]) -> ToolMethod:
    wire: str = node.value["name"]
    head = _NOT_ASCII.sub("", pascal(name)) or "Tool"
    while True:  # until no class has the name of one of another tool
        input, _, loose = models(whole, wire, "inputSchema", f"{head}Input")
        output, more = None, list[Loose]()
        if node.members.get("outputSchema") is not None:
            output, _, more = models(whole, wire, "outputSchema", f"{head}Output")
        made = {each.name for part in (input, output) if part for each in part.types}
        if not made & classes:
            break
        head += "Tool"
    classes |= made
    params = _params(input)
    return ToolMethod(
        wire,
        name,
        _text(node),
        params,
        drop_defaults(input) if params is not None else None,
        output and drop_defaults(output),
        (*loose, *more),
        tuple(unsaid(whole, wire)),
    )


def _params(input: Models) -> tuple[Param, ...] | None:
    """The members of the arguments as parameters; None if they are not listed."""
    root = input.types[-1]
    if not isinstance(root, Class) or root.bases != ("Struct",):
        return None
    taken: set[str] = {"self"}
    return tuple(_param(member, taken) for member in root.members)


def _param(member: Member, taken: set[str]) -> Param:
    name = member.name
    while name in taken:
        name += "_"
    taken.add(name)
    shown = member.drop_default()
    return Param(member.wire, name, _plain(shown.annotation), not member.default, shown.text)


def _plain(code: Code) -> Code:
    """A type without its bounds, which only clutter a signature."""
    if isinstance(code, Or):
        return Or(tuple(map(_plain, code.items)), code.operator)
    if isinstance(code, Group):
        if code.head == "Annotated[":
            return _plain(code.items[0])
        return Group(code.head, tuple(map(_plain, code.items)), code.close)
    return code


# ---- prompts, resources, templates


def _prompt(node: Node, name: str) -> PromptMethod:
    taken: set[str] = {"self"}
    listed = map(object_of, list_of(node.members.get("arguments")) or ())
    arguments = [each for each in listed if each and isinstance(each.get("name"), str)]
    params = tuple(
        _text_param(str(a["name"]), taken, a.get("required") is True, str(a.get("description", "")))
        for a in arguments
    )
    return PromptMethod(node.value["name"], name, _text(node), params)


def _text_param(wire: str, taken: set[str], required: bool, text: str = "") -> Param:
    name = member_name(wire) or "argument"
    while name in taken:
        name += "_"
    taken.add(name)
    type = "str" if required else Or(("str", "UnsetType"))
    return Param(wire, name, type, required, text)


def _uri(node: Node, name: str, key: str) -> UriMethod:
    wire: str = node.value[key]
    if key == "uri":
        return UriMethod(wire, name, _text(node), ())
    taken: set[str] = {"self"}
    expressions = _VARIABLE.findall(wire)
    if not all(_EXPRESSION.match(each) for each in expressions):
        return UriMethod(wire, name, _text(node), None)
    names: dict[str, bool] = {}
    for each in expressions:
        for variable in each.lstrip("+?&").split(","):
            names[variable] = names.get(variable, False) or each[0] not in "?&"
    params = tuple(_text_param(each, taken, required) for each, required in names.items())
    return UriMethod(wire, name, _text(node), params)
