"""MCP Apps, the server's part: pages beside the results of tools, in hosts that show pages.

    server = Server("weather", "1.0.0", extensions=[apps.extension])
    apps.resource(server, "ui://weather/forecast", Path("forecast.html"))

    @server.tool(options=[apps.page("ui://weather/forecast")])
    async def forecast(city: str) -> Forecast: ...

A page talks to its host alone; `models` has the messages between the two. Source: the extension's
specification, "UI Resource Format", "Resource Discovery" and "Client<>Server Capability
Negotiation".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, structs

from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.registry import or_unset
from mcp_runtime.server.server import Server
from mcp_runtime.server.tool_option import ToolOption
from mcp_runtime.shared.uri_template import is_uri
from mcp_wire.ext.apps.handlers_msgspec import calls, models

__all__ = ["Csp", "extension", "models", "page", "resource", "shows_pages"]

Permission: TypeAlias = Literal["camera", "microphone", "geolocation", "clipboardWrite", "tools"]
Visibility: TypeAlias = Literal["model", "app"]

_HTML: Final = "text/html;profile=mcp-app"
_SOURCE: Final = re.compile(
    r"(?:https?|wss?)://(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?:[0-9]{1,5}|\*))?(?:/[\w.~!$&()*+=:@%/-]*)?",
    re.IGNORECASE | re.ASCII,
)
"""A `host-source` with its scheme. Source: Content Security Policy Level 3, section 2.3.1."""


class Csp(models.McpUiResourceCsp, frozen=True, kw_only=True):
    """The origins a page needs, such as https://api.example.com or https://*.example.com.

    A host writes them into the policy of the page. Raises ValueError for a text that is not one
    origin with a scheme and a host: `*`, `'unsafe-inline'`, `data:`, two in one text.
    """

    def __post_init__(self) -> None:
        require_sources(self)


def require_sources(csp: models.McpUiResourceCsp) -> None:
    """Raise ValueError if a policy names anything but origins."""
    named = (csp.connect_domains, csp.resource_domains, csp.frame_domains, csp.base_uri_domains)
    for source in (source for sources in named if sources is not UNSET for source in sources):
        if not _SOURCE.fullmatch(source):
            raise ValueError(
                f"{source!r:.80} is not an origin: give a scheme and a host, such as"
                " https://api.example.com or https://*.example.com"
            )


extension: Final = Extension(calls)
"""The extension for `Server(extensions=[...])`, declared to clients."""


def shows_pages(ctx: Context) -> bool:
    """Return True if the host of this request shows pages; other hosts show the text alone."""
    settings = ctx.extensions.get(extension.identifier)
    return settings is not None and _HTML in settings.get("mimeTypes", (_HTML,))


def resource(
    server: Server,
    uri: str,
    html: str | Path,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    csp: models.McpUiResourceCsp | None = None,
    permissions: Collection[Permission] = (),
    domain: str | None = None,
    prefers_border: bool | None = None,
) -> None:
    """Register a page: an HTML document, or the file with it, which is read once.

    `csp` names the origins the page needs; without it the page reaches none. `permissions` are the
    browser features the page asks for. `domain` and `prefers_border` are wishes, which hosts may
    grant.

    Raises ValueError for a URI without ui:// at its start, a page of more than `Limits.ui_bytes`, a
    `csp` with anything but origins, an unknown permission, and a server without the extension.
    """
    _require_ui(uri)
    if csp is not None:
        require_sources(csp)
    _require_declared(server)
    text = html if isinstance(html, str) else html.read_text("utf-8")
    size, limit = len(text.encode()), server.limits.ui_bytes
    if size > limit:
        raise ValueError(f"{uri}: the page has {size} bytes, more than {limit} (Limits.ui_bytes)")
    said = models.McpUiResourceMeta(
        csp=or_unset(csp),
        permissions=_permissions_of(permissions) if permissions else UNSET,
        domain=or_unset(domain),
        prefers_border=or_unset(prefers_border),
    )
    meta = {"ui": models.to_wire(said)}
    contents = t.TextResourceContents(uri=uri, mime_type=_HTML, text=text, meta=meta)

    @server.resource(
        uri,
        name=name or uri.removeprefix("ui://"),
        title=title,
        description=description,
        mime_type=_HTML,
        size=size,
        meta=meta,
    )
    async def read() -> t.TextResourceContents:
        return contents


def page(uri: str, *, visibility: Sequence[Visibility] = ()) -> ToolOption:
    """Return the option of a tool whose results are shown on the page at `uri`.

    `visibility` says who may call the tool: "model", or "app", the page; both may where it is left
    out. A host that shows no pages gets the tool without its page, and no tools for pages alone.

    Raises ValueError for a URI without ui:// at its start.
    """
    _require_ui(uri)
    said = models.McpUiToolMeta(resource_uri=uri, visibility=list(visibility) or UNSET)
    return _Page(models.to_wire(said))


@dataclass(frozen=True, slots=True)
class _Page(ToolOption):
    ui: dict[str, Any]

    def register(self, tool: t.Tool) -> t.Tool:
        return structs.replace(tool, meta={**(tool.meta or {}), "ui": self.ui})

    def show(self, tool: t.Tool, ctx: Context) -> t.Tool | None:
        if shows_pages(ctx):
            return tool
        if self.ui.get("visibility") == ["app"]:
            return None
        meta = {key: value for key, value in (tool.meta or {}).items() if key != "ui"}
        return structs.replace(tool, meta=meta or UNSET)


def _require_ui(uri: str) -> None:
    if not uri.startswith("ui://") or not is_uri(uri):
        raise ValueError(f"{uri[:80]!r} is not the URI of a page, such as ui://weather/forecast")


def _permissions_of(names: Collection[Permission]) -> models.McpUiResourcePermissions:
    permissions = models.from_wire(models.McpUiResourcePermissions, {name: {} for name in names})
    if permissions.extra_:
        raise ValueError(f"no permission is called {next(iter(permissions.extra_))!r}")
    return permissions


def _require_declared(server: Server) -> None:
    if all(one.identifier != extension.identifier for one in dispatcher_of(server).extensions):
        raise ValueError("the server does not declare pages: Server(extensions=[apps.extension])")
