"""Names that other libraries have, and what to write here: the errors of missing attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CONTEXT_NAMES: Final[Mapping[str, str]] = {
    "report_progress": "ctx.progress(1, 3)",
    "read_resource": "ctx.read(uri)",
    "session": "ctx.sample(...), ctx.elicit(...), ctx.roots()",
    "request_context": "ctx.lifespan, ctx.client_info",
    "lifespan_context": "ctx.lifespan",
    "log": 'ctx.info("..."), ctx.debug, ctx.warning, ctx.error',
    "list_roots": "ctx.roots()",
    "notify_resource_updated": "server.resource_updated(uri)",
    "notify_tools_changed": "nothing: server.add_tool and server.remove_tool tell clients",
    "set_state": "a dict in ctx.lifespan, with ctx.principal as its key",
    "get_state": "a dict in ctx.lifespan, with ctx.principal as its key",
    "input_responses": "await ctx.elicit(...)",
}
"""By attribute of a context what stands for it here."""

SERVER_NAMES: Final[Mapping[str, str]] = {
    "streamable_http_app": "server.asgi()",
    "http_app": "server.asgi()",
    "sse_app": "server.asgi(), which serves HTTP+SSE too",
    "run_async": "await server.run_stdio()",
    "run_stdio_async": "await server.run_stdio()",
    "add_resource": "server.resource(uri)(function)",
    "add_request_handler": "server.on(method)",
    "custom_route": 'server.asgi(health="/health"), or mount the application',
    "mount": "one server with all functions, or two applications at two paths",
}
"""By attribute of a server what stands for it here."""


def missing(owner: str, name: str, names: Mapping[str, str]) -> AttributeError:
    """The error for an attribute that is not there, with what to write if another library has it.

    Source: docs/FROM-MCP.md.
    """
    remedy = f"; write {names[name]}" if name in names else ""
    return AttributeError(f"{owner!r} object has no attribute {name!r}{remedy}")
