"""Extensions of the protocol, and the classes from which others are made."""

from mcp_runtime.client.extension import ClientExtension, ClientView, typed_calls
from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.server.extension import ServerExtension
from mcp_runtime.server.tool_option import ToolOption

__all__ = [
    "ClientExtension",
    "ClientView",
    "Decorators",
    "Extension",
    "ServerExtension",
    "ToolOption",
    "typed_calls",
]
