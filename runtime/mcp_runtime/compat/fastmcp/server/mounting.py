"""Names of mounted features, and results as middleware of `fastmcp` sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import structs

from mcp_runtime.compat.fastmcp.server.features import (
    Prompt,
    Tool,
    ToolResult,
)
from mcp_runtime.compat.functions import native_result
from mcp_runtime.compat.models import wire
from mcp_runtime.compat.native import HINTS, NativeServer
from mcp_runtime.compat.shapes import items_of
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.registry import ResourceTemplate
from mcp_runtime.shared.uri_template import Template

_URI: Final = re.compile(r"^([^:]+://)(.*)$", re.DOTALL)


# ---- names


def kind_of(component: Any) -> str:
    if isinstance(component, Tool):
        return "tool"
    return "prompt" if isinstance(component, Prompt) else "resource"


def prefixed(kind: str, key: str, prefix: str) -> str:
    if not prefix:
        return key
    match = _URI.match(key) if kind == "resource" else None
    return f"{prefix}_{key}" if match is None else f"{match[1]}{prefix}/{match[2]}"


def renamed(kind: str, native: Any, prefix: str) -> Any:
    """Return a native feature with its prefixed name."""
    if not prefix:
        return native
    model = native.model
    if isinstance(native, ResourceTemplate):
        uri = prefixed(kind, model.uri_template, prefix)
        template = Template(prefixed(kind, native.template.text, prefix))
        return structs.replace(
            native, model=structs.replace(model, uri_template=uri), template=template
        )
    member = "uri" if kind == "resource" else "name"
    name = prefixed(kind, getattr(model, member), prefix)
    return structs.replace(native, model=structs.replace(model, **{member: name}))


def is_named(native: Any, key: str, name: str) -> bool:
    if isinstance(native, ResourceTemplate):
        scheme, _, rest = key.partition("://")
        return name.startswith(f"{scheme}://{rest.partition('{')[0]}")
    return key == name


def natives(server: NativeServer) -> Iterator[tuple[str, str, Any, frozenset[str], bool]]:
    """Yield the kind, key, native feature and tags of all features, and True for an enabled one."""
    features = dispatcher_of(server).features
    for kind, registry in (
        ("tool", features.tools),
        ("prompt", features.prompts),
        ("resource", features.resources),
        ("resource", features.resource_templates),
    ):
        for key, native in list(registry.registered.items()):
            yield kind, key, native, registry.tags.get(key, frozenset()), key in registry


# ---- results of middleware


PARAMS: Final[dict[str, tuple[str, Any]]] = {
    "tools/call": ("CallToolRequestParams", t.CallToolRequestParams),
    "tools/list": ("PaginatedRequestParams", t.PaginatedRequestParams),
    "resources/list": ("PaginatedRequestParams", t.PaginatedRequestParams),
    "resources/templates/list": ("PaginatedRequestParams", t.PaginatedRequestParams),
    "prompts/list": ("PaginatedRequestParams", t.PaginatedRequestParams),
    "resources/read": ("ReadResourceRequestParams", t.ReadResourceRequestParams),
    "prompts/get": ("GetPromptRequestParams", t.GetPromptRequestParams),
}
LISTED: Final[dict[str, tuple[str, str, Any]]] = {
    "tools/list": ("tool", "tools", t.ListToolsResult),
    "prompts/list": ("prompt", "prompts", t.ListPromptsResult),
    "resources/list": ("resource", "resources", t.ListResourcesResult),
    "resources/templates/list": (
        "template", "resource_templates", t.ListResourceTemplatesResult,
    ),
}  # fmt: skip
MODELS: Final = {
    "tool": "Tool", "prompt": "Prompt", "resource": "Resource", "template": "ResourceTemplate",
}  # fmt: skip
RESULTS: Final = {"resources/read": "ReadResourceResult", "prompts/get": "GetPromptResult"}
_WIRE: Final = {"resource_templates": "resourceTemplates"}


def to_native(method: str, result: Any) -> Any:
    if isinstance(result, ToolResult):
        return result.result()
    listed = items_of(result)
    if method in LISTED and listed is not None:
        _, member, cls = LISTED[method]
        items = [_entry(each) for each in listed]
        return t.from_wire(cls, {_WIRE.get(member, member): items, **HINTS})
    if isinstance(result, t.CallToolResult | t.InputRequiredResult):
        return result
    if method == "tools/call":
        return native_result(t.CallToolResult, result)
    cls = t.ReadResourceResult if method == "resources/read" else t.GetPromptResult
    return t.from_wire(cls, {**wire(result), **HINTS})


def _entry(item: Any) -> Any:
    return t.to_wire(item.native.model) if hasattr(item, "native") else wire(item)
