"""Converts what a tool returns to its result: structured content, and content blocks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from mcp_runtime.json_schema.to_json import BadResult, to_json, to_text
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.functions.content import blocks
from mcp_runtime.server.functions.output_schema import StructuredOutput

__all__ = ["raw_result", "tool_result"]


def tool_result(
    value: object, output: StructuredOutput | None
) -> t.CallToolResult | t.InputRequiredResult:
    """The result for what a tool returned, with an output schema or without.

    A result of `types` passes, its structured content as JSON. Raises BadResult if that does not
    fit the output schema or is missing, and for what is no content.
    """
    if isinstance(value, t.InputRequiredResult):
        return value
    if isinstance(value, t.CallToolResult):
        return _checked(value, output)
    return _unstructured(value) if output is None else _structured(output.write(value))


def raw_result(value: object, *, is_structured: bool) -> t.CallToolResult | t.InputRequiredResult:
    """The result of a tool whose schemas were given. Raises BadResult for what is no content."""
    if isinstance(value, t.CallToolResult | t.InputRequiredResult):
        return value
    return _structured(to_json(value)) if is_structured else _unstructured(value)


def _unstructured(value: object) -> t.CallToolResult:
    return t.CallToolResult(content=blocks(value), result_type="complete")


def _structured(value: Any) -> t.CallToolResult:
    """With the same JSON as text, for clients that do not read structured content."""
    text: list[t.ContentBlock] = [t.TextContent(text=to_text(value))]
    return t.CallToolResult(content=text, structured_content=value, result_type="complete")


def _checked(result: t.CallToolResult, output: StructuredOutput | None) -> t.CallToolResult:
    if result.structured_content is t.UNSET:
        if output is None or result.is_error is True:
            return result
        raise BadResult("$.structuredContent: expected what the output schema says, found none")
    structured = to_json(result.structured_content)
    if output is not None and result.is_error is not True:
        output.check(structured)
    return replace(result, structured_content=structured)
