"""What tools were listed to return, and whether a result is that.

The checker of a tool is made at its first result, and kept as long as the tool's schema is listed.
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
    """Of one tool: its schema, also as it is written, for in Python 1 equals true."""

    schema: t.ToolOutputSchema
    written: bytes
    check: Check | None = None

    def fault(self, value: Any) -> str | None:
        """What is wrong with parsed JSON. Raises BadSchema."""
        if self.check is None:
            self.check = checker(t.to_wire(self.schema))
        return self.check(value)


class OutputSchemas:
    """Of the tools that were listed last."""

    def __init__(self) -> None:
        self._of: dict[str, _Output] = {}

    def listed(self, tools: Iterable[t.Tool]) -> None:
        """These are the tools from now on."""
        schemas = {tool.name: tool.output_schema for tool in tools}
        self._of = {
            name: self._output(name, schema)
            for name, schema in schemas.items()
            if schema is not UNSET
        }

    def _output(self, name: str, schema: t.ToolOutputSchema) -> _Output:
        before, written = self._of.get(name), t.encode(schema)
        return before if before and before.written == written else _Output(schema, written)

    def require_checkable(self, name: str) -> None:
        """Raises NotInstalled if a result of that tool could not be checked."""
        if name in self._of:
            require_installed()

    async def require(self, name: str, result: t.CallToolResult) -> None:
        """Raises BadAnswer for structured content that is not what the tool's schema promises."""
        output = self._of.get(name)
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
