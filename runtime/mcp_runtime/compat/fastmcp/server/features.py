"""The tools, resources and prompts that a `fastmcp` server has registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self, cast

from msgspec import structs

from mcp_runtime.compat import models
from mcp_runtime.compat.content import as_whole, is_block, json_text, plain_json, text_block
from mcp_runtime.compat.context import current
from mcp_runtime.compat.errors import ResourceError, ToolError, mcp_error
from mcp_runtime.compat.fastmcp.server.context import Context
from mcp_runtime.compat.functions import Dialect, ToolValue, tool_result
from mcp_runtime.compat.mcp.server.fastmcp.context import Context as OfficialContext
from mcp_runtime.compat.models import Model, wire
from mcp_runtime.compat.shapes import items_of
from mcp_runtime.compat.tools import Component, FunctionPrompt, FunctionResource, FunctionTool
from mcp_runtime.errors import RpcError
from mcp_runtime.errors import ToolError as NativeToolError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext


def _context(owner: Any, native: NativeContext | None) -> Context:
    server = owner or getattr(getattr(native, "server", None), "facade", None)
    return Context(server, native=native)


def _description(function: Callable[..., Any]) -> str:
    return inspect.getdoc(function) or ""


def _tool_failure(owner: Any, name: str, error: Exception) -> Exception:
    if isinstance(error, NativeToolError | RpcError):
        return error
    masks = getattr(owner, "mask_error_details", False)
    return ToolError(f"Error calling tool {name!r}" + ("" if masks else f": {error}"))


def _failure(owner: Any, name: str, error: Exception) -> Exception:
    if isinstance(error, RpcError):
        return error
    speaks = isinstance(error, ResourceError) or not getattr(owner, "mask_error_details", False)
    return mcp_error(0, f"Error in {name!r}" + (f": {error}" if speaks else ""))


_CONTEXTS: Final = (Context, OfficialContext, NativeContext)
TOOLS: Final = Dialect(
    contexts=_CONTEXTS,
    context=partial(_context, None),
    content=as_whole,
    description=_description,
    failure=partial(_tool_failure, None),
    in_threads=True,
    structures_objects=True,
)
OTHERS: Final = structs.replace(TOOLS, failure=partial(_failure, None))


class _Owned(Component):
    """A feature with a reference to its server."""

    shows_tags = True
    owner: Any = None

    def bind(self, owner: Any) -> None:
        """Make the server known to the function's context, and to its errors."""
        self.owner = owner
        failure = partial(_tool_failure if isinstance(self, FunctionTool) else _failure, owner)
        dialect = structs.replace(
            type(self).dialect, context=partial(_context, owner), failure=failure
        )
        self.__dict__.update(dialect=dialect)
        for name in ("called", "native"):
            self.__dict__.pop(name, None)

    def enable(self) -> None:
        """Show the feature to clients again."""
        super().enable()
        if self.owner is not None:
            self.owner.refresh(self)

    def disable(self) -> None:
        """Hide the feature from clients; calls of it fail."""
        super().disable()
        if self.owner is not None:
            self.owner.refresh(self)


class Tool(_Owned, FunctionTool):
    """A tool. `Tool.from_function(f)` is registered with `add_tool`."""

    dialect = TOOLS

    async def run(self, arguments: dict[str, Any], context: Any = None, **_: Any) -> Any:
        """Call the tool, and return its ToolResult. Raises ToolError."""
        result = await self.native.run(arguments, _running())
        return ToolResult.of(result)


def _running() -> Any:
    native = current.get()
    if native is None:
        raise RuntimeError("a tool runs in a request: call it with Client(server).call_tool(...)")
    return native


class Prompt(_Owned, FunctionPrompt):
    """A prompt."""

    dialect = OTHERS

    @staticmethod
    def messages(value: object) -> list[Any]:
        return prompt_messages(value)


class Resource(_Owned, FunctionResource):
    """A resource, or all resources of a template."""

    dialect = OTHERS


class ToolResult(ToolValue):
    """A result of a tool with its content and structured content apart.

    Raises ValueError without both, or if the structured content is not an object.
    """

    def __init__(
        self,
        content: Any = None,
        structured_content: Any = None,
        meta: dict[str, Any] | None = None,
        is_error: bool = False,
    ) -> None:
        if content is None and structured_content is None:
            raise ValueError("Either content or structured_content must be provided")
        structured = None if structured_content is None else plain_json(structured_content)
        if structured is not None and not isinstance(structured, dict):
            raise ValueError(
                f"structured_content must be a dict or None, not {type(structured).__name__}"
            )
        self.content = as_whole(structured_content if content is None else content)
        self.structured_content = cast("dict[str, Any] | None", structured)
        self.meta = meta
        self.is_error = is_error

    @classmethod
    def of(cls, result: Any) -> Self:
        """Convert a native result."""
        json = t.to_wire(result)
        shown: Any = models.model("CallToolResult").of(json)
        return cls(shown.content, shown.structuredContent, shown.meta, shown.isError)

    def result(self) -> Any:
        json: dict[str, Any] = {"content": wire(self.content), "resultType": "complete"}
        if self.structured_content is not None:
            json["structuredContent"] = self.structured_content
        if self.meta is not None:
            json["_meta"] = wire(self.meta)
        if self.is_error:
            json["isError"] = True
        return t.from_wire(t.CallToolResult, json)

    def to_mcp_result(self) -> Any:
        return models.model("CallToolResult").of(t.to_wire(self.result()))


# ---- prompts


class Message:
    """A message of a prompt. Other content than text becomes JSON."""

    def __init__(self, content: Any, role: str = "user", **_: Any) -> None:
        self.role = role
        self.content = content if is_block(content) else text_block(_as_text(content))

    def block(self) -> Model:
        return models.model("PromptMessage")(role=self.role, content=self.content)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


@dataclass
class PromptResult:
    """The messages of a prompt."""

    messages: Any
    description: str | None = None
    meta: dict[str, Any] | None = None


def prompt_messages(value: object) -> list[Any]:
    """Convert the value of a prompt to messages."""
    if isinstance(value, PromptResult):
        return prompt_messages(value.messages)
    items = items_of(value)
    return [_prompt_message(each) for each in ([value] if items is None else items)]


def _prompt_message(value: Any) -> Any:
    if hasattr(value, "block"):
        return value.block()
    if isinstance(value, Model) and type(value).__name__ == "PromptMessage":
        return value
    if isinstance(value, Mapping) and value.keys() >= {"role", "content"}:
        return models.model("PromptMessage")(**_with_text(cast("Mapping[str, Any]", value)))
    return Message(value).block()


def _with_text(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message["content"]
    return {
        "role": message["role"],
        "content": text_block(content) if isinstance(content, str) else content,
    }


# ---- resources


@dataclass
class ResourceContent:
    """Text or bytes of a resource; any other value is JSON."""

    content: Any
    mime_type: str | None = None
    meta: dict[str, Any] | None = None


@dataclass
class ResourceResult:
    """The contents of a resource."""

    contents: Any
    meta: dict[str, Any] | None = None


__all__ = [
    "Message",
    "Prompt",
    "PromptResult",
    "Resource",
    "ResourceContent",
    "ResourceResult",
    "Tool",
    "ToolResult",
    "prompt_messages",
    "tool_result",
]
