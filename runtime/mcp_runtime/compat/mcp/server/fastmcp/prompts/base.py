"""Stand-in for `mcp.server.fastmcp.prompts.base`: messages of prompts."""

from mcp_runtime.compat.mcp.server.fastmcp.features import (
    AssistantMessage,
    Message,
    Prompt,
    UserMessage,
)
from mcp_runtime.compat.models import model

PromptArgument = model("PromptArgument")
TextContent = model("TextContent")

__all__ = [
    "AssistantMessage",
    "Message",
    "Prompt",
    "PromptArgument",
    "TextContent",
    "UserMessage",
]
