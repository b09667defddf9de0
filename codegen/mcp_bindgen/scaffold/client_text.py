"""The module of a typed client, written from its methods.

Text of the server enters only as literals, docstrings and comments, with all else escaped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import jinja2

from mcp_bindgen import paths
from mcp_bindgen.emit.text.layout import STEP, Code, Group, call, docstring, flat, lay, literal
from mcp_bindgen.errors import TemplateError
from mcp_bindgen.scaffold.client_model import (
    Lists,
    Param,
    PromptMethod,
    ToolMethod,
    UriMethod,
    pascal,
)
from mcp_bindgen.scaffold.structs import lines
from mcp_bindgen.source.text import printable

__all__ = ["TARGETS", "ClientText", "class_names", "write_client"]

TARGETS: Final = ("runtime", "mcp")
_IMPORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "re": (),
    "sys": (),
    "collections.abc": ("AsyncGenerator", "Mapping"),
    "contextlib": ("asynccontextmanager",),
    "typing": (
        *("TYPE_CHECKING", "Annotated", "Any", "Final", "Literal", "TypeAlias", "TypeVar"),
        *("Union", "Unpack"),
    ),
    "urllib.parse": ("quote",),
    "": (),
    "msgspec": ("UNSET", "Meta", "Struct", "UnsetType", "convert", "field"),
}
"""The imports of both kinds of client, in their order; only used names are imported."""
_OWN: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "runtime": {
        "mcp_runtime": ("Client", "ToolFailed", "ToolResult", "definition_digest", "types"),
        "mcp_runtime.client.options": ("ClientOptions",),
        "mcp_runtime.errors": ("BadAnswer", "PeerError"),
        "mcp_runtime.shared.connection": ("OnProgress",),
    },
    "mcp": {"mcp": ("ClientSession", "types")},
}
_RESULTS: Final = {
    "runtime": {
        "tool": "ToolResult",
        "prompt": "types.GetPromptResult",
        "resource": "list[types.TextResourceContents | types.BlobResourceContents]",
        "complete": "types.CompleteResultCompletion",
        "prompt_ref": "types.PromptReference(name={})",
        "template_ref": "types.ResourceTemplateReference(uri={})",
    },
    "mcp": {
        "tool": "types.CallToolResult",
        "prompt": "types.GetPromptResult",
        "resource": "list[types.TextResourceContents | types.BlobResourceContents]",
        "complete": "types.Completion",
        "prompt_ref": 'types.PromptReference(type="ref/prompt", name={})',
        "template_ref": 'types.ResourceTemplateReference(type="ref/resource", uri={})',
    },
}
_WIDTH: Final = 92
_PARTS: Final = ("Prompts", "Resources", "Templates", "Completions")


@dataclass(frozen=True, slots=True)
class ClientText:
    """What a client is written from: its name, the server's own words about itself, the digests of
    the tools by name and member (the whole one by an empty name), the day they were seen, and the
    expression that makes a client of the server (empty without one).
    """

    name: str
    lists: Lists
    title: str
    digests: Mapping[str, Mapping[str, str]]
    seen: str
    connect: str = ""
    target: str = "runtime"


def class_names(name: str) -> frozenset[str]:
    """The names of the classes of a client that are not types of tools."""
    head = pascal(name)
    return frozenset((head, *(head + part for part in _PARTS)))


def write_client(client: ClientText) -> str:
    """The text of the module. Raises TemplateError."""
    lists, head = client.lists, pascal(client.name)
    writer = _Writer(client.target)
    parts = {
        "Prompts": [line for each in lists.prompts for line in writer.prompt(each)],
        "Resources": [line for each in lists.resources for line in writer.uri(each)],
        "Templates": [line for each in lists.templates for line in writer.uri(each)],
        "Completions": [*writer.completions(lists)],
    }
    kept = {part: body for part, body in parts.items() if body}
    types = [t for tool in lists.tools for m in (tool.input, tool.output) if m for t in m.types]
    view = {
        "name": head,
        "doc": "\n".join(_doc("", [f"A typed client of {client.title}."])),
        "class_doc": _doc(STEP, [f"The tools of {client.title}."]),
        "types": lines(types),
        "locked": _lock(client),
        "expands": any(each.params for each in lists.templates),
        "members": [(part.lower(), f"{head}{part}") for part in kept],
        "connect": client.connect,
        "tools": [line for tool in lists.tools for line in writer.tool(tool)],
        "parts": [line for part, body in kept.items() for line in _part(head, part, body)],
    }
    text = _render(client.target, {**view, "imports": []})
    return _render(client.target, {**view, "imports": _imports(text, client.target)})


def _render(target: str, view: Mapping[str, object]) -> str:
    path = paths.templates() / "client" / f"{target}.py.jinja"
    engine = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    try:
        return engine.from_string(path.read_text("utf-8")).render(view).rstrip() + "\n"
    except jinja2.TemplateError as error:
        raise TemplateError(f"{path}: {error}", remedy="Mend the template.") from None


def _imports(text: str, target: str) -> list[str]:
    """The lines of the imports whose names the text uses."""
    tree = ast.walk(ast.parse(text))
    used = {node.id for node in tree if isinstance(node, ast.Name)}
    rows: list[str] = []
    for module, names in {**_IMPORTS, **_OWN[target]}.items():
        if not module:
            rows.append("")
        elif (module in used or module == "msgspec") and (not names or module == "msgspec"):
            rows.append(f"import {module}")
        if kept := [name for name in names if name in used]:
            rows += lay("", f"from {module} import ", Group("(", tuple(kept), ")"))
            if len(rows[-1]) <= _WIDTH and rows[-1].startswith("from"):
                rows[-1] = f"from {module} import {', '.join(kept)}"
    return rows


def _lock(client: ClientText) -> str:
    rows = [lay("", "SEEN: Final = ", literal(client.seen))]
    members: list[Code] = []
    for name, digests in client.digests.items():
        inner = tuple(f"{literal(member)}: {literal(d)}" for member, d in digests.items())
        members.append(Group(f"{literal(name)}: {{", inner, "}"))
    table = Group("{", tuple(members), "}")
    rows.append(lay("", "LOCKED: Final[Mapping[str, Mapping[str, str]]] = ", table))
    return "\n".join(line for row in rows for line in row)


# ---- texts of the server


def _doc(indent: str, texts: Sequence[str]) -> list[str]:
    """A docstring of paragraphs; the spaces of each are those of one line."""
    said = [line for text in texts if (line := " ".join(text.split()))]
    made = ["\n".join(docstring(indent, text)) for text in said]
    inside = [text.removeprefix(f'{indent}"""').removesuffix('"""').rstrip() for text in made]
    inside = [text for text in inside if text]
    if not inside:
        return []
    if len(inside) == 1:
        return made[0].split("\n")
    return [*f'{indent}"""{f"{chr(10)}{chr(10)}{indent}".join(inside)}'.split("\n"), f'{indent}"""']


def _comment(text: str) -> str:
    return f"{STEP}# {printable(' '.join(text.split()))}"


def _part(head: str, part: str, body: Iterable[str]) -> Iterator[str]:
    what = "Suggestions for arguments" if part == "Completions" else f"The {part.lower()}"
    yield from ("", "", f"class {head}{part}:", f'{STEP}"""{what} of the server."""', "")
    yield from (
        f"{STEP}def __init__(self, calls: _Calls) -> None:",
        f"{STEP * 2}self._calls = calls",
    )
    yield from body


class _Writer:
    """Writes methods for one target."""

    def __init__(self, target: str) -> None:
        self._result = _RESULTS[target]

    def tool(self, tool: ToolMethod) -> Iterator[str]:
        lacking = [f"not typed: {each.place}: {each.why}" for each in tool.loose]
        lacking += [f"not said by the types: {each}" for each in tool.unsaid]
        answer = tool.output.name if tool.output else self._result["tool"]
        yield ""
        yield from map(_comment, lacking)
        if tool.params is None:
            head: tuple[Code, ...] = ("self", "arguments: Mapping[str, Any]")
            given: Code = "arguments"
        else:
            head, given = _signature(tool.params), _arguments(tool.params)
        words = [literal(tool.wire), given]
        if tool.output:
            words.append(answer)
        sent = call(f"self._calls.{'read' if tool.output else 'call'}", *words)
        yield from _method(tool.name, head, answer, _texts(tool.text, tool.params or ()), sent)

    def prompt(self, prompt: PromptMethod) -> Iterator[str]:
        sent = call("self._calls.prompt", literal(prompt.wire), _arguments(prompt.params))
        head, texts = _signature(prompt.params), _texts(prompt.text, prompt.params)
        yield ""
        yield from _method(prompt.name, head, self._result["prompt"], texts, sent)

    def uri(self, method: UriMethod) -> Iterator[str]:
        yield ""
        head: tuple[Code, ...] = ("self", "uri: str")
        uri: Code = "uri"
        if method.params is None:
            yield _comment(f"not typed: the expressions of {method.wire}")
        else:
            head, uri = _signature(method.params), literal(method.wire)
            if method.params:
                uri = call("_expand", uri, _arguments(method.params))
        text = method.text or f"Read {method.wire}."
        sent = call("self._calls.resource", uri)
        yield from _method(method.name, head, self._result["resource"], [text], sent)

    def completions(self, lists: Lists) -> Iterator[str]:
        taken: set[str] = set()
        rows: list[tuple[PromptMethod | UriMethod, str]] = [
            *((each, "prompt_ref") for each in lists.prompts),
            *((each, "template_ref") for each in lists.templates),
        ]
        for each, kind in rows:
            if not each.params:
                continue
            name = each.name
            while name in taken:
                name += "_"
            taken.add(name)
            names = Group("Literal[", tuple(literal(p.wire) for p in each.params), "]")
            argument = f"argument: {flat(names)}"
            head = ("self", argument, "value: str", "/", "**chosen: str")
            ref = self._result[kind].format(literal(each.wire))
            sent = call("self._calls.complete", ref, "argument", "value", "chosen")
            texts = ["Suggest values of an argument; `chosen` are arguments with a value."]
            yield ""
            yield from _method(name, head, self._result["complete"], texts, sent)


def _texts(text: str, params: Sequence[Param]) -> list[str]:
    return [text, *(f"{param.name}: {param.text}" for param in params if param.text.strip())]


def _signature(params: Sequence[Param]) -> tuple[Code, ...]:
    rows = [
        f"{param.name}: {flat(param.type)}{'' if param.required else ' = UNSET'}"
        for param in params
    ]
    return ("self", "*", *rows) if rows else ("self",)


def _arguments(params: Sequence[Param]) -> Code:
    return Group("{", tuple(f"{literal(param.wire)}: {param.name}" for param in params), "}")


def _method(
    name: str, head: Sequence[Code], answer: str, texts: Sequence[str], sent: Code
) -> Iterator[str]:
    yield from lay(STEP, "", Group(f"async def {name}(", tuple(head), ")"), f" -> {answer}:")
    yield from _doc(STEP * 2, texts)
    yield from lay(STEP * 2, "return await ", sent)
