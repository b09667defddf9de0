"""Stand-in for `fastmcp.prompts.function_prompt`: prompts."""

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
