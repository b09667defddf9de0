"""Stand-in for `fastmcp.prompts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
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

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
