"""The result of a tool call, with shorter ways to its text and to its structured content."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from msgspec import structs

from mcp_runtime.errors import BadAnswer, PeerError
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import make

_T = TypeVar("_T")
_MEMBERS: Final = t.CallToolResult.__struct_fields__


class ToolResult(t.CallToolResult, frozen=True, kw_only=True):
    """A `CallToolResult` as `Client.call_tool` returns it: the same members, and shortcuts.

    It is written to JSON as its base is, and equals a `CallToolResult` with equal members.
    """

    __hash__ = t.CallToolResult.__hash__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, t.CallToolResult):
            return NotImplemented
        return structs.astuple(self) == structs.astuple(other)

    @property
    def text(self) -> str:
        """The texts of all text blocks, joined by line breaks; empty if there are none."""
        return "\n".join(each.text for each in self.content if isinstance(each, t.TextContent))

    @property
    def data(self) -> Any:
        """The structured content, as parsed JSON; None if the tool gave none.

        An object whose one member is `result` stands for that member: a value that is no object
        travels in one.
        """
        whole = self.structured_content
        if whole.__class__ is dict and whole.keys() == {"result"}:
            return whole["result"]
        return None if whole is t.UNSET else whole

    def read(self, kind: type[_T]) -> _T:
        """Convert `data` to a type: a dataclass, a TypedDict, a pydantic model, `list[int]`.

        Raises BadAnswer if it does not fit, TypeError for a type that has no form in JSON.
        """
        from mcp_runtime.json_schema.mismatch import Mismatch
        from mcp_runtime.json_schema.type_adapter import adapter

        reader = adapter(kind)
        value: _T
        try:
            value = reader.read(self.data)
        except Mismatch as mismatch:
            try:  # a type of its own may have `result` as its one member
                value = reader.read(self.structured_content)
            except Mismatch:
                fault = f"the structured content does not fit the type: {mismatch}"
                raise BadAnswer(fault) from None
        return value


class ToolFailed(PeerError):
    """The tool failed: `result` is its result, whose text for the model is the error's text."""

    def __init__(self, name: str, result: ToolResult) -> None:
        super().__init__(f"{name}: {result.text or 'the tool failed and gave no text'}")
        self.name = name
        self.result = result


def tool_result(result: t.CallToolResult) -> ToolResult:
    """Return a result as a `ToolResult`, without copying its members."""
    made: ToolResult = make(ToolResult, **{name: getattr(result, name) for name in _MEMBERS})
    return made
