"""Stand-in for `fastmcp.prompts`."""

from mcp_runtime.compat.fastmcp.server.features import Message, Prompt, PromptResult
from mcp_runtime.compat.models import model

FunctionPrompt = Prompt
PromptMessage = model("PromptMessage")
PromptArgument = model("PromptArgument")

__all__ = [
    "FunctionPrompt",
    "Message",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptResult",
]
