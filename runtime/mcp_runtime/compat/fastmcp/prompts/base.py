"""Stand-in for `fastmcp.prompts.base`: prompts."""

from mcp_runtime.compat.fastmcp.prompts import (
    FunctionPrompt,
    Message,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptResult,
)

__all__ = [
    "FunctionPrompt",
    "Message",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptResult",
]
