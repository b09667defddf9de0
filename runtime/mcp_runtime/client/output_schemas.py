"""The output schemas of the tools that were listed last, and the check of results against them.

A tool's validator is made at its first result, and kept while the tool's schema stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from mcp_runtime.errors import BadAnswer
from mcp_runtime.json_schema.validator import BadSchema, Check, checker, require_installed
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared import threads

__all__ = ["OutputSchemas"]


@dataclass(slots=True)
class _Output:
    """One tool's schema; `text` tells schemas apart, since in Python 1 equals True."""

    schema: t.ToolOutputSchema
    text: bytes
    check: Check | None = None

    def fault(self, value: Any) -> str | None:
        """What is wrong with parsed JSON. Raises BadSchema."""
        if self.check is None:
            self.check = checker(t.to_wire(self.schema))
        return self.check(value)


class OutputSchemas:
    """By the tool's name."""

    def __init__(self) -> None:
        self._outputs: dict[str, _Output] = {}

    def listed(self, tools: Iterable[t.Tool]) -> None:
        """Replaces all schemas by those of these tools."""
        schemas = {tool.name: tool.output_schema for tool in tools}
        self._outputs = {
            name: self._output(name, schema)
            for name, schema in schemas.items()
            if schema is not UNSET
        }

    def _output(self, name: str, schema: t.ToolOutputSchema) -> _Output:
        before, text = self._outputs.get(name), t.encode(schema)
        return before if before and before.text == text else _Output(schema, text)

    def require_checkable(self, name: str) -> None:
        """Raises NotInstalled if a result of that tool could not be checked."""
        if name in self._outputs:
            require_installed()

    async def require(self, name: str, result: t.CallToolResult) -> None:
        """Raises BadAnswer for structured content that does not fit the tool's schema."""
        output = self._outputs.get(name)
        if output is None or result.is_error is True:
            return
        if result.structured_content is UNSET:
            raise BadAnswer(f"{name}: no structured content, though the tool has an output schema")
        try:
            fault = await threads.run(output.fault, result.structured_content)
        except BadSchema as error:
            raise BadAnswer(f"{name}: its output schema: {error}") from None
        if fault is not None:
            raise BadAnswer(f"{name}: structured content does not fit the output schema: {fault}")
