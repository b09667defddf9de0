"""Gives the texts of name=value the types that a tool's input schema asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mcp_bindgen.cli.show import safe
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["only_texts", "typed"]


async def typed(client: Client, tool: str, given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """List the tools, and return the arguments of `tool`.

    A text stays a text where the schema takes one; elsewhere it is read as JSON. A name which
    occurs twice is an array, and so is a single text where the schema takes arrays alone. The
    server judges values which fit nowhere. Raises InputError for an unknown tool.
    """
    from mcp_runtime.json_schema.argument_repairs import repair_arguments
    from mcp_runtime.revisions import latest

    tools = {each.name: each for each in await client.list_tools()}
    if tool not in tools:
        near = get_close_matches(tool, tools, 1)
        raise InputError(
            f"the server has no tool {safe(tool)!r}",
            remedy=f"Did you mean {safe(near[0])!r}?" if near else "--list shows its tools.",
        )
    schema: dict[str, Any] = latest.to_wire(tools[tool].input_schema)
    arguments: dict[str, Any]
    arguments, _, _ = repair_arguments(schema, _grouped(given))
    properties: Mapping[str, Any] = schema.get("properties") or {}
    for name, value in arguments.items():
        member: Any = properties.get(name)
        if isinstance(value, str) and member.__class__ is dict and member.get("type") == "array":
            arguments[name] = [value]
    return arguments


def _grouped(given: Sequence[tuple[str, str]]) -> dict[str, str | list[str]]:
    values: dict[str, list[str]] = {}
    for name, text in given:
        values.setdefault(name, []).append(text)
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in values.items()}


def only_texts(
    given: Sequence[tuple[str, str]], document: Mapping[str, Any] | None
) -> dict[str, str]:
    """Return the arguments of a prompt, which are texts. Raises InputError for others, and for a
    name which occurs twice.
    """
    arguments: dict[str, Any] = dict(document or {})
    for name, text in given:
        if name in arguments:
            raise InputError(f"the argument {name!r} is given twice")
        arguments[name] = text
    for name, value in arguments.items():
        if not isinstance(value, str):
            raise InputError(f"the argument {safe(name)!r} of a prompt is a text")
    return arguments
