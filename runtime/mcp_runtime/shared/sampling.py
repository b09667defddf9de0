"""Rules for sampling messages, checked by both sides: each use of a tool has its result.

Source: 2025-11-25 and 2026-07-28 client/sampling, "Tool Result Messages" and "Tool Use Balance".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_runtime.revisions import latest as t


def fault_in_rounds(messages: Sequence[t.SamplingMessage]) -> str:
    """Return the fault in the order of tool uses and tool results; empty if there is none."""
    open: set[str] = set()
    for message in messages:
        blocks = _blocks(message)
        results = [block for block in blocks if isinstance(block, t.ToolResultContent)]
        if results and (len(results) != len(blocks) or message.role != "user"):
            return "a message with tool results is the user's and has nothing else"
        if open != {result.tool_use_id for result in results} or len(results) != len(open):
            return "each tool_use is followed by a message with its result"
        open = {block.id for block in blocks if isinstance(block, t.ToolUseContent)}
    return "a tool_use has no result" if open else ""


def rounds(messages: Sequence[t.SamplingMessage]) -> int:
    """Count the messages with tool results."""
    return sum(
        isinstance(_blocks(message)[0], t.ToolResultContent)
        for message in messages
        if _blocks(message)
    )


def fault_in_results(messages: Sequence[t.SamplingMessage], tools: Sequence[t.Tool]) -> str:
    """Return the first fault of a structured result by its tool's output schema; empty if none."""
    schemas = {tool.name: tool.output_schema for tool in tools if tool.output_schema is not t.UNSET}
    used: dict[str, str] = {}
    for block in (block for message in messages for block in _blocks(message)):
        if isinstance(block, t.ToolUseContent):
            used[block.id] = block.name
        elif isinstance(block, t.ToolResultContent) and block.structured_content is not t.UNSET:
            name = used[block.tool_use_id]
            if name in schemas and (fault := _fault(schemas[name], block.structured_content)):
                return f"the result of {name}: {fault}"
    return ""


def _fault(schema: Any, value: Any) -> str:
    from mcp_runtime.json_schema.validator import validate_schema

    return validate_schema(t.to_wire(schema), value) or ""


def _blocks(message: t.SamplingMessage) -> list[Any]:
    return message.content if isinstance(message.content, list) else [message.content]
