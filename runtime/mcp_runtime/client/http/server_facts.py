"""The client's knowledge of the server at a URL: its revisions, and the headers of its tools.

Source: 2026-07-28 basic/transports/streamable-http, "Custom Headers from Tool Parameters".
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from msgspec import structs

from mcp_runtime.client.server_memory import Mode
from mcp_runtime.core.http.header_checks import ParamHeaders
from mcp_runtime.errors import printable
from mcp_runtime.json_schema.header_annotations import BadParamHeader, param_headers
from mcp_runtime.revisions import latest as t

log: Final = logging.getLogger("mcp_runtime.client")


@dataclass(slots=True)
class ServerFacts:
    """The known facts of one server; they outlive a connection."""

    mode: Mode | None = None
    marks: dict[str, ParamHeaders] = field(default_factory=dict[str, ParamHeaders])
    """The parameters marked for headers, by the tool's name, as listed last."""

    def usable(self, page: t.ListToolsResult) -> t.ListToolsResult:
        """Return the page without the tools whose `x-mcp-header` breaks a rule."""
        return structs.replace(page, tools=[tool for tool in page.tools if self._is_usable(tool)])

    def _is_usable(self, tool: t.Tool) -> bool:
        try:
            self.marks[tool.name] = param_headers(t.to_wire(tool.input_schema))
        except BadParamHeader as error:
            self.marks.pop(tool.name, None)
            log.warning("leaving out the tool %.100r: %.200s", tool.name, printable(str(error)))
            return False
        return True
