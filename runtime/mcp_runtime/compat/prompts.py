"""Turns functions written for `mcp` 1.x and `fastmcp` into native prompts and resources."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mcp_runtime.compat.content import json_text
from mcp_runtime.compat.functions import (
    Callee,
    failing,
    given_members,
    native_info,
    reader_of,
)
from mcp_runtime.compat.models import wire
from mcp_runtime.compat.shapes import items_of
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.functions.input_schema import (
    ArgumentsReader,
    BadArguments,
)
from mcp_runtime.server.functions.signature import Signature
from mcp_runtime.server.registry import Feature, ResourceTemplate
from mcp_runtime.shared.uri_template import Template

# ---- prompts


def prompt(
    called: Callee, members: Mapping[str, Any], messages: Callable[[object], list[Any]]
) -> Feature[t.Prompt]:
    """Return the native prompt of a function; `messages` converts its value."""
    reader = reader_of(called)
    properties, required = reader.schema["properties"], reader.schema.get("required", ())
    arguments = [
        {
            "name": name,
            "required": name in required,
            **({"description": each["description"]} if "description" in each else {}),
        }
        for name, each in properties.items()
    ]
    model = t.from_wire(t.Prompt, {**given_members(members), "arguments": arguments})

    def convert(value: object) -> Any:
        return [t.from_wire(t.PromptMessage, wire(each)) for each in messages(value)]

    signature = Signature(native_info(called.info), reader.schema, partial(_read_texts, reader))
    return Feature(model, signature, failing(called, model.name, convert))


def _read_texts(reader: ArgumentsReader, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read texts; a text of another type than `str` may be JSON. Raises BadArguments."""
    known = reader.schema["properties"]
    given = {name: each for name, each in arguments.items() if name in known}
    try:
        return reader.read(given)
    except BadArguments as error:
        parsed = {name: _parsed(each) for name, each in given.items()}
        if parsed == given:
            raise error
        texts = {name: each for name, each in given.items() if known[name].get("type") == "string"}
        return reader.read({**parsed, **texts})


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


# ---- resources


def resource(
    called: Callee, uri: str, members: Mapping[str, Any], limits: Limits
) -> Feature[t.Resource] | ResourceTemplate:
    """Return the native resource of a function, or the template if the URI has variables.

    Raises ValueError if variables and parameters differ.
    """
    template = Template(_native_template(uri), limits)
    names = {each.name for each in called.info.parameters}
    needed = {each.name for each in called.info.parameters if each.default is None}
    if not needed <= {*template.names} <= names:
        raise ValueError(
            f"{uri}: the variables {sorted(template.names)} are not the parameters"
            f" {sorted(names)} of {called.info.name}"
        )
    reader = reader_of(called)
    read = partial(_read_texts, reader)
    signature = Signature(
        native_info(called.info), reader.schema, read, guarded=frozenset(template.names)
    )
    function = failing(called, uri, _resource_value)
    if template.names:
        of_uris = t.from_wire(t.ResourceTemplate, {**given_members(members), "uriTemplate": uri})
        return ResourceTemplate(of_uris, signature, function, template)
    model = t.from_wire(t.Resource, {**given_members(members), "uri": uri})
    return Feature(model, signature, function)


def _native_template(uri: str) -> str:
    """Write `{path*}`, a variable with slashes, as RFC 6570 does."""
    head, star, rest = uri.partition("*}")
    if not star:
        return uri
    start, _, name = head.rpartition("{")
    return f"{start}{{+{name}}}{_native_template(rest)}"


def _resource_value(value: object) -> Any:
    """Convert a value to text, bytes or contents; anything else is JSON text."""
    if isinstance(value, str | bytes | t.TextResourceContents | t.BlobResourceContents):
        return value
    items = items_of(value)
    return items if items and all(map(_is_native, items)) else json_text(value, 2)


def _is_native(value: object) -> bool:
    return isinstance(value, t.TextResourceContents | t.BlobResourceContents)
