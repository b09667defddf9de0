"""The native form of each name of `mcp` 1.x and `fastmcp`, and the uses that have an equal one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "CONTEXT_FORMS",
    "DECORATORS",
    "LOGGED",
    "NAMES",
    "OPTIONS",
    "SERVER_FORMS",
    "form_of_import",
]

NAMES: Final[Mapping[str, str]] = {
    "FastMCP": "Server",
    "Context": "Context",
    "ToolError": "ToolError",
}
"""By class of the originals, the class of mcp_runtime that stands for it."""

OPTIONS: Final = frozenset({"name", "instructions", "version", "lifespan"})
"""Options of a server that mean the same."""

DECORATORS: Final[Mapping[str, frozenset[str]]] = {
    "tool": frozenset({"name", "title", "description", "meta"}),
    "prompt": frozenset({"name", "title", "description", "meta"}),
    "resource": frozenset({"name", "title", "description", "mime_type", "meta"}),
}
"""By decorator, the options that mean the same."""

LOGGED: Final = frozenset({"debug", "info", "warning", "error"})
"""Methods of a context that take one message."""

SERVER_FORMS: Final[Mapping[str, str]] = {
    "FastMCP": "Server(NAME, VERSION, ...)",
    "tool": "@server.tool(name=, title=, description=, annotations=types.ToolAnnotations(...))",
    "prompt": "@server.prompt(name=, title=, description=)",
    "resource": "@server.resource(URI, name=, title=, description=, mime_type=)",
    "run": 'server.run(), or server.run(http="127.0.0.1:8000")',
    "run_async": "await server.run_stdio()",
    "add_tool": "server.add_tool(FUNCTION)",
    "add_resource": "server.resource(URI)(FUNCTION)",
    "add_prompt": "server.prompt(FUNCTION)",
    "completion": "@server.completion(URI, ARGUMENT), one for each argument",
    "streamable_http_app": "server.asgi()",
    "http_app": "server.asgi()",
    "sse_app": "server.asgi(), which serves HTTP+SSE too",
    "custom_route": "another application, with server.asgi() mounted in it",
    "mount": "one server with all functions, or two applications at two paths",
    "import_server": "one server with all functions",
    "add_middleware": "@server.middleware",
    "get_context": "a parameter annotated Context",
    "list_tools": "await Client(server).list_tools()",
    "get_tools": "await Client(server).list_tools()",
}
"""By use of a server, its native form."""

CONTEXT_FORMS: Final[Mapping[str, str]] = {
    "report_progress": "ctx.progress(1, 3)",
    "read_resource": "ctx.read(URI), whose contents have .text or .blob",
    "session": "ctx.sample(...), ctx.elicit(...), ctx.roots()",
    "request_context": "ctx.lifespan, ctx.client_info",
    "lifespan_context": "ctx.lifespan",
    "elicit": "ctx.elicit(MESSAGE, FORM), then .content",
    "sample": "ctx.sample(TEXT, max_tokens=200), then .content.text",
    "list_roots": "ctx.roots()",
    "log": "ctx.log(LEVEL, MESSAGE)",
    "debug": "ctx.debug(MESSAGE)",
    "info": "ctx.info(MESSAGE)",
    "warning": "ctx.warning(MESSAGE)",
    "error": "ctx.error(MESSAGE)",
    "set_state": "a dict in ctx.lifespan, with ctx.principal as its key",
    "get_state": "a dict in ctx.lifespan, with ctx.principal as its key",
    "fastmcp": "the server itself",
    "client_id": "ctx.principal, or ctx.client_info",
}
"""By attribute of a context, its native form."""

_IMPORTS: Final[Mapping[str, str]] = {
    "mcp.types": "mcp_runtime.types, with names in snake_case",
    "mcp.server.lowlevel": "Server of mcp_runtime, with server.raw_tool for each tool",
    "mcp.server.stdio": "server.run()",
    "mcp.server.models": "nothing: Server(NAME, VERSION) has it",
    "mcp.server": "Server of mcp_runtime, with server.raw_tool for each tool",
    "mcp.client": "Client of mcp_runtime",
    "mcp.shared.exceptions": "RpcError of mcp_runtime",
    "fastmcp.client": "Client of mcp_runtime",
    "fastmcp.server.middleware": "@server.middleware",
    "fastmcp.server.dependencies": "a parameter annotated Context",
    "fastmcp.utilities.logging": "logging.getLogger",
    "fastmcp.utilities.types": "Image and Audio of mcp_runtime",
}
_NAMED: Final[Mapping[str, str]] = {
    "Image": 'Image(DATA, "image/png") of mcp_runtime',
    "Audio": 'Audio(DATA, "audio/wav") of mcp_runtime',
    "Client": "Client of mcp_runtime",
    "ClientSession": "Client of mcp_runtime",
    "FastMCP": "Server of mcp_runtime, by another name than the Server that is here",
    "UserMessage": '("user", TEXT)',
    "AssistantMessage": '("assistant", TEXT)',
}


def form_of_import(module: str, name: str | None) -> str:
    """Return the native form of an import, or the page that has it."""
    if name is not None and name in _NAMED:
        return _NAMED[name]
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        if form := _IMPORTS.get(".".join(parts[:end])):
            return form
    return "see docs/FROM-MCP.md"
