"""Uses of the pydantic models that a type checker must refuse, each on the line that says so."""

from __future__ import annotations

# ruff: noqa: T201
from mcp_wire.v2025_11_25 import models_pydantic as m

m.TextContent()  # wrong: text is missing
m.TextContent(text=1)  # wrong: text is a string
m.TextContent(text="a", type="text")  # wrong: the class sets its constant
m.TextContent(text="a", nonsense=1)  # wrong: no such member
m.TextContent(text="a", _meta={})  # wrong: the wire's name
m.CancelledNotificationParams(reason=None)  # wrong: absent is UNSET, not None
m.ToolExecution(task_support="never")  # wrong: no such literal
m.TextContent(text="a").text = "b"  # wrong: frozen
m.Tool(name="a", input_schema=m.ToolInputSchema()).title.upper()  # wrong: UNSET has no upper
print(m.decode(m.Tool, b"").no_such_member)  # wrong: no such member
