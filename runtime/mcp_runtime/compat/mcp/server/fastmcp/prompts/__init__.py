"""Stand-in for `mcp.server.fastmcp.prompts`."""

from mcp_runtime.compat.mcp.server.fastmcp.features import Manager as PromptManager
from mcp_runtime.compat.mcp.server.fastmcp.features import Prompt
from mcp_runtime.compat.mcp.server.fastmcp.prompts import base

__all__ = ["Prompt", "PromptManager", "base"]
