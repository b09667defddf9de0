"""The output schemas of the tools listed last, and the check of results against them.

A tool's validator is made at its first result, and kept while the tool's schema stays the same.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from mcp_runtime.errors import BadAnswer, NotInstalled
from mcp_runtime.json_schema.validator import BadSchema, Check, checker, require_installed
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared import threads

log: Final = logging.getLogger("mcp_runtime.client")


@dataclass(slots=True)
class _Output:
    """One tool's schema; `text` tells schemas apart, since in Python 1 equals True."""

    schema: t.ToolOutputSchema
    text: bytes
    check: Check | None = None

    def fault(self, value: Any) -> str | None:
        """Return the fault of parsed JSON; None if it is valid. Raises BadSchema."""
        if self.check is None:
            self.check = checker(t.to_wire(self.schema))
        return self.check(value)


class OutputSchemas:
    """The schemas of tools, by name.

    Without a validator nothing is checked; with `is_strict` its absence is an error.
    """

    def __init__(self, *, is_strict: bool = False) -> None:
        self._outputs: dict[str, _Output] = {}
        self._is_strict = is_strict
        self._is_off = False

    def replace_all(self, tools: Iterable[t.Tool]) -> None:
        """Replace all schemas by those of these tools."""
        schemas = {tool.name: tool.output_schema for tool in tools}
        self._outputs = {
            name: self._output(name, schema)
            for name, schema in schemas.items()
            if schema is not t.UNSET
        }

    def _output(self, name: str, schema: t.ToolOutputSchema) -> _Output:
        before, text = self._outputs.get(name), t.encode(schema)
        return before if before and before.text == text else _Output(schema, text)

    def require_checkable(self, name: str) -> None:
        """Raise NotInstalled if a result of the tool must be checked and cannot be."""
        if name not in self._outputs or self._is_off:
            return
        try:
            require_installed()
        except NotInstalled as error:
            if self._is_strict:
                raise
            self._is_off = True
            _warn_once(str(error))

    async def require(self, name: str, result: t.CallToolResult) -> None:
        """Raise BadAnswer for structured content that does not fit the tool's schema."""
        output = self._outputs.get(name)
        if output is None or result.is_error is True or self._is_off:
            return
        if result.structured_content is t.UNSET:
            raise BadAnswer(f"{name}: no structured content, though the tool has an output schema")
        try:
            fault = await threads.run(output.fault, result.structured_content)
        except BadSchema as error:
            raise BadAnswer(f"{name}: its output schema: {error}") from None
        if fault is not None:
            raise BadAnswer(f"{name}: structured content does not fit the output schema: {fault}")


@cache
def _warn_once(why: str) -> None:
    """Warn once in the process."""
    log.warning("structured results are not checked: %s", why)
