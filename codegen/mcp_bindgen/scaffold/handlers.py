"""Values for the templates of tool handlers: a module and a test for each tool, and their list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from mcp_bindgen.emit.text.layout import Code, Group, call, docstring, lay, literal
from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.scaffold.structs import imports, lines
from mcp_bindgen.scaffold.tools import Tool

__all__ = ["joined", "tool_view"]

_NUMBERED: Final = re.compile(r"(\D*)(\d*)")
_ANY_ANSWER = "str"
"""The return type of a handler whose tool declares no output."""


def joined(tools: Sequence[Tool]) -> dict[str, Any]:
    """The values for the template of the module which lists the handlers of all tools."""
    modules = sorted((tool.module for tool in tools), key=_natural)
    return {"modules": modules, "rows": [line for tool in tools for line in _row(tool)]}


def _natural(name: str) -> list[tuple[str, int]]:
    """The sort key of a module's name: a2 comes before a10."""
    return [(text, int(number or 0)) for text, number in _NUMBERED.findall(name)]


def _row(tool: Tool) -> Iterator[str]:
    handler = call("Handler", f"{tool.module}.Input", f"{tool.module}.handle")
    yield from lay("    ", f"{literal(tool.name)}: ", handler, ",")


def tool_view(tool: Tool, own: Sequence[str] = ()) -> Mapping[str, Any]:
    """The values for the templates of a tool's module and of its test; `own` are more imports."""
    types = [*tool.input.types, *(tool.output.types if tool.output else ())]
    body = lines(types)
    return {
        "module": tool.module,
        "docstring": _docstring(tool),
        "imports": imports("\n".join(body), own),
        "types": body,
        "answer": tool.output.name if tool.output else _ANY_ANSWER,
        "stub": lay("    ", "raise ", call("NotImplementedError", _unwritten(tool)), ""),
        "name": lay("", "NAME: Final = ", literal(tool.name)),
        "sample": lay("", "ARGUMENTS: Final[dict[str, Any]] = ", _code(tool.sample)),
    }


def _unwritten(tool: Tool) -> str:
    return literal(f"{tool.module} is not written yet")


def _docstring(tool: Tool) -> list[str]:
    said = tool.description or f"The tool {tool.name}."
    lacking = [*tool.unsaid, *(f"{each.place}: all of it" for each in tool.loose)]
    unsaid = f" (Not said by the types: {', '.join(lacking)}.)" if lacking else ""
    return docstring("", " ".join(f"{said}{unsaid}".split()))


def _code(value: Any) -> Code:
    """A JSON value as Python."""
    if (members := object_of(value)) is not None:
        rows = (_member(name, _code(inner)) for name, inner in members.items())
        return Group("{", tuple(rows), "}")
    if (items := list_of(value)) is not None:
        return Group("[", tuple(map(_code, items)), "]")
    return literal(cast("str | int | float | bool | None", value))


def _member(name: str, value: Code) -> Code:
    head = f"{literal(name)}: "
    if isinstance(value, Group):
        return replace(value, head=head + value.head)
    return f"{head}{value if isinstance(value, str) else ''}"
